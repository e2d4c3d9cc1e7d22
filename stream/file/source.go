package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"motifd/stream"
)

// Abandoned is the position of a damaged file whose rest was left out (DamageSkip): it is not read again.
const Abandoned = math.MaxInt64

// Source reads files one after the other. It implements stream.Source.
//
// A file of a directory is a partition: those that are known by SourceOptions.Known in that order, then all others in
// the order of their names. Files that were read may be removed. Standard input and pipes cannot go back: a position in
// them only tells at which offset to go on.
type Source struct {
	opt   SourceOptions
	files []string
	names []string     // of a directory's files
	gone  []bool       // by file: it is known and not there any more; nil when the path is no directory
	total int64        // bytes of all files as stored; 0 when it is not known
	done  atomic.Int64 // of them, read

	mu     sync.Mutex // held by Read, Seek and Close
	at     stream.Positions
	cur    int   // file
	open   bool  // it is
	failed error // the *DamageError that ended the reading
	fr     *framer
	raw    *rawReader // of the open file; nil when it is not compressed
	lately int        // number of records that Read returned last: the next one has room for as many
	header []byte
	pipe   *pipeReader
	close  func()
	once   sync.Once
	closed chan struct{}
}

var _ stream.Source = (*Source)(nil)

// NewSource returns a source over what is at the path now. Nothing is opened yet.
func NewSource(opt SourceOptions) (*Source, error) {
	opt.EnsureDefaults()
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("file input: %w", err)
	}
	s := &Source{opt: opt, at: stream.Positions{}, closed: make(chan struct{})}
	if opt.Path == Stdin {
		s.files = []string{Stdin}
		return s, nil
	}
	info, err := os.Stat(opt.Path)
	if err != nil {
		return nil, fmt.Errorf("file input: %w", err)
	}
	if !info.IsDir() {
		s.files = []string{opt.Path}
		if info.Mode().IsRegular() {
			s.total = info.Size()
		}
		return s, nil
	}
	l, err := list(opt.Path, opt.Known)
	if err != nil {
		return nil, fmt.Errorf("file input: %w", err)
	}
	s.names, s.gone, s.total = l.names, l.gone, l.total
	for _, name := range l.names {
		s.files = append(s.files, filepath.Join(opt.Path, name))
	}
	return s, nil
}

// Files returns the files by partition.
func (s *Source) Files() []string { return s.files }

// Names returns the names of a directory's files by partition, nil when the path is no directory: what the next
// Source over it has to know.
func (s *Source) Names() []string { return s.names }

// Progress returns the number of bytes of the files, as they are stored, that were read, and their total; total is 0
// when it is not known. It is safe to call from any goroutine.
func (s *Source) Progress() (done, total int64) { return s.done.Load(), s.total }

// Seek implements stream.Source. Positions are checked against the files when they are opened. Files are read one
// after the other, so that all but the last that was begun were read to their end, and may be gone.
func (s *Source) Seek(_ context.Context, at stream.Positions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := int32(-1)
	for p, off := range at {
		if p < 0 || int(p) >= len(s.files) {
			return fmt.Errorf("file input: %w: reading had begun at file %d of %s, but there are only %d files now",
				stream.ErrDataLoss, p+1, s.opt.Path, len(s.files))
		}
		if off < 0 {
			return fmt.Errorf("file input: position %d of %s is negative", off, s.files[p])
		}
		last = max(last, p)
	}
	if last >= 0 && s.gone != nil && s.gone[last] && at[last] != Abandoned {
		return fmt.Errorf(
			"file input: %w: reading had come to byte %d of %s, which is gone; put it back until another file was "+
				"begun",
			stream.ErrDataLoss,
			at[last],
			s.files[last],
		)
	}
	s.at = maps.Clone(at)
	if s.at == nil {
		s.at = stream.Positions{}
	}
	return nil
}

