package encode

import (
	"context"
	"sync"
	"time"
)

// workers are the goroutines that encode the tasks of one batch, each one task at a time. They are started when there
// is something for them.
type workers[R any] struct {
	s     *Stage[R]
	ctx   context.Context
	fail  func(error) // ends the batch
	batch uint64
	todo  chan *task[R]
	wg    sync.WaitGroup
	n     int // that were started

	// flight are the tasks that were handed over and not received, in order. Workers may be as many tasks ahead of the
	// one whose turn it is as there are workers, so that one that takes long keeps none waiting.
	flight []*task[R]
}

func newWorkers[R any](s *Stage[R], ctx context.Context, fail func(error), batch uint64) *workers[R] {
	return &workers[R]{s: s, ctx: ctx, fail: fail, batch: batch}
}

// most is how many tasks may be in flight.
func (c *workers[R]) most() int { return 2 * c.s.opt.Threads }

// put hands a task over; there is room for it.
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

// run is a worker's goroutine.
func (c *workers[R]) run(worker int) {
	for u := range c.todo {
		begin := time.Now()
		if u.encode(c.ctx, c.s, c.batch); u.err != nil {
			c.fail(u.err) // ends the search and all that wait
		}
		c.s.opt.Span(Span{Worker: worker, What: "encode", Batch: c.batch, Begin: begin, End: time.Now()})
		u.done <- struct{}{}
	}
}

// next returns the task whose turn it is, once it is encoded; nil when there is none, or none that is and wait is
// false.
func (c *workers[R]) next(wait bool) (*task[R], error) {
	if len(c.flight) == 0 {
		return nil, nil
	}
	u := c.flight[0]
	if wait {
		<-u.done // soon, whatever happens: no worker waits for anything
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

// stop ends the goroutines, once they have looked at all that was handed over.
func (c *workers[R]) stop() {
	if c.todo != nil {
		close(c.todo)
		c.wg.Wait()
	}
}
