package cpu

import (
	"slices"
	"sync/atomic"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// Counts match by match with a kept space: of patterns that are always counted so, and of those for which it was found
// to be faster (see enumerates).

// countsAs returns the order that counts the matches of one that the backend keeps, made when it is first asked for.
func (w *keptWay) countsAs(c *compiled, o *program.Order) *program.Order {
	return w.orderAs(o, func() *program.Order {
		at := slices.Index(c.count, o)
		if at < 0 {
			at = slices.Index(c.each, o)
		}
		order := w.space.Anchored(&c.plan.Anchored[at])
		return program.Compile(w.space.Narrowed, &order, w.space, w.keys, true)
	})
}

// onWay gives tasks the orders of a kept space.
func (w *keptWay) onWay(c *compiled, tasks []task) {
	for i := range tasks {
		tasks[i].o = w.countsAs(c, tasks[i].o)
	}
}

// admitted leaves out the tasks whose ends a kept space excludes.
func (w *keptWay) admitted(tasks []task) []task {
	left := tasks[:0]
	if w.kept.IsEmpty() {
		return left
	}
	bits, words := w.space.Bits(), w.space.Words()
	for _, x := range tasks {
		from, to := w.space.Test(nil, x.o.Steps[0].Vertex), w.space.Test(nil, x.o.Steps[1].Vertex)
		if from.Of(bits[int(x.From)*words:]) && to.Of(bits[int(x.To)*words:]) {
			left = append(left, x)
		}
	}
	return left
}

// searcher returns a searcher for counts match by match. It ends with release.
func (w *keptWay) searcher(b *Backend, stop *atomic.Bool) *searcher {
	b.mu.Lock()
	var s *searcher
	if n := len(w.idle); n > 0 {
		s, w.idle = w.idle[n-1], w.idle[:n-1]
	} else {
		s = &searcher{}
	}
	b.mu.Unlock()
	s.Attach(w.shared, stop, matcher.WantCount)
	return s
}

func (w *keptWay) release(b *Backend, s *searcher) {
	s.Detach()
	b.mu.Lock()
	defer b.mu.Unlock()
	w.idle = append(w.idle, s)
}
