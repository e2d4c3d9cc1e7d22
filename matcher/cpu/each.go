package cpu

import (
	"math"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

const (
	// An enumeration may make perStep steps in a rehearsal for each step of counting, which takes longer, and in any
	// case fewSteps. An entry of the graph that it reads for lists stands for perRead steps: a batch has other
	// anchors than the rehearsal, and builds others.
	fewSteps, perStep, perRead = 1 << 10, 2, 0.75
	// In a batch, an enumeration may make mostOver times the steps of counting, as rehearsed, and leastOver more: some
	// anchors take more steps than all others together. An enumeration of a large pattern may make largeOver times the
	// steps of counting, and leastTrial more: there counting may be shorter by any factor, but to begin again costs as
	// much as these steps.
	mostOver, leastOver = 16, 1 << 17
	largeOver           = 2
)

// enumerates has a plan's batches searched match by match, if from these tasks that takes hardly more steps than the
// counting that the searcher has just done (DESIGN A24). In a small pattern of one label, most vertices are joined, so
// a count has few independent parts to multiply. Symmetry and shared last steps save an enumeration most of its work.
// A large pattern is enumerated if its searches are so short that they get no candidate space: then it takes longer to
// make the components of its anchors than to search from these.
func (b *Backend) enumerates(s *searcher, c *compiled, tasks []task) bool {
	most := max(perStep*s.Steps, fewSteps)
	if b.eachs {
		most = math.MaxUint64
	}
	if c.views != nil || c.isLarge() && b.rehearsedLong(c) && !b.eachs {
		return false
	}
	s.NextRequest(matcher.WantCount)
	s.Interrupted = func() bool { return s.Steps > most }
	read, reads := s.ListsRead(), perRead
	if c.isLarge() { // counting makes components, which takes longer than to read lists
		reads = 0
	}
	each := make([]*program.Order, len(c.count))
	for i := range each {
		each[i] = program.Compile(c.plan, &c.plan.Anchored[i], b.filter, b.columns, true)
	}
	for i := range tasks {
		x := &tasks[i]
		s.FromAnchor(each[slices.Index(c.count, x.o)], x.inserted(), 0)
		if s.Steps+uint64(reads*float64(s.ListsRead()-read)) > most {
			return false
		}
	}
	c.each = each
	b.indexed--
	return true
}

// runEach counts a request match by match. It reports false when that takes many more steps than counting is known to
// take: nothing is found then.
func (t *totals) runEach(c *compiled, req *matcher.Request, result *matcher.Result) bool {
	r := &t.run
	if t.b.keeps(c, req) {
		t.onWay(c, result)
	}
	r.each = c.plan.Automorphisms
	r.allow(t.b.guard(c, len(r.tasks)))
	r.runAll()
	if !r.allowed.Over() || result.Over != matcher.NoCause || t.ctx.Err() != nil {
		return true
	}
	r.again(result)
	return false
}

// guard returns the limit on the steps of an enumeration from a number of anchors: some times the steps that counting
// takes, as rehearsed, and some more. Beyond the limit the anchors are counted.
func (b *Backend) guard(c *compiled, anchors int) uint64 {
	if b.guards > 0 {
		return b.guards
	}
	counted := c.keep.before.per() * float64(anchors)
	if c.isLarge() {
		return (leastTrial + uint64(largeOver*counted)) << c.reprieves
	}
	return (leastOver + uint64(mostOver*counted)) << c.reprieves
}

// isLarge reports whether the plan's pattern is not small.
func (c *compiled) isLarge() bool { return len(c.plan.Query.Vertices) > smallPattern }

// judgeEach decides whether a plan is enumerated again, after an enumeration reached its limit. tried is its number of
// steps, counted is the number that counting took in its place. If counting was no cheaper, the limit doubles.
// Otherwise the plan is counted from now on.
func (b *Backend) judgeEach(c *compiled, tried, counted uint64) {
	if counted >= tried {
		c.reprieves++
		return
	}
	c.each = nil
	b.indexed++
}
