//go:build cuda || emu

package cuda_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS12ClosedFormsBesideADevice counts what a formula tells where a Placement chooses the side. A device maps the
// vertices one by one, so that it would never end: nothing but the CPU's search in time bounds it. Each seed plays one
// of the closed forms; TestS12ClosedForms plays all on the CPU.
func TestS12ClosedFormsBesideADevice(t *testing.T) {
	forms := matchertest.ClosedForms()
	matchertest.ForSeeds(t, 5, func(t *testing.T, rng *rand.Rand) {
		f := forms[rng.IntN(len(forms))]
		t.Log(f.Name)
		f.Play(t, func() matcher.Backend {
			began := time.Now()
			clock := func() int64 { return int64(time.Since(began)) }
			return cuda.New(
				cuda.Options{
					Device:    cudatest.NewDevice(t, rng),
					CPU:       cpu.Options{Threads: 2, Clock: clock},
					Clock:     clock,
					Timeout:   context.WithTimeout,
					Slice:     1 << 10, // the emulator takes a minute for the default
					Placement: placement.New(placement.Options{Fill: 1, Explore: 0.04}),
				},
			)
		}, plan.New(), 0)
	})
}
