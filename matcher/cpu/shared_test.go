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
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// workers runs a function on several goroutines, each with a random source of its own, and returns the first thing
// that one of them complains of.
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

// TestSharedLists: lists that several workers look up, build and start over at the same time are what the graph
// holds, batch after batch.
func TestSharedLists(t *testing.T) {
	matchertest.ForSeeds(t, 6, func(t *testing.T, rng *rand.Rand) {
		p := newPowerLaw(rng.Uint64(), 300, 3000, 5, 400)
		x := newBench(t, p.graph, shapeQuery(0), Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		x.b.neighbors.Options.ListEntries = 200 + rng.IntN(20_000)
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
				var c neighbors.Lists
				c.Attach(x.g, x.b.filter, &x.b.neighbors)
				for range 3000 {
					st := steps[rng.IntN(len(steps))]
					b, v := &st.Back[0], dyngraph.VertexID(rng.IntN(300))
					if l := readers[st]; l != matcher.AnyLabel && l != view.Label(v) {
						continue
					}
					got, built := neighbors.List{}, true
					if rng.IntN(2) == 0 {
						got = c.Of(v, b, st)
					} else if got, _, built = c.Peek(v, b, st); !built {
						continue
					}
					want := plainList(x, v, b, st)
					if !slices.Equal(want.Vertices, got.Vertices) || !slices.Equal(want.Entries, got.Entries) ||
						want.Staged != got.Staged {
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
func plainList(x *bench, v dyngraph.VertexID, b *program.BackEdge, st *program.Step) (l neighbors.List) {
	r := x.g.Range(v, b.Dir, b.Label)
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		for i, w := range nbrs {
			if st.Passes(x.b.filter.Bits()[int(w)*x.b.filter.Words():]) {
				l.Vertices, l.Entries, l.Staged = append(l.Vertices, w), append(l.Entries, ents[i]), l.Staged ||
					ents[i].Staged()
			}
		}
	}
	return l
}

// TestHubsFitIntoTheStore: what few of a hub's very many neighbours pass takes the room that it needs, and no list is
// dropped for it; and lists that fit nowhere are right.
func TestHubsFitIntoTheStore(t *testing.T) {
	const hubs, neighbours = 3, 16<<10 + 1000
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
		x := newBench(t, graph, shapeQuery(0), Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		x.b.neighbors.Options.ListEntries = 2 * neighbours
		x.lists(t, rng, 0.5)
		x.lists(t, rng, 1)
		require.Zero(t, x.b.neighbors.Restarts())
		x.b.neighbors.Options.ListEntries = 100 // nothing fits
		x.b.neighbors.Drop()
		x.lists(t, rng, 1)
	})
}
