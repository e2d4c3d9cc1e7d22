package matcher_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// fan is ten senders to one account.
func fan(w *world, change ...func(q *matcher.Query)) *matcher.Query {
	text := "MATCH "
	for i := range 10 {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("(s%d:Account)-[:TRANSFER]->(m)", i)
	}
	return w.query("fan10", text, append(change, func(q *matcher.Query) { q.Unit = matcher.Subgraphs })...)
}

// TestS11OneHubDoesNotHoldTheEngine: sixty payments to one account are 7.5e10 matches of a pattern of ten. What a group
// may have is bounded, other accounts' matches are reported all the same, and counts and existence are known at once.
// When the payments are withdrawn, records tell that whatever held them is void.
func TestS11OneHubDoesNotHoldTheEngine(t *testing.T) {
	for _, threads := range []int{1, 3} {
		w := newWorld(t, true)
		var hub, others, gone string
		for i := range 60 {
			hub += fmt.Sprintf("+ s%d:Account payroll TRANSFER; ", i)
			gone += fmt.Sprintf("- s%d:Account payroll TRANSFER; ", i)
		}
		for i := range 10 {
			others += fmt.Sprintf("+ o%d:Account other TRANSFER; ", i)
		}
		queries := map[string]*matcher.Query{"deltas": fan(w), "counts": fan(w, counts), "exists": fan(w, exists)}
		for name, q := range queries {
			const most = 2000
			d := matchertest.NewDriverWith(t,
				matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
					Backend: newTicking(t, threads), Planner: plan.New(),
					Limits: matcher.Limits{Matches: most, QueryTime: 2 * time.Millisecond}})
			d.Register(q)
			out := d.Batch(w.messages(hub + others))
			rows, notices := out.Records, []matchertest.Record{}
			for _, r := range out.Records {
				if r.Kind == matcher.EventNotice {
					notices = append(notices, r)
				}
			}
			require.NotEmpty(t, out.Summary.Queries, "%s: %+v", name, out)
			sum := out.Summary.Queries[0]
			switch name {
			case "counts":
				require.Len(t, rows, 1)
				require.Equal(t, "75394027567", rows[0].Count.String()) // C(60,10), and one
				continue
			case "exists":
				require.NotEmpty(t, rows, "%+v %+v", out.Decided, sum)
				require.Equal(t, []matcher.EventKind{matcher.EventExists}, []matcher.EventKind{rows[0].Kind})
				continue
			}
			require.NotEmpty(t, notices)
			require.Less(t, len(rows), 60*most)
			if threads > 1 { // the clock that tests have goes by what all workers do
				continue
			}
			require.Equal(t, matcher.EventMatches, rows[len(rows)-1].Kind, rows[len(rows)-1].Line())
			require.Contains(t, rows[len(rows)-1].Match.Vertices[0].Key, "o", "the other account is reported")
			require.Equal(t, uint64(len(notices)), sum.Skipped)
			require.Equal(t, uint64(2), out.Queries[0].LossySince)
			d.Batch(w.messages(gone))
			believed := consumer{}
			for _, o := range d.Batches {
				believed.read(o.Records, q.Name)
			}
			require.Len(t, believed, 1)
		}
	}
}

// TestS11DeletingAHubIsBounded deletes a vertex of 20,000 edges, which 200 million matches hold: what is beyond the
// limits is one record for each edge, that voids what was announced with it, and a replay of the log puts out the same
// without measuring.
func TestS11DeletingAHubIsBounded(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one thread")
	const degree, most = 20_000, 500
	opt := func(l matcher.Limits) matcher.EngineOptions {
		return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
			Backend: newTicking(t, 1), Planner: plan.New(), Limits: l}
	}
	d := matchertest.NewDriverWith(t,
		opt(matcher.Limits{Matches: most, QueryTime: time.Millisecond, BatchTime: 3 * time.Millisecond}))
	d.Batch(star(degree))
	w := newWorld(t, true)
	d.Register(w.query("pairs", "MATCH (y)<--(x)-->(z)", func(q *matcher.Query) { q.Unit = matcher.Subgraphs }))
	out := d.Batch([]dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.DeleteVertex, Key: "hub"}}}})
	rows, ended := 0, map[matchertest.Edge]bool{}
	for _, r := range out.Records {
		if r.Kind == matcher.EventMatches {
			rows++
			continue
		}
		require.Equal(t, matcher.ReasonEnded, r.Notice.Reason)
		require.False(t, ended[r.AnchorEdge])
		ended[r.AnchorEdge] = true
	}
	require.Greater(t, len(ended), degree-2*most, "all but the last groups have more matches than the limit")
	require.Less(t, rows, 2*most*most)
	require.Equal(t, matcher.SkipRest, out.Decided[len(out.Decided)-1].Action, "the batch's time ends it")
	require.Less(t, len(out.Decided), degree/10, "decisions are made for groups that were begun")
	require.Empty(t, matchertest.Diff(d.Transcript(), matchertest.Replay(t, d.Log, opt(matcher.Limits{})).Transcript()))
}

// TestS11QueriesOfAHubLeaveOthersTheirShare: once queries that a hub keeps busy have spent the time of the batch, a
// query that has taken little goes on.
func TestS11QueriesOfAHubLeaveOthersTheirShare(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one thread")
	const batchTime = time.Millisecond
	opt := func(l matcher.Limits) matcher.EngineOptions {
		return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
			Backend: newTicking(t, 1), Planner: plan.New(), Limits: l}
	}
	d := matchertest.NewDriverWith(t, opt(matcher.Limits{BatchTime: batchTime}))
	w := newWorld(t, true)
	for _, name := range []string{"a", "b", "c"} {
		d.Register(w.query(name, "MATCH (y)<--(x)-->(z)", subgraphs))
	}
	d.Register(w.query("pay", "MATCH (x)-[:PAY]->(y)"))
	payment := dyngraph.Update{Op: dyngraph.InsertEdge, From: "p", To: "q", Label: "PAY"}
	out := d.Batch(append(star(2_000), dyngraph.Message{Updates: []dyngraph.Update{payment}}))
	paid, left, spent := 0, map[string]bool{}, int64(0)
	for _, r := range out.Records {
		if r.Query == "pay" {
			require.Equal(t, matcher.EventMatches, r.Kind)
			paid++
		} else if r.Kind == matcher.EventNotice {
			left[r.Query] = true
		}
	}
	for _, q := range out.Summary.Queries {
		spent += q.SearchNS
	}
	require.Equal(t, 1, paid)
	require.Len(t, left, 3)
	require.Less(t, spent, 3*int64(batchTime))
	require.Empty(t, matchertest.Diff(d.Transcript(), matchertest.Replay(t, d.Log, opt(matcher.Limits{})).Transcript()))
}
