//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// randomLimits draws limits that are reached, or never, and steps.
func randomLimits(rng *rand.Rand) (l matcher.Limits, steps uint64) {
	if rng.IntN(2) == 0 {
		l.Matches = 1 + rng.Uint64N(6)
	}
	if rng.IntN(2) == 0 {
		steps = 1 + rng.Uint64N(300)
	}
	if l.QueryTime = time.Hour; rng.IntN(6) == 0 {
		l.QueryTime = time.Nanosecond
	}
	return l, steps
}

// budgets gives requests new budgets; the batch has a nanosecond, or an hour.
func budgets(rng *rand.Rand, requests []matcher.Request) {
	l, steps := randomLimits(rng)
	if l.BatchTime = time.Hour; rng.IntN(8) == 0 {
		l.BatchTime = time.Nanosecond
	}
	batch := matcher.NewBatchBudget(l)
	batch.Arm()
	for i := range requests {
		requests[i].Budget = matcher.NewBudget(l, steps, batch)
		requests[i].Budget.Floor = rng.IntN(2) == 0
	}
}

// without returns an answer's rows but for those of groups that are left out.
func without(a *matchertest.Answer, over []matcher.Group) (lines []string) {
	for _, r := range a.Rows {
		if !slices.ContainsFunc(over, func(g matcher.Group) bool {
			return g.Request == r.Request &&
				g.Order == r.Order
		}) {
			lines = append(lines, r.Line)
		}
	}
	return lines
}

// compareBounded holds an answer with limits against that without: groups are there or left out, whole; counts are
// known or not.
func compareBounded(t *testing.T, requests []matcher.Request, whole, got *matchertest.Answer) {
	t.Helper()
	if diff := matchertest.Diff(without(whole, got.Over), got.Lines()); diff != "" {
		t.Fatalf("%d groups were left out: %s", len(got.Over), diff)
	}
	for i := range requests {
		if w, g := whole.Results[i], got.Results[i]; requests[i].Want != matcher.WantRows &&
			(g.Over == matcher.NoCause && w.Count.Cmp(g.Count) != 0 || g.Over != matcher.NoCause && !g.Count.IsZero()) {
			t.Fatalf("%s: %+v, not %+v", describe(&requests[i]), g, w)
		}
	}
}

// obeying returns requests that leave out what was decided, and have no limits.
func obeying(requests []matcher.Request, a *matchertest.Answer) []matcher.Request {
	requests = slices.Clone(requests)
	for i := range requests {
		r := &requests[i]
		r.Budget, r.Skip = nil, nil
		for _, g := range a.Over {
			if g.Request == i {
				r.Skip = append(r.Skip, g.Order)
			}
		}
		if a.Results[i].Over != matcher.NoCause {
			r.Before = 0
		}
	}
	return requests
}

// TestS11LimitsOnTheDevice has searches with limits of every kind, on the device and on the CPU. A group is put out
// whole or told to be left out; what one backend has decided the other obeys, with the same rows; and limits on
// matches, which both measure alike, are decided alike. It goes on until groups and totals were left out, and the
// device had put out rows of searches that had limits on steps.
func TestS11LimitsOnTheDevice(t *testing.T) {
	groups, totals, alike := 0, 0, 0
	stayed := uint64(0)
	enough := func() bool { return min(groups, totals, alike) > 5 && stayed > 0 }
	matchertest.ForSeedsUntil(t, rounds, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		want, got := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		bench.GoOn = true
		for _, batch := range c.Batches {
			bench.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				requests := bench.Requests(func(_ int, r *matcher.Request) {
					r.Want = matcher.Want(
						max(0, rng.IntN(5)-2))
				})
				whole := bench.Search(want, sign, requests)
				for _, by := range [][2]matcher.Backend{{want, got}, {got, want}} {
					found := got.(*cuda.Backend).RowsFound()
					bounded := slices.Clone(requests)
					budgets(rng, bounded)
					a := bench.Search(by[0], sign, bounded)
					compareBounded(t, requests, whole, a)
					obeyed := bench.Search(by[1], sign, obeying(requests, a))
					if diff := matchertest.Diff(a.Lines(), obeyed.Lines()); diff != "" {
						t.Fatalf("%s decided, %s obeys: %s", by[0].Name(), by[1].Name(), diff)
					}
					if by[0] == got {
						groups += len(a.Over)
						for _, r := range a.Results {
							if r.Over != matcher.NoCause {
								totals++
							}
						}
						if bounded[0].Budget.Steps > 0 {
							stayed += got.(*cuda.Backend).RowsFound() - found
						}
					}
				}
				limits := matcher.Limits{Matches: 1 + rng.Uint64N(6), QueryTime: time.Hour}
				var answers [2]*matchertest.Answer
				for k, be := range []matcher.Backend{want, got} {
					bounded := slices.Clone(requests)
					for i := range bounded {
						bounded[i].Budget = matcher.NewBudget(limits, 1<<40, nil)
					}
					answers[k] = bench.Search(be, sign, bounded)
				}
				compareAnswers(t, bench, sign, requests, answers[0], answers[1])
				if !slices.EqualFunc(answers[0].Over, answers[1].Over,
					func(a, b matcher.Group) bool { return a.Request == b.Request && a.Order == b.Order }) {
					t.Fatalf("sign %d: left out %+v, not %+v", sign, answers[1].Over, answers[0].Over)
				}
				alike += len(answers[0].Over)
			}
			bench.Commit()
		}
	})
}

