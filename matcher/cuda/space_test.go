//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestS7RowsOfASpace searches whole graphs, also with a staged batch in both views, for patterns whose last vertex has
// a rare label: without a space, with one as soon as possible, and by the CPU. All must find the same rows. A space
// must save steps: on the whole a fifth.
func TestS7RowsOfASpace(t *testing.T) {
	var made, rows int
	var steps [2]uint64
	enough := func() bool { return os.Getenv(Few) != "" || made > 10 && rows > 100 && steps[0] > steps[1]*5/4 }
	matchertest.ForSeedsUntil(t, 2+rounds/20, enough, func(t *testing.T, rng *rand.Rand) {
		shape, queries := rareLast(rng, 20)
		o := randomOptions(rng)
		o.Placement, o.Rarer = nil, math.Inf(1)
		backends := []matcher.Backend{cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})}
		for _, narrow := range []float64{math.MaxFloat64, 1e-9} {
			o.Narrow = narrow
			backends = append(backends, newBackendWith(t, rng, o))
		}
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, backends...)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 300) {
			bench.Stage(batch)
			for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
				compareSnapshots(t, bench, which, backends[0], backends[1])
				rows += compareSnapshots(t, bench, which, backends[0], backends[2])
				for _, p := range bench.Plans() {
					for i, be := range backends[1:] {
						r, err := be.Enumerate(t.Context(), which, p, matcher.WantRows, 0, nil,
							func(matcher.Rows) error { return nil })
						check(t, err)
						steps[i] += r.Steps
					}
				}
			}
			bench.Commit()
		}
		if n := backends[1].(*cuda.Backend).Spaces(); n > 0 {
			t.Fatalf("%d spaces made where none pays", n)
		}
		made += int(backends[2].(*cuda.Backend).Spaces())
	})
}

// TestS7RowsFromTheRarestVertex is like TestS7RowsOfASpace: a search begins at the rarest vertex of a pattern, and
// either ends there or is given up when it has found too much, or too little. Those that are not given up must save
// steps: on the whole four fifths.
func TestS7RowsFromTheRarestVertex(t *testing.T) {
	var begun, kept, givenUp, rows uint64
	var steps [2]uint64
	enough := func() bool {
		return os.Getenv(Few) != "" || min(kept, givenUp) > 10 && rows > 100 && steps[0] > 5*steps[1]
	}
	matchertest.ForSeedsUntil(t, 2+rounds/20, enough, func(t *testing.T, rng *rand.Rand) {
		shape, queries := rareLast(rng, []int{20 + rng.IntN(20), 70}[rng.IntN(2)])
		o := randomOptions(rng)
		o.Placement = nil
		backends := []matcher.Backend{cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})}
		for i, narrow := range []float64{math.MaxFloat64, math.MaxFloat64, 1e-9} {
			o.Narrow, o.Rarer = narrow, 8
			if i == 0 {
				o.Rarer = math.Inf(1)
			} else if i == 1 {
				o.RowMemory = 1 << 20
			} else if i == 2 {
				o.Slice, o.RowMemory, o.Shape = 1, 1, kernels.Shape{Blocks: 1, BlockWarps: 1}
			}
			backends = append(backends, newBackendWith(t, rng, o))
		}
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, backends...)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 600) {
			bench.Stage(batch)
			for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
				for _, be := range backends[1:] {
					rows += uint64(compareSnapshots(t, bench, which, backends[0], be))
				}
				for _, p := range bench.Plans() {
					for i, be := range backends[1:3] {
						r, err := be.Enumerate(t.Context(), which, p, matcher.WantRows, 0, nil,
							func(matcher.Rows) error { return nil })
						check(t, err)
						steps[i] += r.Steps
					}
				}
			}
			bench.Commit()
		}
		for i, be := range backends[1:] {
			all, gone := be.(*cuda.Backend).Rare()
			if begun += all; i == 0 && begun > 0 {
				t.Fatalf("%d searches began at a rarest vertex that was not to be asked", begun)
			}
			kept, givenUp = kept+all-gone, givenUp+gone
		}
		begun = 0
	})
}

