//go:build cuda

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/placement"
)

var streamSkip = flag.Int("motifd.skip", 0, "the first N streams of a benchmark of streams are left out")

// BenchmarkMixedStream plays streams of insertions and deletions past the CPU, the GPU, the choice between them, and a
// GPU that is never chosen, and prints what a batch took: staging, searching and committing in the backend. The
// backends take turns batch by batch, in another order every time; every round begins with nothing loaded or measured,
// but for the choice, which rehearses before. Half of the graph's edges are there at the beginning. The last column is
// the choice by the better side, in total. Run it with
// -test.benchtime 1x.
func BenchmarkMixedStream(b *testing.B) {
	var devices []kernels.Device // one for each backend that has one
	for range 3 {
		dev, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		defer dev.Close()
		devices = append(devices, kept{dev})
	}
	// Before there is anything else to do for the GPU: it takes turns between contexts.
	c, err := placement.Calibrate(devices[1], benchClock())
	if err != nil {
		b.Fatal(err)
	}
	ratios := map[string][]float64{}
	for round := range *streamRounds {
		for i := *streamSkip; i < len(benchStreams); i++ {
			s := &benchStreams[i]
			reasons := map[string]int{}
			took := benchFollowers(devices, c, reasons)
			playStream(b, s, uint64(round), took)
			better := min(took[0].total(), took[1].total()).Seconds()
			for _, f := range took {
				fmt.Printf("mixed %d %-12s %-5s %4d batches: total %9.3f ms, p50 %8.3f ms, p99 %8.3f ms, %.3f of "+
					"the better\n", round, s.name, f.name,
					len(f.took), f.total().Seconds()*1e3, f.quantile(0.5).Seconds()*1e3, f.quantile(0.99).
						Seconds()*1e3, f.total().Seconds()/better)
				ratios[s.name+" "+f.name] = append(ratios[s.name+" "+f.name], f.total().Seconds()/better)
			}
			fmt.Printf("mixed %d %-12s %v\n", round, s.name, reasons)
		}
	}
	for _, s := range benchStreams[min(*streamSkip, len(benchStreams)):] {
		for _, name := range []string{"cpu", "cuda", "auto", "never"} {
			all := ratios[s.name+" "+name]
			slices.Sort(all)
			fmt.Printf("mixed median of %d: %-12s %-5s %.3f of the better (%.3f to %.3f)\n", len(all), s.name, name,
				all[len(all)/2], all[0], all[len(all)-1])
		}
	}
}

// benchFollowers are the CPU, the GPU, the choice, whose reasons are counted, and a choice that never takes the GPU.
func benchFollowers(devices []kernels.Device, c placement.Calibration, reasons map[string]int) []*follower {
	clock := benchClock()
	device := func(dev kernels.Device, p *placement.Placement) matcher.Backend {
		return cuda.New(cuda.Options{Device: dev, CPU: cpu.Options{Clock: clock}, Clock: clock,
			Timeout: context.WithTimeout, Placement: p})
	}
	return []*follower{
		{name: "cpu", be: cpu.New(cpu.Options{Clock: clock})},
		{name: "cuda", be: device(devices[0], nil)},
		{name: "auto", be: device(devices[1], choosing(c, reasons))},
		{name: "never", be: device(devices[2], placement.New(placement.Options{Fill: math.MaxUint64, Explore: 1e-12}))},
	}
}

// calibrated returns a choice for a device that it measures.
func calibrated(tb testing.TB, dev kernels.Device, clock func() int64) *placement.Placement {
	tb.Helper()
	c, err := placement.Calibrate(dev, clock)
	if err != nil {
		tb.Fatal(err)
	}
	return choosing(c, nil)
}

// choosing returns a choice for a device that was measured. It counts reasons.
func choosing(c placement.Calibration, reasons map[string]int) *placement.Placement {
	fmt.Printf("device: %.1f us a round trip, %.1f GB/s\n", c.RoundTrip/1e3, 1/c.Byte)
	return placement.New(placement.Options{Device: c, Rehearse: 500e6,
		Placed: func(_ placement.Work, s placement.Side, r placement.Reason, _ placement.Cost) {
			if reasons != nil {
				reasons[s.String()+" "+string(r)]++
			}
		}})
}

// kept is a device that its backend does not close: opening one takes longer than many a stream.
type kept struct{ kernels.Device }

// Close implements kernels.Device.
func (kept) Close() error { return nil }

// BenchmarkDevice prints what a device takes for what every search does: small copies, a small kernel, and copies of
// some size.
func BenchmarkDevice(b *testing.B) {
	g, err := kernels.OpenGPU(0)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	const large = 64 << 20
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	at, err := g.Alloc(large)
	check(err)
	host := make([]byte, large)
	check(g.Clear(at, large))
	check(g.Sync())
	median := func(f func() error) time.Duration {
		all := make([]time.Duration, 15)
		for i := range all {
			began := time.Now()
			check(f())
			all[i] = time.Since(began)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	launch := func() error {
		return kernels.RunPatch(g, kernels.Patch{Dst: at, Src: at + 256, At: at + 512, Records: 1, Words: 1})
	}
	for _, x := range []struct {
		name string
		f    func() error
	}{
		{"sync", g.Sync},
		{"launch", launch},
		{"launch and sync", func() error {
			if err := launch(); err != nil {
				return err
			}
			return g.Sync()
		}},
		{"write 4 B", func() error { return g.Write(at, host[:4]) }},
		{"read 4 B", func() error { return g.Read(host[:4], at) }},
		{"clear 4 B and sync", func() error {
			if err := g.Clear(at, 4); err != nil {
				return err
			}
			return g.Sync()
		}},
		{"write 64 KiB", func() error { return g.Write(at, host[:64<<10]) }},
		{"write 1 MiB", func() error { return g.Write(at, host[:1<<20]) }},
		{"write 4 MiB", func() error { return g.Write(at, host[:4<<20]) }},
		{"write 64 MiB", func() error { return g.Write(at, host) }},
		{"read 64 KiB", func() error { return g.Read(host[:64<<10], at) }},
		{"read 4 MiB", func() error { return g.Read(host[:4<<20], at) }},
		{"alloc and free 256 MiB", func() error {
			p, err := g.Alloc(256 << 20)
			if err != nil {
				return err
			}
			return g.Free(p)
		}},
	} {
		fmt.Printf("device %-24s %10.1f us\n", x.name, float64(median(x.f).Nanoseconds())/1e3)
	}
}
