//go:build cuda || emu

package cuda_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestP2Placement plays a backend that changes sides at a whim, and gives searches up half-way, against the CPU backend: the same rows in
// the same order, none missing and none twice.
func TestP2Placement(t *testing.T) {
	var seen compared
	sides, reasons := map[cuda.Side]int{}, map[cuda.Reason]int{}
	enough := func() bool {
		return seen.all() && min(sides[cuda.CPU], sides[cuda.GPU], reasons[cuda.Exploring], reasons[cuda.Repeated]) > 0
	}
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 5))
		o := randomOptions(rng)
		now := int64(0)
		o.Timeout = context.WithTimeout
		o.Clock = func() int64 { // costs are drawn, so that anything may seem cheap
			now += 1 << rng.IntN(22)
			return now
		}
		o.Placement = cuda.NewPlacement(cuda.PlacementOptions{Fill: 1 + rng.Uint64N(64), Explore: 10, Rehearse: 1 << rng.IntN(36),
			Placed: func(_ cuda.Work, s cuda.Side, r cuda.Reason, _ cuda.Cost) { sides[s]++; reasons[r]++ }})
		got := newBackendWith(t, rng, o)
		want := cpu.New(cpu.Options{Threads: 1, SpillDir: t.TempDir()})
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen, bench, want, got, c.Batches)
	})
	t.Log(sides, reasons)
}
