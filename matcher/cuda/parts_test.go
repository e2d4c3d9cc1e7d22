//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestNoRowIsFoundTwice has batches give many times the rows that there is memory for, in waves and for single
// anchors: what comes out is what the CPU finds, and the device finds no row more than once. Where rows are capped it
// may find more than are wanted.
func TestNoRowIsFoundTwice(t *testing.T) {
	among, edges, least, parts := 16, 70, 10, 0
	if os.Getenv(Few) != "" {
		among, edges, least = 12, 50, 2
	}
	matchertest.ForSeedsUntil(t, rounds, func() bool { return parts >= least }, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, among, edges, "w", "x", "y", "z")
		dev := &prompt{Device: cudatest.NewDevice(t, rng)}
		dir := t.TempDir()
		o := randomOptions(rng)
		o.Device, o.CPU, o.RowMemory = dev,
			cpu.Options{Threads: 1, TempFiles: tempfile.In(dir), GroupMemory: 1 << rng.IntN(20)}, 1
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		got := cuda.New(o)
		defer func() { check(t, got.Close()) }()
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
		bench.Stage(batch)
		for _, limit := range []uint64{0, 1 + rng.Uint64N(3), 1 << 40} {
			requests := bench.Requests(func(_ int, r *matcher.Request) {
				r.Want, r.Limit = matcher.WantRows, limit
			})
			before, waves := got.RowsFound(), dev.waves
			a := bench.Search(want, dyngraph.Inserted, requests)
			compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
			if found := got.RowsFound() - before; limit == 0 && found != uint64(len(a.Rows)) {
				t.Errorf("the device found %d rows of %d", found, len(a.Rows))
			}
			parts = max(parts, dev.waves-waves)
		}
		bench.Abort()
	})
}

// TestTiesBeyondMemory has groups of rows that differ in nothing but their edges, many times what may be held in
// memory: they come in the order of the CPU's.
func TestTiesBeyondMemory(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		var batch []dyngraph.Message
		for i := range 20 + rng.IntN(20) {
			at := rng.IntN(3)
			batch = append(batch, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint(at), To: fmt.Sprint(at + 1),
					Label:     fmt.Sprint("e", i),
					FromLabel: "a", ToLabel: "a", Pos: dyngraph.Position{Offset: int64(i)}}}})
		}
		rng.Shuffle(len(batch), func(i, j int) {
			batch[i].Updates, batch[j].Updates = batch[j].Updates,
				batch[i].Updates
		})
		q := &matcher.Query{Name: "path", Version: 1}
		for i := range 4 {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: "a"})
			if i > 0 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i - 1, To: i})
			}
		}
		o := randomOptions(rng)
		o.Device, o.CPU = cudatest.NewDevice(t, rng),
			cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir()), GroupMemory: 1 << rng.IntN(12)}
		want, got := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), cuda.New(o)
		defer func() { check(t, got.Close()) }()
		bench := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, want, got)
		bench.Stage(batch)
		for _, limit := range []uint64{0, 1 + rng.Uint64N(100)} {
			requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want, r.Limit = matcher.WantRows, limit })
			a := bench.Search(want, dyngraph.Inserted, requests)
			compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
			if len(a.Rows) == 0 {
				t.Error("nothing to compare")
			}
		}
		compareEnumerations(t, bench, dyngraph.New, want, got)
		bench.Abort()
	})
}