// Read implements stream.Source.
func (s *Source) Read(ctx context.Context) ([]stream.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.stopped(ctx); err != nil {
			return nil, err
		}
		if s.failed != nil {
			return nil, s.failed
		}
		if s.cur == len(s.files) {
			return nil, io.EOF
		}
		if s.gone != nil && s.gone[s.cur] {
			s.cur++
			continue
		}
		if s.pipe != nil {
			s.pipe.ctx = ctx
		}
		if !s.open {
			if err := s.openFile(ctx); err != nil {
				if stop := s.stopped(ctx); stop != nil {
					s.closeFile()
					return nil, stop
				}
				return s.unreadable(err)
			}
		}
		fr, err := s.fr.next()
		if errors.Is(err, io.EOF) {
			s.closeFile()
			s.cur++
			continue
		}
		if stop := s.stopped(ctx); err != nil && stop != nil {
			s.fr.err = nil // a pipe goes on where it was
			return nil, stop
		}
		if err != nil {
			return s.unreadable(err)
		}
		recs := append(make([]stream.Record, 0, max(1, s.lately)), s.record(fr))
		for len(recs) < s.opt.ReadRecords {
			fr, ok := s.fr.buffered()
			if !ok {
				break
			}
			recs = append(recs, s.record(fr))
		}
		s.lately = len(recs)
		return recs, nil
	}
}

func (s *Source) record(fr frame) stream.Record {
	return stream.Record{
		Partition: int32(s.cur), Offset: fr.off, Next: fr.next, Value: fr.value, Header: s.header, Err: fr.err,
	}
}

