package labeladj

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// onTwo runs work on two goroutines.
func onTwo(work func()) {
	var wg sync.WaitGroup
	wg.Go(work)
	wg.Go(work)
	wg.Wait()
}

// TestIndexFollowsTheGraph makes an index at any time, lets it follow batches that are committed or aborted, each at
// once or some batches later, and compares it with the graph.
func TestIndexFollowsTheGraph(t *testing.T) {
	behind, dropped := 0, 0
	seen := func() bool { return behind > 2 && dropped > 0 }
	matchertest.ForSeedsUntil(t, 100, seen, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.RandomShape(rng)
		shape.IDs = rng.IntN(2) == 0
		g := dyngraph.NewGraph(dyngraph.Options{Directed: shape.Directed, EdgeIDs: shape.IDs})
		var a *Index
		compare := func(d *dyngraph.Delta) {
			if rng.IntN(3) > 0 {
				return
			}
			if a == nil {
				a = New(g, drawWildcards(rng, shape.Directed), d != nil, onTwo)
			}
			behind = max(behind, len(a.pendingEnds))
			a.CatchUp(d)
			requireSame(t, a)
		}
		end := func(d *dyngraph.Delta, committed bool) {
			if a != nil && !a.End(d, committed) {
				a = nil
			}
			if committed {
				g.Commit()
			} else {
				g.Abort()
			}
			if rng.IntN(8) == 0 {
				a, dropped = nil, dropped+1
			}
			compare(nil)
		}
		for _, batch := range matchertest.Cut(rng, matchertest.RandomStream(rng, shape)) {
			us, _ := g.Accept(batch)
			for rng.IntN(3) == 0 {
				d, err := g.Stage(us)
				require.NoError(t, err)
				compare(d)
				end(d, false)
			}
			d, err := g.Stage(us)
			require.NoError(t, err)
			compare(d)
			compare(d)
			end(d, true)
		}
	})
}

// drawWildcards draws wildcards. Those of a graph without direction are of one direction.
func drawWildcards(rng *rand.Rand, directed bool) (ws []Wildcard) {
	labels := []dyngraph.LabelID{matcher.AnyLabel, matcher.UnknownLabel, 0, 1, 2, matcher.LabelSet(0, 2),
		matcher.LabelSet(1, 2)}
	for range rng.IntN(4) {
		w := Wildcard{Dirs: 1 << dyngraph.Out, Edge: labels[rng.IntN(len(labels))], Nbr: labels[rng.IntN(len(labels))]}
		if directed {
			w.Dirs = uint8(1 + rng.IntN(3))
		}
		if !slices.Contains(ws, w) {
			ws = append(ws, w)
		}
	}
	return ws
}

// TestIndexIsReadByManyGoroutines indexes a graph of more vertices than one goroutine takes at a time, with a staged
// batch.
func TestIndexIsReadByManyGoroutines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := dyngraph.NewGraph(dyngraph.Options{})
	draw := func(n int) []dyngraph.Message {
		var msgs []dyngraph.Message
		for range n {
			v, w := rng.IntN(5*readChunk), rng.IntN(5*readChunk)
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(v), To: fmt.Sprint(w)}
			u.FromLabel, u.ToLabel = fmt.Sprint("L", v%4), fmt.Sprint("L", w%4)
			if rng.IntN(3) == 0 {
				u.Op = dyngraph.DeleteEdge
			}
			msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
		}
		return msgs
	}
	stage := func(n int) *dyngraph.Delta {
		us, _ := g.Accept(draw(n))
		d, err := g.Stage(us)
		require.NoError(t, err)
		return d
	}
	stage(20 * readChunk)
	g.Commit()
	d := stage(readChunk)
	a := New(g, drawWildcards(rng, false), true, onTwo)
	require.Greater(t, a.Vertices(), 4*readChunk)
	requireSame(t, a)
	a.End(d, false)
	g.Abort()
	a.CatchUp(nil)
	requireSame(t, a)
}

