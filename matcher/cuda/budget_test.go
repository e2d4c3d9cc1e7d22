//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestBudgetsAreTheCPUs asks for nothing but what has a budget: the CPU backend answers, and its suspensions are made known. No device is asked.
func TestBudgetsAreTheCPUs(t *testing.T) {
	suspended := 0
	matchertest.ForSeeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4)
		options := cpu.Options{Threads: 1, SpillDir: t.TempDir()} // several use a budget up in no order
		want, got := cpu.New(options), cuda.New(cuda.Options{Device: absent{}, CPU: options})
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for _, batch := range c.Batches {
			bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) {
				r.Want, r.Budget = matcher.Want(rng.IntN(2)), 1+rng.Uint64N(40)
			})
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				w, g := bench.Search(want, sign, requests), bench.Search(got, sign, requests)
				compareAnswers(t, bench, sign, requests, w, g)
				if !slices.EqualFunc(w.Suspends, g.Suspends, func(a, b matcher.Group) bool { return a.Request == b.Request && a.Order == b.Order }) {
					t.Fatalf("sign %d: suspended %+v, not %+v", sign, g.Suspends, w.Suspends)
				}
				suspended += len(w.Suspends)
			}
			bench.Commit()
		}
	})
	if suspended == 0 {
		t.Error("no budget was exceeded")
	}
}
