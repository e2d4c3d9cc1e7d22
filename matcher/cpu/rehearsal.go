package cpu

import (
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/program"
)

// A plan that batches are counted for is rehearsed when it is prepared, from edges of the graph as if a batch had
// inserted them. So what is made once is not made by the first batch (components of the counting plan, a worker's
// memory, the index by label), and it is known how the plan is best searched: with a candidate space (DESIGN A22), or
// by enumeration (A24).

const (
	// mostRehearsed bounds the steps of a plan's rehearsal in each way of searching.
	mostRehearsed = 1 << 15
	// rehearsedAnchors is the most anchors that a plan is rehearsed from, and lookedAt of how many edges of the graph
	// they are taken. If these have less than fewAnchors, up to mostLookedAt edges are looked at, or until mostFits
	// pattern edges have their labels.
	rehearsedAnchors = 128
	lookedAt         = 1 << 12
	fewAnchors       = 16
	mostLookedAt     = 1 << 16
	mostFits         = 1 << 20
	// mostForeseen bounds the components of a counting plan that are made in a rehearsal though it does not use them.
	mostForeseen = 512
	// rehearsedWorth is the assumed ratio of the steps of the first batches to those of a rehearsal.
	rehearsedWorth = 8
)

// rehearse rehearses plans that are new.
func (b *Backend) rehearse(made []*compiled) {
	made = b.rehearsable(made)
	if len(made) == 0 {
		return
	}
	tasks := b.sampleTasks(made)
	profile := b.shared.Profile // of searches that somebody asked for
	b.shared.Profile = nil
	defer func() { b.shared.Profile = profile }()
	var stop atomic.Bool
	s := b.newSearcher(&stop, matcher.WantCount)
	defer b.release(s)
	for i, c := range made {
		if len(tasks[i]) == 0 && (c.countPlan == nil || !c.isLarge()) {
			continue
		}
		most := min(b.trial(c.plan), mostRehearsed)
		if c.countPlan == nil {
			b.rehearseOnes(s, c, tasks[i], most, &stop)
			continue
		}
		done := b.rehearseCounts(s, c.countPlan, c.views.Counted(), tasks[i], most)
		c.keep.before.add(s.Steps, uint64(done))
		if b.enumerates(s, c, tasks[i][:done]) {
			b.nets.KeepOrders = true
			continue
		}
		s.counter.MakeComponents(mostForeseen)
		req := matcher.Request{Plan: c.plan, Want: matcher.WantCount}
		if b.keeps(c, &req) && b.rehearsedLong(c) {
			if w := b.keep(c, stop.Load); w != nil && !w.kept.IsEmpty() {
				s.counter.Read(w.space)
				b.rehearseCounts(s, w.countPlan, nil, tasks[i], most)
				s.counter.MakeComponents(mostForeseen)
				s.counter.Read(b.filter)
			}
		}
	}
}

// rehearsable returns those of some plans that are rehearsed: what they are counted by is known to be the tasks of
// their net edges, which are not asked for values. An index with further wildcards is made of the whole graph for each
// that comes: it is left to the first batch.
func (b *Backend) rehearsable(made []*compiled) (of []*compiled) {
	if b.opt.Lazy || b.g.Edges() == 0 || b.strategy != count.Auto {
		return nil
	}
	if len(b.wildcards) > 0 && (b.index == nil || !b.index.HasWildcards(b.wildcards)) {
		return nil
	}
	for _, c := range made {
		q := c.plan.Query
		if q.Emit == matcher.EmitCounts && c.plan.ForBatches() && q.OwnOnly() && !q.IsVertex() && c.plan.Own == nil &&
			!b.filter.Dormant(c.plan) && (c.views == nil || c.views.Cyclic) {
			of = append(of, c)
		}
	}
	return of
}

// sampleTasks returns tasks of each plan, from edges all over the graph.
func (b *Backend) sampleTasks(made []*compiled) [][]task {
	plans := make([]*matcher.Plan, len(made))
	for i, c := range made {
		plans[i] = c.plan
	}
	var fits matcher.Anchors[int] // of these alone: there may be very many others
	fits.Set(plans, func(i, _ int) int { return i })
	tasks := make([][]task, len(made))
	view, bits, words := b.g.View(dyngraph.New), b.filter.Bits(), b.filter.Words()
	fit := 0
	look := func(e dyngraph.EdgeIndex, most int) {
		if !view.Visible(e) {
			return
		}
		from, to, label := view.Edge(e)
		if b.g.HasParallel(label) {
			return
		}
		list := fits.Of(view.Label(from), label, view.Label(to)).List
		if len(list) == 0 {
			return
		}
		if g := b.nets.Know(b.g, view.Label(from), label, view.Label(to)); g != nil {
			b.fitsOf(g) // so that no batch is the first to ask for it
		}
		fit += len(list)
		for _, f := range list {
			i := f.Of
			if len(tasks[i]) >= most {
				continue
			}
			o := made[i].count[f.Order]
			if o.Steps[0].Test.Of(bits[int(from)*words:]) && o.Steps[1].Test.Of(bits[int(to)*words:]) {
				tasks[i] = append(tasks[i], task{o: o, NetPair: program.NetPair{From: from, To: to}, label: label})
			}
		}
	}
	lacking := func() bool {
		return fit < mostFits && slices.ContainsFunc(tasks, func(of []task) bool { return len(of) < fewAnchors })
	}
	bound := b.g.EdgeBound()
	stride, most := max(1, bound/lookedAt), rehearsedAnchors
	for first := uint32(0); first < min(stride, mostLookedAt/lookedAt) && (first == 0 || lacking()); first++ {
		for e := first; e < bound; e += stride {
			look(dyngraph.EdgeIndex(e), most)
		}
		most = fewAnchors
	}
	return tasks
}

// rehearseCounts counts from tasks by a counting plan, in about as many steps at most. It returns how many are done.
func (b *Backend) rehearseCounts(s *searcher, p *count.Plan, elsewhere []bool, tasks []task, most uint64) (done int) {
	s.NextRequest(matcher.WantCount)
	s.Interrupted = func() bool { return s.Steps >= most }
	s.counter.Start(p, b.labelIndex(), elsewhere)
	for done < len(tasks) && s.Steps < most {
		x := &tasks[done]
		s.counter.FromAnchor(x.anchor(), dyngraph.Inserted, x.NetPair, x.label, 0, dyngraph.NoEdge)
		done++
		if s.Stopped {
			break
		}
	}
	return done
}

// rehearsedLong reports whether the rehearsal of a plan took many steps. Then the plan gets a candidate space.
func (b *Backend) rehearsedLong(c *compiled) bool {
	return b.spaces || c.keep.before.steps*rehearsedWorth >= b.trial(c.plan)
}

// rehearseOnes rehearses a plan that is always counted match by match. It makes orders for the space that it gets.
func (b *Backend) rehearseOnes(s *searcher, c *compiled, tasks []task, most uint64, stop *atomic.Bool) {
	s.NextRequest(matcher.WantCount)
	s.Interrupted = func() bool { return s.Steps >= most }
	done := uint64(0)
	for i := range tasks {
		if s.FromAnchor(tasks[i].o, tasks[i].inserted(), 0); s.Stopped || s.Steps >= most {
			break
		}
		done++
	}
	c.keep.before.add(s.Steps, max(1, done))
	req := matcher.Request{Plan: c.plan, Want: matcher.WantCount}
	if b.keeps(c, &req) && b.rehearsedLong(c) {
		if w := b.keep(c, stop.Load); w != nil {
			w.onWay(c, w.admitted(tasks))
		}
	}
}
