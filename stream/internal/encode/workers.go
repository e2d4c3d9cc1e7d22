package encode

import (
	"context"
	"sync"
	"time"
)

// workers are the goroutines that encode the tasks of one batch, each one task at a time. A goroutine is started for
// each of the first tasks, up to Options.Threads.
type workers[R any] struct {
	s     *Stage[R]
	ctx   context.Context
	fail  func(error) // ends the batch
	batch uint64
	todo  chan *task[R]
	wg    sync.WaitGroup
	n     int // started goroutines

	// flight holds the tasks that are handed over and not received, in order. There may be twice as many as workers, so
	// that one slow task does not leave the other workers idle.
	flight []*task[R]
}

func newWorkers[R any](s *Stage[R], ctx context.Context, fail func(error), batch uint64) *workers[R] {
	return &workers[R]{s: s, ctx: ctx, fail: fail, batch: batch}
}

// most returns the maximum number of tasks in flight.
func (c *workers[R]) most() int { return 2 * c.s.opt.Threads }

// put hands a task over. The caller has checked that there is room.
func (c *workers[R]) put(u *task[R]) {
	if c.todo == nil {
		c.todo = make(chan *task[R], c.most())
	}
	c.flight = append(c.flight, u)
	c.todo <- u
	if c.n < c.s.opt.Threads {
		c.n++
		worker := c.n
		c.wg.Go(func() { c.run(worker) })
	}
}

// run encodes tasks until todo is closed.
func (c *workers[R]) run(worker int) {
	for u := range c.todo {
		begin := time.Now()
		if u.encode(c.ctx, c.s); u.err != nil {
			c.fail(u.err) // ends the search and all waits
		}
		c.s.opt.Span(Span{Worker: worker, What: "encode", Batch: c.batch, Begin: begin, End: time.Now()})
		u.done <- struct{}{}
	}
}

// next returns the oldest task when it is encoded. It returns nil if there is no task, or if the task is not encoded
// and wait is false.
func (c *workers[R]) next(wait bool) (*task[R], error) {
	if len(c.flight) == 0 {
		return nil, nil
	}
	u := c.flight[0]
	if wait {
		<-u.done // always comes: a worker never blocks
	} else {
		select {
		case <-u.done:
		default:
			return nil, nil
		}
	}
	c.flight = c.flight[1:]
	return u, u.err
}

// stop ends the goroutines after they have finished the tasks that were handed over.
func (c *workers[R]) stop() {
	if c.todo != nil {
		close(c.todo)
		c.wg.Wait()
	}
}
