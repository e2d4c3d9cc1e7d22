package cpu

import (
	"slices"

	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/work"
)

// labelIndex returns the index by label of the graph with the staged batch. It makes the index if there is none, or
// none with the wildcards.
func (b *Backend) labelIndex() *labeladj.Index {
	if b.index == nil || !b.index.HasWildcards(b.wildcards) {
		b.index = labeladj.New(b.g, b.wildcards, b.delta != nil, func(do func()) { work.Parallel(b.opt.Threads, do) })
	}
	b.index.CatchUp(b.delta)
	return b.index
}

// addWildcards adds the wildcards of a plan to the next index.
func (b *Backend) addWildcards(s *count.Plan) {
	for _, w := range s.Wildcards {
		if !slices.Contains(b.wildcards, w) {
			b.wildcards = append(b.wildcards, w)
		}
	}
}

// prepareWildcards drops the wildcards that no plan has, and adds those of the plans that are counted in every batch.
func (b *Backend) prepareWildcards() {
	var all []labeladj.Wildcard
	for _, c := range b.plans {
		if c.countPlan != nil {
			all = append(all, c.countPlan.Wildcards...)
		}
	}
	b.wildcards = slices.DeleteFunc(b.wildcards, func(w labeladj.Wildcard) bool { return !slices.Contains(all, w) })
	for p, c := range b.plans {
		if c.summed() && !b.filter.Dormant(p) {
			b.addWildcards(c.countPlan)
		}
	}
}
