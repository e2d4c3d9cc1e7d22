package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"motifd/stream"
)

// output is one of a sink's files.
type output struct {
	name string // in errors: "output", ...
	path string
	sync bool

	f       *os.File // nil for standard output and None
	own     os.FileInfo
	w       *bufio.Writer
	pipe    *pipe // below w, nil for a regular file
	length  int64 // of the file, with what is in the buffer
	regular bool  // can go back
	dirty   bool  // written to since the last flush
}

// write appends parts to the buffer. length counts what the buffer has taken, also when a write fails.
func (o *output) write(parts ...[]byte) error {
	if o.w == nil {
		return nil
	}
	o.dirty = true
	for _, p := range parts {
		n, err := o.w.Write(p)
		o.length += int64(n)
		if err != nil {
			return o.wrap(err)
		}
	}
	return nil
}

func (o *output) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", o.name, o.path, err)
}

// open opens and locks the file, which is created when it does not exist.
func (o *output) open(out io.Writer, buffer int) error {
	switch o.path {
	case None:
		return nil
	case Stdout:
		o.pipe = &pipe{w: out}
		o.w = bufio.NewWriterSize(o.pipe, buffer)
		return nil
	}
	f, err := os.OpenFile(o.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return o.wrap(err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		o.regular, o.own = true, info
		o.length = info.Size()
		err = lock(f)
	}
	if err == nil && o.regular && o.sync {
		err = syncDir(filepath.Dir(o.path))
	}
	if err != nil {
		return errors.Join(o.wrap(err), f.Close())
	}
	var w io.Writer = f
	if !o.regular {
		o.pipe = &pipe{w: f}
		w = o.pipe
	}
	o.f, o.w = f, bufio.NewWriterSize(w, buffer)
	return nil
}

// inPlace refuses a file that is not under its name any more: what is written to it would be lost or misplaced.
func (o *output) inPlace() error {
	if !o.regular {
		return nil
	}
	if info, err := os.Stat(o.path); err == nil && os.SameFile(info, o.own) {
		return nil
	}
	return o.wrap(fmt.Errorf("%w: it was renamed or removed while motifd was writing to it; put it back, and the next "+
		"start goes on where this one stopped", stream.ErrOutputDamaged))
}

// atLeast refuses a file that is shorter than what was published to it.
func (o *output) atLeast(length int64) error {
	if o.regular && o.length < length {
		return o.wrap(fmt.Errorf("%w: it has %d bytes, but %d were published to it; restore it, or begin anew with "+
			"a new checkpoint and output", stream.ErrOutputDamaged, o.length, length))
	}
	return nil
}

// rewind goes back to a length, and to the end of it.
func (o *output) rewind(to int64) error {
	if !o.regular {
		return nil
	}
	if err := o.atLeast(to); err != nil {
		return err
	}
	if err := o.f.Truncate(to); err != nil {
		return o.wrap(err)
	}
	if _, err := o.f.Seek(to, io.SeekStart); err != nil {
		return o.wrap(err)
	}
	o.length = to
	if o.sync {
		return o.wrap(o.f.Sync())
	}
	return nil
}

// wholeLines is the length up to and with the last line end.
func (o *output) wholeLines() (int64, error) {
	if !o.regular {
		return 0, nil
	}
	buf := make([]byte, 64<<10)
	for end := o.length; end > 0; {
		start := max(0, end-int64(len(buf)))
		b := buf[:end-start]
		if _, err := o.f.ReadAt(b, start); err != nil {
			return 0, o.wrap(err)
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// flush hands what was written to the operating system, and with sync to the disk.
func (o *output) flush() error {
	if o.w == nil || !o.dirty {
		return nil
	}
	if err := o.w.Flush(); err != nil {
		return o.wrap(err)
	}
	o.dirty = false
	if o.regular && o.sync {
		return o.wrap(o.f.Sync())
	}
	return nil
}

func (o *output) close() error {
	if o.f == nil {
		return nil
	}
	f := o.f
	o.f, o.w = nil, nil
	return o.wrap(f.Close())
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
