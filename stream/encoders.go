package stream

import (
	"fmt"
	"sync"
	"time"
)

// encoders are the goroutines that encode the units of one batch, each one unit at a time. They are started when
// there is something for them.
type encoders struct {
	e    *emitter
	todo chan *encodeTask
	wg   sync.WaitGroup
	n    int // that were started

	// flight are the units that were handed over and not received, in order. Encoders may be as many units ahead of the
	// one whose turn it is as there are encoders, so that one that takes long keeps none waiting.
	flight []*encodeTask
}

func newEncoders(e *emitter) *encoders {
	return &encoders{e: e}
}

// most is how many units may be in flight.
func (c *encoders) most() int { return 2 * c.e.p.opt.EncodeThreads }

// put hands a unit over; there is room for it.
func (c *encoders) put(u *encodeTask) {
	if c.todo == nil {
		c.todo = make(chan *encodeTask, c.most())
	}
	c.flight = append(c.flight, u)
	c.todo <- u
	if c.n < c.e.p.opt.EncodeThreads {
		c.n++
		lane := Lane(fmt.Sprintf("%s %d", LaneEncoder, c.n))
		c.wg.Go(func() { c.run(lane) })
	}
}

// run is an encoder's goroutine.
func (c *encoders) run(lane Lane) {
	e := c.e
	for u := range c.todo {
		begin := time.Now()
		if u.encode(e.ctx, e.p, e.batch); u.err != nil {
			e.cancel(u.err) // whoever searches or waits
		}
		e.p.opt.Observer.Span(Span{Lane: lane, What: "encode", Batch: e.batch, Begin: begin, End: time.Now()})
		u.done <- struct{}{}
	}
}

// next returns the unit whose turn it is, once it is encoded; nil when there is none, or none that is and wait is
// false.
func (c *encoders) next(wait bool) (*encodeTask, error) {
	if len(c.flight) == 0 {
		return nil, nil
	}
	u := c.flight[0]
	if wait {
		<-u.done // soon, whatever happens: no encoder waits for anything
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
func (c *encoders) stop() {
	if c.todo != nil {
		close(c.todo)
		c.wg.Wait()
	}
}
