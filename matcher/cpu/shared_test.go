package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
	"motifd/matcher/matchertest"
)

// workers runs a function on several goroutines, each with a random source of its own, and returns the first thing that one of them complains of.
func workers(rng *rand.Rand, n int, work func(rng *rand.Rand) error) (err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range n {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() {
			if e := work(own); e != nil {
				mu.Lock()
				defer mu.Unlock()
				err = e
			}
		})
	}
	wg.Wait()
	return err
}

// TestSharedLists: lists that several workers look up, build and start over at the same time are what the graph holds, batch after batch.
func TestSharedLists(t *testing.T) {
	matchertest.ForSeeds(t, 6, func(t *testing.T, rng *rand.Rand) {
		p := newPowerLaw(rng.Uint64(), 300, 3000, 5, 400)
		x := newBench(t, p.graph, shapeQuery(0), Options{Threads: 1, SpillDir: t.TempDir()})
		x.b.lists.most = 200 + rng.IntN(20_000)
		for batch := range slices.Chunk(p.stream, 100) {
			done := x.stage(batch)
			// Lists are those of vertices that the earlier step may be mapped to.
			view, readers := x.g.View(dyngraph.New), map[*program.Step]dyngraph.LabelID{}
			var steps []*program.Step
			for _, o := range x.b.plans[x.plan].rows {
				if o == nil {
					continue
				}
				for i := range o.Steps[2:] {
					st := &o.Steps[2+i]
					steps, readers[st] = append(steps, st), x.plan.VertexLabels[o.Steps[st.Back[0].Step].Vertex]
				}
			}
			err := workers(rng, 4, func(rng *rand.Rand) error {
				var c lists
				c.attach(x.b)
				c.labels = rng.IntN(2) * manyLabels
				for range 3000 {
					st := steps[rng.IntN(len(steps))]
					b, v := &st.Back[0], dyngraph.VertexID(rng.IntN(300))
					if l := readers[st]; l != matcher.AnyLabel && l != view.Label(v) {
						continue
					}
					got, built := list{}, true
					if rng.IntN(2) == 0 {
						got = c.neighbours(v, b, st)
					} else if got, _, built = c.peek(v, b, st); !built {
						continue
					}
					want := plainList(x, v, b, st)
					if !slices.Equal(want.nbr, got.nbr) || !slices.Equal(want.ent, got.ent) || want.staged != got.staged {
						return fmt.Errorf("the list of %d is %v, the graph holds %v", v, got, want)
					}
				}
				return nil
			})
			require.NoError(t, err)
			done()
		}
	})
}

// plainList reads a list from the graph.
func plainList(x *bench, v dyngraph.VertexID, b *program.BackEdge, st *program.Step) (l list) {
	r := x.g.Range(v, b.Dir, b.Label)
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		for i, w := range nbrs {
			if st.Passes(x.b.filter.Bits()[int(w)*x.b.filter.Words():]) {
				l.nbr, l.ent, l.staged = append(l.nbr, w), append(l.ent, ents[i]), l.staged || ents[i].Staged()
			}
		}
	}
	return l
}

// TestHubsFitIntoTheStore: what few of a hub's very many neighbours pass takes the room that it needs, and no list is dropped for it; and
// lists that fit nowhere are right.
func TestHubsFitIntoTheStore(t *testing.T) {
	const hubs, neighbours = 3, listChunk + 1000
	var graph []dyngraph.Update
	for v := range neighbours {
		label := "L4"
		if v < 200 {
			label = fmt.Sprint("L", v%4)
		}
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v), Label: label})
	}
	for h := range hubs {
		hub, label := fmt.Sprint("hub", h), "L2"
		if h == 0 {
			label = "L3" // whose neighbours all pass
		}
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: hub, Label: label})
		for v := range neighbours {
			graph = append(graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: hub, To: fmt.Sprint(v)})
		}
	}
	for v := range 200 { // what pattern vertices ask for
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(v), To: fmt.Sprint(200 + v)},
			dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(v), To: fmt.Sprint((v + 1) % 200)})
	}
	matchertest.ForSeeds(t, 2, func(t *testing.T, rng *rand.Rand) {
		x := newBench(t, graph, shapeQuery(0), Options{Threads: 1, SpillDir: t.TempDir()})
		x.b.lists.most = 2 * neighbours
		x.lists(t, rng, 0.5)
		store := x.b.lists.now.Load().store
		x.lists(t, rng, 1)
		require.Same(t, store, x.b.lists.now.Load().store)
		x.b.lists.most = 100 // nothing fits
		x.b.dropFound()
		x.lists(t, rng, 1)
	})
}

// TestSharedPairs: what several workers remember of pairs at the same time, in a table that grows and starts over, is what was kept for them.
func TestSharedPairs(t *testing.T) {
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		const vertices, kinds = 200, 3
		var f freshness
		f.grow(vertices)
		shared := &sharedPairs{most: 1000 + rng.IntN(100_000)}
		var mu sync.Mutex
		hits := 0
		for range 4 {
			err := workers(rng, 4, func(rng *rand.Rand) error {
				c := pairs{fresh: &f, shared: shared, table: shared.now.Load()}
				if c.table == nil {
					c.renew()
				}
				for range 10_000 {
					kind := program.PairKey(rng.IntN(kinds))
					a, b := dyngraph.VertexID(rng.IntN(vertices)), dyngraph.VertexID(rng.IntN(20))
					l := program.EpochKey{Label: program.LabelEpoch(dyngraph.LabelID(kind)), List: program.ListEpoch(int(kind))}
					// What they have in common follows from them and their stamps.
					h := (uint64(a)<<32 | uint64(b)<<16 | uint64(kind)) ^ uint64(f.stamp(a, l)+f.stamp(b, l))<<40
					own := rand.New(rand.NewPCG(h, 1))
					nbr, ents := make([]dyngraph.VertexID, own.IntN(6)), [][]dyngraph.Entry{make([]dyngraph.Entry, 6), make([]dyngraph.Entry, 6)}
					staged := false
					for i := range nbr {
						nbr[i], ents[0][i], ents[1][i] = dyngraph.VertexID(own.Uint32()), dyngraph.Entry(own.Uint32()), dyngraph.Entry(own.Uint32())
						staged = staged || ents[0][i].Staged() || ents[1][i].Staged()
					}
					common := c.find(kind, a, b, [2]program.EpochKey{l, l})
					if common == 0 {
						if some := c.keep(kind, a, b, [2]program.EpochKey{l, l}, nbr, ents); some != staged {
							return fmt.Errorf("%v are not staged: %v", ents, !staged)
						}
						continue
					}
					mu.Lock()
					hits++
					mu.Unlock()
					var got pairCommon
					var first []dyngraph.Entry
					some := false
					if common != nothing {
						got.nbr, first, got.ent, some = c.at(common)
					}
					if n := len(nbr); !slices.Equal(nbr, got.nbr) || !slices.Equal(ents[0][:n], first) || !slices.Equal(ents[1][:n], got.ent) || some != staged {
						return fmt.Errorf("%v %v are remembered as %v %v", nbr, ents, got, first)
					}
				}
				return nil
			})
			require.NoError(t, err)
			for i := range f.stamps {
				f.stamps[i] += rng.Uint32N(2)
			}
		}
		require.Positive(t, hits)
	})
}
