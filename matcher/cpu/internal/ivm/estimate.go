package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
)

// estimator decides by label statistics whether views pay, and where their root is.
type estimator struct{ count.Estimator }

// newEstimator returns the estimator of a plan.
func newEstimator(g *dyngraph.Graph, s *count.Plan) *estimator {
	return &estimator{count.Estimator{Graph: g, Plan: s, Quotient: s.Quotients[0]}}
}

// images returns the expected number of images of the blocks beyond u, all together, given one image of u and of the
// block that it was reached from.
func (f *estimator) images(u, from int) float64 {
	n := 0.0
	for m := f.Quotient.Adj[u] &^ (1 << from); m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		n += f.MeanDegree(u, v) * (1 + f.images(v, u))
	}
	return n
}

// many reports whether views pay: whether the expected number of images around the image of an edge is more than
// two for each of the other blocks.
func (f *estimator) many() bool {
	n, edges := 0.0, 0
	for _, e := range f.Plan.Pattern.Query.Edges {
		n += f.images(e.From, e.To) + f.images(e.To, e.From)
		edges++
	}
	return n > 2*float64(edges)*float64(edges-1)
}

// root returns the block of a tree from which views are expected to change least.
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

// changes estimates, when one edge in a thousand changes, for how many images of a block its views change, and the
// number of changes of all views.
func (f *estimator) changes(u, from int) (here, all float64) {
	for m := f.Quotient.Adj[u]; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if v == from {
			continue
		}
		below, cost := f.changes(v, u)
		n := float64(matcher.VertexCount(f.Graph, f.Plan.Label(f.Quotient.Members[u])))
		here = min(n, here+n*f.MeanDegree(u, v)/1000+below*f.MeanDegree(v, u))
		all += cost
	}
	return here, all + here
}
