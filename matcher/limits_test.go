package matcher_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// consumer holds the matches that a reader of the output takes for present, by the rules of DESIGN S11.
type consumer map[string]matchertest.Match

// read applies the records of one query.
func (c consumer) read(records []matchertest.Record, query string) {
	for _, r := range records {
		if r.Query != query {
			continue
		}
		switch {
		case r.Kind == matcher.EventMatches && r.Sign == dyngraph.Inserted:
			c[matchertest.Identity(r.Match).String()] = r.Match
		case r.Kind == matcher.EventMatches:
			delete(c, matchertest.Identity(r.Match).String()) // one that was not announced is ignored
		case r.Kind == matcher.EventNotice && r.Notice.Reason == matcher.ReasonEnded:
			c.end(&r)
		}
	}
}

// end forgets the matches that hold the anchor's edge, or vertex, and all without an anchor.
func (c consumer) end(r *matchertest.Record) {
	edge := r.AnchorEdge
	edge.Version = ""
	for name, m := range c {
		if !r.Anchored || slices.Contains(matchertest.Identity(m).Edges, edge) ||
			edge.From == edge.To && slices.Contains(m.Vertices, edge.From) {
			delete(c, name)
		}
	}
}

// TestS11NothingStaleRemains gives random streams to queries with caps and to an engine with small limits: a consumer
// never believes in a match that is gone, and in all that are there as long as its query is not lossy. A replay of the
// log on another backend, without limits, puts out the same.
func TestS11NothingStaleRemains(t *testing.T) {
	nothingStaleRemains(t, func(rng *rand.Rand) *matchertest.Case { return matchertest.RandomCase(rng, 4) })
}

// TestS15NothingStaleRemains does the same where edges are replaced and vertices revised. Some queries are silent about
// matches that hold before and after.
func TestS15NothingStaleRemains(t *testing.T) {
	nothingStaleRemains(t, func(rng *rand.Rand) *matchertest.Case {
		return matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)
	})
}

func nothingStaleRemains(t *testing.T, draw func(rng *rand.Rand) *matchertest.Case) {
	t.Helper()
	matchertest.NotUnderRace(t, "TestS11BudgetSuspendsVisibly and TestS7ReplayPutsOutTheSame have the threads")
	lossy, ended, rest, recovered, cut := 0, 0, 0, 0, map[dyngraph.Sign]int{}
	enough := func() bool {
		return lossy > 0 && ended > 0 && rest > 0 && recovered > 0 && cut[dyngraph.Deleted] > 0 &&
			cut[dyngraph.Inserted] > 0
	}
	matchertest.ForSeedsUntil(t, 40, enough,
		func(t *testing.T, rng *rand.Rand) {
			budgets := rng.IntN(2) == 0
			c := draw(rng).With(func(q *matcher.Query) {
				q.Unit, q.SilentChange = matcher.Unit(rng.IntN(2)), rng.IntN(2) == 0
				if rng.IntN(3) == 0 {
					q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(4), rng.IntN(2) == 0
				}
				if budgets && rng.IntN(2) == 0 {
					q.WorkBudget = 1 + rng.Uint64N(60)
				}
			})
			limits := matcher.Limits{Matches: 1 + rng.Uint64N(4)}
			if rng.IntN(3) == 0 {
				limits.BatchTime = 1 // a nanosecond: whatever comes second is left out
			} else if rng.IntN(3) == 0 {
				limits.QueryMatches = 1 + rng.Uint64N(8)
			} else if rng.IntN(2) == 0 {
				limits = matcher.Limits{QueryOutput: matchertest.RecordBytes * (1 + rng.Int64N(8))}
			}
			opt := func(be matcher.Backend, l matcher.Limits) matcher.EngineOptions {
				return matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New(), Limits: l}
			}
			d := matchertest.NewDriverWith(t, opt(newTicking(t, 1+rng.IntN(3)), limits))
			oracle := matchertest.NewOracleOf(c)
			for _, q := range c.Queries {
				d.Register(q)
			}
			believed := make([]consumer, len(c.Queries))
			for i := range believed {
				believed[i] = consumer{}
			}
			for _, batch := range c.Batches {
				found, err := oracle.Step(batch)
				require.NoError(t, err)
				out := d.Batch(batch)
				for _, x := range out.Decided {
					if x.Action == matcher.SkipRest {
						rest++
					}
					if x.Kept > 0 {
						cut[x.Sign]++
					}
					if x.Sign == dyngraph.Deleted {
						ended++
					}
				}
				for i, q := range c.Queries {
					believed[i].read(out.Records, q.Name)
					state := out.Queries[slices.IndexFunc(out.Queries,
						func(s matcher.QueryState) bool { return s.Query.Name == q.Name })]
					if state.Suspended {
						continue // it said so, and tells of no match any more
					}
					names := []string{}
					for _, m := range believed[i] {
						names = append(names, oracle.Name(i, m))
					}
					slices.Sort(names)
					if state.LossySince == 0 {
						require.ElementsMatch(t, found[i].After, names, "batch %d, query %s", out.Number, q.Name)
						continue
					}
					lossy++
					require.Subset(t, found[i].After, names, "batch %d, query %s", out.Number, q.Name)
				}
			}
			for _, other := range []matcher.Backend{reference.New(), newCPU(t, 2, true)} {
				again := matchertest.Replay(t, d.Log, opt(other, matcher.Limits{}))
				require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), other.Name())
			}
			// What is spent over a batch is not spent alike twice.
			if limits.BatchTime == 0 && limits.QueryMatches == 0 && limits.QueryOutput == 0 && !budgets {
				recovered += checkRecovery(t, rng, d, opt(newCPU(t, 1, false), limits))
			}
		})
}

