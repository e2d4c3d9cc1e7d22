package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// written returns the bytes of a batch's matches, as the driver tells the engine of them.
func written(out *matchertest.Output) (size int64) {
	for _, r := range out.Records {
		if r.Kind == matcher.EventMatches {
			size += matchertest.RecordBytes << (out.Number % 4)
		}
	}
	return size
}

// TestS11OutputIsBounded: what is written of the pairs of a star's 150 edges is bounded, of both signs, of a backfill
// and of a query with a cap; the groups behind the limit still have one match each. The query is suspended instead if
// it says so. A replay puts out the same.
func TestS11OutputIsBounded(t *testing.T) {
	matchertest.NotUnderRace(t, "its searches have the goroutines of TestBackendsAgreeOnHubs")
	const edges = 150
	star := star(edges)
	var back []dyngraph.Message
	for i := range star {
		u := star[i].Updates[0]
		u.Op = dyngraph.DeleteEdge
		back = append(back, dyngraph.Message{Updates: []dyngraph.Update{u}})
	}
	for _, threads := range []int{1, 2} {
		for name, change := range map[string]func(*matcher.Query){
			"skip": func(*matcher.Query) {}, "cap": func(q *matcher.Query) { q.MaxMatches = 40_000 },
			"suspend": func(q *matcher.Query) { q.OverBudget = matcher.SuspendQuery },
			"shadow":  func(q *matcher.Query) { q.Shadow = true },
		} {
			limit := int64(100 * 8 * matchertest.RecordBytes)
			opt := func(be matcher.Backend, limit int64) matcher.EngineOptions {
				return matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Backend: be,
					Planner: plan.New(), Limits: matcher.Limits{QueryOutput: limit}}
			}
			w := newWorld(t, true)
			query := func(name string) *matcher.Query {
				return w.query(name, "MATCH (y)<--(x)-->(z) RETURN x, y, z", subgraphs, backfill, change)
			}
			d := matchertest.NewDriverWith(t, opt(newCPU(t, threads, false), limit))
			d.Register(query("live"))
			check := func(out *matchertest.Output, sign dyngraph.Sign, snapshot bool) {
				t.Helper()
				if name == "shadow" {
					require.Empty(t, out.Decided)
					return
				}
				size := written(out)
				require.LessOrEqual(t, size, limit+limit/10+edges*8*matchertest.RecordBytes, name)
				require.Greater(t, size, limit/2, name)
				require.NotEmpty(t, out.Decided)
				for _, x := range out.Decided {
					require.Equal(t, matcher.CauseOutput, x.Cause, name)
					require.Equal(t, sign, x.Sign)
					require.Equal(t, snapshot, x.Snapshot)
				}
				switch {
				case name == "suspend":
					require.Len(t, out.Decided, 1)
					require.Equal(t, matcher.Suspend, out.Decided[0].Action)
				case !snapshot:
					require.Greater(t, len(out.Decided), edges/2)
				}
			}
			check(d.Batch(star), dyngraph.Inserted, false)
			check(d.Register(query("late")), dyngraph.Inserted, true)
			if name == "suspend" {
				require.Empty(t, d.Batch(back).Records)
			} else {
				d.Remove("late")
				check(d.Batch(back), dyngraph.Deleted, false)
			}
			for _, other := range []matcher.Backend{reference.New(), newCPU(t, 2, true)} {
				again := matchertest.Replay(t, d.Log, opt(other, 0))
				require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), other.Name())
			}
		}
	}
}

// TestS11ALargeGroupIsNotFound: the search of a group ends when its matches are more than may be written by the least
// size that their records have: it does not fill memory and temporary files first.
func TestS11ALargeGroupIsNotFound(t *testing.T) {
	w := newWorld(t, true)
	d := matchertest.NewDriverWith(t, matcher.EngineOptions{
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Backend: newCPU(t, 1, false), Planner: plan.New(),
		Limits: matcher.Limits{QueryOutput: 10_000}})
	d.Batch(star(100))
	out := d.Register(w.query("triples", "MATCH (x)-->(a), (x)-->(b), (x)-->(c), (x)-->(d) RETURN a", backfill))
	require.Len(t, out.Records, 1)
	require.Equal(t, matcher.CauseOutput, out.Records[0].Notice.Cause)
	require.Less(t, out.Summary.Queries[0].Steps, uint64(100_000), "of 94,109,400 matches")
}
