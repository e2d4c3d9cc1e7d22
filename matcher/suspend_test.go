package matcher_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// rowByRow hands on one row at a time, so that a suspension may come between any two.
type rowByRow struct{ matcher.Backend }

func (b rowByRow) Search(
	ctx context.Context,
	sign dyngraph.Sign,
	reqs []matcher.Request,
	emit func(matcher.Group) error,
	over matcher.Exceeded,
) ([]matcher.Result, error) {
	return b.Backend.Search(ctx, sign, reqs, func(g matcher.Group) error {
		for i := range g.Rows.Len() {
			if err := emit(matcher.Group{Request: g.Request, Order: g.Order, Rows: g.Rows.Slice(i, i+1)}); err != nil {
				return err
			}
		}
		return nil
	}, over)
}

// TestS11AnOperatorSuspendsInAnOpenBatch recovers a batch of which some records are published, with one query to be
// suspended: what is published is put out again, and of the rest nothing of the query but a record that says so; other
// queries are as they were. A replay of the log puts out the same, and so does another recovery that finds the
// decision.
func TestS11AnOperatorSuspendsInAnOpenBatch(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 7 to 27 seconds of processors")
	t.Parallel()
	inside, behind, totals, later := 0, 0, 0, 0
	done := func() bool { return inside > 0 && behind > 0 && totals > 0 && later > 0 }
	matchertest.ForSeedsUntil(t, 60, done, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) {
			q.Unit, q.Emit = matcher.Unit(rng.IntN(2)), matcher.Emit(max(0, rng.IntN(5)-2))
			if q.Emit == matcher.EmitDeltas && rng.IntN(4) == 0 {
				q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(4), rng.IntN(2) == 0
			}
		})
		opt := func(be matcher.Backend, suspend ...string) matcher.EngineOptions {
			return matcher.EngineOptions{
				Graph:   dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}),
				Backend: be,
				Planner: plan.New(),
				Suspend: suspend,
			}
		}
		first := matchertest.NewDriverWith(t, opt(newCPU(t, 1, false)))
		for _, q := range c.Queries {
			first.Register(q)
		}
		for _, msgs := range c.Batches {
			first.Batch(msgs)
		}
		name := c.Queries[rng.IntN(len(c.Queries))].Name
		at := len(c.Queries) + rng.IntN(len(c.Batches))
		published := first.Batches[at].Records
		from := uint64(rng.IntN(len(published) + 1))
		if rng.IntN(6) == 0 {
			from = matcher.NeverMeasure
		}
		recover := func(open matcher.Batch) *matchertest.Driver {
			d := matchertest.NewDriverWith(t, opt(rowByRow{newCPU(t, 1+rng.IntN(3), false)}, name))
			for _, b := range first.Log[:at] {
				again := *b
				again.MeasureFrom = matcher.NeverMeasure
				d.Step(&again)
			}
			open.MeasureFrom = from
			d.Step(&open)
			if left := d.Engine.ToSuspend(); from == matcher.NeverMeasure {
				require.Equal(t, []string{name}, left)
				later++
			} else {
				require.Empty(t, left)
			}
			for _, b := range first.Log[at+1:] {
				d.Step(b)
			}
			return d
		}
		d := recover(*first.Log[at])
		out := d.Batches[at]
		stopped := slices.IndexFunc(d.Batches, func(o *matchertest.Output) bool { return len(o.Decided) > 0 })
		switch {
		case from != matcher.NeverMeasure:
			require.Equal(t, at, stopped)
		case at+1 < len(first.Log):
			require.Equal(t, at+1, stopped)
		default:
			return // there is no batch left
		}
		for i, o := range d.Batches {
			var want, got []string
			told := false
			for k, r := range first.Batches[i].Records {
				if r.Query != name || i < stopped || i == stopped && from != matcher.NeverMeasure && uint64(k) < from {
					want = append(want, r.Line())
				}
			}
			for _, r := range o.Records {
				if r.Query == name && r.Kind == matcher.EventNotice && r.Notice.Cause == matcher.CauseOperator {
					require.Equal(t, matcher.ReasonSuspended, r.Notice.Reason)
					told = true
					continue
				}
				require.False(t, told && r.Query == name, "batch %d: %s", o.Number, r.Line())
				got = append(got, r.Line())
			}
			if told = told || i < stopped; i <= stopped && o.Records != nil && i == stopped {
				require.True(t, told, "batch %d says nothing", o.Number)
			}
			require.Equal(t, want, got, "batch %d, published up to %d", o.Number, from)
		}
		state := d.Batches[stopped].Queries[slices.IndexFunc(out.Queries,
			func(s matcher.QueryState) bool { return s.Query.Name == name })]
		require.True(t, state.Suspended)
		require.Equal(t, "operator", state.SuspendedBy)
		require.Len(t, d.Batches[stopped].Decided, 1)
		switch x := d.Batches[stopped].Decided[0]; {
		case x.Kept > 0:
			inside++
		case x.Order == matcher.AllOrders:
			behind++
		case state.Query.Emit != matcher.EmitDeltas:
			totals++
		}
		for _, be := range []matcher.Backend{reference.New(), newCPU(t, 2, true)} {
			require.Empty(t, matchertest.Diff(d.Transcript(), matchertest.Replay(t, d.Log, opt(be)).Transcript()),
				be.Name())
		}
		if stopped == at {
			require.Empty(t, matchertest.Diff(d.Transcript(), recover(*d.Log[at]).Transcript()), "with the decision")
		}
	})
}

