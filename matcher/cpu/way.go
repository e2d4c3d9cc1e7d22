package cpu

import (
	"sync/atomic"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/internal/candidates"
)

// way is how a whole graph is searched: in which order, or by which counting plan, and with which candidate bits.
type way struct {
	order     *program.Order
	countPlan *count.Plan // nil when the search enumerates
	bits      candidates.Source
	shared    *backtrack.Shared
	canonical func() *program.CanonicalOrder
	own       bool // nothing of it may outlive the search
}

// plainWay is the way with what the backend keeps of a plan.
func (b *Backend) plainWay(c *compiled, want matcher.Want) *way {
	w := &way{order: c.rowsAll, bits: b.filter, shared: &b.shared}
	w.canonical = func() *program.CanonicalOrder { return c.canonical(b.filter, -1) }
	if want == matcher.WantCount {
		w.order = c.countAll
		if !b.isRevised(c) {
			w.countPlan = c.countPlan
		}
	}
	return w
}

// spaceWay is the way with a candidate space that is made for the search (DESIGN A22); nil when stop is set. It finds
// nothing if it has no order. Its time is added to took.
func (b *Backend) spaceWay(c *compiled, want matcher.Want, stop *atomic.Bool, took *matcher.Result) *way {
	began := b.work.Now()
	s := space.Make(b.g, b.filter, c.plan, stop.Load)
	made := b.work.Now()
	took.FilterNS += made - began
	defer func() { took.OrderNS += b.work.Now() - made }()
	if s == nil {
		return nil
	}
	if s.IsEmpty() {
		return &way{}
	}
	p, order := s.Narrowed, s.Order()
	w := &way{bits: s, own: true}
	if want == matcher.WantCount && c.countPlan != nil && !b.isRevised(c) {
		if w.countPlan = count.NewPlan(p, s, false); w.countPlan != nil {
			w.countPlan.Images, w.countPlan.Pairs = s.Candidates, s.Pairs
		}
	}
	symmetric := p.Query.Unit == matcher.Subgraphs
	if want == matcher.WantCount {
		symmetric = c.countPlan == nil // see compiled.inUnits
	}
	w.order = program.Compile(p, &order, s, new(program.ListKeys), symmetric)
	w.canonical = func() *program.CanonicalOrder {
		return program.CompileCanonical(p, s, &matcher.Order{Edge: -1, Steps: []matcher.Step{{}}}, 1)
	}
	w.shared = b.sharedOf(s)
	return w
}

// sharedOf returns what searches with a candidate space share while the graph and the staged batch stay.
func (b *Backend) sharedOf(s *space.Space) *backtrack.Shared {
	lists := &neighbors.Cache{Options: b.neighbors.Options}
	lists.Load(0) // no epoch advances
	shared := &backtrack.Shared{Graph: b.g, Delta: b.delta, Filter: s, Neighbors: lists, Work: &b.work,
		SortMemory: b.opt.GroupMemory, Options: b.shared.Options, Jumps: true}
	if b.opt.Profile != nil {
		shared.Profile = b.opt.Profile.addSpace(s)
	}
	return shared
}

// searcher returns a worker's searcher. It ends with done.
func (w *way) searcher(b *Backend, stop *atomic.Bool, want matcher.Want) *searcher {
	if !w.own {
		return b.newSearcher(stop, want)
	}
	s := &searcher{}
	s.Attach(w.shared, stop, want)
	s.counter.Attach(&s.Worker, b.g, w.bits)
	s.counter.Strategy = b.strategy
	return s
}

// done keeps the searcher's caches if another search may use them.
func (w *way) done(b *Backend, s *searcher) {
	if w.own {
		s.Detach()
		return
	}
	b.release(s)
}

const (
	// leastTrial is the least number of steps of a search before a candidate space is made for it: fewer take less time
	// than all that comes with one.
	leastTrial = 1 << 14
	// smallPattern is the number of vertices up to which a pattern's search is rarely one that a space shortens.
	// smallTrial is how many times the steps of others it may make: what is lost where it does not pay is three
	// percent.
	smallPattern = 8
	smallTrial   = 32
	// readsPerStep is how many entries of the graph semi-joins read in the time of one step of a search.
	readsPerStep = 4
)

// trial is how many steps a search of a whole graph may make before a candidate space is made for it: about as many as
// take the time of making it, by estimate. Searches that end before do not pay for it.
func (b *Backend) trial(p *matcher.Plan) uint64 {
	if b.trials > 0 {
		return b.trials
	}
	fit := 0
	for v := range p.Query.Vertices {
		fit += b.filter.Fit(p, v)
	}
	vertices := b.g.Vertices()
	reads := uint64(b.g.IDBound())
	if vertices > 0 {
		reads += uint64(3 * float64(min(fit, vertices)) * 2 * float64(b.g.Edges()) / float64(vertices))
	}
	steps := max(leastTrial, reads/readsPerStep)
	if len(p.Query.Vertices) <= smallPattern {
		steps *= smallTrial
	}
	return steps
}