// stopped returns the reason for which Read is to end.
func (s *Source) stopped(ctx context.Context) error {
	select {
	case <-s.closed:
		return fmt.Errorf("file input: %w", os.ErrClosed)
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// unreadable answers an error within a file. It ends the reading, unless the file is damaged and OnDamage says to
// skip: then the rest of the file becomes one record with an error. A truncated file may hold any number of updates
// in its rest, so that leaving them out is for the user to choose.
func (s *Source) unreadable(err error) ([]stream.Record, error) {
	var corrupt *corruptError
	name := s.files[s.cur]
	if !errors.As(err, &corrupt) || s.fr == nil {
		s.closeFile()
		return nil, fmt.Errorf("file input: %s: %w", name, err)
	}
	damage := &DamageError{File: name, Offset: s.fr.unframed(), Stored: -1, Err: corrupt.err}
	if s.raw != nil {
		damage.Stored = s.raw.n
	}
	if s.opt.OnDamage == DamageStop {
		s.closeFile()
		s.failed = fmt.Errorf("file input: %w", damage)
		return nil, s.failed
	}
	rec := stream.Record{
		Partition: int32(s.cur), Offset: s.fr.unframed(), Next: Abandoned, Value: s.fr.rest(), Header: s.header,
		Err: &stream.RecordError{Reason: stream.ReasonCompression, Msg: "the rest is left out: " + damage.Error()},
	}
	s.closeFile()
	s.cur++
	return []stream.Record{rec}, nil
}

// openFile opens the present file at its position.
func (s *Source) openFile(ctx context.Context) error {
	name, at := s.files[s.cur], s.at[int32(s.cur)]
	if at == Abandoned {
		s.open, s.close, s.fr = true, func() {}, &framer{err: io.EOF}
		return nil
	}
	f, info, err := s.openPath(name)
	if err != nil {
		return err
	}
	if f == nil || !info.Mode().IsRegular() {
		return s.openPipe(ctx, name, at, f)
	}
	raw := &rawReader{r: f, done: &s.done}
	c := s.opt.Compression.of(name)
	r, release := s.opt.decompress(raw, c)
	if c != CompressionNone {
		s.raw = raw
	}
	s.open = true
	s.close = func() {
		release()
		if name != Stdin {
			f.Close()
		}
	}
	s.fr = s.newFramer(r)
	if err := s.readHeader(); err != nil {
		return err
	}
	if at <= s.fr.off { // the header's end at the least
		return nil
	}
	if c == CompressionNone {
		return s.seekFile(f, info.Size(), at)
	}
	return s.skipTo(ctx, at)
}

// openPath opens a file; nil is an input that is no file.
func (s *Source) openPath(name string) (*os.File, os.FileInfo, error) {
	if name == Stdin {
		f, ok := s.opt.In.(*os.File)
		if !ok {
			return nil, nil, nil
		}
		info, err := f.Stat()
		return f, info, err
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, info, err // a pipe is opened where it may block
	}
	f, err := os.Open(name)
	return f, info, err
}

// openPipe begins to read an input that may block. at is the offset to go on with.
func (s *Source) openPipe(ctx context.Context, name string, at int64, f *os.File) error {
	if s.pipe == nil {
		s.pipe = &pipeReader{closed: s.closed, ctx: ctx, open: func() (io.Reader, error) {
			switch {
			case name != Stdin:
				return os.Open(name)
			case f != nil:
				return struct{ io.Reader }{f}, nil // standard input stays open
			}
			return struct{ io.Reader }{s.opt.In}, nil
		}}
	}
	raw := &rawReader{r: s.pipe, done: &s.done}
	c := s.opt.Compression.of(name)
	r, release := s.opt.decompress(raw, c)
	if c != CompressionNone {
		s.raw = raw
	}
	s.open, s.close = true, release
	s.fr = s.newFramer(r)
	if err := s.readHeader(); err != nil {
		return err
	}
	s.fr.off = max(s.fr.off, at)
	return nil
}

func (s *Source) newFramer(r io.Reader) *framer {
	return &framer{
		r: r, csv: s.opt.Framing == FramingCSV, comma: s.opt.Comma, limit: s.opt.MaxRecordBytes,
		block: s.opt.BlockBytes,
	}
}

// readHeader takes the header row off a CSV file. A header that cannot be read makes the whole file unreadable.
func (s *Source) readHeader() error {
	s.header = nil
	if s.opt.Framing != FramingCSV || s.opt.NoHeader {
		return nil
	}
	fr, err := s.fr.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case fr.err != nil:
		return &corruptError{fmt.Errorf("its header row is unreadable: %w", fr.err)}
	}
	s.header = fr.value
	return nil
}

// seekFile goes to a position of a plain file.
func (s *Source) seekFile(f *os.File, size, at int64) error {
	if at > size {
		return fmt.Errorf("%w: reading had come to byte %d, but the file has only %d; put the whole file "+
			"back, or begin anew with a new checkpoint and output", stream.ErrDataLoss, at, size)
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	s.fr = s.newFramer(s.fr.r)
	s.fr.off = at
	s.done.Store(s.doneBefore() + at)
	return nil
}

// doneBefore is the size of the files before the present one.
func (s *Source) doneBefore() (n int64) {
	for _, name := range s.files[:s.cur] {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

// skipTo decompresses up to a position.
func (s *Source) skipTo(ctx context.Context, at int64) error {
	for {
		if err := s.stopped(ctx); err != nil {
			return err
		}
		n := int64(len(s.fr.buf) - s.fr.pos)
		if s.fr.off+n >= at {
			s.fr.advance(int(at - s.fr.off))
			return nil
		}
		s.fr.advance(int(n))
		switch {
		case errors.Is(s.fr.err, io.EOF):
			return fmt.Errorf("%w: reading had come to byte %d of the decompressed file, but it has only %d; "+
				"put the whole file back, or begin anew with a new checkpoint and output",
				stream.ErrDataLoss, at, s.fr.off)
		case s.fr.err != nil:
			return s.fr.err
		}
		s.fr.fill()
	}
}

func (s *Source) closeFile() {
	if s.open {
		s.close()
	}
	s.open, s.fr, s.raw, s.header = false, nil, nil, nil
}

// Close implements stream.Source.
func (s *Source) Close() error {
	s.once.Do(func() { close(s.closed) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFile()
	return nil
}
