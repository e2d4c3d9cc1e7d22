package cpu

import (
	"math"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

const (
	// An enumeration may make perStep steps in a rehearsal for each step of counting, which takes longer, and in any
	// case fewSteps.
	fewSteps, perStep = 1 << 10, 1.25
	// In a batch, an enumeration may make mostOver times the steps of counting, as rehearsed, and leastOver more: some
	// anchors take more steps than all others together.
	mostOver, leastOver = 16, 1 << 17
)

// enumerates has a plan's batches searched match by match, if from these tasks that takes hardly more steps than the
// counting that the searcher has just done (DESIGN A24). In a small pattern of one label, most vertices are joined, so
// a count has few independent parts to multiply. Symmetry and shared last steps save an enumeration most of its work.
func (b *Backend) enumerates(s *searcher, c *compiled, tasks []task) bool {
	most := max(uint64(perStep*float64(s.Steps)), fewSteps)
	if b.eachs {
		most = math.MaxUint64
	}
	if c.views != nil || len(c.plan.Query.Vertices) > smallPattern {
		return false
	}
	s.NextRequest(matcher.WantCount)
	s.Interrupted = func() bool { return s.Steps > most }
	each := make([]*program.Order, len(c.count))
	for i := range each {
		each[i] = program.Compile(c.plan, &c.plan.Anchored[i], b.filter, b.columns, true)
	}
	for i := range tasks {
		x := &tasks[i]
		if s.FromAnchor(each[slices.Index(c.count, x.o)], x.inserted(), 0); s.Steps > most {
			return false
		}
	}
	c.each = each
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

// guard returns the limit on the steps of an enumeration from a number of anchors: mostOver times the steps that
// counting takes, as rehearsed, and some more. Beyond the limit the anchors are counted.
func (b *Backend) guard(c *compiled, anchors int) uint64 {
	if b.guards > 0 {
		return b.guards
	}
	return (leastOver + uint64(mostOver*c.keep.before.per()*float64(anchors))) << c.reprieves
}

// judgeEach decides whether a plan is enumerated again, after an enumeration reached its limit. tried is its number of
// steps, counted is the number that counting took in its place. If counting was no cheaper, the limit doubles.
// Otherwise the plan is counted from now on.
func (c *compiled) judgeEach(tried, counted uint64) {
	if counted >= tried {
		c.reprieves++
		return
	}
	c.each = nil
}
