//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	variants "motifd/matcher/paths"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestS26PathsAgree plays queries with paths on the CPU and on the device, which searches them as plain patterns, one
// for each combination of lengths: both put out the same.
func TestS26PathsAgree(t *testing.T) {
	matches := 0
	enough := func() bool { return matches > 100 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCasePaths(rng, 3).With(func(q *matcher.Query) {
			q.Unit, q.Backfill = matcher.Unit(rng.IntN(2)), matcher.Backfill(rng.IntN(2))
			if rng.IntN(3) == 0 {
				q.Emit = matcher.EmitCounts
			} else if rng.IntN(3) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(5)
			}
		})
		host := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		want := matchertest.Run(t, c, variants.New(host), plan.New())
		device := cuda.New(cuda.Options{Device: cudatest.NewDevice(t, rng),
			CPU: cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}})
		got := matchertest.Run(t, c, variants.New(device), plan.New())
		if diff := matchertest.Diff(want.Transcript(), got.Transcript()); diff != "" {
			t.Fatalf("cpu against device: %s", diff)
		}
		for _, out := range got.Batches {
			matches += len(out.Records)
		}
	})
}
