package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher/cpu/count"
)

// expected estimates how many images are to be expected, from label statistics, and so what is worth while.
type estimator struct{ count.Estimator }

func newEstimator(g *dyngraph.Graph, s *count.Plan) *estimator {
	return &estimator{count.Estimator{Graph: g, Plan: s, Quotient: s.Quotients[0]}}
}

// images returns how many images the blocks beyond u are expected to have in all, with u one image of a block and the
// one that it was reached from.
func (f *estimator) images(u, from int) float64 {
	n := 0.0
	for m := f.Quotient.Adj[u] &^ (1 << from); m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		n += f.MeanDegree(u, v) * (1 + f.images(v, u))
	}
	return n
}

// many reports whether so many images are expected about the image of an edge, in the mean, that it is cheaper to keep
// numbers for all vertices: more than two for each of the other blocks.
func (f *estimator) many() bool {
	if f.Quotient.IsCycle() {
		return f.manyAround()
	}
	n, edges := 0.0, 0
	for _, e := range f.Plan.Query.Query.Edges {
		n += f.images(e.From, e.To) + f.images(e.To, e.From)
		edges++
	}
	return n > 2*float64(edges)*float64(edges-1)
}

// manyAround is many for a ring: whether an end of an edge is expected to have more than one neighbour along the next
// one, in the mean.
func (f *estimator) manyAround() bool {
	n, ends := 0.0, 0
	for _, e := range f.Plan.Query.Query.Edges {
		for _, v := range [2]int{e.From, e.To} {
			n += f.MeanDegree(v, bits.TrailingZeros32(f.Quotient.Adj[v]&^(1<<(e.From+e.To-v))))
			ends++
		}
	}
	return n > float64(ends)
}

// root returns the block of a tree from which branches are expected to change least.
func (f *estimator) root(q *count.Quotient) int {
	f.Quotient = q
	best, least := 0, 0.0
	for m := q.Blocks; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if _, cost := f.changes(v, -1); m == q.Blocks || cost < least {
			best, least = v, cost
		}
	}
	return best
}

// changes estimates for how many images of a block its branches change, and the changes of all of them, when an
// edge in a thousand changes.
func (f *estimator) changes(u, from int) (here, all float64) {
	for m := f.Quotient.Adj[u]; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if v == from {
			continue
		}
		below, cost := f.changes(v, u)
		n := float64(f.Graph.VertexLabelCount(f.Plan.Label(f.Quotient.Members[u])))
		here = min(n, here+n*f.MeanDegree(u, v)/1000+below*f.MeanDegree(v, u))
		all += cost
	}
	return here, all + here
}
