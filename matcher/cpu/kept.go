package cpu

import (
	"math"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
)

// keeping decides whether a plan's batches are searched with a candidate space that is kept from batch to batch
// (DESIGN A22): it is made once searches without it, rehearsed ones among them, have made as many steps as a search of
// a whole graph makes before it gets one, and refused where it has nearly the candidates that the filter has, or costs
// too much.
type keeping struct {
	way     *keptWay // nil without
	before  rate     // of searches without it
	upkeep  rate     // the cost of refreshing it
	refused uint     // how often it was refused
	trial   uint64   // Backend.trial when the way was made
	// excluded is the number of anchors that the space excluded when it was asked which plans the batch concerns.
	excluded int
}

// rate holds the number of some anchored searches, and of their steps.
type rate struct{ steps, anchors uint64 }

func (r *rate) add(steps, anchors uint64) { r.steps, r.anchors = r.steps+steps, r.anchors+anchors }

// per returns the steps of an anchored search.
func (r *rate) per() float64 { return float64(r.steps) / float64(max(1, r.anchors)) }

const (
	// leastNarrowed is the least factor (a product over all pattern vertices) by which a kept space must have fewer
	// candidates than the filter.
	leastNarrowed = 1000
	// mostUpkeep bounds the cost of refreshing a kept space, as a part of the known cost of searches without one. The
	// cost of searches with it is not compared: single anchors take more than all others together.
	mostUpkeep = 0.5
	// refusedAgain is the binary logarithm of the factor by which each refusal of a plan's space raises the steps that
	// searches must make before it is tried again.
	refusedAgain = 3
	// drift is the factor by which candidates must grow or shrink for orders to be made anew.
	drift = 2
	// mostKept bounds the memory of all kept spaces, in bytes. Plans that have none when it is reached get none.
	mostKept = 256 << 20
)

// keptWay holds the structures for searching batches with a kept space.
type keptWay struct {
	kept      *space.Kept
	read      uint64 // changes that it knows
	space     *space.Space
	size      int // candidates when it was made
	countPlan *count.Plan
	// orders are those by which the space is searched match by match, by those that the backend keeps, where they were
	// used; keys are of their lists.
	orders map[*program.Order]*program.Order
	keys   *program.ListKeys
	shared *backtrack.Shared // of the batch of phase
	phase  uint64
	idle   []*searcher // of counts match by match; Backend.mu is held
}

// keeps reports whether a request for a count may be searched with a kept space. Views count from labels alone; a batch
// that revises vertices has orders of its own.
func (b *Backend) keeps(c *compiled, r *matcher.Request) bool {
	switch b.how(c, r) {
	case bySums:
		return c.views == nil && b.strategy == count.Auto && b.hasRoom(c)
	case byCounting:
		return !c.plan.Query.IsVertex() && !b.isRevised(c) && b.hasRoom(c)
	}
	return false
}

// hasRoom reports whether a plan has a kept space, or there is room for one more.
func (b *Backend) hasRoom(c *compiled) bool {
	return c.keep.way != nil || (b.kept+1)*int(b.g.IDBound())*space.KeptBytes <= mostKept
}

// allowance returns the number of steps that a search without a kept space may make before there is one.
func (b *Backend) allowance(c *compiled) uint64 {
	if b.spaces {
		return 0
	}
	trial := b.trial(c.plan) << (refusedAgain * c.keep.refused)
	return trial - min(trial, c.keep.before.steps)
}

// keptWay returns the way with the plan's kept space, brought to the staged batch; nil without one.
func (b *Backend) keptWay(c *compiled, stop func() bool) *keptWay {
	w := c.keep.way
	if w == nil {
		if c.keep.before.steps < leastTrial && b.trials == 0 && !b.spaces || b.allowance(c) > 0 {
			return nil
		}
		return b.keep(c, stop)
	}
	if b.refreshed(c) == nil {
		b.dropKept(c)
		return b.keep(c, stop)
	}
	if !b.renew(c, stop) {
		return nil
	}
	return w
}

// refreshed brings the plan's kept space to the staged batch; nil if it is not known what has changed.
func (b *Backend) refreshed(c *compiled) *keptWay {
	w := c.keep.way
	changes, known := b.changes.Since(w.read)
	if !known {
		return nil
	}
	reads := w.kept.Reads
	w.kept.Refresh(changes)
	w.read = b.changes.End()
	c.keep.upkeep.add((w.kept.Reads-reads)/readsPerStep, 0)
	return w
}