// TestS11ExistenceIsReplayedAlike gives random streams to queries for existence, in an engine whose limits leave some
// undecided. When they are decided anew depends on the log alone: a backend that goes by labels puts out the same as
// one that knows better which queries a batch concerns.
func TestS11ExistenceIsReplayedAlike(t *testing.T) {
	decided := 0
	matchertest.ForSeedsUntil(t, 40, func() bool { return decided > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).
			With(func(q *matcher.Query) { q.Emit, q.WorkBudget = matcher.EmitExists, rng.Uint64N(20) })
		opt := func(be matcher.Backend, l matcher.Limits) matcher.EngineOptions {
			return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}), Backend: be,
				Planner: plan.New(), Limits: l}
		}
		d := matchertest.NewDriverWith(t,
			opt(newTicking(t, 1), matcher.Limits{QueryTime: time.Duration(rng.IntN(2) * 20_000)}))
		for _, q := range c.Queries {
			d.Register(q)
		}
		for _, batch := range c.Batches {
			out := d.Batch(batch)
			decided += len(out.Decided)
			if rng.IntN(3) == 0 { // the process starts anew
				require.NoError(t, d.Engine.Restore(t.Context(), out.Queries))
			}
		}
		for _, other := range []matcher.Backend{reference.New(), newCPU(t, 1, false)} {
			require.Empty(t, matchertest.Diff(d.Transcript(),
				matchertest.Replay(t, d.Log, opt(other, matcher.Limits{})).Transcript()), other.Name())
		}
	})
}

// TestS11ALimitAtRegistrationIsTold registers a query for existence whose first search is beyond its budget: the output
// says so, with a backfill and without.
func TestS11ALimitAtRegistrationIsTold(t *testing.T) {
	for _, over := range []matcher.OverBudget{matcher.SkipGroup, matcher.SuspendQuery} {
		for _, backfill := range []matcher.Backfill{matcher.BackfillNone, matcher.BackfillFull} {
			w := newWorld(t, true)
			d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
			var msgs []dyngraph.Message
			for u := range 8 { // bipartite: no triangle
				for v := range 8 {
					msgs = append(msgs, link(dyngraph.InsertEdge, u, 100+v), link(dyngraph.InsertEdge, 100+v, u))
				}
			}
			d.Batch(msgs)
			out := d.Register(w.query("ring", "MATCH (a)-->(b)-->(c)-->(a)", exists, func(q *matcher.Query) {
				q.WorkBudget, q.OverBudget, q.Backfill = 1, over, backfill
			}))
			require.Len(t, out.Records, 1)
			want := matcher.Notice{Reason: matcher.ReasonSkipped, Cause: matcher.CauseSteps}
			if over == matcher.SuspendQuery {
				want.Reason = matcher.ReasonSuspended
			}
			require.Equal(t, matcher.EventNotice, out.Records[0].Kind)
			require.Equal(t, want, out.Records[0].Notice)
			again := matchertest.Replay(t, d.Log, matcher.EngineOptions{
				Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Backend: reference.New(),
				Planner: plan.New()})
			require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()))
		}
	}
}

