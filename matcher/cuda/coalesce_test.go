//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestP2CoalescedSearch plays patterns of one label throughout, most of which have edges that are searched together:
// as images. The device gives what the CPU gives: rows, with caps, counts and existence.
func TestP2CoalescedSearch(t *testing.T) {
	images := 0
	matchertest.ForSeedsUntil(t, 2*rounds, func() bool { return images > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		shape := matchertest.Shape{Directed: directed, Vertices: 6 + rng.IntN(6), Edges: 14 + rng.IntN(10),
			Messages: 20,
			Labels: matchertest.Labels{Vertex: []string{"L", "M"}[:1+rng.IntN(2)],
				Edge: []string{"e", ""}[rng.IntN(2):][:1]}}
		var queries []*matcher.Query
		for i := range 3 {
			q := matchertest.RandomQueryOf(rng, 3+rng.IntN(3), string(rune('p'+i)), directed, shape.Labels)
			q.Unit = matcher.Unit(rng.IntN(8) / 7)
			for j := range q.Vertices {
				if q.Vertices[j].Label, q.Vertices[j].AnyOf = "", nil; rng.IntN(6) == 0 {
					q.Vertices[j].Label = "L"
				}
			}
			queries = append(queries, q)
		}
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		o := randomOptions(rng)
		o.Apart = false
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, directed, plan.New(), queries, want, got)
		for _, batch := range matchertest.Cut(rng, matchertest.RandomStream(rng, shape)) {
			delta := bench.Stage(batch)
			for _, p := range bench.Plans() {
				for i := range p.Classes {
					images += len(p.Classes[i].Members[0].Images)
				}
			}
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests),
					bench.Search(got, sign, requests))
			}
			bench.Commit()
		}
	})
}