// TestS11RowsFromTheRarestVertexEndOnce gives searches from a rarest vertex a limit on matches, which they exceed. What
// the limit is compared with is known then, so none may begin again in the pattern's order.
func TestS11RowsFromTheRarestVertexEndOnce(t *testing.T) {
	ended := 0
	enough := func() bool { return os.Getenv(Few) != "" || ended > 0 }
	matchertest.ForSeedsUntil(t, 1+rounds/50, enough, func(t *testing.T, rng *rand.Rand) {
		shape, queries := rareLast(rng, 20+rng.IntN(20))
		o := randomOptions(rng)
		o.Placement, o.Rarer, o.Narrow, o.RowMemory = nil, 8, math.MaxFloat64, 1<<20
		be := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, be)
		bench.Stage(matchertest.RandomStream(rng, shape)[:600])
		for _, p := range bench.Plans() {
			search := func(b *matcher.Budget) matcher.Result {
				r, err := be.Enumerate(t.Context(), dyngraph.New, p, matcher.WantRows, 0, b,
					func(matcher.Rows) error { return nil })
				check(t, err)
				return r
			}
			begun, _ := be.(*cuda.Backend).Rare()
			all := search(nil)
			rows, _ := all.Count.Uint64()
			if now, _ := be.(*cuda.Backend).Rare(); now == begun || rows < 2 {
				continue
			}
			l := matcher.Limits{Matches: rows - 1}
			batch := matcher.NewBatchBudget(l)
			batch.Arm()
			r := search(matcher.NewBudget(l, 0, batch))
			_, givenUp := be.(*cuda.Backend).Rare()
			if r.Over != matcher.CauseMatches || r.Steps != all.Steps || givenUp > 0 {
				t.Fatalf("of %d rows, with a limit of %d: cause %v, %d steps, not %d; %d given up", rows, l.Matches,
					r.Over, r.Steps, all.Steps, givenUp)
			}
			ended++
		}
		bench.Commit()
	})
}

// rareLast draws a graph of which one vertex of some is rare, and patterns whose last vertex is.
func rareLast(rng *rand.Rand, some int) (matchertest.Shape, []*matcher.Query) {
	shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 200, Edges: 600, Messages: 900,
		Labels: matchertest.Labels{Edge: []string{"e0", "e1"}}}
	for i := range some {
		shape.Labels.Vertex = append(shape.Labels.Vertex, []string{"L0", "L1", "rare"}[min(i%2+i/(some-1)*2, 2)])
	}
	var queries []*matcher.Query
	for i := range 4 {
		queries = append(queries, watching(rng, fmt.Sprint("q", i), 3+rng.IntN(3), shape.Directed))
	}
	return shape, queries
}

// watching returns a path of n vertices to a rare one, which may have a chord.
func watching(rng *rand.Rand, name string, n int, directed bool) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1, Vertices: []matcher.QueryVertex{{Name: "v0", Label: "L0"}}}
	join := func(from, to int) {
		e := matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: from, To: to, Either: !directed}
		switch rng.IntN(4) {
		case 0:
			e.From, e.To = to, from
		case 1:
			e.Either = true
		case 2:
			e.AnyOf = []string{"e0", "e1"}
		}
		if e.AnyOf == nil && rng.IntN(2) == 0 {
			e.Label = "e0"
		}
		q.Edges = append(q.Edges, e)
	}
	for i := 1; i < n; i++ {
		label := fmt.Sprint("L", rng.IntN(2))
		if i == n-1 {
			label = "rare"
		}
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: label})
		join(i-1, i)
	}
	if n > 3 && rng.IntN(4) == 0 {
		join(0, n-2)
	}
	return q
}
