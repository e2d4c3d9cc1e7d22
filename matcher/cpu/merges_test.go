package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestP4RangesOfOneSetOfVertices has a group beyond its memory of which very many rows have the same vertices and
// differ in their parallel edges, so that a range cannot be small: it is merged as it is emitted. What is put out,
// capped or not, is what one worker puts out.
func TestP4RangesOfOneSetOfVertices(t *testing.T) {
	q := &matcher.Query{Name: "q", Version: 1}
	for v := range 3 {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v)})
	}
	for k := range 4 {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", k), From: 0, To: 1})
	}
	q.Edges = append(q.Edges, matcher.QueryEdge{Name: "e4", From: 1, To: 2, Label: "on"})
	const ends = 4
	parallel, memory := 17, 1<<20
	if matchertest.UnderRace { // a seventh of the rows, and of the memory
		parallel, memory = 10, 1<<17
	}
	var graph []dyngraph.Update
	for i := range parallel {
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: "a", To: "b", Label: fmt.Sprint("l", i)})
	}
	for i := range ends {
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: "b", To: fmt.Sprint("c", i), Label: "on"})
	}
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		one, many := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), eager(t, 2+rng.IntN(3), memory)
		x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, one, many)
		x.Stage([]dyngraph.Message{{Updates: graph[1:]}})
		x.Commit()
		x.Stage([]dyngraph.Message{{Updates: graph[:1]}})
		all := uint64(4 * (parallel - 1) * (parallel - 2) * (parallel - 3) * ends)
		for _, limit := range []uint64{0, all/2 + rng.Uint64N(all/2)} {
			requests := x.Requests(func(_ int, r *matcher.Request) { r.Limit = limit })
			want := x.Search(one, dyngraph.Inserted, requests)
			if n := uint64(len(want.Rows)); limit == 0 && n != all || limit > 0 && n != limit {
				t.Fatalf("%d rows of %d, limit %d", n, all, limit)
			}
			sameAnswer(t, want, x.Search(many, dyngraph.Inserted, requests))
		}
		x.Commit()
	})
}
