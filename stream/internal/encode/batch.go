package encode

import (
	"context"
	"errors"
	"time"

	"motifd/matcher"
)

// Batch encodes and sends the events of one batch. Only the emitting goroutine uses it.
type Batch[R any] struct {
	s      *Stage[R]
	ctx    context.Context // also done when an encoder has failed
	cancel context.CancelCauseFunc
	number uint64

	chunk *[]R  // being filled by this goroutine
	cost  int64 // of the records in chunk
	mean  int64 // mean cost of the records encoded last; pieceBytes before the first

	workers *workers[R] // nil with one thread
	task    *task[R]    // being filled; nil or not empty
	rows    int         // target number of rows of the task, if records are not large
	growth  int         // factor of rows from one task to the next

	encoding, waiting time.Duration
	work              workTime // encoding since the last chunk was sent
}

// Begin returns a batch. The caller must call Close, and if it emits anything, Finish before that.
func (s *Stage[R]) Begin(ctx context.Context, number uint64) *Batch[R] {
	b := &Batch[R]{s: s, number: number, mean: s.mean, rows: firstRows, growth: 2}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	if s.opt.Threads > 1 {
		b.workers = newWorkers(s, b.ctx, b.cancel, number)
	}
	return b
}

// Context returns the context for the search. It is also done when an encoder has failed.
func (b *Batch[R]) Context() context.Context { return b.ctx }

// Close releases the context.
func (b *Batch[R]) Close() { b.cancel(nil) }

// Emit encodes the rows of an event from row first on. With several threads it copies them into tasks.
func (b *Batch[R]) Emit(ev *matcher.Event, first int) error {
	n := ev.Records()
	if b.workers == nil {
		return b.inline(ev, first, n)
	}
	return b.gather(ev, first, n)
}

// Finish waits until everything emitted is encoded and sent; if err is not nil, the rest is dropped. All encoder
// goroutines have ended when it returns.
func (b *Batch[R]) Finish(err error) error {
	if err == nil && b.workers != nil {
		err = b.finish()
	}
	if err == nil {
		err = b.flush()
	}
	if err != nil {
		b.cancel(err)
	}
	if b.workers != nil {
		b.workers.stop()
	}
	b.s.mean = b.mean
	if errors.Is(err, context.Canceled) {
		return context.Cause(b.ctx) // of an encoder's, it may be
	}
	return err
}

// Spent returns how long the emitting goroutine has encoded, and how long it has waited for room.
func (b *Batch[R]) Spent() (encoding, waiting time.Duration) { return b.encoding, b.waiting }
