package cpu

import (
	"sync/atomic"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
)

// way is how a whole graph is searched: in which order, or by which counting plan, in which candidate space.
type way struct {
	space     *space.Space
	order     *program.Order // nil if nothing can match
	countPlan *count.Plan    // nil when the search enumerates
	shared    *backtrack.Shared
}

// cheapRound is the most entries of the graph that a round of semi-joins may read if it is made before any search: they
// take less than a millisecond.
const cheapRound = 1 << 16

// wayOf returns the way of a search by enumeration, with a candidate space that is made for it, or with rough, which
// may be nil, refined (DESIGN A22). It returns nil when stop is set. Its time is added to took.
func (b *Backend) wayOf(c *compiled, want matcher.Want, rough *space.Space, stop *atomic.Bool,
	took *matcher.Result) *way {
	began := b.work.Now()
	var s *space.Space
	if rough != nil {
		s = rough.Refine(stop.Load)
	} else {
		s = space.Make(b.g, b.filter, c.plan, &b.signatures, b.limits, stop.Load)
	}
	made := b.work.Now()
	took.FilterNS += made - began
	defer func() { took.OrderNS += b.work.Now() - made }()
	if s == nil {
		return nil
	}
	return b.wayIn(s, c, want)
}

// wayIn returns the way of a search by enumeration in a candidate space.
func (b *Backend) wayIn(s *space.Space, c *compiled, want matcher.Want) *way {
	w := &way{space: s}
	if s.IsEmpty() {
		return w
	}
	p := s.Narrowed
	var order *matcher.Order
	if s.Rough {
		order = c.plan.Static()
	} else {
		of := s.Order()
		order = &of
	}
	symmetric := want == matcher.WantCount || p.Query.Unit == matcher.Subgraphs
	w.order = program.Compile(p, order, s, &program.ListKeys{Still: true}, symmetric)
	w.shared = b.sharedOf(s)
	w.shared.Jumps = want != matcher.WantCount && !s.Rough // of counts see count
	return w
}

// canonicalIn returns the canonical order of a candidate space, which begins with the pattern's first vertex.
func canonicalIn(s *space.Space) *program.CanonicalOrder {
	return program.CompileCanonical(s.Narrowed, s, &matcher.Order{Edge: -1, Steps: []matcher.Step{{}}}, 1)
}

// summingWay returns the way without enumeration; nil where the pattern cannot be counted so, as with conditions
// between elements, or while a batch is staged that revises vertices. Its time is added to took.
func (b *Backend) summingWay(c *compiled, w *way, took *matcher.Result) *way {
	if b.oneByOnes || !c.plan.Query.OwnOnly() || b.delta != nil && len(b.delta.Revised) > 0 {
		return nil
	}
	began := b.work.Now()
	defer func() { took.OrderNS += b.work.Now() - began }()
	sums := &way{space: w.space, order: w.order, shared: w.shared}
	if sums.countPlan = count.NewPlan(w.space.Narrowed, w.space, false); sums.countPlan == nil {
		return nil
	}
	if !w.space.Rough {
		sums.countPlan.Know(w.space.Candidates, w.space.Pairs)
	}
	return sums
}

// jumpingWay returns the way by enumeration with jumps.
func (b *Backend) jumpingWay(w *way) *way {
	jumps := &way{space: w.space, order: w.order, shared: b.sharedOf(w.space)}
	jumps.shared.Jumps = true
	return jumps
}

// sharedOf returns what searches with a candidate space share while the graph and the staged batch stay.
func (b *Backend) sharedOf(s *space.Space) *backtrack.Shared {
	lists, _ := b.spareLists.Get().(*neighbors.Cache)
	if lists == nil {
		lists = &neighbors.Cache{Options: b.neighbors.Options}
		lists.Load(0) // no epoch advances
	}
	shared := &backtrack.Shared{Graph: b.g, Delta: b.delta, Filter: s, Neighbors: lists, Work: &b.work,
		SortMemory: b.opt.GroupMemory, Options: b.shared.Options}
	switch {
	case b.opt.Profile == nil:
	case s.Bare:
		shared.Profile = &b.opt.Profile.shared
	default:
		shared.Profile = b.opt.Profile.addSpace(s)
	}
	return shared
}

// release keeps memory of a way in which nobody searches any more.
func (w *way) release(b *Backend) {
	if w.shared != nil && w.shared.Neighbors.Spare() {
		b.spareLists.Put(w.shared.Neighbors)
	}
}

// searcher returns a worker's searcher. It ends with spare.
func (w *way) searcher(b *Backend, stop *atomic.Bool, want matcher.Want) *searcher {
	s, _ := b.spares.Get().(*searcher)
	if s == nil {
		s = &searcher{}
	}
	s.Attach(w.shared, stop, want)
	if w.countPlan != nil {
		s.counter.Attach(&s.Worker, b.g, w.space)
		s.counter.Strategy = b.strategy
	}
	return s
}

// spare keeps the memory of a searcher that has counted by enumeration for the next search of a whole graph: most take
// less time than it takes to make such memory.
func (w *way) spare(b *Backend, s *searcher, want matcher.Want) {
	if s.Detach(); want == matcher.WantCount && w.countPlan == nil {
		s.UsedUp = nil
		b.spares.Put(s)
	}
}