// keep makes the plan's kept space; nil when stop is true, or when it is refused.
func (b *Backend) keep(c *compiled, stop func() bool) *keptWay {
	w := &keptWay{read: b.changes.End(), kept: space.Keep(b.g, b.filter, c.plan, stop)}
	if w.kept == nil {
		return nil
	}
	narrowed := 0.0
	for u, n := range w.kept.Candidates {
		narrowed += math.Log(float64(b.filter.Fit(c.plan, u)+1) / float64(n+1))
	}
	if narrowed < math.Log(leastNarrowed) && !b.spaces && !b.keepsAll {
		c.keep.refuse()
		return nil
	}
	w.kept.NewlyCommon = true
	c.keep.way, c.keep.upkeep, c.keep.trial = w, rate{}, b.trial(c.plan)
	b.kept++
	if !b.renew(c, stop) {
		return nil
	}
	return w
}

func (k *keeping) refuse() {
	k.before = rate{}
	k.refused++
}

// renew makes the numbers and the counting plan of a kept space, if need be; false when stop is true.
func (b *Backend) renew(c *compiled, stop func() bool) bool {
	w := c.keep.way
	size := 0
	for _, n := range w.kept.Candidates {
		size += n
	}
	if !w.kept.NewlyCommon && size <= drift*w.size && w.size <= drift*size || w.kept.IsEmpty() {
		return true
	}
	s := w.kept.Space(stop)
	if s == nil {
		return false
	}
	b.forgetCounts(w)
	w.space, w.size = s, size
	if w.countPlan = nil; c.countPlan != nil {
		w.countPlan = count.NewPlan(s.Narrowed, s, true)
		w.countPlan.Know(s.Candidates, s.Pairs)
	}
	w.keys, w.orders, w.shared = new(program.ListKeys), nil, nil
	return true
}

// noteKept takes note of a search with a kept space, which is given up where it costs too much.
func (b *Backend) noteKept(c *compiled, anchors int) {
	k := &c.keep
	k.upkeep.add(0, uint64(anchors))
	switch {
	case k.upkeep.steps < k.trial || b.spaces || b.keepsAll:
	case k.upkeep.per() > mostUpkeep*k.before.per():
		b.dropKept(c)
		k.refuse()
	default:
		k.upkeep = rate{k.upkeep.steps / 2, k.upkeep.anchors / 2}
	}
}

// dropKept gives up a plan's kept space.
func (b *Backend) dropKept(c *compiled) {
	if c.keep.way != nil {
		b.forgetCounts(c.keep.way)
		c.keep.way = nil
		b.kept--
	}
}

// forgetCounts drops what searchers keep of a counting plan that was replaced.
func (b *Backend) forgetCounts(w *keptWay) {
	for _, x := range b.idle {
		x.counter.Forget(w.countPlan)
	}
	if b.counting != nil {
		b.counting.counter.Forget(w.countPlan)
	}
}

// mostChanges is the number of changes that are remembered, above the number of vertices, for spaces that no batch
// asked for.
const mostChanges = 1 << 16

// noteChanges notes what a batch changes for kept spaces.
func (b *Backend) noteChanges(note func(*dyngraph.Delta)) {
	if b.kept == 0 {
		b.changes.Forget(b.changes.End())
		return
	}
	note(b.delta)
	most := uint64(mostChanges) + uint64(b.g.IDBound())
	if b.changes.Len() < most/2 {
		return
	}
	first := b.changes.End()
	for _, c := range b.plans {
		if w := c.keep.way; w != nil {
			first = min(first, w.read)
		}
	}
	if end := b.changes.End(); end-first > most { // some are behind: they are made anew when they are asked for
		first = end - most/2
	}
	b.changes.Forget(first)
}

const (
	// leastTrial is the least result of trial: fewer steps take less time than the overhead of a space.
	leastTrial = 1 << 14
	// smallPattern is the number of vertices up to which a space rarely shortens a pattern's search. Such a search may
	// make smallTrial times as many steps as others before it gets one: if the space does not pay, three percent are
	// lost.
	smallPattern = 8
	smallTrial   = 32
	// readsPerStep is the number of entries of the graph that semi-joins read in the time of one search step.
	readsPerStep = 4
)

// trial returns the number of steps that searches may make before a candidate space is kept for them: by estimate,
// these take as long as making the space. Searches that end before do not pay for one.
func (b *Backend) trial(p *matcher.Plan) uint64 {
	fit := 0
	for v := range p.Query.Vertices {
		fit += b.filter.Fit(p, v)
	}
	vertices := b.g.Vertices()
	reads := int(b.g.IDBound())
	if vertices > 0 {
		reads += int(3 * float64(min(fit, vertices)) * 2 * float64(b.g.Edges()) / float64(vertices))
	}
	return b.trialOf(p, reads)
}

// trialOf is trial for a given number of entries that are read to make the space.
func (b *Backend) trialOf(p *matcher.Plan, reads int) uint64 {
	if b.trials > 0 {
		return b.trials
	}
	steps := max(leastTrial, uint64(reads/readsPerStep))
	if len(p.Query.Vertices) <= smallPattern {
		steps *= smallTrial
	}
	return steps
}
