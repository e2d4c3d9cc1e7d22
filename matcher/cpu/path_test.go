package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS12PendantsOfPaths counts two cycles that share a path, with a pendant path on one of them that ends in
// a vertex that may coincide with one of the others: the pendant is then itself a path between two mapped vertices
// while the one that it is pendant to is being counted.
func TestS12PendantsOfPaths(t *testing.T) {
	countPendants(t, [][2]int{{0, 1}, {0, 2}, {2, 3}, {3, 1}, {0, 4}, {4, 5}, {5, 1}, {3, 6}, {6, 7}, {7, 8}}, 8)
}

// TestS12PendantSpidersOfPaths is the same with two paths that part behind the first vertex, and end in vertices
// that may coincide with two of the others: the pendant is then itself a spider between three mapped vertices.
func TestS12PendantSpidersOfPaths(t *testing.T) {
	countPendants(t, [][2]int{{0, 1}, {0, 2}, {2, 3}, {3, 1}, {0, 4}, {4, 5}, {5, 1}, {3, 6}, {6, 7}, {7, 8}, {6, 9},
		{9, 10}}, 8, 10)
}

// countPendants counts a pattern whose vertices have labels of their own, but for some that have those of the first
// vertices in their order.
func countPendants(t *testing.T, edges [][2]int, alike ...int) {
	const each = 2                         // vertices of each label
	labels := make([]string, len(edges)-1) // there are two cycles
	for i := range labels {
		labels[i] = fmt.Sprint("L", i)
	}
	for first, i := range alike {
		labels[i] = labels[first]
	}
	counted := uint64(0)
	matchertest.ForSeeds(t, 12, func(t *testing.T, rng *rand.Rand) {
		q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
		for i, l := range labels {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: l})
		}
		for i, e := range edges {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", i), From: e[0], To: e[1], Label: "T",
				Either: true})
		}
		edge := func(op dyngraph.Op) dyngraph.Message {
			e := edges[rng.IntN(len(edges))]
			from, to := labels[e[0]], labels[e[1]]
			return dyngraph.Message{Updates: []dyngraph.Update{
				{Op: op, Label: "T", From: fmt.Sprint(from, rng.IntN(each)), FromLabel: from,
					To: fmt.Sprint(to, rng.IntN(each)), ToLabel: to}}}
		}
		var graph []dyngraph.Message
		for range 9 * len(edges) {
			graph = append(graph, edge(dyngraph.InsertEdge))
		}
		ref, fast := reference.New(), New(Options{Threads: 1})
		x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, ref, fast)
		x.Stage(graph)
		x.Commit()
		for range 12 {
			x.Stage([]dyngraph.Message{edge(dyngraph.InsertEdge), edge(dyngraph.DeleteEdge), edge(dyngraph.DeleteEdge),
				edge(dyngraph.InsertEdge)})
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				requests := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
				want := x.Search(ref, sign, requests).Results[0].Count
				require.Equal(t, want, x.Search(fast, sign, requests).Results[0].Count)
				counted += want.Lo
			}
			x.Commit()
		}
	})
	require.Positive(t, counted)
}