// TestS11LimitsStayOnTheDevice: where no limit is reached, the device finds every row, count and witness, as it does
// without limits. What it took is charged to the budgets, to the nanosecond and to nobody twice.
func TestS11LimitsStayOnTheDevice(t *testing.T) {
	rows := uint64(0)
	matchertest.ForSeedsUntil(t, 3, func() bool { return rows > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		o := randomOptions(rng)
		o.Clock = clock
		o.RowMemory = max(o.RowMemory, 1<<16)
		got := newBackendWith(t, rng, o).(*cuda.Backend)
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, got)
		for _, batch := range c.Batches {
			bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.Want(rng.IntN(3)) })
			found := got.RowsFound()
			free := bench.Search(got, dyngraph.Inserted, requests)
			found = got.RowsFound() - found
			limits := matcher.Limits{Matches: 1 << 40, QueryTime: time.Hour, BatchTime: 2 * time.Hour, Spill: 1 << 40}
			all := matcher.NewBatchBudget(limits)
			all.Arm()
			for i := range requests {
				requests[i].Budget = matcher.NewBudget(limits, 1<<40, all)
			}
			bounded := bench.Search(got, dyngraph.Inserted, requests)
			compareAnswers(t, bench, dyngraph.Inserted, requests, free, bounded)
			if again := got.RowsFound() - found; again < found {
				t.Errorf("the device found %d rows, and %d with limits", found, again)
			}
			spent := time.Duration(0)
			for i, r := range bounded.Results {
				if r.Steps > 0 && r.SearchNS <= 0 {
					t.Errorf("%s: %d steps took %d ns", describe(&requests[i]), r.Steps, r.SearchNS)
				}
				if left := requests[i].Budget.Patience(); left != time.Hour-time.Duration(r.SearchNS) {
					t.Errorf("%s: it took %d ns, and %v is left", describe(&requests[i]), r.SearchNS, left)
				}
				spent += time.Duration(r.SearchNS)
			}
			if left := matcher.NewBudget(matcher.Limits{}, 0, all).Patience(); left != 2*time.Hour-spent {
				t.Errorf("all took %v, and %v is left of two hours", spent, left)
			}
			rows += found
			for _, p := range bench.Plans() { // a snapshot likewise
				n, limits := 0, matcher.NewBudget(limits, 1<<40, all)
				found := got.RowsFound()
				res, err := got.Enumerate(t.Context(), dyngraph.New, p, matcher.WantRows, 0, limits,
					func(r matcher.Rows) error {
						n += r.Len()
						return nil
					})
				if err != nil || res.Over != matcher.NoCause || got.RowsFound()-found < uint64(n) {
					t.Errorf("%d rows, of which the device found %d, %+v, %v", n, got.RowsFound()-found, res, err)
				}
			}
			bench.Commit()
		}
	})
}

// clock is a real one.
func clock() int64 { return time.Now().UnixNano() }

