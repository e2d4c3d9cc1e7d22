package cpu

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestS7RememberedPairsPutOutTheSame: a search that remembers what two vertices have in common, over many batches,
// puts out what one does that finds it each time.
func TestS7RememberedPairsPutOutTheSame(t *testing.T) {
	remembered := 0
	matchertest.ForSeedsUntil(t, 60, func() bool { return remembered > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 6)
		forgets, remembers := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), eager(t, 1+rng.IntN(2), 1<<20)
		forgets.neighbors.Options.NoPairs, forgets.shared.Options.NoMemo = true, true
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, forgets, remembers)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(forgets, sign, requests), x.Search(remembers, sign, requests))
				for _, s := range remembers.idle {
					remembered += s.Pairs.Hits()
				}
			}
			x.Commit()
		}
	})
}