// checkRecovery steps over a log as far as the first batch with decisions, as a daemon does that finds its intent: with
// the decisions that were made before some record was published, and limits that are measured from that record on. What
// was published is put out again, and a replay of its log puts out the same as it.
func checkRecovery(t *testing.T, rng *rand.Rand, d *matchertest.Driver, opt matcher.EngineOptions) (recovered int) {
	t.Helper()
	at := slices.IndexFunc(d.Log, func(b *matcher.Batch) bool { return len(b.Decisions) > 0 })
	if at < 0 {
		return 0
	}
	again := matchertest.NewDriverWith(t, opt)
	for _, b := range d.Log[:at] {
		again.Step(b)
	}
	open, first := *d.Log[at], d.Batches[at]
	open.MeasureFrom = uint64(rng.IntN(len(first.Records) + 1))
	// A decision is in the log before its notice is published. Those about totals have none among the matches: take
	// them all.
	told := 0
	for _, r := range first.Records[:open.MeasureFrom] {
		if r.Kind == matcher.EventNotice && r.Notice.Reason != matcher.ReasonTruncated {
			told++
		}
	}
	open.Decisions = open.Decisions[:min(told, len(open.Decisions))]
	out := again.Step(&open)
	for i, r := range first.Records[:open.MeasureFrom] {
		require.Equal(t, r.Line(), out.Records[i].Line(), "measured from record %d of %d", open.MeasureFrom,
			len(first.Records))
	}
	fresh := matcher.EngineOptions{Graph: dyngraph.NewGraph(opt.Graph.Options()),
		Backend: reference.New(), Planner: plan.New()}
	require.Empty(t, matchertest.Diff(again.Transcript(), matchertest.Replay(t, again.Log, fresh).Transcript()))
	return 1
}

// TestS11SampleIsOfBothSigns: with a sample, what is put out is what a run without one puts out of the matches that are
// in it.
func TestS11SampleIsOfBothSigns(t *testing.T) {
	in := func(m matchertest.Match) bool {
		h := fnv.New64a()
		fmt.Fprint(h, m)
		return h.Sum64()%3 == 0
	}
	kept := 0
	matchertest.ForSeedsUntil(t, 10, func() bool { return kept > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { q.Backfill = matcher.BackfillFull })
		sampled := c.With(func(q *matcher.Query) { q.Sample = 3 })
		run := func(c *matchertest.Case) *matchertest.Driver {
			d := matchertest.NewDriverWith(t,
				matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}),
					Backend: newCPU(t, 2, false), Planner: plan.New(),
					Sampled: func(q *matcher.Query, v dyngraph.View, row []uint32) (bool, error) {
						return in(matchertest.MatchOf(v,
							matcher.Rows{Vertices: len(q.Vertices), Edges: len(q.Edges), Data: row}, 0)), nil
					}})
			for i, batch := range c.Batches {
				if i == len(c.Batches)/2 {
					for _, q := range c.Queries {
						d.Register(q)
					}
				}
				d.Batch(batch)
			}
			return d
		}
		all, some := run(c), run(sampled)
		for n := range all.Batches {
			var want []string
			for _, r := range all.Batches[n].Records {
				if in(r.Match) {
					want = append(want, r.Line())
				}
			}
			require.Equal(t, len(want), len(some.Batches[n].Records))
			for i, r := range some.Batches[n].Records {
				require.Equal(t, want[i], r.Line())
			}
			kept += len(want)
		}
	})
}

