//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestCountsBeyond128Bits counts stars on a hub: a number beyond 128 bits, one that only its sum is, and small ones,
// all exact, of a batch and of a whole graph.
func TestCountsBeyond128Bits(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		star := func(leaves int, name string, unit matcher.Unit) *matcher.Query {
			q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts, Unit: unit,
				Vertices: []matcher.QueryVertex{{Name: "hub", Label: "H"}}}
			for i := range leaves {
				q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: "L"})
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: 0, To: i + 1, Label: "e",
					Either: true})
			}
			return q
		}
		queries := []*matcher.Query{star(29, "a", 0), star(31, "b", 0), star(31, "c", matcher.Subgraphs),
			star(3, "d", 0), star(27, "e", matcher.Subgraphs)}
		want, got := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBench(t, false, plan.New(), queries, want, got)
		var msgs []dyngraph.Message
		add := func(u dyngraph.Update) {
			u.Pos = dyngraph.Position{Offset: int64(len(msgs))}
			msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
		}
		for hub := range 2 {
			add(dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint("h", hub), Label: "H"})
		}
		const near = 40
		for i := range near {
			add(dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint("l", i), Label: "L"})
			for hub := range 2 {
				add(dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("h", hub), To: fmt.Sprint("l", i),
					Label: "e"})
			}
		}
		bench.Stage(msgs)
		requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
		a := bench.Search(want, dyngraph.Inserted, requests)
		compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
		for i, wide := range []bool{true, true, false, false, false} {
			if is := a.Results[i].Count.Big().BitLen() > 128; is != wide {
				t.Errorf("query %d counts %s", i, a.Results[i].Count)
			}
		}
		bench.Commit()
		compareNumbers(t, bench, dyngraph.New, want, got)
	})
}
