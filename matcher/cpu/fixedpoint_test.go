package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestSpaceIsTheFixedPoint plays the candidates of a space against those that are left when candidates without support
// are taken away one by one, from all data vertices of the label and with enough edges, of these up to three to each
// label.
func TestSpaceIsTheFixedPoint(t *testing.T) {
	var empty, same, fewer int
	seen := func() bool { return min(empty, same, fewer) > 0 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 3)
		if rng.IntN(2) == 0 {
			c = c.InMatchModes(rng)
		}
		b := New(Options{Threads: 1})
		x := matchertest.NewBenchOf(t, c.Graph(), wholeOnly{plan.New()}, c.Queries, b)
		for _, batch := range c.Batches {
			x.Stage(batch)
			x.Commit()
			if rng.IntN(4) > 0 {
				continue
			}
			for _, p := range x.Plans() {
				n := &naiveSpace{view: b.g.View(dyngraph.New), p: p}
				n.begin()
				before := n.size()
				for n.step() {
				}
				s := space.Make(b.g, b.filter, p, new(space.Signatures),
					space.Limits{Neighbors: rng.IntN(40)}, func() bool { return false })
				if s.IsEmpty() {
					require.Zero(t, n.size())
					empty++
					continue
				}
				for u := range p.Query.Vertices {
					got := slices.Sorted(slices.Values(s.Roots(u)))
					require.Equal(t, n.of[u], got, "vertex %d of %+v %+v, mode %d", u, p.Query.Vertices, p.Query.Edges,
						p.Query.MatchMode)
				}
				if n.size() < before {
					fewer++
				} else {
					same++
				}
			}
		}
	})
}

// naiveSpace is a candidate space by lists.
type naiveSpace struct {
	view dyngraph.View
	p    *matcher.Plan
	of   [][]dyngraph.VertexID // by pattern vertex, ascending
}

// edgesOf returns the ends of the data edges of a vertex that fit a pattern edge, seen from one of its ends: the
// pattern edge's label and direction alone.
func (n *naiveSpace) edgesOf(v dyngraph.VertexID, e, u int) (ends []dyngraph.VertexID) {
	q := n.p.Query.Edges[e]
	for i := range n.view.EdgesSeq() {
		from, to, label := n.view.Edge(i)
		if !matcher.LabelFits(n.p.EdgeLabels[e], label) {
			continue
		}
		if from == v && (!n.p.Directed || q.Either || q.From == u) {
			ends = append(ends, to)
		}
		if to == v && (!n.p.Directed || q.Either || q.To == u) {
			ends = append(ends, from)
		}
	}
	return ends
}

// degree counts the data edges of a vertex in a direction; undirected ones go out.
func (n *naiveSpace) degree(v dyngraph.VertexID) (out, in int) {
	for i := range n.view.EdgesSeq() {
		switch from, to, _ := n.view.Edge(i); {
		case from == v:
			out++
		case to == v && n.p.Directed:
			in++
		case to == v:
			out++
		}
	}
	return out, in
}

// labelled counts the data edges of a vertex by the label of the other end.
func (n *naiveSpace) labelled(v dyngraph.VertexID) map[dyngraph.LabelID]int {
	found := map[dyngraph.LabelID]int{}
	for i := range n.view.EdgesSeq() {
		from, to, _ := n.view.Edge(i)
		if from == v {
			found[n.view.Label(to)]++
		}
		if to == v {
			found[n.view.Label(from)]++
		}
	}
	return found
}

func (n *naiveSpace) begin() {
	n.of = make([][]dyngraph.VertexID, len(n.p.Query.Vertices))
	for u := range n.of {
		needOut, needIn, need, around := 0, 0, 0, map[dyngraph.LabelID]int{}
		for _, e := range n.p.Query.Edges {
			if e.From != u && e.To != u {
				continue
			}
			need++
			if l := n.p.VertexLabels[e.From+e.To-u]; !matcher.SeveralLabels(l) {
				around[l] = min(around[l]+1, 3)
				if n.p.Query.MatchMode == matcher.Homomorphism {
					around[l] = 1
				}
			}
			switch {
			case n.p.Directed && e.Either:
			case n.p.Directed && e.To == u:
				needIn++
			default:
				needOut++
			}
		}
		if n.p.Query.MatchMode == matcher.Homomorphism {
			needOut, needIn, need = min(needOut, 1), min(needIn, 1), min(need, 1)
		}
		for v := range n.view.VerticesSeq() {
			out, in := n.degree(v)
			if matcher.LabelFits(n.p.VertexLabels[u], n.view.Label(v)) && out >= needOut && in >= needIn &&
				out+in >= need && enough(n.labelled(v), around) {
				n.of[u] = append(n.of[u], v)
			}
		}
		slices.Sort(n.of[u])
	}
}

// enough reports whether numbers are at least what is needed.
func enough(found, needed map[dyngraph.LabelID]int) bool {
	for l, n := range needed {
		if found[l] < n {
			return false
		}
	}
	return true
}

// step takes one candidate without support away; false if there is none.
func (n *naiveSpace) step() bool {
	for u := range n.of {
		for i, v := range n.of[u] {
			if !n.supported(u, v) {
				n.of[u] = slices.Delete(n.of[u], i, i+1)
				return true
			}
		}
	}
	return false
}

// supported reports whether v has, for each edge of u, an end that is a candidate, and for all edges of u that ask for
// the same data edges as many such ends as they have other ends.
func (n *naiveSpace) supported(u int, v dyngraph.VertexID) bool {
	for e, q := range n.p.Query.Edges {
		if q.From != u && q.To != u {
			continue
		}
		ends, others := n.edgesOf(v, e, u), map[int]bool{}
		for f, r := range n.p.Query.Edges {
			alike := n.p.EdgeLabels[e] == n.p.EdgeLabels[f] && (!n.p.Directed || q.Either == r.Either &&
				(q.Either || (q.From == u) == (r.From == u)))
			if (r.From == u || r.To == u) && alike {
				others[r.From+r.To-u] = true
			}
		}
		fit, fitsThis := 0, false
		for _, w := range ends {
			any := false
			for o := range others {
				any = any || slices.Contains(n.of[o], w)
			}
			if any {
				fit++
			}
			fitsThis = fitsThis || slices.Contains(n.of[q.From+q.To-u], w)
		}
		if !fitsThis || n.p.Query.MatchMode == matcher.Isomorphism && fit < len(others) {
			return false
		}
	}
	return true
}

// size returns the number of candidates, 0 if some pattern vertex has none.
func (n *naiveSpace) size() (size int) {
	for _, of := range n.of {
		if len(of) == 0 {
			return 0
		}
		size += len(of)
	}
	return size
}
