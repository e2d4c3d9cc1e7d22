//go:build cuda || emu

package cuda_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
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

var errFault = errors.New("fault")

// faults has calls fail after some that work; left is negative when none is to.
type faults struct {
	mu      sync.Mutex // Poke comes from any goroutine
	left    int
	failed  bool // one did
	memory  bool // one was for memory
	refused int  // how many did
}

func (f *faults) fail() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		f.failed = true
		f.refused++
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

func (f faultyQueue) Clear(dst kernels.Ptr, bytes int) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Queue.Clear(dst, bytes)
}

// Sync waits even if it fails: what is queued does not wait for a device that works again.
func (f faultyQueue) Sync() error {
	failed := f.fail()
	if err := f.Queue.Sync(); failed == nil {
		return err
	}
	return failed
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
		f.memory = true
		return 0, &kernels.MemoryError{Wanted: n, Err: err}
	}
	return f.device.Alloc(n)
}

func (f *faulty) AllocMapped(n int) (kernels.Ptr, error) {
	if err := f.fail(); err != nil {
		return 0, &kernels.MemoryError{Wanted: n, Err: err, Host: true}
	}
	return f.device.AllocMapped(n)
}

func (f *faulty) MoveNear(p kernels.Ptr, from, to int) (bool, error) {
	if err := f.fail(); err != nil {
		return false, err
	}
	return f.device.MoveNear(p, from, to)
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

func (f *faulty) Poke(dst kernels.Ptr, word uint32) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.device.Poke(dst, word)
}

func (f *faulty) NewEvent() (kernels.Event, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	e, err := f.device.NewEvent()
	return faultyEvent{e, f.faults}, err
}

// Free, FreeHost and Close do what they are for even if they fail.
func (f *faulty) Free(p kernels.Ptr) error { return cmp.Or(f.fail(), f.device.Free(p)) }
func (f *faulty) FreeHost(b []byte) error  { return cmp.Or(f.fail(), f.device.FreeHost(b)) }
func (f *faulty) Close() error             { return cmp.Or(f.fail(), f.device.Close()) }

type faultyEvent struct {
	kernels.Event
	*faults
}

func (f faultyEvent) Sync() error {
	failed := f.fail()
	if err := f.Event.Sync(); failed == nil {
		return err
	}
	return failed
}

func (f faultyEvent) Done() (bool, error) {
	if err := f.fail(); err != nil {
		return false, err
	}
	return f.Event.Done()
}

func (f faultyEvent) Since(earlier kernels.Event) (float64, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.Event.Since(earlier.(faultyEvent).Event)
}

type faultyStream struct {
	faultyQueue
	stream kernels.Stream
}

func (f faultyStream) Record(e kernels.Event) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.stream.Record(e.(faultyEvent).Event)
}

func (f faultyStream) Close() error { return f.stream.Close() }

// TestFaultsAreErrors has calls of the device fail, anywhere in a search or in what staging asks of the device. The
// error of a search comes out of it, unless the CPU did it since the device had too little memory; what failed in
// staging, the search does anew. The next search, of the same batch or of the batch after an abort, finds what the CPU
// backend does. It goes on until that found something after several of each of these.
func TestFaultsAreErrors(t *testing.T) {
	var found failures
	enough := func() bool { return slices.Min(found[:]) >= 10 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		found.play(t, rng, randomOptions(rng))
	})
}

// TestFaultsAreErrorsOfMappedGraphs does the same where a part of the graph is in the host's memory.
func TestFaultsAreErrorsOfMappedGraphs(t *testing.T) {
	var found failures
	enough := func() bool { return slices.Min(found[:]) >= 3 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		found.play(t, rng, mappedOptions(rng))
	})
}

// When a device has failed.
const (
	searched = iota
	aborted  // and the batch was aborted
	staged
)

// failures counts searches after a failure, of those with matches.
type failures [3]int

// play has calls of a device fail in the batches of a case.
func (found *failures) play(t *testing.T, rng *rand.Rand, o cuda.Options) {
	c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
	dev := newFaulty(cudatest.NewDevice(t, rng), -1)
	o.Device, o.CPU = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
	want, got := cpu.New(o.CPU), cuda.New(o)
	defer got.Close()
	bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
	for _, batch := range c.Batches {
		var failed []int
		if rng.IntN(3) == 0 {
			dev.left = rng.IntN(20)
		}
		delta := bench.Stage(batch)
		if dev.failed {
			failed = append(failed, staged)
		}
		requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
		dev.left, dev.failed, dev.memory = rng.IntN(60), false, false
		_, err := got.Search(t.Context(), dyngraph.Inserted, requests, func(matcher.Group) error { return nil },
			nil)
		if dev.failed != (err != nil) && !(err == nil && dev.memory) || err != nil && !errors.Is(err, errFault) {
			t.Fatalf("the device failed: %v; the search: %v", dev.failed, err)
		}
		dev.left, dev.failed = -1, false
		if err != nil {
			failed = append(failed, searched)
			if rng.IntN(2) == 0 {
				failed[len(failed)-1] = aborted
				bench.Abort()
				bench.Stage(batch)
				for i, p := range bench.Plans() { // they may have been made anew
					requests[i].Plan = p
				}
			}
		}
		a := bench.Search(want, dyngraph.Inserted, requests)
		compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
		if len(a.Rows) > 0 {
			for _, of := range failed {
				found[of]++
			}
		}
		bench.Commit()
	}
}

