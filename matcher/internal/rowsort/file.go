package rowsort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"motifd/matcher"
)

// File is a temporary file for runs, created when it is first needed. Several sorters may write to it at once.
type File struct {
	// Open opens the file; nil: nothing can be spilled.
	Open matcher.TempFiles
	// Budget is charged with the bytes of the file; nil is no limit.
	Budget *matcher.Budget

	mu  sync.Mutex
	f   matcher.TempFile
	end int64
}

// ErrSpill reports that the runs of a group are more than temporary files may hold.
var ErrSpill = errors.New("temporary files have reached their limit")

var errNoFiles = errors.New("spilling matches for sorting: the backend was given no temporary files")

// reserve returns the file and where size bytes may be written.
func (f *File) reserve(size int64) (matcher.TempFile, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		if f.Open == nil {
			return nil, 0, errNoFiles
		}
		file, err := f.Open()
		if err != nil {
			return nil, 0, fmt.Errorf("spilling matches for sorting: %w", err)
		}
		f.f = file
	}
	off := f.end
	f.end += size
	if !f.Budget.Spill(size) {
		return nil, 0, ErrSpill
	}
	return f.f, off, nil
}

// Close drops what was written. The File may be used again.
func (f *File) Close() {
	if f.f != nil {
		f.f.Close()
		f.Budget.Spill(-f.end)
		f.f, f.end = nil, 0
	}
}

// writeBytes is the number of bytes that are written at a time.
const writeBytes = 16 * packedWords

// Spill moves the runs of groups to the file, together: groups may be small.
func (f *File) Spill(groups ...*Sorted) error {
	var all [][]packed
	for _, g := range groups {
		for _, r := range g.runs {
			all = append(all, r.blocks)
		}
	}
	return f.spill(all...)
}

// spill moves packed blocks to the file, one after the other; those that are there stay.
func (f *File) spill(lists ...[]packed) error {
	size := int64(0)
	for _, blocks := range lists {
		for i := range blocks {
			if blocks[i].words != nil {
				size += int64(4 * blocks[i].n)
			}
		}
	}
	if size == 0 {
		return nil
	}
	file, off, err := f.reserve(size)
	if err != nil {
		return err
	}
	buf := make([]byte, 0, min(size, writeBytes))
	flush := func() error {
		if _, err := file.WriteAt(buf, off); err != nil {
			return fmt.Errorf("spilling matches for sorting: %w", err)
		}
		off += int64(len(buf))
		buf = buf[:0]
		return nil
	}
	for _, blocks := range lists {
		for i := range blocks {
			b := &blocks[i]
			if b.words == nil {
				continue
			}
			if len(buf)+4*b.n > cap(buf) {
				if err := flush(); err != nil {
					return err
				}
			}
			at := off + int64(len(buf))
			for _, x := range b.words[:b.n] {
				buf = binary.LittleEndian.AppendUint32(buf, x)
			}
			freeWords(b.words)
			b.words, b.file, b.off = nil, file, at
		}
	}
	return flush()
}
