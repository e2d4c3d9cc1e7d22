package cpu

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// fans estimate how many images are to be expected, from label statistics.
type fans struct {
	g *dyngraph.Graph
	s *shape
	q *quotient
}

func newFans(g *dyngraph.Graph, s *shape) *fans { return &fans{g, s, s.parts[0]} }

// fan returns the mean number of neighbours along the edge from block u to block v that an image of u has.
func (f *fans) fan(u, v int) float64 {
	x, y := f.s.label(f.q.members[u]), f.s.label(f.q.members[v])
	e := f.q.edge(u, v)
	from, to := x, y
	if e.dir == dyngraph.In {
		from, to = to, from
	}
	n := 0
	switch {
	case e.wide != nil:
		n = f.wide(e, x, y)
	case x == y && !f.g.Directed():
		n = 2 * f.g.TripleCount(from, e.label, to)
	default:
		n = f.g.TripleCount(from, e.label, to)
	}
	return float64(n) / float64(max(1, f.g.VertexLabelCount(x)))
}

// wide counts the data edges that a wide edge takes between vertices with the labels of its ends, twice where either
// end may be either.
func (f *fans) wide(e *edgeTo, x, y dyngraph.LabelID) (n int) {
	set, g := e.wide.sets[0], f.g
	takes := func(t *dyngraph.Triple, d dyngraph.Dir, from, to dyngraph.LabelID) bool {
		return matcher.LabelFits(x, from) && matcher.LabelFits(y, to) && slices.ContainsFunc(set, func(b bundled) bool {
			return matcher.LabelFits(b.label, t.Edge) && b.dirs>>d&1 != 0
		})
	}
	in := dyngraph.Out
	if g.Directed() {
		in = dyngraph.In
	}
	for _, t := range g.Triples() {
		if takes(&t, dyngraph.Out, t.Src, t.Dst) {
			n += t.Count
		}
		if takes(&t, in, t.Dst, t.Src) {
			n += t.Count
		}
	}
	return n
}

// images returns how many images the blocks beyond u are expected to have in all, with u one image of a block and the
// one that it was reached from.
func (f *fans) images(u, from int) float64 {
	n := 0.0
	for m := f.q.adj[u] &^ (1 << from); m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		n += f.fan(u, v) * (1 + f.images(v, u))
	}
	return n
}

// many reports whether so many images are expected about the image of an edge, in the mean, that it is cheaper to keep
// numbers for all vertices: more than two for each of the other blocks.
func (f *fans) many() bool {
	if f.q.isRing() {
		return f.manyAround()
	}
	n, edges := 0.0, 0
	for _, e := range f.s.plan.Query.Edges {
		n += f.images(e.From, e.To) + f.images(e.To, e.From)
		edges++
	}
	return n > 2*float64(edges)*float64(edges-1)
}

// manyAround is many for a ring: whether an end of an edge is expected to have more than one neighbour along the next
// one, in the mean.
func (f *fans) manyAround() bool {
	n, ends := 0.0, 0
	for _, e := range f.s.plan.Query.Edges {
		for _, v := range [2]int{e.From, e.To} {
			n += f.fan(v, bits.TrailingZeros32(f.q.adj[v]&^(1<<(e.From+e.To-v))))
			ends++
		}
	}
	return n > float64(ends)
}

// root returns the block of a tree from which branches are expected to change least.
func (f *fans) root(q *quotient) int {
	f.q = q
	best, least := 0, 0.0
	for m := q.all; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if _, cost := f.changes(v, -1); m == q.all || cost < least {
			best, least = v, cost
		}
	}
	return best
}

// changes estimates for how many images of a block its branches change, and the changes of all of them, when an
// edge in a thousand changes.
func (f *fans) changes(u, from int) (here, all float64) {
	for m := f.q.adj[u]; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if v == from {
			continue
		}
		below, cost := f.changes(v, u)
		n := float64(f.g.VertexLabelCount(f.s.label(f.q.members[u])))
		here = min(n, here+n*f.fan(u, v)/1000+below*f.fan(v, u))
		all += cost
	}
	return here, all + here
}
