//go:build cuda || emu

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

var errFault = errors.New("fault")

// faulty is a device whose calls fail after some that work; left is negative when none is to.
type faulty struct {
	kernels.Device
	left int
}

func (f *faulty) fail() error {
	if f.left == 0 {
		return errFault
	}
	f.left--
	return nil
}

func (f *faulty) Alloc(n int) (kernels.Ptr, error) {
	if err := f.fail(); err != nil {
		return 0, &kernels.MemoryError{Wanted: n, Err: err}
	}
	return f.Device.Alloc(n)
}

func (f *faulty) Write(dst kernels.Ptr, src []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Device.Write(dst, src)
}

func (f *faulty) Read(dst []byte, src kernels.Ptr) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Device.Read(dst, src)
}

func (f *faulty) Launch(kernel string, blocks, threads int, params []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Device.Launch(kernel, blocks, threads, params)
}

// TestFaultsAreErrors has calls of the device fail, anywhere in a search. The error comes out, and the next search, of the same batch or
// of the batch after an abort, finds what the CPU backend does.
func TestFaultsAreErrors(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		dev := &faulty{Device: newDevice(t, rng), left: -1}
		o := randomOptions(rng)
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, SpillDir: t.TempDir()}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		failed := 0
		for _, batch := range c.Batches {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			dev.left = rng.IntN(60)
			_, err := got.Search(t.Context(), dyngraph.Inserted, requests, func(matcher.Group) error { return nil }, nil)
			dev.left = -1
			if err != nil {
				if !errors.Is(err, errFault) {
					t.Fatal(err)
				}
				failed++
				if rng.IntN(2) == 0 {
					bench.Abort()
					bench.Stage(batch)
					for i, p := range bench.Plans() { // they may have been made anew
						requests[i].Plan = p
					}
				}
			}
			compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests), bench.Search(got, dyngraph.Inserted, requests))
			bench.Commit()
		}
		t.Logf("%d of %d searches failed", failed, len(c.Batches))
	})
}

// TestP2LostDevice has a device fail for good, anywhere in a stream, with a backend that may go on without it: every batch gives what
// the CPU backend gives, in its order, and the loss is told once.
func TestP2LostDevice(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		dev := &faulty{Device: newDevice(t, rng), left: rng.IntN(400)}
		o := randomOptions(rng)
		lost := 0
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, SpillDir: t.TempDir()}
		o.Lost = func(err error) {
			if !errors.Is(err, errFault) || !kernels.OfDevice(err) {
				t.Errorf("lost by %v", err)
			}
			lost++
		}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for _, batch := range c.Batches {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests), bench.Search(got, sign, requests))
			}
			if rng.IntN(2) == 0 {
				compareEnumerations(t, bench, dyngraph.New, want, got)
			}
			bench.Commit()
		}
		if failed := dev.left == 0; lost > 1 || failed != (lost == 1) {
			t.Errorf("the loss was told %d times; the device failed: %v", lost, failed)
		}
		t.Logf("lost %d times", lost)
	})
}
