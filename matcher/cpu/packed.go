package cpu

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// packedWords is the size of a packed block: 16 KiB.
const packedWords = 4 << 10

// run is a sorted run of rows, packed: of each row only what differs from the row before it is kept, the number of leading
// vertices that do not, the vertices after them, and the edges that these determine. That is a third or less of
// the row. Blocks are packed one by one, so that reading may begin at any.
type run struct {
	order  *rowOrder
	rows   uint64
	blocks []packed
}

// packed is a block of a run, in memory or in a file.
type packed struct {
	first []uint32 // vertices of the first row
	rows  int
	words *[packedWords]uint32 // nil when in a file
	n     int
	file  *os.File
	off   int64
}

var packs = sync.Pool{New: func() any { return new([packedWords]uint32) }}

// bytes returns the memory that the run holds.
func (r *run) bytes() int {
	n := 0
	for i := range r.blocks {
		if r.blocks[i].words != nil {
			n += 4 * packedWords
		}
	}
	return n
}

// close gives the memory back.
func (r *run) close() {
	for i := range r.blocks {
		if w := r.blocks[i].words; w != nil {
			packs.Put(w)
		}
	}
	r.blocks = nil
}

// newRun packs the rows of data named by keys, in their order.
func newRun(o *rowOrder, data []uint32, keys []rowKey) *run {
	r := &run{order: o, rows: uint64(len(keys))}
	w, v := o.width(), o.vertices
	var last []uint32
	var into *packed
	n := packedWords
	for i := range keys {
		at := int(keys[i].row) * w
		row := data[at : at+w : at+w]
		k := 0
		if n+1+w > packedWords {
			if into != nil {
				into.n = n
			}
			r.blocks = append(r.blocks, packed{first: slices.Clone(row[:v]), words: packs.Get().(*[packedWords]uint32)})
			into, n = &r.blocks[len(r.blocks)-1], 0
		} else {
			for k < v && row[k] == last[k] {
				k++
			}
		}
		last = row
		into.rows++
		words := into.words
		words[n] = uint32(k)
		n++
		n += copy(words[n:], row[k:v])
		for _, c := range o.later[k] {
			words[n] = row[c]
			n++
		}
	}
	if into != nil {
		into.n = n
	}
	return r
}

// spill moves the run to a file.
func (r *run) spill(f *spillFile) error {
	size := int64(0)
	for i := range r.blocks {
		if r.blocks[i].words != nil {
			size += int64(4 * r.blocks[i].n)
		}
	}
	file, off, err := f.reserve(size)
	if err != nil {
		return err
	}
	var buf [4 * packedWords]byte
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.words == nil {
			continue
		}
		for k, x := range b.words[:b.n] {
			binary.LittleEndian.PutUint32(buf[4*k:], x)
		}
		if _, err := file.WriteAt(buf[:4*b.n], off); err != nil {
			return fmt.Errorf("spilling matches for sorting: %w", err)
		}
		packs.Put(b.words)
		b.words, b.file, b.off = nil, file, off
		off += int64(4 * b.n)
	}
	return nil
}

// spillFile is a temporary file, made when it is needed first, for the runs of one group.
type spillFile struct {
	dir string
	mu  sync.Mutex
	f   *os.File
	end int64
}

// reserve returns the file and where size bytes may be written.
func (s *spillFile) reserve(size int64) (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		f, err := os.CreateTemp(s.dir, "motifd-sort-*")
		if err == nil {
			// Nothing is left behind however the process ends.
			if err = os.Remove(f.Name()); err != nil {
				f.Close()
			}
		}
		if err != nil {
			return nil, 0, fmt.Errorf("spilling matches for sorting: %w", err)
		}
		s.f = f
	}
	off := s.end
	s.end += size
	return s.f, off, nil
}

func (s *spillFile) close() {
	if s.f != nil {
		s.f.Close()
		s.f = nil
	}
}

// cursor reads a run.
type cursor struct {
	run   *run
	block int // that comes next
	words []uint32
	row   []uint32 // the present row
	key   uint64   // its first two vertices
	space []uint32
	buf   []byte
}

// newCursor returns a cursor whose first row is the first one that is not before lo, or nil if there is none. With lo nil it is the run's first.
func newCursor(r *run, lo []uint32) (*cursor, error) {
	c := &cursor{run: r, row: make([]uint32, r.order.width())}
	if lo != nil {
		at, _ := slices.BinarySearchFunc(r.blocks, lo, func(b packed, lo []uint32) int {
			return cmp.Or(slices.Compare(b.first, lo), 1) // rows equal to lo may end the block before
		})
		c.block = max(at-1, 0)
	}
	for {
		if ok, err := c.next(); !ok {
			return nil, err
		}
		if lo == nil || slices.Compare(c.row[:r.order.vertices], lo) >= 0 {
			return c, nil
		}
	}
}

// next moves on to the next row; false at the end.
func (c *cursor) next() (bool, error) {
	if len(c.words) == 0 {
		if c.block == len(c.run.blocks) {
			return false, nil
		}
		b := &c.run.blocks[c.block]
		c.block++
		if b.words != nil {
			c.words = b.words[:b.n]
		} else if err := c.read(b); err != nil {
			return false, err
		}
	}
	o := c.run.order
	k := int(c.words[0])
	n := copy(c.row[k:o.vertices], c.words[1:]) + 1
	for _, column := range o.later[k] {
		c.row[column] = c.words[n]
		n++
	}
	c.words = c.words[n:]
	if k < 2 {
		c.key = uint64(c.row[0])<<32 | uint64(c.row[1])
	}
	return true, nil
}

func (c *cursor) read(b *packed) error {
	if c.buf == nil {
		c.buf, c.space = make([]byte, 4*packedWords), make([]uint32, packedWords)
	}
	if n, err := b.file.ReadAt(c.buf[:4*b.n], b.off); n < 4*b.n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("reading spilled matches: %w", err)
	}
	for i := range b.n {
		c.space[i] = binary.LittleEndian.Uint32(c.buf[4*i:])
	}
	c.words = c.space[:b.n]
	return nil
}
