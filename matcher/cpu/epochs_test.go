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

// TestEpochsThatStartOver: lists are what the graph holds although epochs start over, because ids came or because they
// were advanced very often, and come to what they were when older lists were built.
func TestEpochsThatStartOver(t *testing.T) {
	grew, ran := 0, 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return grew > 0 && ran > 0 }, func(t *testing.T, rng *rand.Rand) {
		const vertices = 200
		p := newPowerLaw(rng.Uint64(), vertices, 1500, 5, 600)
		x := newBench(t, p.graph, shapeQuery(0), Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		x.lists(t, rng, 1)
		ids := vertices
		i := 0
		for batch := range slices.Chunk(p.stream, 20) {
			x.b.neighbors.Options.EpochAdvances = 50 + rng.Uint64N(200)
			more := false
			if i++; i == 2 || i != 4 && rng.IntN(8) == 0 {
				more = true
				for range 300 {
					batch = append(batch, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(ids), Label: "L0"})
					ids++
				}
			}
			before := x.b.neighbors.Advanced()
			x.stage(slices.Clip(batch))
			if over := x.b.neighbors.Advanced() < before; over && more {
				grew++
			} else if over {
				ran++
			}
			x.lists(t, rng, 0.3)
			require.NoError(t, x.b.Commit())
			x.g.Commit()
			x.lists(t, rng, 0.3)
		}
	})
}

// TestListsOfPatternsWithFewLabels: lists are what the graph holds after batches of insertions and deletions, though
// only those net edges outdate lists that have labels, or none, that lists are of.
func TestListsOfPatternsWithFewLabels(t *testing.T) {
	all, some := false, false // of the ends of a batch's net edges are counted
	matchertest.ForSeedsUntil(t, 20, func() bool { return all && some }, func(t *testing.T, rng *rand.Rand) {
		const vertices = 200
		labels := 2 + rng.IntN(6)
		p := newPowerLaw(rng.Uint64(), vertices, 1500, labels, 300)
		q := shapeQuery(rng.IntN(len(shapes)))
		few := 1 + rng.IntN(labels)
		for i := range q.Vertices {
			if q.Vertices[i].Label = fmt.Sprint("L", rng.IntN(few)); rng.IntN(12) == 0 {
				q.Vertices[i].Label = ""
			}
		}
		x := newBench(t, p.graph, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		present := slices.Clone(p.graph[vertices:])
		for batch := range slices.Chunk(p.stream, 20) {
			us := slices.Clone(batch)
			for range rng.IntN(20) {
				u := present[rng.IntN(len(present))]
				u.Op = dyngraph.DeleteEdge
				us = append(us, u)
			}
			present = append(present, batch...)
			x.lists(t, rng, 0.5)
			counts := x.b.neighbors.Advanced()
			done := x.stage(us)
			counts = x.b.neighbors.Advanced() - counts
			all, some = all || counts >= 2*uint64(len(x.b.delta.Net)), some || counts < 2*uint64(len(x.b.delta.Net))
			x.lists(t, rng, 0.5)
			if rng.IntN(2) == 0 {
				done()
				continue
			}
			require.NoError(t, x.b.Commit())
			x.g.Commit()
		}
	})
}

// lists looks up some of the lists that the rows of the plan need, and compares them with the graph.
func (x *bench) lists(t *testing.T, rng *rand.Rand, share float64) {
	var c neighbors.Lists
	c.Attach(x.g, x.b.filter, &x.b.neighbors)
	view := x.g.View(dyngraph.New)
	for _, o := range x.b.plans[x.plan].rows {
		if o == nil {
			continue
		}
		for i := range o.Steps[2:] {
			st := &o.Steps[2+i]
			b := &st.Back[0]
			reader := x.plan.VertexLabels[o.Steps[b.Step].Vertex]
			for v := range x.g.IDBound() {
				id := dyngraph.VertexID(v)
				if reader != matcher.AnyLabel && view.Label(id) != reader || rng.Float64() >= share {
					continue
				}
				want := plainList(x, id, b, st)
				got := c.Of(id, b, st)
				if !slices.Equal(want.Vertices, got.Vertices) || !slices.Equal(want.Entries, got.Entries) ||
					want.Staged != got.Staged {
					t.Fatalf("the list of %d is %v, the graph holds %v", id, got, want)
				}
			}
		}
	}
}
