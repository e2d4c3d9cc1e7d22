package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// anchorOrder is an oriented pattern edge in the index of anchors, with the candidate bits that its ends must have. The
// bits decide whether a net edge with its labels can be an anchor, without reading the plan.
type anchorOrder struct {
	c        *compiled
	o        *program.Order // of rows; may be nil
	from, to uint32         // numbers of the candidate bits; the labels are known to fit
	how      anchorCheck
	hasViews bool // the plan keeps counts from batch to batch, or did once: labels suffice
	own      []*matcher.Condition
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
	case c.summed(): // there are no conditions
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
	f.own = o.AnchorOwn()
	return f
}

// meets reports whether the version of a net edge that is its sign's meets conditions on it alone. An update that does
// not costs nothing more.
func (b *Backend) meets(own []*matcher.Condition, n *dyngraph.NetEdge) bool {
	view := b.g.View(dyngraph.New)
	if n.Sign == dyngraph.Deleted {
		view = b.g.View(dyngraph.Old)
	}
	for _, c := range own {
		b.values = slices.Grow(b.values[:0], len(c.Reads))
		if !c.Meets(view, n.Edge, b.values[:len(c.Reads)]) {
			return false
		}
	}
	return true
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

// concernEdge notes the plans of which a net edge can be the anchor: it has the labels of an oriented pattern edge and,
// where this is checked, candidates at both ends.
func (b *Backend) concernEdge(n *dyngraph.NetEdge, note func(c *compiled, sign dyngraph.Sign)) {
	bits, words, view := b.filter.Bits(), b.filter.Words(), b.g.View(dyngraph.New)
	from, to := bits[int(n.From)*words:], bits[int(n.To)*words:]
	fits := b.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To)).List
	for k := range fits {
		f := &fits[k].Of
		if f.how == byBits && has(from, f.from) && has(to, f.to) || f.how == bySteps && b.admits(f.o, n) {
			if *f.c.missing == 0 && f.c.noted[program.SignIndex(n.Sign)] != b.phase && b.meets(f.own, n) {
				note(f.c, n.Sign)
			}
		}
	}
}

// Concern reports the plans that a staged batch concerns; see matcher.Capabilities.
func (b *Backend) Concern(note func(plan int, sign dyngraph.Sign)) {
	noteOnce := func(c *compiled, sign dyngraph.Sign) {
		if noted := &c.noted[program.SignIndex(sign)]; *noted != b.phase {
			*noted = b.phase
			note(c.at, sign)
		}
	}
	if b.summed > 0 {
		b.concernGroups(noteOnce)
	}
	if b.summed == len(b.plans) {
		return
	}
	for i := range b.delta.Net {
		b.concernEdge(&b.delta.Net[i], noteOnce)
	}
}

// concernGroups notes the plans that are counted without enumeration. It looks up the labels of each group once, and
// then checks net edges until one has candidates at both ends. If counts are kept from batch to batch, the labels
// suffice.
func (b *Backend) concernGroups(note func(c *compiled, sign dyngraph.Sign)) {
	b.groupNetEdges()
	for _, g := range b.nets.Touched {
		fits := b.anchors.Of(g.From, g.Edge, g.To).List
		many := len(fits) > manyFits
		for k := range fits {
			f := &fits[k].Of
			if f.how != byGroup || many && !f.hasViews && !b.anyFits(f, g.Pairs[0]) && !b.anyFits(f, g.Pairs[1]) ||
				f.c.views == nil && *f.c.missing > 0 {
				continue
			}
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				s := program.SignIndex(sign)
				if f.c.noted[s] != b.phase && (f.c.views != nil && len(g.Pairs[s]) > 0 || b.anyFits(f, g.Pairs[s])) {
					note(f.c, sign)
				}
			}
		}
	}
}

// manyFits is the number of fitting plans above which candidate bits are checked before the plans are read, because the
// plans are then not in the cache.
const manyFits = 16

// anyFits reports whether both ends of some net edge have the candidate bits.
func (b *Backend) anyFits(f *anchorOrder, pairs []program.NetPair) bool {
	if f.from == noBit || f.to == noBit {
		return false
	}
	bits, words := b.filter.Bits(), b.filter.Words()
	for _, p := range pairs {
		if has(bits[int(p.From)*words:], f.from) && has(bits[int(p.To)*words:], f.to) {
			return true
		}
	}
	return false
}
