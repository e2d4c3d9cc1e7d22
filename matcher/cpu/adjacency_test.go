package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestAdjacencyFollowsTheGraph compares the adjacency, kept through batches that are committed or not, with the graph.
// It is made when a query is prepared or, lazily, by the first search that counts, and batches may come before it and
// between searches: it follows when it is asked for.
func TestAdjacencyFollowsTheGraph(t *testing.T) {
	late := 0 // batches that it is behind at most
	matchertest.ForSeedsUntil(t, 60, func() bool { return late > 2 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 1).With(func(q *matcher.Query) { q.Emit = matcher.EmitCounts })
		b := New(Options{Threads: 1 + rng.IntN(2), Lazy: rng.IntN(3) > 0})
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, b)
		require.Equal(t, b.opt.Lazy, b.adj == nil)
		search := func() {
			if rng.IntN(3) > 0 {
				return
			}
			sign := []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted}[rng.IntN(2)]
			x.Search(b, sign, x.Requests(func(_ int, r *matcher.Request) { r.Want, r.Before = matcher.WantCount, matcher.AllOrders }))
			if b.plans[x.Plans()[0]].shape != nil {
				require.NotNil(t, b.adj)
			}
		}
		compare := func() {
			if b.adj != nil && rng.IntN(3) == 0 {
				late = max(late, len(b.adj.batches))
				b.adjacency()
				sameAdjacency(t, b)
			}
		}
		for _, batch := range c.Batches {
			for rng.IntN(3) == 0 {
				x.Stage(batch)
				compare()
				search()
				compare()
				x.Abort()
				compare()
			}
			x.Stage(batch)
			compare()
			search()
			compare()
			x.Commit()
			compare()
		}
	})
}

// TestAdjacencyIsReadByManyThreads reads a graph of more vertices than one thread takes at a time, with a staged batch.
func TestAdjacencyIsReadByManyThreads(t *testing.T) {
	p := newPowerLaw(rand.Uint64(), 5*readChunk, 8*readChunk, 4, 500)
	x := newBench(t, p.graph, shapeQuery(0), Options{Threads: 3})
	deleted := func(n int) (us []dyngraph.Update) {
		for _, u := range p.graph[len(p.graph)-n:] {
			us = append(us, dyngraph.Update{Op: dyngraph.DeleteEdge, From: u.From, To: u.To})
		}
		return us
	}
	done := x.stage(append(deleted(300), p.stream...))
	x.b.adjacency()
	sameAdjacency(t, x.b)
	done()
	x.b.adjacency()
	sameAdjacency(t, x.b)
}

// sameAdjacency compares the adjacency, if there is one, with what the graph has vertex by vertex.
func sameAdjacency(t *testing.T, b *Backend) {
	t.Helper()
	a, g, view := b.adj, b.g, b.g.View(dyngraph.New)
	if a == nil {
		return
	}
	require.GreaterOrEqual(t, len(a.heads), int(g.IDBound()))
	for v := range dyngraph.VertexID(g.IDBound()) {
		want, wides := map[uint64][]string{}, map[uint64]bool{}
		entries := 0
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			for _, l := range g.LabelsOf(v, d, nil) {
				r := g.Range(v, d, l)
				for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
					for i, w := range nbrs {
						key := adjacencyKey(d, l, view.Label(w))
						want[key] = append(want[key], fmt.Sprint(w, ents[i].Index(), ents[i].Staged()))
						entries++
						for _, k := range a.wide {
							if k.dirs>>d&1 != 0 && matcher.LabelFits(k.edge, l) && matcher.LabelFits(k.nbr, view.Label(w)) {
								want[k.key()] = append(want[k.key()], fmt.Sprint(w, ents[i].Index(), ents[i].Staged()))
								entries++
								wides[k.key()] = true
							}
						}
					}
				}
			}
		}
		require.Equal(t, entries, int(a.heads[v].n), "vertex %d", v)
		require.Equal(t, len(want), int(a.heads[v].pairs), "vertex %d", v)
		require.LessOrEqual(t, a.heads[v].n, a.heads[v].room)
		for key, entries := range want {
			nbr, ent, staged := a.of(v, a.kindOf(key))
			var got []string
			for i, w := range nbr {
				got = append(got, fmt.Sprint(w, ent[i].Index(), ent[i].Staged()))
			}
			require.True(t, slices.IsSorted(nbr))
			if wides[key] { // parallel entries come in any order
				slices.Sort(entries)
				slices.Sort(got)
			}
			require.Equal(t, entries, got, "vertex %d, kind %x", v, key)
			require.Equal(t, slices.ContainsFunc(ent, dyngraph.Entry.Staged), staged, "vertex %d, kind %x", v, key)
		}
	}
}

// BenchmarkReadAdjacency reads a graph of 400,000 vertices and 3,000,000 edges, by threads.
func BenchmarkReadAdjacency(b *testing.B) {
	p := newPowerLaw(1, 400_000, 3_000_000, 16, 1000)
	for _, threads := range []int{1, 2} {
		x := newBench(b, p.graph, shapeQuery(0), Options{Threads: threads})
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			for b.Loop() {
				x.b.adj = nil
				x.b.adjacency()
			}
		})
	}
}
