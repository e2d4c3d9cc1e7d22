//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestBudgetsAreTheCPUs asks for nothing but what is bounded in search steps: the CPU backend answers, and tells what is left out. No device
// is asked.
func TestBudgetsAreTheCPUs(t *testing.T) {
	suspended := 0
	matchertest.ForSeeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4)
		options := cpu.Options{Threads: 1, SpillDir: t.TempDir()} // several use a budget up in no order
		want, got := cpu.New(options), cuda.New(cuda.Options{Device: absent{}, CPU: options})
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for _, batch := range c.Batches {
			bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) {
				r.Want = matcher.Want(rng.IntN(2))
			})
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				steps := make([]uint64, len(requests))
				for i := range steps {
					steps[i] = 1 + rng.Uint64N(40)
				}
				search := func(be matcher.Backend) *matchertest.Answer {
					for i := range requests {
						requests[i].Budget = matcher.NewBudget(matcher.Limits{}, steps[i], nil)
					}
					return bench.Search(be, sign, requests)
				}
				w, g := search(want), search(got)
				compareAnswers(t, bench, sign, requests, w, g)
				if !slices.EqualFunc(w.Over, g.Over, func(a, b matcher.Group) bool { return a.Request == b.Request && a.Order == b.Order }) {
					t.Fatalf("sign %d: left out %+v, not %+v", sign, g.Over, w.Over)
				}
				suspended += len(w.Over)
			}
			bench.Commit()
		}
	})
	if suspended == 0 {
		t.Error("no budget was exceeded")
	}
}

// TestLimitsOnTheDevice: what has no bound in steps stays on the device, and a group with more matches than it may have is left out there as
// on the CPU, with all others put out.
func TestLimitsOnTheDevice(t *testing.T) {
	over, rows := 0, 0
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 3)
		options := cpu.Options{Threads: 1, SpillDir: t.TempDir()}
		want, got := cpu.New(options), newBackend(t, rng)
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		bench.GoOn = true
		for _, batch := range c.Batches {
			bench.Stage(batch)
			limits := matcher.Limits{Matches: 1 + rng.Uint64N(6), QueryTime: time.Hour}
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				search := func(be matcher.Backend) *matchertest.Answer {
					return bench.Search(be, sign, bench.Requests(func(_ int, r *matcher.Request) { r.Budget = matcher.NewBudget(limits, 0, nil) }))
				}
				w, g := search(want), search(got)
				if diff := matchertest.Diff(w.Lines(), g.Lines()); diff != "" {
					t.Fatalf("sign %d: %s", sign, diff)
				}
				if !slices.EqualFunc(w.Over, g.Over, func(a, b matcher.Group) bool { return a.Request == b.Request && a.Order == b.Order }) {
					t.Fatalf("sign %d: left out %+v, not %+v", sign, g.Over, w.Over)
				}
				over += len(w.Over)
				rows += len(w.Rows)
			}
			bench.Commit()
		}
	})
	if over == 0 || rows == 0 {
		t.Errorf("%d groups were left out, %d rows put out", over, rows)
	}
}

// TestAnOpenBatchIsMetered: a batch in hand of which some records are published is searched on the CPU, whose groups are metered from the record on
// that is not, and so is what an operator has suspended. A device could search one group for ever there.
func TestAnOpenBatchIsMetered(t *testing.T) {
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 3)
		opt := func(be matcher.Backend, suspend ...string) matcher.EngineOptions {
			return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}), Backend: be, Planner: plan.New(),
				Limits: matcher.Limits{Matches: 1 + rng.Uint64N(6)}, Suspend: suspend}
		}
		options := cpu.Options{Threads: 1, SpillDir: t.TempDir()}
		first := matchertest.NewDriverWith(t, opt(cpu.New(options)))
		for _, q := range c.Queries {
			first.Register(q)
		}
		for _, msgs := range c.Batches {
			first.Batch(msgs)
		}
		var all []string
		for _, q := range c.Queries {
			all = append(all, q.Name)
		}
		for name, suspend := range map[string][]string{"open": nil, "suspended": all} {
			be := cuda.New(cuda.Options{Device: absent{}, CPU: options})
			d := matchertest.NewDriverWith(t, opt(be, suspend...))
			for i, b := range first.Log {
				open := *b
				if open.Decisions = nil; suspend == nil || i < len(c.Queries) {
					open.Decisions, open.MeasureFrom = b.Decisions, 1<<40
				}
				d.Step(&open)
			}
			if name == "open" && matchertest.Diff(first.Transcript(), d.Transcript()) != "" {
				t.Fatal(matchertest.Diff(first.Transcript(), d.Transcript()))
			}
		}
	})
}