// TestS11AnOperatorSuspendsWithoutABatchInHand: a batch without updates is enough.
func TestS11AnOperatorSuspendsWithoutABatchInHand(t *testing.T) {
	for _, emit := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts, matcher.EmitExists} {
		w := newWorld(t, true)
		q := w.query("pairs", "MATCH (y)<--(x)-->(z) RETURN x, y, z", func(q *matcher.Query) { q.Emit = emit })
		d := matchertest.NewDriverWith(t,
			matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
				Backend: newCPU(t, 1, false), Planner: plan.New(), Suspend: []string{"pairs", "other"}})
		d.Register(w.query("stays", "MATCH (x)-->(y)"))
		d.Batch(star(3))
		require.NoError(
			t,
			d.Engine.Restore(t.Context(), []matcher.QueryState{{Query: d.Engine.Queries()[0].Query}, {Query: q}}),
		)
		require.Equal(t, []string{"pairs"}, d.Engine.ToSuspend())
		out := d.Step(&matcher.Batch{Number: 3})
		require.Len(t, out.Records, 1)
		require.Equal(t, matcher.ReasonSuspended, out.Records[0].Notice.Reason)
		require.Equal(t, matcher.CauseOperator, out.Records[0].Notice.Cause)
		require.True(t, out.Queries[0].Suspended)
		require.Empty(t, d.Engine.ToSuspend())
		require.Len(t, d.Batch(star(5)).Records, 2, "those of the other query")
	}
}

// TestRestoreSearchesNoWitnessForWhatIsToBeSuspended ends because nothing is searched, at the start and in the batch
// that suspends.
func TestRestoreSearchesNoWitnessForWhatIsToBeSuspended(t *testing.T) {
	g, q := oddRing(t)
	d := matchertest.NewDriverWith(
		t,
		matcher.EngineOptions{Graph: g, Backend: newCPU(t, 2, false), Planner: plan.New(), Suspend: []string{"ring"}},
	)
	require.NoError(t, d.Engine.Restore(t.Context(), []matcher.QueryState{{Query: q}}))
	out := d.Step(&matcher.Batch{Number: 1})
	require.Len(t, out.Decided, 1)
	require.Equal(t, matcher.CauseOperator, out.Decided[0].Cause)
	require.True(t, out.Queries[0].Suspended)
}

// unprepared fails in Prepare while broken is set.
type unprepared struct {
	matcher.Backend
	broken bool
}

var errUnprepared = errors.New("the device is gone")

func (b *unprepared) Prepare(plans []*matcher.Plan) error {
	if b.broken {
		return errUnprepared
	}
	return b.Backend.Prepare(plans)
}

// TestStepDoesNotFailBehindItsCommit: a backend that cannot take the new set of queries when a batch suspends one does
// not fail that batch, which the graph has committed. The next step fails before it has done anything, and is made
// again once the backend can.
func TestStepDoesNotFailBehindItsCommit(t *testing.T) {
	run := func(disturbed bool) *matchertest.Driver {
		w, be := newWorld(t, true), &unprepared{Backend: newCPU(t, 1, false)}
		d := matchertest.NewDriver(t, true, be, plan.New())
		d.Batch(star(99))
		d.Register(w.query("hungry", "MATCH (y)<--(x)-->(z) RETURN x, y, z", func(q *matcher.Query) {
			q.WorkBudget, q.OverBudget = 10, matcher.SuspendQuery
		}))
		d.Register(w.query("edges", "MATCH (x)-->(y)"))
		be.broken = disturbed
		out := d.Batch(star(100)[99:])
		require.NotEmpty(t, out.Decided)
		require.True(t, out.Queries[1].Suspended)
		require.Equal(t, 1, out.Summary.NetInserted)
		more := w.messages("+ other a")
		if disturbed {
			updates, _ := d.Engine.Accept(more)
			_, err := d.Engine.Step(t.Context(), &matcher.Batch{Number: 5, Updates: updates},
				func(*matcher.Event) error {
					t.Error("an event")
					return nil
				}, nil)
			require.ErrorIs(t, err, errUnprepared)
			require.Equal(t, 100, d.Engine.Graph().Edges())
			be.broken = false
		}
		d.Batch(more)
		return d
	}
	require.Empty(t, matchertest.Diff(run(false).Transcript(), run(true).Transcript()))
}

// TestASuspendedQueryHasNoPlan: between a batch that suspends a query and the next step, other queries are counted and
// rehearsed without it.
func TestASuspendedQueryHasNoPlan(t *testing.T) {
	for _, rehearse := range []bool{false, true} {
		w := newWorld(t, true)
		d := matchertest.NewDriver(t, true, &rehearsing{Backend: newCPU(t, 1, false), rng: rand.New(rand.NewPCG(1, 2))},
			plan.New())
		d.Register(w.query("hungry", "MATCH (y)<--(x)-->(z) RETURN x, y, z", func(q *matcher.Query) {
			q.WorkBudget, q.OverBudget = 10, matcher.SuspendQuery
		}))
		d.Register(w.query("edges", "MATCH (x)-->(y)"))
		require.NotEmpty(t, d.Batch(star(100)).Decided)
		if rehearse {
			n, err := d.Engine.Rehearse(t.Context())
			require.NoError(t, err)
			require.Positive(t, n)
		}
		n, known, err := d.Engine.Total(t.Context(), w.query("new", "MATCH (x)-->(y)"), 0)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, matcher.CountOf(100), n)
		require.Len(t, d.Batch(w.messages("+ other a")).Records, 1)
	}
}
