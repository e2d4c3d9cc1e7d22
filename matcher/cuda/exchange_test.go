//go:build cuda || emu

package cuda_test

import (
	"context"
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

// treesAndRings draws patterns to count, and the shape of a stream for them.
func treesAndRings(rng *rand.Rand) (queries []*matcher.Query, shape matchertest.Shape) {
	shape = matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 80, Edges: 500, Messages: 600,
		Labels: matchertest.Labels{Vertex: []string{"L0", "L1"}, Edge: []string{"e0"}}}
	for i := range 4 {
		q := treeOf(rng, fmt.Sprint("q", i), 4+rng.IntN(3), shape.Directed)
		if rng.IntN(3) == 0 {
			q = ringOf(rng, q.Name, 3+rng.IntN(2))
			for j := range q.Edges {
				q.Edges[j].Either, q.Edges[j].Label = !shape.Directed, "e0"
			}
		}
		queries = append(queries, q)
	}
	return queries, shape
}

// parking returns options with which warps park often.
func parking(rng *rand.Rand) cuda.Options {
	return cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(2), BlockWarps: 1 + rng.IntN(2)},
		Slice: 1 + rng.IntN(12), NoFlat: rng.IntN(4) == 0}
}

// TestP2HandedOverWorkIsCountedOnce counts trees and rings on two or three devices that park often: what one hands over
// to another is counted there, and once. It goes on until that was of each kind.
func TestP2HandedOverWorkIsCountedOnce(t *testing.T) {
	var over cuda.Handovers
	enough := func() bool { return over.Least() >= 10 }
	matchertest.ForSeedsUntil(t, 2+rounds/3, enough, func(t *testing.T, rng *rand.Rand) {
		queries, shape := treesAndRings(rng)
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		o := parking(rng)
		if rng.IntN(2) == 0 {
			o.Timeout = context.WithTimeout
		}
		got := newSides(t, rng, o, newDevices(t, rng, 2+rng.IntN(2))...)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 300) {
			bench.Stage(batch)
			compareCounts(t, bench, want, got)
			compareNumbers(t, bench, dyngraph.New, want, got)
			bench.Commit()
		}
		over.Add(got.Handovers())
	})
}

// TestP2SidesWithOtherLayouts has a device fail while a batch is staged, so that its mirror loads the graph again and
// its array gets another layout than that of the other device: nothing is handed over that would mean something else.
// It goes on until layouts differed, and work was handed over.
func TestP2SidesWithOtherLayouts(t *testing.T) {
	differed := 0
	var over cuda.Handovers
	enough := func() bool { return differed >= 3 && over.All >= 3 }
	matchertest.ForSeedsUntil(t, 1+rounds/3, enough, func(t *testing.T, rng *rand.Rand) {
		queries, shape := treesAndRings(rng)
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		bad := newFaulty(cudatest.NewDevice(t, rng), -1)
		got := newSides(t, rng, parking(rng), cudatest.NewDevice(t, rng), bad)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		n := 0
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 60) {
			if n++; n > 5 && n%4 == 0 {
				bad.left = 0
			}
			bench.Stage(batch)
			bad.left = -1
			compareCounts(t, bench, want, got)
			all, err := got.Layouts(t.Context())
			check(t, err)
			if len(all) != 2 {
				t.Fatal("a device is given up")
			}
			if !slices.Equal(all[0], all[1]) {
				differed++
			}
			bench.Commit()
		}
		over.Add(got.Handovers())
	})
}

// dying is a device that fails for good when another one asks it for work.
type dying struct{ *faulty }

// Poke implements kernels.Device.
func (d dying) Poke(dst kernels.Ptr, word uint32) error {
	d.mu.Lock()
	d.left = 0
	d.mu.Unlock()
	return d.faulty.Poke(dst, word)
}

// TestP2ASideFailsWhenItIsAsked has a device fail when another one asks it for work: it is given up once, and the other
// one counts. It goes on until that happened.
func TestP2ASideFailsWhenItIsAsked(t *testing.T) {
	failed := 0
	matchertest.ForSeedsUntil(t, 3, func() bool { return failed >= 2 }, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 80, 900, "x", "y", "z", "w")
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		bad := dying{newFaulty(cudatest.NewDevice(t, rng), -1)}
		o := cuda.Options{Shape: kernels.Shape{Blocks: 1, BlockWarps: 2}, Slice: 2, Device: bad,
			More: []kernels.Device{cudatest.NewDevice(t, rng)},
			CPU:  cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, Timeout: context.WithTimeout}
		var lost losses
		lost.of(t, &o)
		got := cuda.New(o)
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
		bench.Stage(batch)
		compareNumbers(t, bench, dyngraph.New, want, got)
		if bad.failed {
			failed++
		}
		if bad.failed != (len(lost.dropped) == 1) || lost.last > 0 {
			t.Errorf("the device failed: %v; dropped %v, lost %d", bad.failed, lost.dropped, lost.last)
		}
		bad.left = -1
		check(t, got.Close())
	})
}

// TestP2ASearchEndsWhileASideIsGivenUp cancels a search while a device that failed is given up: what the other one has
// counted is not an answer.
func TestP2ASearchEndsWhileASideIsGivenUp(t *testing.T) {
	matchertest.ForSeeds(t, 2, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 80, 900, "x", "y", "z", "w")
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		bad := newFaulty(cudatest.NewDevice(t, rng), -1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := cuda.Options{Shape: kernels.Shape{Blocks: 1, BlockWarps: 2}, Slice: 2, Device: bad,
			More: []kernels.Device{cudatest.NewDevice(t, rng)},
			CPU:  cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}}
		dropped := 0
		o.Dropped = func(int, error, int) { dropped++; cancel() }
		got := cuda.New(o)
		turns := 0
		got.InTurn(func(busy []int64) int { // the first fails when the other one has done its part
			if turns++; len(busy) == 2 && turns < 4000 {
				return 1
			}
			bad.left = 0
			return 0
		})
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
		bench.Stage(batch)
		_, err := got.Enumerate(ctx, dyngraph.New, bench.Plans()[0], matcher.WantCount, 0, nil, nil)
		if !errors.Is(err, context.Canceled) || dropped != 1 {
			t.Errorf("%d devices were dropped; the search ends with %v", dropped, err)
		}
		bad.left = -1
		check(t, got.Close())
	})
}
