package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// TestListsOfOneLabelAmongMany: of a vertex whose neighbours have hundreds of labels, some of them alike in their
// lowest byte and on the same shelf of the filter, a list has those of its label, and no others.
func TestListsOfOneLabelAmongMany(t *testing.T) {
	matchertest.ForSeeds(t, 5, func(t *testing.T, rng *rand.Rand) {
		const labels = 600
		var graph []dyngraph.Update
		for v := range 3000 {
			graph = append(graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: "hub", FromLabel: "H",
				To: fmt.Sprint(v), ToLabel: fmt.Sprint("M", v%labels)})
		}
		x := newBench(t, graph, manyLeaves(0), Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		var leaves []int
		for len(leaves) < 24 {
			// Every other one is like the one before it but for what is above the lowest byte.
			if n := len(leaves); n%2 == 1 {
				leaves = append(leaves, (leaves[n-1]+256)%labels)
			} else {
				leaves = append(leaves, rng.IntN(labels))
			}
		}
		x.prepare(manyLeaves(leaves...))
		var c neighbors.Lists
		c.Attach(x.g, x.b.filter, &x.b.neighbors)
		view, found := x.g.View(dyngraph.New), 0
		hub := x.vertex("hub")
		for _, o := range x.b.plans[x.plan].rows {
			if o == nil {
				continue
			}
			for i := range o.Steps[2:] {
				st := &o.Steps[2+i]
				b := &st.Back[0]
				want, got := plainList(x, hub, b, st), c.Of(hub, b, st)
				require.True(t, slices.Equal(want.Vertices, got.Vertices) && slices.Equal(want.Entries, got.Entries),
					"%v, want %v", got, want)
				for _, w := range want.Vertices {
					require.Equal(t, x.plan.VertexLabels[st.Vertex], view.Label(w))
				}
				n := 0
				for w := range x.g.IDBound() {
					if view.Label(dyngraph.VertexID(w)) == x.plan.VertexLabels[st.Vertex] {
						n++
					}
				}
				require.Len(t, want.Vertices, n)
				found += n
			}
		}
		require.Positive(t, found)
	})
}

// manyLeaves is a hub with leaves of the labels of some numbers.
func manyLeaves(of ...int) *matcher.Query {
	q := &matcher.Query{Name: "leaves", Version: 1, Vertices: []matcher.QueryVertex{{Name: "hub", Label: "H"}}}
	for i, l := range of {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: fmt.Sprint("M", l)})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: 0, To: 1 + i, Either: true})
	}
	return q
}

// vertex returns the id of a key.
func (x *bench) vertex(key string) dyngraph.VertexID {
	view := x.g.View(dyngraph.New)
	for v := range view.VerticesSeq() {
		if view.Key(v) == key {
			return v
		}
	}
	x.tb.Fatalf("no vertex %s", key)
	return dyngraph.NoVertex
}
