package encode

import (
	"context"
	"errors"
	"time"

	"motifd/matcher"
)

// Batch has the events of one batch encoded and sent. It is used by the goroutine that emits.
type Batch[R any] struct {
	s      *Stage[R]
	ctx    context.Context // done when an encoder failed, too
	cancel context.CancelCauseFunc
	number uint64

	chunk *[]R // that is being filled here
	cost  int64
	mean  int64 // cost of a record, in what was encoded last; pieceBytes before the first

	workers *workers[R] // nil with one thread
	task    *task[R]    // that is being filled; nil or not empty
	rows    int         // it is to have, if records are not large
	growth  int         // from task to task

	encoding, waiting time.Duration
	piece             pieces // since the last chunk was sent
}

// Begin returns a batch, of which Finish is to be called unless nothing is emitted. Close is to be called in any case.
func (s *Stage[R]) Begin(ctx context.Context, number uint64) *Batch[R] {
	b := &Batch[R]{s: s, number: number, mean: s.mean, rows: firstRows, growth: 2}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	if s.opt.Threads > 1 {
		b.workers = newWorkers(s, b.ctx, b.cancel, number)
	}
	return b
}

// Context is what the search runs with: it is done when an encoder has failed, too.
func (b *Batch[R]) Context() context.Context { return b.ctx }

// Close releases the context.
func (b *Batch[R]) Close() { b.cancel(nil) }

// Emit takes the rows of an event from row first on.
func (b *Batch[R]) Emit(ev *matcher.Event, first int) error {
	n := ev.Records()
	if b.workers == nil {
		return b.inline(ev, first, n)
	}
	return b.gather(ev, first, n)
}

// Finish returns when all that was emitted is encoded and sent, or given up if err is not nil. No goroutine is left
// then.
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

// Spent tells how long the goroutine that emits has encoded, and waited for room.
func (b *Batch[R]) Spent() (encoding, waiting time.Duration) { return b.encoding, b.waiting }
