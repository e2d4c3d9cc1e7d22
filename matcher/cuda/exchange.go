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
	got   *handover // to be received
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

// answer is called by share i between two launches. If another share asks it for work, that gets some, or none.
func (x *exchange) answer(i int) (err error) {
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
	asker, h := &x.of[me.asker], (*handover)(nil)
	if s.pass != nil {
		x.mu.Unlock() // nobody else asks this share, and the asker waits
		h, err = s.pass.handOver(me.page)
		x.mu.Lock()
		me.spent = h == nil
	}
	if h != nil {
		asker.got, asker.works, asker.spent = h, true, false
		x.working++
	}
	asker.waits, me.asker = false, noShare
	x.changed.Broadcast()
	return err
}

// ask returns work of another share for share i, which has none. It waits for it; nil: no share has work any more, or
// none may be handed over.
func (x *exchange) ask(ctx context.Context, i int) (*handover, error) {
	if x.t.b.apart || !x.wait(ctx) {
		return nil, nil
	}
	page, err := x.t.all[i].page()
	if page == nil || err != nil {
		return nil, err
	}
	alike, err := x.alike(i)
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
		if x.working == 0 || x.closed || ctx.Err() != nil {
			return nil, nil
		}
		if !me.waits {
			if asked = x.whom(i, alike); asked != noShare {
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

// alike reports, for each share, whether its side's array has the layout of that of share i. Mirrors follow the same
// operations, but one that had to load the graph again, or has other memory, may have another layout.
func (x *exchange) alike(i int) ([]bool, error) {
	own, err := x.t.all[i].side.layoutAt(x.t.b.catchUps)
	if err != nil {
		return nil, err
	}
	all := make([]bool, len(x.t.all))
	for v, s := range x.t.all {
		sum, err := s.side.layoutAt(x.t.b.catchUps)
		if err != nil {
			return nil, err
		}
		all[v] = sum == own
	}
	return all, nil
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

// whom returns the share that share i asks for work, or noShare. alike tells whose layout is that of share i.
func (x *exchange) whom(i int, alike []bool) int {
	for k := 1; k < len(x.of); k++ {
		v := (i + k) % len(x.of)
		o := &x.of[v]
		if o.works && o.ready && !o.spent && o.asker == noShare && alike[v] && x.t.all[v].suits(x.t.all[i]) {
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
