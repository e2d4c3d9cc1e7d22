//go:build cuda || emu

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// tight is a device with little memory.
type tight struct {
	kernels.Device
	sizes        map[kernels.Ptr]int
	used, most   int
	last         int  // what was allocated last
	short        int  // allocations that failed
	withoutLimit bool // nothing fails
}

func (d *tight) Alloc(n int) (kernels.Ptr, error) {
	if !d.withoutLimit && d.used+n > d.most {
		d.short++
		return 0, &kernels.MemoryError{Wanted: n, Err: errors.New("there is none")}
	}
	p, err := d.Device.Alloc(n)
	if err == nil {
		d.sizes[p] = n
		d.used += n
		d.last = n
	}
	return p, err
}

func (d *tight) Free(p kernels.Ptr) error {
	d.used -= d.sizes[p]
	delete(d.sizes, p)
	return d.Device.Free(p)
}

// TestTightMemory has the graph grow on devices with little memory beside what they have used: less than they have, so
// that a part of the graph is in the host's memory; too little to write the array anew beside itself, or for the
// batch's operations beside it, so that it is loaded from the host; and enough. The large batch is staged before there
// is less memory, or after, when the device was told of the batch before or not.
func TestTightMemory(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		var stream []dyngraph.Message
		for len(stream) < 5000 {
			if from, to := rng.IntN(400+len(stream)/50), rng.IntN(400+len(stream)/50); from != to {
				stream = append(stream, dyngraph.Message{
					Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), To: fmt.Sprint(to),
						Label:     "e",
						FromLabel: string(rune('a' + from%3)), ToLabel: string(rune('a' + to%3)),
						Pos: dyngraph.Position{Offset: int64(len(stream))}}}})
			}
		}
		for _, c := range []struct {
			room        int
			short, done bool
		}{{-512 << 10, true, true}, {32 << 10, true, true}, {4 << 20, false, true}} {
			if short, done := growOn(t, rng, stream, 3000, c.room); short != c.short || done != c.done {
				t.Errorf("with %d KiB: short %v, done %v", c.room>>10, short, done)
			}
		}
		growOn(t, rng, stream, 1000+rng.IntN(1500), rng.IntN(512<<10))
	})
}

// growOn searches a small batch and a large one, the latter with so much more memory. It tells whether some was short
// on the way, and whether it was done.
func growOn(t *testing.T, rng *rand.Rand, stream []dyngraph.Message, first, room int) (short, done bool) {
	q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts,
		Vertices: []matcher.QueryVertex{{Name: "x", Label: "a"}, {Name: "y", Label: "b"}, {Name: "z", Label: "c"}},
		Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Label: "e", Either: true},
			{Name: "f", From: 1, To: 2, Label: "e", Either: true}}}
	dev := &tight{Device: cudatest.NewDevice(t, rng), sizes: map[kernels.Ptr]int{}, withoutLimit: true}
	want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	got := cuda.New(cuda.Options{Device: dev, CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
		Shape: kernels.Shape{Blocks: 1, BlockWarps: 2}})
	defer func() { check(t, got.Close()) }()
	bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
	count := func(_ int, r *matcher.Request) { r.Want = matcher.WantCount }
	bench.Stage(stream[:first])
	bench.Search(got, dyngraph.Inserted, bench.Requests(count))
	bench.Commit()
	if rng.IntN(2) == 0 {
		middle := first + 200
		bench.Stage(stream[first:middle])
		bench.Commit()
		first = middle
	}
	before := rng.IntN(2) == 0
	if before {
		bench.Stage(stream[first:])
	}
	dev.withoutLimit, dev.most = false, dev.used+room
	if !before {
		bench.Stage(stream[first:])
	}
	requests := bench.Requests(count)
	results, err := got.Search(t.Context(), dyngraph.Inserted, requests, func(matcher.Group) error { return nil }, nil)
	if err != nil {
		if !kernels.OfDevice(err) {
			t.Fatal(err)
		}
		return dev.short > 0, false
	}
	if a := bench.Search(want, dyngraph.Inserted, requests); a.Results[0].Count != results[0].Count {
		t.Fatalf("with %d bytes: cpu %v, cuda %v", room, a.Results[0].Count, results[0].Count)
	}
	return dev.short > 0, true
}

// TestTightMemoryForBlocks has counts on devices that have just enough memory, or a byte too little for the last
// buffer, one of the two for what blocks of matches leave, or for both: then tasks are searched one by one, and later
// searches, with more memory, have blocks again.
func TestTightMemoryForBlocks(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		var stream []dyngraph.Message
		for len(stream) < 600 {
			if from, to := rng.IntN(60), rng.IntN(60); from != to {
				stream = append(stream, dyngraph.Message{
					Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), To: fmt.Sprint(to),
						Label:     "e",
						FromLabel: "a", ToLabel: "a", Pos: dyngraph.Position{Offset: int64(len(stream))}}}})
			}
		}
		enough, last := countOn(t, rng, stream, 0, 0)
		for _, c := range []struct{ most, short int }{{enough, 0}, {enough - 1, 1}, {enough - last - 1, 1}} {
			if used, _ := countOn(t, rng, stream, c.most, c.short); used != enough {
				t.Errorf("with %d bytes: %d are used once there are more, not %d", c.most, used, enough)
			}
		}
	})
}

// countOn counts two patterns on a device that has so much memory, unless it is 0, in which so many allocations fail,
// and again without a limit. It returns how much it uses then, and the size of what was allocated last.
func countOn(t *testing.T, rng *rand.Rand, stream []dyngraph.Message, most, short int) (used, last int) {
	edge := func(from, to int) matcher.QueryEdge {
		return matcher.QueryEdge{Name: fmt.Sprint("e", from, to), From: from, To: to, Label: "e", Either: true}
	}
	vertices := []matcher.QueryVertex{{Name: "x", Label: "a"}, {Name: "y", Label: "a"}, {Name: "z", Label: "a"}}
	queries := []*matcher.Query{
		{Name: "path", Version: 1, Emit: matcher.EmitCounts, Vertices: vertices,
			Edges: []matcher.QueryEdge{edge(0, 1), edge(1, 2)}},
		{Name: "triangle", Version: 1, Emit: matcher.EmitCounts, Vertices: vertices,
			Edges: []matcher.QueryEdge{edge(0, 1), edge(1, 2), edge(0, 2)}},
	}
	dev := &tight{Device: cudatest.NewDevice(t, rng), sizes: map[kernels.Ptr]int{}, most: most, withoutLimit: most == 0}
	want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	got := cuda.New(cuda.Options{Device: dev, CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
		Shape: kernels.Shape{Blocks: 1, BlockWarps: 2}})
	defer func() { check(t, got.Close()) }()
	bench := matchertest.NewBench(t, false, plan.New(), queries, want, got)
	bench.Stage(stream)
	requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
	for range 2 {
		compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests),
			bench.Search(got, dyngraph.Inserted, requests))
		if dev.short != short {
			t.Errorf("with %d bytes: %d allocations failed, not %d", most, dev.short, short)
		}
		dev.withoutLimit = true
	}
	return dev.used, dev.last
}
