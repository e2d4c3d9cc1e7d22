//go:build cuda || emu

package cuda_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
)

// absent is a device that nothing is ever asked of: it would panic.
type absent struct{ kernels.Device }

// Info implements kernels.Device.
func (absent) Info() kernels.Info {
	return kernels.Info{Name: "none", Multiprocessors: 1, BlocksEach: 1}
}

// Close implements kernels.Device.
func (absent) Close() error { return nil }

// BenchmarkIdleGPU plays streams of small batches past the CPU backend and past a choice that never takes its GPU, by turns, and
// reports how much longer the median batch takes the second: what the choice costs by itself. Run it with -test.benchtime 1x.
func BenchmarkIdleGPU(b *testing.B) {
	for i := range benchStreams[:2] {
		s := &benchStreams[i]
		b.Run(s.name, func(b *testing.B) {
			start := time.Now()
			clock := func() int64 { return int64(time.Since(start)) }
			options := cpu.Options{Clock: clock}
			var ratios, batch []float64
			for round := range *streamRounds {
				pair := []*follower{
					{name: "cpu", be: cpu.New(options)},
					{name: "idle", be: cuda.New(cuda.Options{Device: absent{}, CPU: options, Clock: clock,
						Placement: cuda.NewPlacement(cuda.PlacementOptions{Fill: math.MaxUint64, Explore: 1e-12})})},
				}
				playStream(b, s, uint64(round), pair)
				ratios = append(ratios, float64(pair[1].quantile(0.5))/float64(pair[0].quantile(0.5)))
				batch = append(batch, float64(pair[1].quantile(0.5)-pair[0].quantile(0.5))/1e3)
			}
			slices.Sort(ratios)
			slices.Sort(batch)
			b.ReportMetric(ratios[len(ratios)/2], "of-the-cpu's")
			b.ReportMetric(batch[len(batch)/2], "us-more")
		})
	}
}
