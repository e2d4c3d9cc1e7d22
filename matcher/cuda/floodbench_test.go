//go:build cuda || emu

package cuda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/device"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

var floodMatches = flag.Int("motifd.flood", 500_000_000, "matches of BenchmarkFlood")

// BenchmarkFlood has one batch with 500 million matches, over 50 million of them in one group, put in order: by the
// CPU backend, and by the device with the memory for rows that it takes by itself, a sixteenth and a 64th of that, so
// that waves and groups come in parts. It prints the time, the parts and how many rows were found. Run it with
// -test.benchtime 1x.
func BenchmarkFlood(b *testing.B) {
	f := matchertest.NewFlood(*floodMatches)
	for _, memory := range []int{0, 1, 16, 64} {
		var be matcher.Backend
		var gpu *cuda.Backend
		seen := orderCheck{rng: rand.New(rand.NewPCG(1, 1))}
		trace := &device.Trace{Clock: benchClock()}
		options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
		name := "cpu"
		if be = cpu.New(options); memory > 0 {
			o := cuda.Options{Device: cudatest.NewDevice(b, seen.rng), CPU: options, Trace: trace}
			o.EnsureDefaults()
			o.RowMemory /= memory
			name = fmt.Sprintf("gpu, %d MiB for rows", o.RowMemory>>20)
			gpu = cuda.New(o)
			be = gpu
		}
		x := matchertest.NewBench(b, false, plan.New(), []*matcher.Query{f.Query}, be)
		stage := func(updates []dyngraph.Update) {
			x.Stage([]dyngraph.Message{{Updates: updates}})
		}
		stage(f.Graph)
		x.Commit()
		stage(f.Batch)
		plans := x.Plans()
		r, took, _ := measure(b, be, plans[0], matcher.WantRows, *benchLimit, seen.group)
		if n, _ := r.Count.Uint64(); n != f.Matches || seen.rows != f.Matches || seen.failed != "" {
			b.Fatalf("%s: %d rows and a count of %s, not %d; %s", name, seen.rows, r.Count, f.Matches, seen.failed)
		}
		fmt.Printf("flood %-24s %8.2f s %8.1f M/s", name, took, float64(f.Matches)/took/1e6)
		if gpu != nil {
			spans, err := trace.Spans()
			check(b, err)
			parts := 0
			for _, s := range spans {
				if s.What == "order" {
					parts++
				}
			}
			fmt.Printf(" %6d waves in %d parts, %d rows found", waves(spans), parts, gpu.RowsFound())
		}
		fmt.Println()
		x.Abort()
		if gpu != nil {
			check(b, gpu.Close())
		}
	}
}

// waves returns the number of waves.
func waves(spans []device.TraceSpan) (n int) {
	for _, s := range spans {
		n = max(n, s.Wave+1)
	}
	return n
}
