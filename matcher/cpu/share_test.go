package cpu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// eager returns a backend whose workers give work away whenever they can, with little or much memory. With one
// processor none would wait for work while another has some.
func eager(t *testing.T, threads int, memory int) *Backend {
	if n := runtime.GOMAXPROCS(0); n == 1 {
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(n) })
	}
	b := New(Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()), GroupMemory: memory, QueueMemory: memory})
	b.work.ShareEvery = 1
	return b
}

// inAnyMode draws a case of every unit and match mode.
func inAnyMode(rng *rand.Rand, queries int) *matchertest.Case {
	c := matchertest.RandomCaseOfAny(rng, queries)
	if rng.IntN(2) == 0 {
		return c.InMatchModes(rng)
	}
	return c.With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
}

// TestS7AnyNumberOfThreadsPutsOutTheSame: one worker, and several that share the searches of single anchors at every
// opportunity, put out the same rows, with caps, totals and obeyed suspensions, whatever goes to disk.
func TestS7AnyNumberOfThreadsPutsOutTheSame(t *testing.T) {
	var shared int64
	matchertest.ForSeedsUntil(t, 40, func() bool { return shared > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := inAnyMode(rng, 4)
		one, many := eager(t, 1, 1<<20), eager(t, 2+rng.IntN(4), 64<<rng.IntN(12))
		one.alone, many.alone = rng.Uint64N(100), rng.Uint64N(100)
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, one, many)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(one, sign, requests), x.Search(many, sign, requests))
			}
			x.Commit()
		}
		shared += many.work.Shared.Load()
	})
}

// untilSo waits until something is so that other goroutines bring about.
func untilSo(so func() bool) {
	for !so() {
		runtime.Gosched()
	}
}

// bounds gives requests caps and suspensions at random.
func bounds(rng *rand.Rand, delta *dyngraph.Delta) func(int, *matcher.Request) {
	return func(_ int, r *matcher.Request) {
		if rng.IntN(3) == 0 {
			r.Limit = 1 + rng.Uint64N(9)
		}
		if rng.IntN(6) == 0 {
			r.Before = rng.Uint32N(uint32(len(delta.Net)) + 1)
		}
	}
}

func sameAnswer(t *testing.T, want, got *matchertest.Answer) {
	t.Helper()
	if diff := matchertest.Diff(want.Lines(), got.Lines()); diff != "" {
		t.Fatalf("one worker against several: %s", diff)
	}
	for i := range want.Results {
		if w, g := want.Results[i], got.Results[i]; w.Count != g.Count || w.Truncated != g.Truncated {
			t.Fatalf("request %d: %+v, with several workers %+v", i, w, g)
		}
	}
}

// TestChunksEndSmall: chunks hold all net edges, one after the other; several threads end with small ones.
func TestChunksEndSmall(t *testing.T) {
	for n := range 300 {
		for threads := 1; threads < 5; threads++ {
			at, ends := 0, chunkEnds(n, threads)
			for i, end := range ends {
				if size := end - at; size < 1 || size > taskChunk || threads > 1 && size > max(1, (n-at)/(4*threads)) {
					t.Fatalf("%d net edges, %d threads: chunk %d of %v", n, threads, i, ends)
				}
				at = end
			}
			if at != n {
				t.Fatalf("%d net edges, %d threads: %v", n, threads, ends)
			}
		}
	}
}

// hubCase is a graph of two hubs and the edge between them, whose insertion makes all matches of a pattern of 6
// vertices.
func hubCase(leaves int) (graph, insert []dyngraph.Update, q *matcher.Query) {
	edge := func(a, b string) dyngraph.Update {
		return dyngraph.Update{Op: dyngraph.InsertEdge, From: a, To: b}
	}
	vertex := func(key, label string) {
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: label})
	}
	vertex("x", "X")
	vertex("y", "Y")
	for i := range leaves {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i*7%leaves)
		vertex(a, "A")
		vertex(b, "B")
		vertex("c"+a, "C")
		graph = append(graph, edge("x", a), edge("y", b), edge(a, "c"+a))
	}
	q = &matcher.Query{Name: "hub", Version: 1}
	for i, l := range []string{"B", "A", "X", "B", "C", "Y"} {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: l})
	}
	for i, e := range [][2]int{{0, 5}, {1, 2}, {2, 5}, {3, 5}, {1, 4}} {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1], Either: true})
	}
	return graph, []dyngraph.Update{edge("x", "y")}, q
}

// TestS7OneHubEdgeIsShared: the search of one anchor is shared by all workers, and the rows are as one worker puts
// them out. The worker that has it waits until another one asks, and then until what it gives away is taken.
func TestS7OneHubEdgeIsShared(t *testing.T) {
	graph, insert, q := hubCase(40)
	want := ^uint64(0)
	var first []uint32
	for _, threads := range []int{1, 2, 3, 8} {
		for _, memory := range []int{1 << 14, 1 << 20, 1 << 30} {
			x := newBench(t, graph, q, Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()),
				GroupMemory: memory, QueueMemory: memory})
			x.b.work.ShareEvery = 1
			if threads > 1 {
				x.b.work.Hold = untilSo
			}
			done := x.stage(insert)
			var rows []uint32
			res := x.rows(func(g matcher.Group) error {
				rows = append(rows, g.Rows.Data...)
				return nil
			})
			done()
			if shared := x.b.work.Shared.Load(); shared > 0 != (threads > 1) {
				t.Fatalf("%d threads did %d parts that others gave away", threads, shared)
			}
			n, _ := res.Count.Uint64()
			if want == ^uint64(0) {
				want, first = n, rows
				if want != 40*40*39 {
					t.Fatalf("%d matches", n)
				}
			}
			if n != want || !slices.Equal(rows, first) {
				t.Fatalf("%d threads, %d bytes: %d matches in %d words, one thread puts out %d in %d; or in another "+
					"order",
					threads, memory, n, len(rows), want, len(first))
			}
		}
	}
}
