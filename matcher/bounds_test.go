package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// boundedSteps is the most that a search with few steps may take: what a worker does between two looks at its budget,
// and a little.
const boundedSteps = 2 * 4096

// crossed returns messages that join each of n vertices to each of n others, both ways.
func crossed(w *world, n int) []dyngraph.Message {
	var text strings.Builder
	for i := range n {
		for k := range n {
			fmt.Fprintf(&text, "+ a%d b%d; + b%d a%d;", i, k, k, i)
		}
	}
	return w.messages(text.String())
}

// replayed holds that the log, obeyed without limits, gives the same on another backend.
func replayed(t *testing.T, d *matchertest.Driver, upsert bool) {
	t.Helper()
	for _, be := range []matcher.Backend{newCPU(t, 2, false), reference.New()} {
		again := matchertest.Replay(t, d.Log, matcher.EngineOptions{Backend: be, Planner: plan.New(), Upsert: upsert,
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true})})
		require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), be.Name())
	}
}

// TestS11StepsBoundABackfill registers queries over a hub of 212,400 matches, and over a graph of 657,720 cliques, with
// a budget of one step: no row is put out, and a number is not known.
func TestS11StepsBoundABackfill(t *testing.T) {
	budget := func(q *matcher.Query) { q.WorkBudget, q.Backfill = 1, matcher.BackfillFull }
	w := newWorld(t, true)
	var cliques strings.Builder
	for i := range 18 {
		for k := range i {
			fmt.Fprintf(&cliques, "+ k%d k%d;", i, k)
		}
	}
	const clique = "MATCH (a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)"
	for _, x := range []struct {
		pattern string
		change  func(*matcher.Query)
		action  matcher.Action
		want    []string
	}{
		{"MATCH (y)<--(x)-->(z)", budget, matcher.Skip, []string{"+q snapshot ! skipped"}},
		{"MATCH (y)<--(x)-->(z)", func(q *matcher.Query) { q.OverBudget = matcher.SuspendQuery }, matcher.Suspend,
			[]string{"+q snapshot ! suspended"}},
		{clique, counts, matcher.NoTotal, []string{"+q snapshot ! skipped"}},
	} {
		for _, threads := range []int{1, 3} {
			d := matchertest.NewDriver(t, true, newCPU(t, threads, false), plan.New())
			d.Batch(star(461))
			d.Batch(w.messages(cliques.String()))
			out := d.Register(w.query("q", x.pattern, x.change, budget))
			w.check(out, x.want)
			require.Len(t, out.Decided, 1)
			require.Equal(t, x.action, out.Decided[0].Action)
			require.Equal(t, matcher.CauseSteps, out.Decided[0].Cause)
			sum := out.Summary.Queries[0]
			require.LessOrEqual(t, sum.Steps, uint64(threads*boundedSteps), x.pattern)
			require.Equal(t, x.action == matcher.NoTotal, sum.NoPositive)
			require.Equal(t, x.action == matcher.Suspend, out.Queries[0].Suspended)
			require.Equal(t, x.action != matcher.Suspend, out.Queries[0].LossySince == out.Number)
			replayed(t, d, false)
		}
	}
}

// TestS11StepsBoundTheSearchForAnotherMatch breaks the one match of an exists query. Whether there is another takes far
// longer than its budget, so that nothing is announced but that; the next batch that concerns the query has the budget
// anew.
func TestS11StepsBoundTheSearchForAnotherMatch(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one thread")
	for _, over := range []matcher.OverBudget{matcher.SkipGroup, matcher.SuspendQuery} {
		w := newWorld(t, true)
		d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
		d.Register(w.query("ring", "MATCH (a)-->(b)-->(c)-->(d)-->(e)-->(a)", exists, func(q *matcher.Query) {
			q.WorkBudget, q.OverBudget = 100, over
		}))
		w.check(d.Batch(w.messages("+ 1 2; + 2 3; + 3 4; + 4 5; + 5 1")), []string{"+ring exists"})
		w.check(d.Batch(crossed(w, 14)), nil) // which has no ring of five; the witness stands
		out := d.Batch(w.messages("- 5 1"))
		require.Len(t, out.Decided, 1)
		require.Equal(t, matcher.CauseSteps, out.Decided[0].Cause)
		require.LessOrEqual(t, out.Summary.Queries[0].Steps, uint64(boundedSteps))
		if over == matcher.SuspendQuery {
			w.check(out, []string{"+ring ! suspended"})
			require.True(t, out.Queries[0].Suspended)
		} else {
			w.check(out, []string{"+ring ! skipped"})
			w.check(d.Batch(w.messages("+ 5 1")), nil) // it was announced, and is there
			var away strings.Builder
			for i := range 14 {
				fmt.Fprintf(&away, "-v a%d;", i)
			}
			d.Batch(w.messages(away.String()))
			w.check(d.Batch(w.messages("- 5 1")), []string{"-ring exists"})
		}
		replayed(t, d, false)
	}
}

