//go:build cuda || emu

package cuda_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"motifd/matcher/cpu"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestP2Placement plays a backend that changes sides at a whim, and gives searches up half-way, against the CPU
// backend: the same rows in the same order, none missing and none twice.
func TestP2Placement(t *testing.T) {
	var seen compared
	sides, reasons := map[placement.Side]int{}, map[placement.Reason]int{}
	enough := func() bool {
		return seen.all() && min(sides[placement.CPU], sides[placement.GPU], reasons[placement.Exploring],
			reasons[placement.Repeated]) > 0
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
		o.Placement = placement.New(placement.Options{Fill: 1 + rng.Uint64N(64), Explore: 10,
			Rehearse: 1 << rng.IntN(36),
			Placed: func(_ placement.Work, s placement.Side, r placement.Reason, _ placement.Cost) {
				sides[s]++
				reasons[r]++
			}})
		got := newBackendWith(t, rng, o)
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen, bench, want, got, c.Batches)
	})
	t.Log(sides, reasons)
}
