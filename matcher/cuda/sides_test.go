//go:build cuda || emu

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// newSides returns a backend on some devices.
func newSides(t testing.TB, rng *rand.Rand, o cuda.Options, devices ...kernels.Device) *cuda.Backend {
	t.Helper()
	o.Device, o.More = devices[0], devices[1:]
	o.CPU = cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
	b := cuda.New(o)
	inTurn(rng, b)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func newDevices(t testing.TB, rng *rand.Rand, n int) (all []kernels.Device) {
	for range n {
		all = append(all, cudatest.NewDevice(t, rng))
	}
	return all
}

// TestP2SidesAgree has one, two and three devices answer the same requests: the same rows in the same order, counts and
// witnesses, as the CPU, with conditions, parallel edges, deletions, caps, and in whole graphs. It goes on until every
// device had work, and some had work of another one.
func TestP2SidesAgree(t *testing.T) {
	var seen compared
	shared := 0 // searches after which the last of three devices had work
	handovers := uint64(0)
	all := func() bool { return seen.all() && shared >= 3 && handovers >= 10 }
	matchertest.ForSeedsUntil(t, rounds, all, func(t *testing.T, rng *rand.Rand) {
		c := anyCase(rng)
		o := randomOptions(rng)
		o.Shape = kernels.Shape{Blocks: 1, BlockWarps: 1 + rng.IntN(4)}
		backends := []matcher.Backend{cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})}
		for n := range 3 {
			backends = append(backends, newSides(t, rng, o, newDevices(t, rng, n+1)...))
		}
		three := backends[3].(*cuda.Backend)
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, backends...)
		for _, batch := range c.Batches {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			_, before := three.Busy()
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				want := bench.Search(backends[0], sign, requests)
				for _, be := range backends[1:] {
					compareAnswers(t, bench, sign, requests, want, bench.Search(be, sign, requests))
				}
				seen.add(requests, want)
			}
			if rng.IntN(3) == 0 {
				which := dyngraph.Which(rng.IntN(2))
				for _, be := range backends[1:] {
					seen.whole += compareEnumerations(t, bench, which, backends[0], be)
				}
			}
			if _, after := three.Busy(); after[2] > before[2] {
				shared++
			}
			if rng.IntN(6) == 0 {
				bench.Abort()
				bench.Stage(batch)
			}
			bench.Commit()
		}
		handovers += three.Handovers().All
	})
}

// failing are faulty devices, of which those fail for good that left has calls for.
func failing(t testing.TB, rng *rand.Rand, left []int) (faults []*faulty, devices []kernels.Device) {
	for i, d := range newDevices(t, rng, len(left)) {
		faults = append(faults, newFaulty(d, left[i]))
		devices = append(devices, faults[i])
	}
	return faults, devices
}

// losses counts the devices that a backend has told it lost.
type losses struct {
	dropped []int
	last    int
}

func (l *losses) of(t *testing.T, o *cuda.Options) {
	o.Dropped = func(device int, err error, left int) {
		if !errors.Is(err, errFault) || slices.Contains(l.dropped, device) || left < 1 {
			t.Errorf("device %d was dropped by %v, after %v; %d are left", device, err, l.dropped, left)
		}
		l.dropped = append(l.dropped, device)
	}
	o.Lost = func(err error) {
		if !errors.Is(err, errFault) || !kernels.OfDevice(err) {
			t.Errorf("lost by %v", err)
		}
		l.last++
	}
}

// check compares the losses with the devices that have failed. A failure of the very last call may be told to nobody,
// and where memory is short, devices are asked for less at first.
func (l *losses) check(t *testing.T, faults []*faulty) {
	t.Helper()
	failed, sure := 0, 0
	for i, f := range faults {
		if f.failed {
			failed++
		}
		if f.refused > 1 && !f.memory {
			sure++
		}
		if slices.Contains(l.dropped, i) && !f.failed {
			t.Errorf("device %d was dropped and has not failed", i)
		}
	}
	told := len(l.dropped) + l.last
	if told < sure || told > failed || l.last > 0 && told < len(faults) || len(l.dropped) == len(faults) {
		t.Errorf("%d devices failed of %d; dropped %v, lost %d", failed, len(faults), l.dropped, l.last)
	}
}

// TestP2LostSides has some of several devices fail for good, anywhere in a stream: every batch and every whole graph
// gives what the CPU gives, in its order. It goes on until some were lost with others left, and all.
func TestP2LostSides(t *testing.T) {
	some, all := 0, 0
	enough := func() bool { return some >= 3 && all > 0 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		left := make([]int, 2+rng.IntN(2))
		fails := 1 + rng.IntN(len(left))
		for i, k := range rng.Perm(len(left)) {
			if left[k] = -1; i < fails {
				left[k] = rng.IntN(400)
			}
		}
		faults, devices := failing(t, rng, left)
		o := randomOptions(rng)
		o.Shape = kernels.Shape{Blocks: 1, BlockWarps: 1 + rng.IntN(2)}
		var lost losses
		lost.of(t, &o)
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		got := newSides(t, rng, o, devices...)
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for n, batch := range c.Batches {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests),
					bench.Search(got, sign, requests))
			}
			if n == len(c.Batches)-1 || rng.IntN(2) == 0 { // what fails when a batch is staged, the next search tells
				compareEnumerations(t, bench, dyngraph.New, want, got)
			}
			bench.Commit()
		}
		lost.check(t, faults)
		if len(lost.dropped) > 0 && lost.last == 0 {
			some++
		}
		all += lost.last
	})
}

