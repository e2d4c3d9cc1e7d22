//go:build cuda || emu

package cuda_test

import (
	"fmt"
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

// TestS12BlocksOfMatches has counts made by blocks of matches where vertices have many neighbours, and by launches so
// short that they end in the middle of blocks: who counts what, and in which launch, must make no difference. It goes
// on until some of blocks went to other warps, blocks were kept for the next launch, and tasks were left when those
// left before were done; not where checkers watch it, which take their time.
func TestS12BlocksOfMatches(t *testing.T) {
	var given, kept, left uint64
	enough := func() bool {
		return os.Getenv(Few) != "" || given >= 15 && kept >= 50 && left >= 5
	}
	matchertest.ForSeedsUntil(t, 2+rounds/3, enough, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(3) == 0, Vertices: 80, Edges: 1100, Messages: 1200,
			Hubs:   rng.IntN(3),
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1"}, Edge: []string{"e0"}}}
		rings := rng.IntN(2) == 0
		var queries []*matcher.Query
		for i := range 6 {
			q := matchertest.RandomQueryOf(rng, 3+rng.IntN(3), fmt.Sprint("q", i), shape.Directed, shape.Labels)
			if rings {
				q = ringOf(rng, q.Name, 3+rng.IntN(2))
			}
			for j := range q.Vertices {
				if q.Vertices[j].Label == "" && q.Vertices[j].AnyOf == nil && rng.IntN(4) > 0 {
					q.Vertices[j].Label = shape.Labels.Vertex[rng.IntN(2)]
				}
			}
			for j := range q.Edges {
				q.Edges[j].Either, q.Edges[j].Label, q.Edges[j].AnyOf = !shape.Directed, shape.Labels.Edge[0], nil
			}
			queries = append(queries, q)
		}
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		o := cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(2), BlockWarps: 1 + rng.IntN(2)},
			Ranges: max(0, rng.IntN(4)-2),
			Slice:  []int{0, 1 + rng.IntN(12)}[rng.IntN(2)]}
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 400) {
			bench.Stage(batch)
			if rng.IntN(3) == 0 {
				got.(*cuda.Backend).AgeMemo(uint32(rng.IntN(50_000)))
			}
			compareCounts(t, bench, want, got)
			bench.Commit()
		}
		g, k, l := got.(*cuda.Backend).Blocks()
		given, kept, left = given+g, kept+k, left+l
	})
}

// TestS12BlocksAtAnyDepth counts trees of 6 to 9 vertices, of few labels, in batches and in whole graphs: there are
// more levels than fit shared memory, and leaves that may be mapped to the same vertex, alike or not.
func TestS12BlocksAtAnyDepth(t *testing.T) {
	var deep, paired int
	enough := func() bool { return os.Getenv(Few) != "" || min(deep, paired) > 10 }
	matchertest.ForSeedsUntil(t, 2+rounds/3, enough, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 60, Edges: 130, Messages: 200,
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1"}, Edge: []string{"e0"}}}
		var queries []*matcher.Query
		for i := range 5 {
			queries = append(queries, treeOf(rng, fmt.Sprint("q", i), 6+rng.IntN(4), shape.Directed))
		}
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		o := cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(2), BlockWarps: 1 + rng.IntN(2)},
			Ranges: max(0, rng.IntN(4)-2),
			Slice:  []int{0, 1 + rng.IntN(12)}[rng.IntN(2)], NoFlat: rng.IntN(4) == 0}
		cuda.SetPairBits([]int{20, rng.IntN(8)}[min(1, rng.IntN(4))])
		defer cuda.SetPairBits(20)
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 110) {
			bench.Stage(batch)
			compareCounts(t, bench, want, got)
			compareNumbers(t, bench, dyngraph.New, want, got)
			bench.Commit()
		}
		d, p := got.(*cuda.Backend).Deep()
		deep, paired = deep+d, paired+p
	})
}

// treeOf returns a random tree, whose vertices have one of two labels or any.
func treeOf(rng *rand.Rand, name string, n int, directed bool) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1}
	for i := range n {
		v := matcher.QueryVertex{Name: fmt.Sprint("v", i)}
		if rng.IntN(8) > 0 {
			v.Label = fmt.Sprint("L", rng.IntN(2))
		}
		q.Vertices = append(q.Vertices, v)
		if i > 0 {
			e := matcher.QueryEdge{Name: fmt.Sprint("e", i), From: max(0, i-1-rng.IntN(3)), To: i, Label: "e0",
				Either: !directed}
			if rng.IntN(2) == 0 {
				e.From, e.To = e.To, e.From
			}
			q.Edges = append(q.Edges, e)
		}
	}
	return q
}

// ringOf returns a pattern without leaves, a ring with some chords: matches are many, and steps choose between several
// lists.
func ringOf(rng *rand.Rand, name string, n int) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1}
	for i := range n {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i)})
		for j := range i {
			if j+1 == i || j == 0 && i == n-1 || rng.IntN(3) == 0 {
				e := matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: i, To: j}
				if rng.IntN(2) == 0 {
					e.From, e.To = j, i
				}
				q.Edges = append(q.Edges, e)
			}
		}
	}
	return q
}
