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
		o.Placement, o.InOrder = nil, true
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
			o.Narrow, o.InOrder = narrow, i == 0
			if i == 1 {
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
