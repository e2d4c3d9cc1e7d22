//go:build cuda || emu

package cuda_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestCountsOfWholeGraphsRace counts whole graphs where both sides begin at once: whichever is first, the count is that
// of the CPU alone. The CPU may wait until it is stopped, so that the device has to answer; the device may fail, so
// that the CPU has to, and the loss is told; or the caller gives up, and there is no answer.
func TestCountsOfWholeGraphsRace(t *testing.T) {
	var answers, lost, stopped int
	enough := func() bool { return answers > 0 && lost > 0 && stopped > 0 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		dev, failed := newFaulty(cudatest.NewDevice(t, rng), 1<<40), false
		o := randomOptions(rng)
		o.Device, o.Clock, o.Placement = dev, clock, placement.New(placement.Options{Fill: 1, Explore: 0.04})
		o.CPU = cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
		o.Lost = func(error) { failed = true }
		got := cuda.New(o)
		defer func() { check(t, got.Close()) }()
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for _, batch := range c.Batches[:min(len(c.Batches), 6)] {
			bench.Stage(batch)
			bench.Commit()
			for _, p := range bench.Plans() {
				ctx, cancel := context.WithCancel(t.Context())
				waits, gives := rng.IntN(2) == 0, false
				switch {
				case rng.IntN(8) == 0: // nobody answers
					waits, gives = true, true
				case !failed && !waits && rng.IntN(3) == 0:
					dev.left = rng.IntN(30)
				}
				got.BeforeCPU(func(onCPU context.Context) {
					if gives {
						cancel()
					}
					if waits && !failed {
						<-onCPU.Done()
					}
				})
				before := failed
				r, err := got.Enumerate(ctx, dyngraph.New, p, matcher.WantCount, 0, nil, nil)
				ended := ctx.Err() != nil
				cancel()
				switch {
				case ended && errors.Is(err, context.Canceled):
					stopped++
				case err != nil:
					t.Fatal(err)
				default:
					answers++
					expected, err := want.Enumerate(t.Context(), dyngraph.New, p, matcher.WantCount, 0, nil, nil)
					check(t, err)
					if expected.Count.Cmp(r.Count) != 0 {
						t.Fatalf("%v matches, not %v (%v, %v)", r.Count, expected.Count, waits, failed)
					}
				}
				if dev.left = 1 << 40; failed && !before {
					lost++
				}
			}
		}
	})
}