// TestS11SnapshotsOnTheDevice has whole graphs enumerated with limits: beyond one nothing is put out, within it all.
// Limits on matches are decided as by the CPU.
func TestS11SnapshotsOnTheDevice(t *testing.T) {
	over, whole, spilled := 0, 0, 0
	enough := func() bool { return min(over, whole) > 3 && spilled > 0 }
	matchertest.ForSeedsUntil(t, 8, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		o := randomOptions(rng)
		o.Device, o.CPU = cudatest.NewDevice(t, rng),
			cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir()), GroupMemory: 64 << rng.IntN(4)}
		want, got := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}), cuda.New(o)
		defer func() { check(t, got.Close()) }()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for n := range min(len(c.Batches), 1+rng.IntN(3)) { // in the end all may be gone
			bench.Stage(c.Batches[n])
			bench.Commit()
		}
		for _, p := range bench.Plans() {
			enumerate := func(be matcher.Backend, w matcher.Want, limit uint64, b *matcher.Budget) (rows []uint32,
				res matcher.Result) {
				res, err := be.Enumerate(t.Context(), dyngraph.New, p, w, limit, b, func(r matcher.Rows) error {
					rows = append(rows, r.Data...)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return rows, res
			}
			for range 4 {
				w, limit := matcher.Want(rng.IntN(3)), rng.Uint64N(3)*rng.Uint64N(20)
				all, free := enumerate(want, w, limit, nil)
				l, steps := randomLimits(rng)
				if rng.IntN(2) == 0 {
					l.Spill = 1 + rng.Int64N(100)
				}
				batch := matcher.NewBatchBudget(l)
				batch.Arm()
				rows, res := enumerate(got, w, limit, matcher.NewBudget(l, steps, batch))
				switch {
				case res.Over != matcher.NoCause:
					if over++; len(rows) > 0 || !res.Count.IsZero() {
						t.Fatalf("%d words are out beyond %v: %+v", len(rows), res.Over, res)
					}
					if res.Over == matcher.CauseSpill {
						spilled++
					}
				case !slices.Equal(all, rows) || free.Count.Cmp(res.Count) != 0 || free.Truncated != res.Truncated:
					t.Fatalf("limit %d: %d words %+v, not %d %+v", limit, len(rows), res, len(all), free)
				case len(all) > 0:
					whole++
				}
				if !matcher.NewBudget(l, 0, batch).Spill(max(1, l.Spill)) {
					t.Fatal("temporary files are gone, and not given back")
				}
				if w == matcher.WantRows && limit == 0 && l.QueryTime == time.Hour && l.Spill == 0 && steps == 0 {
					if _, by := enumerate(want, w, limit, matcher.NewBudget(l, 0, nil)); by.Over != res.Over {
						t.Fatalf("%v, where the CPU says %v", res.Over, by.Over)
					}
				}
			}
		}
	})
}

// TestS11LostMidwayWithLimits has a device fail for good when rows are out, with limits that some groups reach: what
// the CPU backend goes on with obeys them, and leaves out nothing that is out.
func TestS11LostMidwayWithLimits(t *testing.T) {
	decided := 0 // after the device was lost, with rows out
	matchertest.ForSeedsUntil(t, rounds, func() bool { return decided > 0 }, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 60, 300, "x", "y", "z")
		other := *q
		other.Name, other.Unit = "path of subgraphs", matcher.Subgraphs
		dev := newFaulty(cudatest.NewDevice(t, rng), -1)
		lost := false
		o := randomOptions(rng)
		o.Device, o.CPU, o.RowMemory = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, 1<<15
		o.Lost = func(error) { lost = true }
		want, got := cpu.New(o.CPU), &interrupted{Backend: cuda.New(o), dev: dev, calls: rng.IntN(4),
			after: rng.IntN(500)}
		defer got.Close()
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q, &other}, want, got)
		bench.GoOn = true
		bench.Stage(batch)
		requests := bench.Requests(nil)
		whole := bench.Search(want, dyngraph.Inserted, requests)
		type group struct {
			request int
			order   uint32
		}
		sizes := map[group]uint64{}
		for _, r := range whole.Rows {
			sizes[group{r.Request, r.Order}]++
		}
		most := uint64(0)
		for _, n := range sizes {
			most = max(most, n)
		}
		for i := range requests {
			requests[i].Budget = matcher.NewBudget(matcher.Limits{Matches: most - rng.Uint64N(most/4+1),
				QueryTime: time.Hour}, 1<<40, nil)
		}
		a := bench.Search(got, dyngraph.Inserted, requests)
		compareBounded(t, requests, whole, a)
		for g, n := range sizes {
			left := slices.ContainsFunc(a.Over,
				func(o matcher.Group) bool { return o.Request == g.request && o.Order == g.order })
			if most := requests[g.request].Budget.Matches; left != (n > most) {
				t.Fatalf("a group of %d matches, of %d that it may have: left out %v", n, most, left)
			}
		}
		if lost && len(a.Over) > 0 {
			decided++
		}
		bench.Abort()
	})
}

