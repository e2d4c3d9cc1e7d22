//go:build cuda || emu

package cuda_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

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

// stopping gives up after some launches.
type stopping struct {
	give   func()
	left   int
	behind int // launches since
}

func (d *stopping) launched(string) {
	if d.left--; d.left < 0 {
		d.behind++
	} else if d.left == 0 {
		d.give()
	}
}

// TestStopsSoonOnTheDevice cancels a search after some launches, or when rows come. Hardly any launch follows, and no
// row is put out any more.
func TestStopsSoonOnTheDevice(t *testing.T) {
	const most = 40 // launches: those of a wave's order, and what was asked for ahead
	launches, parts := 0, 0
	matchertest.ForSeedsUntil(t, rounds, func() bool { return launches > 0 && parts > 0 },
		func(t *testing.T, rng *rand.Rand) {
			batch, q := paths(rng, 60, 300, "x", "y", "z")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			dev := &stopping{give: cancel, left: -1}
			o := randomOptions(rng)
			o.Device = watched{cudatest.NewDevice(t, rng), dev.launched}
			o.CPU, o.RowMemory, o.Slice = cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, 1<<15, 3
			got := cuda.New(o)
			defer func() { check(t, got.Close()) }()
			bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, got)
			bench.Stage(batch)
			dev.left = 1 << 40
			bench.Search(got, dyngraph.Inserted, bench.Requests(nil))
			all := 1<<40 - dev.left
			atRow := rng.IntN(2) == 0
			if dev.left = 1 << 40; !atRow {
				dev.left = 1 + rng.IntN(all)
			}
			dev.behind = 0
			after := 0
			budget := matcher.NewBudget(matcher.Limits{QueryTime: time.Hour}, 1<<40, nil)
			_, err := got.Search(ctx, dyngraph.Inserted,
				bench.Requests(func(_ int, r *matcher.Request) { r.Budget = budget }), func(matcher.Group) error {
					if ctx.Err() != nil {
						after++
					}
					if atRow {
						cancel()
						dev.left = 0
					}
					return nil
				}, nil)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if after > 2 || dev.behind > most {
				t.Errorf("of %d launches %d came after nobody wanted any, and rows %d times", all, dev.behind, after)
			}
			if err != nil && atRow {
				parts++
			} else if err != nil && all > 4*most {
				launches++
			}
			bench.Abort()
		})
}

// TestTimeLimitShortensLaunches searches without a limit and with one of an hour. With a limit the first launches are
// short, so there are more of them; the answers are equal.
func TestTimeLimitShortensLaunches(t *testing.T) {
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 60, 150, "w", "x", "y", "z")
		q.Emit = matcher.EmitCounts
		dev := &stopping{left: 1 << 40}
		got := cuda.New(cuda.Options{Device: watched{cudatest.NewDevice(t, rng), dev.launched},
			CPU:   cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
			Shape: kernels.Shape{Blocks: 1, BlockWarps: 1}, Memo: -1})
		defer func() { check(t, got.Close()) }()
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, got)
		bench.Stage(batch)
		search := func(l matcher.Limits) (launches int, count matcher.Count) {
			dev.left = 1 << 40
			budget := matcher.NewBudget(l, 1<<40, nil)
			answer := bench.Search(got, dyngraph.Inserted,
				bench.Requests(func(_ int, r *matcher.Request) { r.Budget = budget }))
			return 1<<40 - dev.left, answer.Results[0].Count
		}
		search(matcher.Limits{}) // the first one also copies the graph
		free, want := search(matcher.Limits{})
		limited, answer := search(matcher.Limits{QueryTime: time.Hour})
		if answer != want {
			t.Fatalf("with a time limit %v, without %v", answer, want)
		}
		if limited <= free {
			t.Errorf("%d launches with a time limit, %d without", limited, free)
		}
		bench.Abort()
	})
}