// TestS11ShadowsPutNothingOut: a shadow query is searched and counted, and its records are not there.
func TestS11ShadowsPutNothingOut(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("live", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.register(w.query("shadow", "MATCH (x)-->(y)-->(z) RETURN x, y, z", func(q *matcher.Query) { q.Shadow = true }))
	out := w.batch("+ a b; + b c; + b d", "+live a b c", "+live a b d")
	require.Len(t, out.Summary.Queries, 2)
	require.Equal(t, matcher.CountOf(2), out.Summary.Queries[1].Positive)
	require.Zero(t, out.Summary.Queries[1].Emitted)
}

// TestS11AnInterruptedRegistrationIsSuspended: what a registration has put out by then stays, a record tells that more
// is not coming, and a replay puts out the same.
func TestS11AnInterruptedRegistrationIsSuspended(t *testing.T) {
	w := newWorld(t, true)
	opt := func() matcher.EngineOptions {
		return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
			Backend: newCPU(t, 1, true), Planner: plan.New()}
	}
	d := matchertest.NewDriverWith(t, opt())
	d.Batch(star(100))
	q := w.query("pairs", "MATCH (y)<--(x)-->(z) RETURN x, y, z", backfill)
	out := d.Interrupted(&matcher.QueryChange{Add: q})
	require.Len(t, out.Decided, 1)
	require.Equal(t, matcher.Suspend, out.Decided[0].Action)
	n := len(out.Records)
	require.Less(t, n, 100*99)
	require.Greater(t, n, 1)
	require.Equal(t, matcher.ReasonSuspended, out.Records[n-1].Notice.Reason)
	require.True(t, out.Queries[0].Suspended)
	d.Batch(star(101)[100:])
	again := matchertest.Replay(t, d.Log, opt())
	require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()))
	require.False(t, d.Engine.Interrupt("pairs"), "no step runs")
}

// TestS11StepsOvershootByOneGroup: the 9,025 groups of a complete bipartite graph are short, and many. Once a query's
// steps are spent none begins, or with the policy to skip, once twice as many are; one decision leaves the rest out. A
// replay puts out the same.
func TestS11StepsOvershootByOneGroup(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 11 seconds of processors")
	const budget, poll = 100_000, 4096
	w := newWorld(t, false)
	var insert, remove string
	for i := range 95 {
		for k := range 95 {
			insert += fmt.Sprintf("+ a%d b%d; ", i, k)
			remove += fmt.Sprintf("- a%d b%d; ", i, k)
		}
	}
	threads := []int{1, 2}
	if matchertest.Quick(t) {
		threads = threads[rand.IntN(2):][:1]
	}
	for _, threads := range threads {
		for policy, most := range map[matcher.OverBudget]uint64{matcher.SkipGroup: 2 * budget,
			matcher.SuspendQuery: budget} {
			opt := func() matcher.EngineOptions {
				return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{}),
					Backend: newCPU(t, threads, false), Planner: plan.New()}
			}
			d := matchertest.NewDriverWith(t, opt())
			d.Register(w.query("ring", "MATCH (a)--(b)--(c)--(d)--(a) RETURN a", subgraphs, func(q *matcher.Query) {
				q.WorkBudget, q.OverBudget = budget, policy
			}))
			for _, text := range []string{insert, remove} {
				out := d.Batch(w.messages(text))
				if policy == matcher.SuspendQuery && text == remove { // it is
					require.Empty(t, out.Summary.Queries)
					continue
				}
				sum := out.Summary.Queries[0]
				require.LessOrEqual(t, sum.Steps, most+uint64(2*threads)*poll, "%d threads, %v", threads, policy)
				last := out.Decided[len(out.Decided)-1]
				require.Equal(t, matcher.CauseSteps, last.Cause)
				want := matcher.SkipRest
				if policy == matcher.SuspendQuery {
					want = matcher.Suspend
				}
				require.Equal(t, want, last.Action, "%d threads, %v, %d steps, %d decided, order %d, %d negative",
					threads, policy, sum.Steps, len(out.Decided), last.Order, last.Sign)
				require.Less(t, len(out.Decided), 200)
			}
			again := matchertest.Replay(t, d.Log, opt())
			require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()))
		}
	}
}

// TestS11SamplingIsBounded: the ids of matches that a sample looks at count as search time, also of those that it
// drops.
func TestS11SamplingIsBounded(t *testing.T) {
	opt := matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Backend: newTicking(t, 1),
		Planner: plan.New(),
		Limits:  matcher.Limits{QueryTime: 4 * time.Millisecond},
		Sampled: func(*matcher.Query, dyngraph.View, []uint32) (bool, error) { return false, nil }}
	d := matchertest.NewDriverWith(t, opt)
	w := newWorld(t, true)
	d.Register(w.query("pairs", "MATCH (y)<--(x)-->(z)", subgraphs, func(q *matcher.Query) { q.Sample = 1000 }))
	out := d.Batch(star(300))
	require.NotEmpty(t, out.Decided)
	require.Equal(t, matcher.CauseTime, out.Decided[0].Cause)
}
