//go:build cuda && gpu

package kernels_test

import (
	"fmt"
	"testing"
	"time"

	"motifd/kernels"
)

// BenchmarkSort prints how long sorts take on the device, by its own events.
func BenchmarkSort(b *testing.B) {
	rng := seeded(b)
	d := newDevice(b, rng)
	q := newStream(b, d)
	begin, end := newEvent(b, d), newEvent(b, d)
	for _, log := range []int{12, 16, 20, 24, 26} {
		n := 1 << log
		keys, values := make([]uint64, n), make([]uint32, n)
		for i := range keys {
			keys[i], values[i] = rng.Uint64(), uint32(i)
		}
		s := kernels.Sort{Work: alloc(b, d, kernels.SortWork(d.Info())), N: n}
		for i := range 2 {
			s.Keys[i], s.Values[i] = alloc(b, d, 8*n), alloc(b, d, 4*n)
		}
		for _, s.Bits = range []int{40, 64} {
			best := 1e9
			for range 10 {
				must(b, d.Write(s.Keys[0], kernels.Bytes(keys)))
				must(b, d.Write(s.Values[0], kernels.Bytes(values)))
				must(b, q.Record(begin))
				_, err := kernels.RunSort(q, s)
				must(b, err)
				must(b, q.Record(end))
				must(b, q.Sync())
				ms, err := end.Since(begin)
				must(b, err)
				best = min(best, ms)
			}
			fmt.Printf("sort 2^%d pairs by %d bits: %.3f ms, %.0f M/s\n", log, s.Bits, best, float64(n)/best/1e3)
		}
		for _, p := range []kernels.Ptr{s.Work, s.Keys[0], s.Keys[1], s.Values[0], s.Values[1]} {
			must(b, d.Free(p))
		}
	}
}

// TestCodeOfTheDevice holds that the device loads the cubins that are for it, and the PTX when told to.
func TestCodeOfTheDevice(t *testing.T) {
	for _, force := range []string{"0", "1"} {
		t.Setenv(kernels.ForcePTX, force)
		began := time.Now()
		g, err := kernels.OpenGPU(0)
		must(t, err)
		took := time.Since(began)
		info := g.Info()
		must(t, g.Close())
		if info.Refused != nil || (force == "1" && info.Code != "ptx") {
			t.Errorf("%s=%s: loaded %s; refused: %v", kernels.ForcePTX, force, info.Code, info.Refused)
		}
		fmt.Printf("open %s, kernels of %s: %.3f s\n", info.Name, info.Code, took.Seconds())
	}
}
