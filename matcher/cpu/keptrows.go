package cpu

import (
	"context"
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
)

// keepsRows reports whether a request for rows may be searched with a kept space. One with a cap may go over to the
// canonical search, which has none; a batch that revises vertices has orders of its own.
func (b *Backend) keepsRows(c *compiled, r *matcher.Request) bool {
	return r.Want == matcher.WantRows && r.Limit == 0 && !c.plan.Query.IsVertex() && !b.isRevised(c) && !b.apart &&
		b.hasRoom(c)
}

// chooseWays finds the requests that have kept spaces; false when ctx is done.
func (s *rowSearch) chooseWays(ctx context.Context) bool {
	var stop atomic.Bool
	defer work.StopWith(ctx, &stop)()
	for i := range s.reqs {
		c := s.b.plans[s.reqs[i].Plan]
		if s.isJoined(i) || !s.b.keepsRows(c, &s.reqs[i]) {
			continue
		}
		if w := s.b.keptWay(c, stop.Load); w != nil {
			s.b.readyOrders(w)
			s.of[i].way, s.of[i].endings.Shared = w, &s.b.shared
		}
	}
	return !stop.Load()
}

// readyOrders makes ready what searches match by match share. Lists of neighbours hold for one batch.
func (b *Backend) readyOrders(w *keptWay) {
	if w.shared != nil && w.phase == b.phase || w.kept.IsEmpty() {
		return
	}
	w.phase, w.shared = b.phase, b.sharedOf(w.space)
}

// onWays gives the starts of a net edge the orders of the kept spaces, and leaves out those whose ends these exclude.
func (s *rowSearch) onWays(starts []start, n *dyngraph.NetEdge) []start {
	left := starts[:0]
	for _, x := range starts {
		of := &s.of[x.request]
		of.anchors++
		if w := of.way; w != nil {
			if w.kept.IsEmpty() {
				continue
			}
			x.order = w.rowsAs(s.b.plans[s.reqs[x.request].Plan], x.order)
			bits, words := w.space.Bits(), w.space.Words()
			if !x.order.Steps[0].Passes(bits[int(n.From)*words:]) || !x.order.Steps[1].Passes(bits[int(n.To)*words:]) {
				continue
			}
		}
		left = append(left, x)
	}
	return left
}

// rowsAs returns the order that finds the rows of one that the backend keeps, made when it is first asked for.
func (w *keptWay) rowsAs(c *compiled, o *program.Order) *program.Order {
	return w.orderAs(o, func() *program.Order {
		return program.CompileRowsOf(w.space.Narrowed, w.space, w.keys, slices.Index(c.rows, o), w.space.Anchored)
	})
}

// orderAs returns the order that stands for one that the backend keeps. It is made when it is first asked for.
func (w *keptWay) orderAs(o *program.Order, make func() *program.Order) *program.Order {
	to := w.orders[o]
	if to == nil {
		if w.orders == nil {
			w.orders = map[*program.Order]*program.Order{}
		}
		to = make()
		w.orders[o] = to
	}
	return to
}

// noteWays takes note of what the requests for rows took.
func (s *rowSearch) noteWays() {
	for i := range s.reqs {
		c, of := s.b.plans[s.reqs[i].Plan], &s.of[i]
		switch {
		case !s.b.keepsRows(c, &s.reqs[i]):
		case s.isJoined(i): // it would have taken no more
			of = &s.of[s.leader[i]]
			c.keep.before.add(uint64(of.steps.Load()), uint64(of.anchors))
		case of.way != nil:
			s.b.noteKept(c, of.anchors)
			of.endings.Release()
		default:
			c.keep.before.add(uint64(of.steps.Load()), uint64(of.anchors))
		}
	}
}