// TestP2LostDevice has a device fail for good, anywhere in a stream, with a backend that may go on without it: every
// batch gives what the CPU backend gives, in its order, and the loss is told once. It goes on until devices were lost
// in snapshots and in searches that find something.
func TestP2LostDevice(t *testing.T) {
	snapshots, searches := 0, 0 // that lost it, and found something
	enough := func() bool { return min(snapshots, searches) > 0 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		dev := newFaulty(cudatest.NewDevice(t, rng), rng.IntN(400))
		o := randomOptions(rng)
		lost := 0
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
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
				before, a := lost, bench.Search(want, sign, requests)
				compareAnswers(t, bench, sign, requests, a, bench.Search(got, sign, requests))
				if lost > before && len(a.Rows) > 0 {
					searches++
				}
			}
			if n == len(c.Batches)-1 || rng.IntN(2) == 0 { // what fails when a batch is staged, the next search tells
				before := lost
				if found := compareEnumerations(t, bench, dyngraph.New, want, got); found > 0 && lost > before {
					snapshots++
				}
			}
			bench.Commit()
		}
		if lost > 1 || dev.failed != (lost == 1) && !(lost == 0 && dev.memory) {
			t.Errorf("the loss was told %d times; the device failed: %v", lost, dev.failed)
		}
	})
}

// interrupted is a backend whose device is to fail, calls later, once more rows than after of a search or snapshot are
// out.
type interrupted struct {
	matcher.Backend
	dev          *faulty
	after, calls int
}

// interrupt returns what a receiver calls with the number of rows that it got.
func (b *interrupted) interrupt() func(rows int) {
	out := 0
	return func(rows int) {
		if out += rows; out > b.after && b.dev.left < 0 {
			b.dev.left = b.calls
		}
	}
}

func (b *interrupted) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	got := b.interrupt()
	return b.Backend.Search(ctx, sign, reqs, func(g matcher.Group) error {
		got(g.Rows.Len())
		return emit(g)
	}, over)
}

func (b *interrupted) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	limit uint64, budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	got := b.interrupt()
	return b.Backend.Enumerate(ctx, which, p, want, limit, budget, func(r matcher.Rows) error {
		got(r.Len())
		return emit(r)
	})
}

// TestP2LostMidway has a device fail for good when rows are out, of a search or of a snapshot: what the CPU backend
// goes on with is the next row, so that none is missing and none comes twice.
func TestP2LostMidway(t *testing.T) {
	searches, snapshots := 0, 0 // that lost it
	enough := func() bool { return min(searches, snapshots) > 0 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 60, 400, "x", "y", "z")
		queries := []*matcher.Query{q}
		if rng.IntN(2) == 0 {
			other := *q
			other.Name, other.Unit = "path of subgraphs", matcher.Subgraphs
			queries = append(queries, &other)
		}
		dev := newFaulty(cudatest.NewDevice(t, rng), -1)
		lost := 0
		o := randomOptions(rng)
		o.Device, o.CPU, o.RowMemory = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, 1<<15
		o.Lost = func(error) { lost++ }
		want, got := cpu.New(o.CPU), &interrupted{Backend: cuda.New(o), dev: dev, calls: rng.IntN(4)}
		defer got.Close()
		bench := matchertest.NewBench(t, false, plan.New(), queries, want, got)
		bench.Stage(batch)
		if rng.IntN(2) == 0 {
			got.after = rng.IntN(2000)
			compareSnapshots(t, bench, dyngraph.New, want, got)
			snapshots += lost
		} else {
			limits := rng.IntN(2) == 0
			requests := bench.Requests(func(_ int, r *matcher.Request) {
				if limits {
					r.Limit = 1 + rng.Uint64N(5000)
				}
			})
			a := bench.Search(want, dyngraph.Inserted, requests)
			got.after = rng.IntN(len(a.Rows))
			compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
			searches += lost
		}
		if lost > 1 || dev.failed != (lost == 1) {
			t.Errorf("the loss was told %d times; the device failed: %v", lost, dev.failed)
		}
		bench.Abort()
	})
}
