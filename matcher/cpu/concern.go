package cpu

import (
	"iter"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/internal/truths"
)

// anchorOrder is an oriented pattern edge in the index of anchors, with the candidate bits that its ends must have. The
// bits decide whether a net edge with its labels can be an anchor, without reading the plan.
type anchorOrder struct {
	c        *compiled
	o        *program.Order // of rows; may be nil
	from, to uint32         // numbers of the candidate bits; the labels are known to fit
	how      anchorCheck
	hasViews bool         // the plan keeps counts from batch to batch, or did once: labels suffice
	test     *truths.Test // of the anchor's edge alone; nil if there is none
}

type anchorCheck uint8

const (
	byBits  anchorCheck = iota
	bySteps             // one of several bits suffices
	never               // rows of another order include it, or nothing can fit
	byGroup             // counted without enumeration: by groups of net edges, not one by one
)

func newAnchorOrder(c *compiled, order int) anchorOrder {
	q, o := c.plan.Query, c.rows[order]
	f := anchorOrder{c: c, o: o}
	if q.Emit == matcher.EmitCounts {
		o = c.count[order]
	}
	switch {
	case c.summed(): // all conditions are on one element
		f.how, f.hasViews = byGroup, c.views != nil
		f.from, f.to = bitOf(&o.Steps[0]), bitOf(&o.Steps[1])
	case o == nil:
		f.how = never
		return f
	case len(o.Steps[0].OrTests)+len(o.Steps[1].OrTests) > 0:
		f.how = bySteps
	default:
		f.from, f.to = bitOf(&o.Steps[0]), bitOf(&o.Steps[1])
		if f.from == noBit || f.to == noBit {
			f.how = never
		}
	}
	f.test = o.AnchorTest
	return f
}

// meets reports whether the version of a net edge that is its sign's passes a test of it alone, if there is one. An
// update that does not costs nothing more.
func (b *Backend) meets(test *truths.Test, order uint32) bool {
	return test == nil || test.Passes(b.filter.Truths().OfNet(order))
}

// noBit stands for a test that no vertex passes.
const noBit = ^uint32(0)

func bitOf(s *program.Step) uint32 {
	if bit, some := s.Test.Bit(); some {
		return bit
	}
	return noBit
}

// has reports whether a candidate bit is set.
func has(bits []uint64, bit uint32) bool { return bits[bit>>6]>>(bit&63)&1 != 0 }

// admits reports whether the ends of a net edge are candidates for the first two steps of an order of rows; false if
// the order is nil.
func (b *Backend) admits(o *program.Order, n *dyngraph.NetEdge) bool {
	bits, words := b.filter.Bits(), b.filter.Words()
	return o != nil && o.Steps[0].Passes(bits[int(n.From)*words:]) && o.Steps[1].Passes(bits[int(n.To)*words:])
}

// concernEdge notes the plans of which a net edge can be the anchor: it has the labels of an oriented pattern edge,
// meets its conditions and, where this is checked, has candidates at both ends.
func (b *Backend) concernEdge(order int, note func(c *compiled, sign dyngraph.Sign)) {
	n := &b.delta.Net[order]
	candidates, words := b.filter.Bits(), b.filter.Words()
	from, to := candidates[int(n.From)*words:], candidates[int(n.To)*words:]
	entry := b.anchors.Of(n.Labels[0], n.Label, n.Labels[1])
	for k := range b.maybe(indexOf(entry), len(entry.List), uint32(order)) {
		f := &entry.List[k].Of
		if f.how == byBits && has(from, f.from) && has(to, f.to) || f.how == bySteps && b.admits(f.o, n) {
			if *f.c.missing == 0 && f.c.noted[program.SignIndex(n.Sign)] != b.phase && b.meets(f.test, uint32(order)) &&
				b.keptAdmits(f.c, entry.List[k].Order, program.NetPair{From: n.From, To: n.To}) {
				note(f.c, n.Sign)
			}
		}
	}
}

// indexOf returns the index of the tests of fits, made when it is missing; nil for few.
func indexOf(entry *matcher.AnchorEntry[anchorOrder]) *truths.Index {
	if len(entry.List) <= manyFits {
		return nil
	}
	x, made := entry.Index.(*truths.Index)
	if !made {
		x = newIndex(len(entry.List), func(k int) *truths.Test { return entry.List[k].Of.test })
		entry.Index = x
	}
	return x
}

// newIndex returns the index of n tests, nil if most of them are none.
func newIndex(n int, test func(k int) *truths.Test) *truths.Index {
	tests, some := make([]*truths.Test, n), 0
	for k := range tests {
		if tests[k] = test(k); tests[k] != nil {
			some++
		}
	}
	if some < n/2 {
		return nil
	}
	return truths.NewIndex(tests)
}

