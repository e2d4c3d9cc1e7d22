//go:build cuda || emu

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/placement"
)

var idleThreads = flag.Int("motifd.threads", 0, "threads of the backends of BenchmarkIdleGPU; 0 is all")

// absent is a device that nothing is ever asked of: it would panic.
type absent struct{ kernels.Device }

// Info implements kernels.Device.
func (absent) Info() kernels.Info {
	return kernels.Info{Name: "none", Multiprocessors: 1, BlocksEach: 1}
}

// Close implements kernels.Device.
func (absent) Close() error { return nil }

// BenchmarkIdleGPU plays streams past the CPU backend, past another one (what differs between those is noise), and
// past a choice that never takes its GPU, by turns, and reports how much longer the last two take: what the choice
// costs by itself. Run it with -test.benchtime 1x.
func BenchmarkIdleGPU(b *testing.B) {
	for i := range benchStreams[:4] {
		s := &benchStreams[i]
		b.Run(s.name, func(b *testing.B) {
			clock := benchClock()
			options := cpu.Options{Clock: clock, Threads: *idleThreads}
			ratios := map[string][]float64{}
			for round := range *streamRounds {
				all := []*follower{
					{name: "cpu", be: cpu.New(options)},
					{name: "again", be: cpu.New(options)},
					{name: "idle", be: cuda.New(cuda.Options{Device: absent{}, CPU: options, Clock: clock,
						Timeout:   context.WithTimeout,
						Placement: placement.New(placement.Options{Fill: math.MaxUint64, Explore: 1e-12})})},
				}
				// Where a graph lies in memory depends on which was made first.
				at := round % len(all)
				playStream(b, s, uint64(round), slices.Concat(all[at:], all[:at]))
				host := all[0]
				for _, f := range all[1:] {
					ratios[f.name+"-total"] = append(ratios[f.name+"-total"], f.total().Seconds()/host.total().
						Seconds())
					ratios[f.name+"-p50"] = append(ratios[f.name+"-p50"], f.quantile(0.5).Seconds()/host.quantile(0.5).
						Seconds())
					more := &follower{}
					for k := range f.took {
						more.took = append(more.took, f.took[k]-host.took[k])
					}
					ratios[f.name+"-us-more"] = append(ratios[f.name+"-us-more"], more.quantile(0.5).Seconds()*1e6)
				}
				if testing.Verbose() {
					for _, f := range all {
						fmt.Printf("idle %d %-12s %-5s %4d batches: total %9.3f ms, p50 %8.3f ms, p99 %8.3f ms\n",
							round, s.name, f.name,
							len(f.took), f.total().Seconds()*1e3, f.quantile(0.5).Seconds()*1e3, f.quantile(0.99).
								Seconds()*1e3)
					}
				}
			}
			for what, of := range ratios {
				slices.Sort(of)
				b.ReportMetric(of[len(of)/2], what)
			}
		})
	}
}