// TestIndexForgetsItsHubs has each of 50 vertices become a hub and forget it again, one after the other; then all of
// them go and others come with their ids. The index takes the room of a few hubs.
func TestIndexForgetsItsHubs(t *testing.T) {
	matchertest.NotUnderRace(t, "most of its time goes to comparisons; other tests of an index have two goroutines")
	const vertices, hub = 50, 400
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	a := New(g, nil, false, onTwo)
	step := func(us []dyngraph.Update) {
		accepted, rejects := g.Accept([]dyngraph.Message{{Updates: us}})
		require.Empty(t, rejects)
		d, err := g.Stage(accepted)
		require.NoError(t, err)
		a.CatchUp(d)
		require.True(t, a.End(d, true))
		g.Commit()
	}
	for round := range 4 {
		for v := range vertices {
			var come, gone []dyngraph.Update
			for i := range hub {
				u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("v", v), To: fmt.Sprint("w", i)}
				come = append(come, u)
				if u.Op = dyngraph.DeleteEdge; i > round {
					gone = append(gone, u)
				}
			}
			step(come)
			if v%2 == 0 { // by parts, in place
				for part := range slices.Chunk(gone, 20) {
					step(part)
				}
			} else {
				step(gone)
			}
			requireSame(t, a)
		}
		require.LessOrEqual(t, len(a.Nbr), 20*hub, "round %d", round) // one hub at a time, and what it was moved from
		var all []dyngraph.Update
		for v := range vertices {
			all = append(all, dyngraph.Update{Op: dyngraph.DeleteVertex, Key: fmt.Sprint("v", v)})
		}
		step(all)
		a.CatchUp(nil)
		requireSame(t, a)
	}
}

// requireSame compares the index with the graph, vertex by vertex.
func requireSame(t *testing.T, a *Index) {
	t.Helper()
	g, view := a.g, a.g.View(dyngraph.New)

	require.GreaterOrEqual(t, a.Vertices(), int(g.IDBound()))
	room := a.free
	for _, h := range a.blocks {
		room += int(h.capacity + 2*h.kindCapacity)
	}
	require.LessOrEqual(t, room, len(a.Nbr))
	require.Len(t, a.Ent, len(a.Nbr))
	for v := range dyngraph.VertexID(g.IDBound()) {
		want, isWildcard := map[uint64][]string{}, map[uint64]bool{}
		entries := 0
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			for _, l := range g.LabelsOf(v, d, nil) {
				r := g.Range(v, d, l)
				for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
					for i, w := range nbrs {
						text := fmt.Sprint(w, ents[i].Index(), ents[i].Staged())
						keys := []uint64{Key(d, l, view.Label(w))}
						for _, c := range a.wildcards {
							if c.Dirs>>d&1 != 0 && matcher.LabelFits(c.Edge, l) &&
								matcher.LabelFits(c.Nbr, view.Label(w)) {
								keys = append(keys, c.Key())
								isWildcard[c.Key()] = true
							}
						}
						for _, key := range keys {
							want[key] = append(want[key], text)
							entries++
						}
					}
				}
			}
		}
		require.Equal(t, entries, int(a.blocks[v].n), "vertex %d", v)
		require.Equal(t, len(want), int(a.blocks[v].kinds), "vertex %d", v)
		require.LessOrEqual(t, a.blocks[v].n, a.blocks[v].capacity)
		for key := range want {
			nbr, ent, staged := a.Of(v, a.KindOf(key))
			var got []string
			for i, w := range nbr {
				got = append(got, fmt.Sprint(w, ent[i].Index(), ent[i].Staged()))
			}
			require.True(t, slices.IsSorted(nbr))
			if isWildcard[key] || g.AnyParallel() { // parallel entries come in any order
				slices.Sort(want[key])
				slices.Sort(got)
			}
			require.Equal(t, want[key], got, "vertex %d, kind %x", v, key)
			require.Equal(t, slices.ContainsFunc(ent, dyngraph.Entry.Staged), staged, "vertex %d, kind %x", v, key)
		}
	}
}
