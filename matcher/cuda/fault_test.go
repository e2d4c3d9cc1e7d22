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

// faults has calls fail after some that work; left is negative when none is to.
type faults struct {
	left   int
	failed bool // one did
}

func (f *faults) fail() error {
	if f.left == 0 {
		f.failed = true
		return errFault
	}
	f.left--
	return nil
}

// faultyQueue is a queue with faults.
type faultyQueue struct {
	kernels.Queue
	*faults
}

func (f faultyQueue) Write(dst kernels.Ptr, src []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Queue.Write(dst, src)
}

func (f faultyQueue) Read(dst []byte, src kernels.Ptr) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Queue.Read(dst, src)
}

func (f faultyQueue) Launch(kernel string, blocks, threads int, params []byte) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Queue.Launch(kernel, blocks, threads, params)
}

// faulty is a device with faults, its streams too.
type faulty struct {
	faultyQueue
	device kernels.Device
}

func newFaulty(d kernels.Device, left int) *faulty {
	return &faulty{faultyQueue{d, &faults{left: left}}, d}
}

func (f *faulty) Alloc(n int) (kernels.Ptr, error) {
	if err := f.fail(); err != nil {
		return 0, &kernels.MemoryError{Wanted: n, Err: err}
	}
	return f.device.Alloc(n)
}

func (f *faulty) AllocHost(n int) ([]byte, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.device.AllocHost(n)
}

func (f *faulty) NewStream() (kernels.Stream, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	s, err := f.device.NewStream()
	return faultyStream{faultyQueue{s, f.faults}, s}, err
}

func (f *faulty) NewEvent() (kernels.Event, error) { return f.device.NewEvent() }
func (f *faulty) Free(p kernels.Ptr) error         { return f.device.Free(p) }
func (f *faulty) FreeHost(b []byte) error          { return f.device.FreeHost(b) }
func (f *faulty) Close() error                     { return f.device.Close() }

type faultyStream struct {
	faultyQueue
	stream kernels.Stream
}

func (f faultyStream) Record(e kernels.Event) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.stream.Record(e)
}

func (f faultyStream) Close() error { return f.stream.Close() }

// TestFaultsAreErrors has calls of the device fail, anywhere in a search or in what staging asks of the device. The error comes out of the search, if it is
// not mended there, and the next search, of the same batch or of the batch after an abort, finds what the CPU backend does.
func TestFaultsAreErrors(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		dev := newFaulty(newDevice(t, rng), -1)
		o := randomOptions(rng)
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, SpillDir: t.TempDir()}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		failed := 0
		for _, batch := range c.Batches {
			if rng.IntN(3) == 0 {
				dev.left = rng.IntN(20)
			}
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
		dev := newFaulty(newDevice(t, rng), rng.IntN(400))
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
		for n, batch := range c.Batches {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests), bench.Search(got, sign, requests))
			}
			if n == len(c.Batches)-1 || rng.IntN(2) == 0 { // what fails when a batch is staged, the next search tells
				compareEnumerations(t, bench, dyngraph.New, want, got)
			}
			bench.Commit()
		}
		if lost > 1 || dev.failed != (lost == 1) {
			t.Errorf("the loss was told %d times; the device failed: %v", lost, dev.failed)
		}
		t.Logf("lost %d times", lost)
	})
}