// TestS11TombstonesAreBounded removes, and replaces, a query in upsert mode whose matches are more than a group may
// have: one record voids them all, and a replay puts out the same. A removal that was stopped in the middle is made
// again whole.
func TestS11TombstonesAreBounded(t *testing.T) {
	opt := matcher.EngineOptions{Upsert: true, Backend: newCPU(t, 1, false), Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Limits: matcher.Limits{Matches: 100}}
	d := matchertest.NewDriverWith(t, opt)
	w := newWorld(t, true)
	pairs := func() *matcher.Query { return w.query("q", "MATCH (y)<--(x)-->(z)", backfill) }
	d.Register(pairs())
	d.Batch(star(20)) // 380 matches, group by group within the limit
	other := w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill)
	change, err := d.Engine.PrepareChange(&matcher.QueryChange{Add: other})
	require.NoError(t, err)
	d.Fail(&matcher.Batch{Number: 3, Change: change}, 5)
	out := d.Register(other)
	require.Equal(t, "-q snapshot ! ended", short(&out.Records[0]))
	require.EqualValues(t, 1, out.Records[0].Version, "it voids the former version's")
	require.False(t, out.Records[0].Anchored)
	require.Len(t, out.Records, 1+20)
	require.Equal(t, matcher.CauseMatches, out.Decided[0].Cause)
	d.Register(w.query("q", "MATCH (y)<--(x)-->(z), (x)-->(v)", backfill)) // 6,840 matches
	w.check(d.Remove("q"), []string{"-q snapshot ! ended"})
	replayed(t, d, true)
}

// TestS11SpillIsBounded has groups that need more temporary files than all may have: they are left out, those that
// need less and the next batches are put out, and a replay obeys.
func TestS11SpillIsBounded(t *testing.T) {
	const bytes = 1 << 10
	leaves, each := 400, []int{1, 3}
	if matchertest.UnderRace {
		leaves, each = 120, []int{3}
	}
	for _, over := range []matcher.OverBudget{matcher.SkipGroup, matcher.SuspendQuery} {
		for _, threads := range each {
			w := newWorld(t, true)
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{
				Graph:   dyngraph.NewGraph(dyngraph.Options{Directed: true}),
				Backend: newCPU(t, threads, true), Planner: plan.New(), Limits: matcher.Limits{Spill: bytes},
			})
			pairs := func(name string) *matcher.Query {
				return w.query(name, "MATCH (y)<--(x)-->(z)", func(q *matcher.Query) {
					q.OverBudget, q.Backfill = over, matcher.BackfillFull
				})
			}
			d.Register(pairs("live"))
			out := d.Batch(star(leaves))
			require.NotEmpty(t, out.Decided)
			for _, x := range out.Decided {
				require.Equal(t, matcher.CauseSpill, x.Cause)
			}
			rows := len(of(out, pairs("live"), dyngraph.Inserted))
			require.Positive(t, rows, "small groups fit")
			require.Less(t, rows, leaves*(leaves-1))
			out = d.Register(pairs("late"))
			require.Len(t, out.Decided, 1)
			require.Equal(t, matcher.CauseSpill, out.Decided[0].Cause)
			small := d.Batch(w.messages("+ c d; + c e; + c f"))
			require.Empty(t, small.Decided)
			if over == matcher.SkipGroup {
				require.Len(t, small.Records, 2*6, "temporary files are given back")
			} else {
				require.Empty(t, small.Records)
			}
			replayed(t, d, false)
		}
	}
}

// TestS11ATotalBeyondTheBudgetIsUnknown caps a query whose exact number takes more steps than it has: the matches up to
// the cap are put out, and the number is not known.
func TestS11ATotalBeyondTheBudgetIsUnknown(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one thread")
	w := newWorld(t, true)
	d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
	const clique = "MATCH (a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)"
	for name, steps := range map[string]uint64{"little": 10_000, "enough": 1 << 40} {
		d.Register(w.query(name, clique, capped(1), exactTotal, func(q *matcher.Query) { q.WorkBudget = steps }))
	}
	var text strings.Builder
	for i := range 18 {
		for k := range i {
			fmt.Fprintf(&text, "+ k%d k%d;", i, k)
		}
	}
	out := d.Batch(w.messages(text.String()))
	require.Len(t, out.Summary.Queries, 2)
	for i, name := range []string{"enough", "little"} {
		sum := out.Summary.Queries[i]
		require.Len(t, of(out, sum.Query, dyngraph.Inserted), 1)
		require.True(t, sum.Truncated)
		require.Equal(t, name == "little", sum.NoPositive)
		if name == "enough" {
			require.Equal(t, matcher.CountOf(18*17*16*15), sum.Positive)
		}
	}
	require.Len(t, out.Decided, 1)
	require.Equal(t, matcher.NoTotal, out.Decided[0].Action)
	replayed(t, d, false)
}