// maybe yields, in order, the numbers of those of n tests that a net edge may pass, by their index; of all without one.
func (b *Backend) maybe(x *truths.Index, n int, order uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		if x == nil {
			for k := range n {
				if !yield(k) {
					return
				}
			}
			return
		}
		b.passed = slices.Grow(b.passed[:0], (n+63)/64)[:(n+63)/64]
		clear(b.passed)
		x.Mark(b.filter.Truths().OfNet(order), b.passed)
		for w, set := range b.passed {
			for ; set != 0; set &= set - 1 {
				if !yield(w<<6 | bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}

// fewNet is the number of net edges up to which a batch is asked first whether it may concern any plan: most updates
// of a graph with many labels fit none.
const fewNet = 8

// mayConcern reports whether some net edge has the labels of a pattern edge, or whether it is not asked.
func (b *Backend) mayConcern() bool {
	d := b.delta
	if len(d.Net) > fewNet || len(d.Revised) > 0 {
		return true
	}
	return slices.ContainsFunc(d.Net, func(n dyngraph.NetEdge) bool {
		return n.Vertex || b.anchors.MayFit(n.Labels[0], n.Label, n.Labels[1])
	})
}

// Concern reports the plans that a staged batch concerns; see matcher.Capabilities.
func (b *Backend) Concern(note func(plan int, sign dyngraph.Sign)) {
	if !b.concerns {
		return
	}
	noteOnce := func(c *compiled, sign dyngraph.Sign) {
		if noted := &c.noted[program.SignIndex(sign)]; *noted != b.phase {
			*noted = b.phase
			note(c.at, sign)
		}
	}
	if b.summed > 0 {
		b.concernGroups(noteOnce)
	}
	if b.summed < len(b.plans) || len(b.delta.Revised) > 0 {
		b.concernEdges(noteOnce)
	}
	b.noteExcluded()
}

// concernEdges notes the plans that net edges and revised vertices concern, one by one.
func (b *Backend) concernEdges(noteOnce func(c *compiled, sign dyngraph.Sign)) {
	for i := range b.delta.Net {
		if n := &b.delta.Net[i]; n.Vertex {
			b.eachRevised(n, func(c *compiled, _ int) { noteOnce(c, n.Sign) })
		} else {
			b.concernEdge(i, noteOnce)
		}
	}
}

// concernGroups notes the plans that are counted without enumeration. It looks up the labels of each group once, and
// then checks net edges until one has candidates at both ends. If counts are kept from batch to batch, the labels
// suffice.
func (b *Backend) concernGroups(note func(c *compiled, sign dyngraph.Sign)) {
	b.groupNetEdges()
	for _, g := range b.nets.Touched {
		fits := b.fitsOf(g)
		many := len(fits) > manyFits
		for k := range fits {
			f := &fits[k].Of
			if f.how != byGroup || many && !f.hasViews && !b.anyFits(f, g, 0) && !b.anyFits(f, g, 1) ||
				f.c.views == nil && *f.c.missing > 0 {
				continue
			}
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				s := program.SignIndex(sign)
				if f.c.noted[s] != b.phase && (f.c.views != nil && len(g.Pairs[s]) > 0 ||
					b.anyFits(f, g, s) && b.keptAdmitsAny(&fits[k], g, s)) {
					note(f.c, sign)
				}
			}
		}
	}
}

// fitsOf returns what the net edges of a group fit.
func (b *Backend) fitsOf(g *program.NetGroup) []matcher.Fit[anchorOrder] {
	if g.FitsAt != b.prepared {
		g.Fits, g.FitsAt = b.anchors.Of(g.From, g.Edge, g.To), b.prepared
	}
	return g.Fits.(*matcher.AnchorEntry[anchorOrder]).List
}

// keptAdmits reports whether the ends of a net edge, which the filter admits for an anchored order of a plan, have the
// bits of the plan's kept space, if it has one. Rows have orders that stand for others.
func (b *Backend) keptAdmits(c *compiled, order int, p program.NetPair) bool {
	if c.keep.way == nil || c.plan.Query.Emit != matcher.EmitCounts || c.views != nil || b.isRevised(c) {
		return true
	}
	w := b.refreshed(c)
	if w == nil {
		return true
	}
	o, from, to := &c.plan.Anchored[order], w.kept.Round(p.From, space.KeptRounds), w.kept.Round(p.To, space.KeptRounds)
	if !w.kept.IsEmpty() && from>>o.Steps[0].Vertex&1 != 0 && to>>o.Steps[1].Vertex&1 != 0 {
		return true
	}
	if c.keep.excluded == 0 {
		b.excluded = append(b.excluded, c)
	}
	c.keep.excluded++
	return false
}

// keptAdmitsAny is keptAdmits for those net edges of a group, of a side, that the filter admits.
func (b *Backend) keptAdmitsAny(f *matcher.Fit[anchorOrder], g *program.NetGroup, side int) bool {
	c := f.Of.c
	if c.keep.way == nil {
		return true
	}
	bits, words := b.filter.Bits(), b.filter.Words()
	for i, p := range g.Pairs[side] {
		if has(bits[int(p.From)*words:], f.Of.from) && has(bits[int(p.To)*words:], f.Of.to) &&
			(f.Of.test == nil || b.meets(f.Of.test, g.Orders[side][i])) && b.keptAdmits(c, f.Order, p) {
			return true
		}
	}
	return false
}

// noteExcluded takes note of the anchors that kept spaces excluded, of plans that are not searched for it.
func (b *Backend) noteExcluded() {
	for _, c := range b.excluded {
		n := c.keep.excluded
		if c.keep.excluded = 0; c.noted[0] != b.phase && c.noted[1] != b.phase && c.keep.way != nil {
			b.noteKept(c, n)
		}
	}
	b.excluded = b.excluded[:0]
}

// manyFits is the number of fitting plans above which candidate bits are checked before the plans are read, because the
// plans are then not in the cache.
const manyFits = 16

// anyFits reports whether some net edge of a group, of a side, has the candidate bits at both ends and meets the
// conditions on it.
func (b *Backend) anyFits(f *anchorOrder, g *program.NetGroup, side int) bool {
	if f.from == noBit || f.to == noBit {
		return false
	}
	bits, words := b.filter.Bits(), b.filter.Words()
	for i, p := range g.Pairs[side] {
		if has(bits[int(p.From)*words:], f.from) && has(bits[int(p.To)*words:], f.to) &&
			(f.test == nil || b.meets(f.test, g.Orders[side][i])) {
			return true
		}
	}
	return false
}