// TestP2EveryCallOfASideFails plays one case again and again, each time with another call of one of two devices that
// fails for good: counts, existence and rows of a batch and of a graph are what the CPU gives. The calls are all, or
// some that are drawn.
func TestP2EveryCallOfASideFails(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 30, 90, "x", "y", "z")
		counts := *q
		counts.Name = "counts"
		seed := rng.Uint64()
		play := func(t *testing.T, left []int) (faults []*faulty) {
			rng := rand.New(rand.NewPCG(seed, 0)) // the same case
			faults, devices := failing(t, rng, left)
			o := cuda.Options{Shape: kernels.Shape{Blocks: 1, BlockWarps: 1}, RowMemory: 1 << 15, Slice: 50}
			var lost losses
			lost.of(t, &o)
			want, got := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}),
				newSides(t, rng, o, devices...)
			bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q, &counts}, want, got)
			search := func() {
				bench.Stage(batch)
				requests := bench.Requests(func(i int, r *matcher.Request) {
					r.Want = []matcher.Want{matcher.WantRows, matcher.WantCount}[i]
				})
				compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests),
					bench.Search(got, dyngraph.Inserted, requests))
				bench.Abort()
			}
			search()
			search() // the array is updated while the batch is staged
			bench.Stage(batch)
			compareSnapshots(t, bench, dyngraph.New, want, got)
			bench.Abort()
			search() // tells what failed when a search was stopped
			lost.check(t, faults)
			return faults
		}
		const many = 1 << 30
		calls := many - play(t, []int{-1, many})[1].left
		if calls < 100 {
			t.Fatalf("only %d calls", calls)
		}
		plays := 24
		if matchertest.Quick(t) {
			plays = 2
		}
		for range plays {
			left := []int{-1, -1}
			k, call := rng.IntN(2), rng.IntN(calls)
			left[k] = call
			t.Run(fmt.Sprintf("device %d, call %d", k, call), func(t *testing.T) {
				if f := play(t, left); !f[k].failed && call < calls/2 {
					t.Errorf("device %d has not failed", k)
				}
			})
		}
	})
}

// TestP2SidesFailWhenTheyAreFreed has devices fail while a graph gives way to another one, or when all ends: the others
// go on, then the CPU, and what failed is told. Without Lost it is an error.
func TestP2SidesFailWhenTheyAreFreed(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		faults, devices := failing(t, rng, []int{-1, -1})
		o := cuda.Options{Shape: kernels.Shape{Blocks: 1, BlockWarps: 1}, RowMemory: 1 << 15,
			CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, Device: devices[0], More: devices[1:]}
		var lost losses
		lost.of(t, &o)
		onlyDevices := rng.IntN(2) == 0
		if onlyDevices {
			o.Lost = nil
		}
		want, got := cpu.New(o.CPU), cuda.New(o)
		batch, q := paths(rng, 30, 90, "x", "y", "z")
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
		search := func() {
			bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
			compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests),
				bench.Search(got, dyngraph.Inserted, requests))
			bench.Abort()
		}
		search()
		for _, f := range faults[:1+rng.IntN(2)] {
			f.left = rng.IntN(8)
		}
		if !onlyDevices && rng.IntN(2) == 0 {
			if err := got.Load(bench.Graph); err != nil {
				t.Fatal(err)
			}
			if err := got.Prepare(bench.Plans()); err != nil {
				t.Fatal(err)
			}
			search()
		}
		switch err := got.Close(); {
		case onlyDevices && faults[0].failed && faults[1].failed:
			if !errors.Is(err, errFault) {
				t.Errorf("both devices failed, which is told as %v", err)
			}
		case err != nil:
			t.Error(err)
		default:
			lost.check(t, faults)
		}
	})
}

// TestMirrorsHaveEqualLayouts has three devices follow a graph through batches that are committed, aborted, or that no
// device searches: each entry is in the same slot of all arrays, whatever the order in which the warps of a device run.
func TestMirrorsHaveEqualLayouts(t *testing.T) {
	layouts := map[int]bool{} // sizes
	enough := func() bool { return len(layouts) >= 3 }
	matchertest.ForSeedsUntil(t, 1+rounds/3, enough, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 300, Edges: 1200,
			Messages: 800 + rng.IntN(1700),
			Labels:   matchertest.Labels{Vertex: []string{"L0", "L1"}, Edge: []string{"e0", "e1"}}}
		q := matchertest.RandomQueryOf(rng, 2, "q", shape.Directed, shape.Labels)
		q.Edges[0].Label, q.Edges[0].AnyOf, q.Edges[0].Either = "e0", nil, !shape.Directed
		got := newSides(t, rng, randomOptions(rng), newDevices(t, rng, 3)...)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), []*matcher.Query{q}, got)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 1+rng.IntN(600)) {
			bench.Stage(batch)
			if rng.IntN(4) > 0 {
				bench.Search(got, dyngraph.Inserted, bench.Requests(nil))
				all, err := got.Layouts(t.Context())
				check(t, err)
				if !slices.Equal(all[0], all[1]) || !slices.Equal(all[0], all[2]) {
					t.Fatalf("the layouts of %d, %d and %d words differ", len(all[0]), len(all[1]), len(all[2]))
				}
				layouts[len(all[0])] = true
			}
			if rng.IntN(4) == 0 {
				bench.Abort()
			} else {
				bench.Commit()
			}
		}
	})
}
