//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestWokenPlan has a plan be void until a batch brings the first edge of some labels, and nobody prepare anew: the
// device has the candidate bits of vertices that no batch touched since then.
func TestWokenPlan(t *testing.T) {
	matchertest.ForSeeds(t, 2, func(t *testing.T, rng *rand.Rand) {
		g := dyngraph.NewGraph(dyngraph.Options{})
		query := func(name string, labels ...string) *matcher.Query {
			q := &matcher.Query{Name: name, Version: 1}
			for i, l := range labels {
				q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: string(rune('x' + i)), Label: l})
				if i > 0 {
					q.Edges = append(q.Edges, matcher.QueryEdge{Name: string(rune('e' + i)), From: i - 1, To: i,
						Label: "e", Either: true})
				}
			}
			return q
		}
		queries := []*matcher.Query{query("path", "A", "B", "C"), query("two", "C", "C")}
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		got := cuda.New(cuda.Options{Device: cudatest.NewDevice(t, rng),
			CPU:   cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
			Shape: kernels.Shape{Blocks: 1, BlockWarps: 2}})
		defer func() { check(t, got.Close()) }()
		all := []matcher.Backend{want, got}
		stage := func(ends ...string) {
			var updates []dyngraph.Update
			for i := 0; i < len(ends); i += 2 {
				label := func(key string) string { return string(key[0] - 'a' + 'A') }
				updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: ends[i], To: ends[i+1],
					Label: "e", FromLabel: label(ends[i]), ToLabel: label(ends[i+1])})
			}
			delta, err := g.Stage(updates)
			check(t, err)
			for _, b := range all {
				check(t, b.Stage(delta))
			}
		}
		commit := func() {
			for _, b := range all {
				check(t, b.Commit())
			}
			g.Commit()
		}
		for _, b := range all {
			check(t, b.Load(g))
		}
		stage("a1", "b1", "a2", "b1", "c1", "c2")
		commit()
		var requests []matcher.Request
		var plans []*matcher.Plan
		for _, q := range queries {
			p, err := plan.New().Plan(q, g)
			check(t, err)
			plans = append(plans, p)
			requests = append(requests, matcher.Request{Plan: p, Want: matcher.WantCount, Before: matcher.AllOrders})
		}
		for _, b := range all {
			check(t, b.Prepare(plans))
		}
		search := func() (counts [2]matcher.Count) {
			for i, b := range all {
				r, err := b.Search(t.Context(), dyngraph.Inserted, requests, nil, nil)
				check(t, err)
				counts[i] = r[0].Count.Add(r[1].Count)
			}
			return counts
		}
		stage("a3", "b1", "a4", "b1", "c3", "c4")
		if c := search(); c != [2]matcher.Count{matcher.CountOf(2), matcher.CountOf(2)} { // the pair, either way
			t.Errorf("before: %v", c)
		}
		commit()
		stage("b1", "c1", "b1", "c2")
		if c := search(); c != [2]matcher.Count{matcher.CountOf(8), matcher.CountOf(8)} {
			t.Errorf("once there is an edge between B and C: %v", c)
		}
		commit()
	})
}
