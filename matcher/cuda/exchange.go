//go:build cuda || emu

package cuda

import (
	"context"
	"sync"
	"time"
)

// patience is how long a side without work waits before it asks others for a part of theirs: about as long as a
// handover takes, so that a side that is about to end is seldom asked. Not tuned.
const patience = time.Millisecond

// noShare is the number of no share.
const noShare = -1

// exchange has the sides of a search hand work over to one another. A side without work asks another one. The warps of
// that side park soon. It hands over half of what they have parked and half of its tasks, and both sides go on.
type exchange struct {
	t       *totals
	mu      sync.Mutex
	changed sync.Cond
	closed  bool
	of      []trader // by share
	working int      // how many work
}

// trader is what an exchange knows of a share.
type trader struct {
	works bool
	ready bool      // has begun, so that it can be asked
	spent bool      // has too little work to hand over
	waits bool      // for an answer
	asker int       // the share that waits for its answer, or noShare
	page  []byte    // of the asker, for the answer
	got   *handover // and not begun
}

// newExchange returns the exchange of a search whose first sides have work.
func newExchange(t *totals, ranges [][][2]int) *exchange {
	x := &exchange{t: t, of: make([]trader, len(t.all)), working: len(ranges)}
	x.changed.L = &x.mu
	for i := range x.of {
		x.of[i] = trader{works: i < len(ranges), asker: noShare}
	}
	return x
}

// work has a share search until no share has work. Each share calls it in a goroutine of its own.
func (x *exchange) work(ctx context.Context, i int) error {
	s := x.t.all[i]
	for {
		for s.pass != nil {
			if err := x.answer(i); err != nil {
				return err
			}
			if err := s.launch(ctx); err != nil {
				return err
			}
		}
		if err := x.answer(i); err != nil {
			return err
		}
		h, err := x.ask(ctx, i)
		if h == nil || err != nil {
			return err
		}
		if err := s.receive(h); err != nil {
			return err
		}
	}
}

// answer answers the share that asks share i for work, if one does, between two launches.
func (x *exchange) answer(i int) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	me, s := &x.of[i], x.t.all[i]
	me.ready = true
	if s.pass == nil && me.works {
		me.works = false
		x.working--
		x.changed.Broadcast()
	}
	if me.asker == noShare {
		return nil
	}
	asker := &x.of[me.asker]
	if s.pass != nil {
		h, err := s.pass.handOver(me.page)
		if err != nil {
			return err
		}
		if h == nil {
			me.spent = true
		} else {
			asker.got, asker.works, asker.spent = h, true, false
			x.working++
		}
	}
	asker.waits, me.asker = false, noShare
	x.changed.Broadcast()
	return nil
}

// ask waits until a share without work gets some, or none has any more: then it returns nil.
func (x *exchange) ask(ctx context.Context, i int) (*handover, error) {
	if !x.wait(ctx) {
		return nil, nil
	}
	s := x.t.all[i]
	page, err := s.page()
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	me := &x.of[i]
	asked := noShare
	for {
		if h := me.got; h != nil {
			me.got = nil
			return h, nil
		}
		if x.working == 0 || x.closed {
			return nil, nil
		}
		if !me.waits {
			if asked = x.whom(i); asked != noShare {
				me.waits, x.of[asked].asker, x.of[asked].page = true, i, page
			}
		}
		if asked != noShare { // again: a launch that begins clears the word
			if err := x.t.all[asked].stop(); err != nil {
				return nil, err
			}
		}
		soon, end := x.soon(ctx)
		x.await(soon)
		end()
	}
}

// wait waits for a while, and reports whether some share still works.
func (x *exchange) wait(ctx context.Context) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.working > 0 && x.t.b.opt.Timeout != nil {
		soon, end := x.soon(ctx)
		for x.working > 0 && !x.closed && soon.Err() == nil {
			x.await(soon)
		}
		end()
	}
	return x.working > 0 && !x.closed
}

// soon returns a context that ends after patience, if there is Options.Timeout.
func (x *exchange) soon(ctx context.Context) (context.Context, func()) {
	if x.t.b.opt.Timeout == nil {
		return ctx, func() {}
	}
	return x.t.b.opt.Timeout(ctx, patience)
}

// await waits for a change, or until soon ends. The caller holds mu.
func (x *exchange) await(soon context.Context) {
	defer context.AfterFunc(soon, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.changed.Broadcast()
	})()
	x.changed.Wait()
}

// whom returns the share that share i asks for work, or noShare.
func (x *exchange) whom(i int) int {
	for k := 1; k < len(x.of); k++ {
		v := (i + k) % len(x.of)
		if o := &x.of[v]; o.works && o.ready && !o.spent && o.asker == noShare && x.t.all[v].suits(x.t.all[i]) {
			return v
		}
	}
	return noShare
}

// close ends the exchange: no share gets work any more.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.changed.Broadcast()
}
