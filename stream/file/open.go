package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how a file is compressed.
type Compression string

// The compressions.
const (
	CompressionAuto Compression = ""     // by the file's name: .gz, .zst, else none
	CompressionNone Compression = "none" //
	CompressionGzip Compression = "gzip"
	CompressionZstd Compression = "zstd"
)

func (c Compression) of(name string) Compression {
	if c != CompressionAuto {
		return c
	}
	switch {
	case strings.HasSuffix(name, ".gz"):
		return CompressionGzip
	case strings.HasSuffix(name, ".zst"):
		return CompressionZstd
	}
	return CompressionNone
}

// expansionGrace is the decompressed size of a file from which SourceOptions.MaxExpansion is applied.
const expansionGrace = 16 << 20

// DamageError is returned by Source.Read where a file cannot be read on because of what it holds.
type DamageError struct {
	File   string
	Offset int64 // first byte of the decompressed file that belongs to no complete record
	Stored int64 // bytes of the file as it is stored that were read; -1 for a plain file
	Err    error
}

func (e *DamageError) Error() string {
	stored := ""
	if e.Stored >= 0 {
		stored = fmt.Sprintf(" of its decompressed data (after %d bytes of the file)", e.Stored)
	}
	return fmt.Sprintf(
		"%s is damaged or truncated: it cannot be read from byte %d%s on: %v",
		e.File,
		e.Offset,
		stored,
		e.Err,
	)
}

func (e *DamageError) Unwrap() error { return e.Err }

// corruptError is an error of what a file holds, as opposed to one of reading it.
type corruptError struct{ err error }

func (e *corruptError) Error() string { return e.err.Error() }
func (e *corruptError) Unwrap() error { return e.err }

// rawReader reads the bytes of a file as they are stored, counts them, and remembers why they ended.
type rawReader struct {
	r    io.Reader
	n    int64
	done *atomic.Int64 // of all files
	err  error
}

func (r *rawReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n += int64(n)
	r.done.Add(int64(n))
	if err != nil {
		r.err = err
	}
	return n, err
}

// failed tells whether reading the stored bytes failed.
func (r *rawReader) failed() bool { return r.err != nil && !errors.Is(r.err, io.EOF) }

// expander decompresses within limits.
type expander struct {
	raw   *rawReader
	in    io.Reader // the decompressor; nil before the first Read
	open  func(io.Reader) (io.Reader, func(), error)
	close func()
	ratio int64
	out   int64
}

func (x *expander) Read(p []byte) (int, error) {
	if x.in == nil {
		in, done, err := x.open(x.raw)
		if err != nil {
			return 0, x.wrap(err)
		}
		x.in, x.close = in, done
	}
	n, err := x.in.Read(p)
	x.out += int64(n)
	if x.out > expansionGrace && x.out/x.ratio > x.raw.n {
		return n, &corruptError{
			fmt.Errorf("its first %d bytes expand to more than %d times as many (the limit on expansion: "+
				"input.limits.max_expansion, --max-expansion)", x.raw.n, x.ratio),
		}
	}
	return n, x.wrap(err)
}

// wrap tells what the file holds from how it was read.
func (x *expander) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case x.raw.failed():
		return x.raw.err
	case err == io.EOF && x.in != nil:
		return io.EOF
	case err == io.EOF && x.raw.n == 0: // an empty file is an empty stream
		return io.EOF
	}
	return &corruptError{err}
}

// decompress returns a reader of the decompressed bytes, and what releases it.
func (o *SourceOptions) decompress(raw *rawReader, c Compression) (io.Reader, func()) {
	x := &expander{raw: raw, ratio: int64(o.MaxExpansion), close: func() {}}
	switch c {
	case CompressionGzip:
		x.open = func(r io.Reader) (io.Reader, func(), error) {
			z, err := gzip.NewReader(r)
			return z, func() {}, err
		}
	case CompressionZstd:
		x.open = func(r io.Reader) (io.Reader, func(), error) {
			// One goroutine, so that nothing is left behind, and no more memory than the window.
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(uint64(o.MaxWindow)))
			if err != nil {
				return nil, nil, err
			}
			return z, z.Close, nil
		}
	default:
		return raw, func() {}
	}
	return x, func() { x.close() }
}

// pipeReader reads something that may block for ever, such as standard input or a named pipe, and lets go of it when
// the context is done or the source closed. The goroutine that is blocked in the read ends with it.
type pipeReader struct {
	open   func() (io.Reader, error)
	closed chan struct{}
	ctx    context.Context // of the present Source.Read

	once   sync.Once
	blocks chan pipeBlock
	rest   []byte
	err    error
}

type pipeBlock struct {
	data []byte
	err  error
}

func (p *pipeReader) Read(b []byte) (int, error) {
	p.once.Do(func() {
		p.blocks = make(chan pipeBlock)
		go p.run()
	})
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		select {
		case x := <-p.blocks:
			p.rest, p.err = x.data, x.err
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		case <-p.closed:
			return 0, os.ErrClosed
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pipeReader) run() {
	r, err := p.open()
	if c, ok := r.(io.Closer); ok && err == nil {
		defer c.Close()
	}
	for {
		var data []byte
		if err == nil {
			buf := make([]byte, 64<<10)
			var n int
			n, err = r.Read(buf)
			data = buf[:n]
		}
		select {
		case p.blocks <- pipeBlock{data, err}:
			if err != nil {
				return
			}
		case <-p.closed:
			return
		}
	}
}
