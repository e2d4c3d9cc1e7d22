package cpu

import (
	"slices"

	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/work"
)

// adjacency returns the adjacency for counting as the graph is, and makes it when it is not there.
func (b *Backend) adjacency() *labeladj.Index {
	if b.adj == nil || !b.adj.HasWildcards(b.wide) {
		b.adj = labeladj.New(b.g, b.wide, b.delta != nil, func(do func()) { work.Parallel(b.opt.Threads, do) })
	}
	b.adj.CatchUp(b.delta)
	return b.adj
}

// widen makes the adjacency have the wide kinds of a shape, from when it is asked for next.
func (b *Backend) widen(s *count.Plan) {
	for _, w := range s.Wildcards {
		if !slices.Contains(b.wide, w) {
			b.wide = append(b.wide, w)
		}
	}
}

// prepareWide drops the wide kinds that no plan has any more, and adds those of the plans that are counted in every
// batch.
func (b *Backend) prepareWide() {
	var all []labeladj.Wildcard
	for _, c := range b.plans {
		if c.shape != nil {
			all = append(all, c.shape.Wildcards...)
		}
	}
	b.wide = slices.DeleteFunc(b.wide, func(w labeladj.Wildcard) bool { return !slices.Contains(all, w) })
	for p, c := range b.plans {
		if c.summed() && !b.filter.Dormant(p) {
			b.widen(c.shape)
		}
	}
}