// TestAnOpenBatchIsMetered: a batch in hand of which some records are published is searched on the CPU, whose groups
// are metered from the record on that is not, and so is what an operator has suspended. A device could search one group
// for ever there.
func TestAnOpenBatchIsMetered(t *testing.T) {
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 3)
		opt := func(be matcher.Backend, suspend ...string) matcher.EngineOptions {
			return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}), Backend: be,
				Planner: plan.New(),
				Limits:  matcher.Limits{Matches: 1 + rng.Uint64N(6)}, Suspend: suspend}
		}
		options := cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
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

// TestS11DecisionsReplayed gives random streams to an engine with limits, on the device: what it puts out a replay of
// its log puts out on the CPU; and the other way round.
func TestS11DecisionsReplayed(t *testing.T) {
	decisions := map[string]int{}
	enough := func() bool {
		return min(decisions["cuda"], decisions["cpu"], decisions["snapshot"]) > 2 && decisions["query_matches"] > 0 &&
			decisions["query_output"] > 0
	}
	matchertest.ForSeedsUntil(t, 6, enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4)).With(func(q *matcher.Query) {
			q.Unit = matcher.Unit(rng.IntN(2))
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
			q.Backfill = matcher.Backfill(rng.IntN(2))
			q.OverBudget = matcher.OverBudget(rng.IntN(2))
			if q.Emit == matcher.EmitDeltas && rng.IntN(3) == 0 {
				q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(4), rng.IntN(2) == 0
			}
			if rng.IntN(3) == 0 {
				q.WorkBudget = 1 + rng.Uint64N(200)
			}
		})
		limits, _ := randomLimits(rng)
		if rng.IntN(4) == 0 {
			limits.BatchTime = 1
		} else if rng.IntN(2) == 0 {
			limits.QueryMatches = 1 + rng.Uint64N(8)
		} else if rng.IntN(2) == 0 {
			limits = matcher.Limits{QueryOutput: matchertest.RecordBytes * (1 + rng.Int64N(8))}
		}
		backends := []func() matcher.Backend{
			func() matcher.Backend {
				o := randomOptions(rng)
				o.Device, o.CPU = cudatest.NewDevice(t, rng),
					cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
				return cuda.New(o)
			},
			func() matcher.Backend {
				return cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir()), Clock: clock})
			}}
		for k := range backends {
			opt := func(be matcher.Backend, l matcher.Limits) matcher.EngineOptions {
				return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}),
					Backend: be, Planner: plan.New(), Limits: l}
			}
			be := backends[k]()
			d := matchertest.NewDriverWith(t, opt(be, limits))
			late := rng.IntN(len(c.Batches) + 1)
			for n := range len(c.Batches) + 1 {
				if n == late {
					for _, q := range c.Queries {
						for _, x := range d.Register(q).Decided {
							if x.Snapshot {
								decisions["snapshot"]++
							}
						}
					}
				}
				if n < len(c.Batches) {
					decided := d.Batch(c.Batches[n]).Decided
					decisions[be.Name()] += len(decided)
					for _, x := range decided {
						if (x.Cause == matcher.CauseQuery || x.Cause == matcher.CauseOutput) && be.Name() == "cuda" {
							decisions[x.Cause.String()]++
						}
					}
				}
			}
			again := matchertest.Replay(t, d.Log, opt(backends[1-k](), matcher.Limits{}))
			if diff := matchertest.Diff(d.Transcript(), again.Transcript()); diff != "" {
				t.Fatalf("decided by %s, replayed by the other: %s", be.Name(), diff)
			}
		}
	})
	t.Log(fmt.Sprint(decisions))
}
