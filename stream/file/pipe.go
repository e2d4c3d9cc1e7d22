package file

import (
	"bytes"
	"context"
	"io"
)

// pipe is the writer below an output that is not a regular file. A reader that takes nothing blocks a write for as long
// as it likes; the end of the context ends the wait. A write that was given up goes on in its goroutine, with its own
// copy of the bytes.
type pipe struct {
	w   io.Writer
	ctx context.Context // of the call that writes
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	b = bytes.Clone(b)
	go func() {
		n, err := p.w.Write(b)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-p.ctx.Done():
		return 0, context.Cause(p.ctx)
	}
}
