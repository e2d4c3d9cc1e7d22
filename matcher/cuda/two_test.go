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

// lent is a device that two backends have: closing it is the test's.
type lent struct{ kernels.Device }

// Close implements kernels.Device.
func (lent) Close() error { return nil }

// TestTwoBackendsOnOneGraph has two backends follow one graph, each on a device of its own or both on one, and both
// give what the CPU backend does, whatever the order in which they are asked.
func TestTwoBackendsOnOneGraph(t *testing.T) {
	found := 0
	matchertest.ForSeedsUntil(t, rounds, func() bool { return found > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		all := []matcher.Backend{cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})}
		dev := cudatest.NewDevice(t, rng)
		t.Cleanup(func() {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
		shared := rng.IntN(2) == 0
		for range 2 {
			o := randomOptions(rng)
			o.CPU = cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
			if o.Device = kernels.Device(lent{dev}); !shared {
				o.Device = cudatest.NewDevice(t, rng)
			}
			be := cuda.New(o)
			t.Cleanup(func() {
				if err := be.Close(); err != nil {
					t.Error(err)
				}
			})
			all = append(all, be)
		}
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, all...)
		for _, batch := range c.Batches {
			for rng.IntN(5) == 0 {
				bench.Stage(batch)
				bench.Abort()
			}
			delta := bench.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
				want := bench.Search(all[0], sign, requests)
				found += len(want.Lines())
				for _, i := range rng.Perm(2) {
					if rng.IntN(4) > 0 { // else it sits out
						compareAnswers(t, bench, sign, requests, want, bench.Search(all[1+i], sign, requests))
					}
				}
			}
			if rng.IntN(4) == 0 {
				compareEnumerations(t, bench, dyngraph.New, all[1], all[2])
			}
			bench.Commit()
		}
	})
}
