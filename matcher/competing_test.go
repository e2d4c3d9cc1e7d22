package matcher_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// TestS14CompetingEdgesAreRefused holds that a pattern is refused if and only if no graph without ids has a match of
// it: one edge of every source, target and label between two vertices is the graph with most.
func TestS14CompetingEdgesAreRefused(t *testing.T) {
	seen := map[bool]int{}
	matchertest.ForSeedsUntil(t, 300, func() bool { return seen[true] > 0 && seen[false] > 0 },
		func(t *testing.T, rng *rand.Rand) {
			directed := rng.IntN(2) == 0
			labels := matchertest.Labels{Vertex: []string{""}, Edge: []string{"", "e0", "e1", "e2"}[:1+rng.IntN(4)]}
			q := matchertest.WideQueryOf(rng, 2, "q", directed, labels)
			q.Vertices = []matcher.QueryVertex{{Name: "a"}, {Name: "b"}}
			g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
			var msgs []dyngraph.Message
			for _, ends := range [][2]string{{"x", "y"}, {"y", "x"}} {
				for _, label := range []string{"e0", "e1", "e2", "nowhere", "1", "2", "3", "4", "5", "6"} {
					msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge,
						From: ends[0], To: ends[1], Label: label}}})
				}
			}
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: g, Backend: newCPU(t, 1, false),
				Planner: plan.New()})
			q.Emit = matcher.EmitCounts
			_, err := d.Engine.PrepareChange(&matcher.QueryChange{Add: q})
			d.Register(q)
			matches := len(d.Batch(msgs).Records)
			seen[err != nil]++
			require.Equal(t, err != nil, matches == 0, "%v: %+v", err, q.Edges)
			if err != nil {
				require.ErrorIs(t, err, matcher.ErrCompeting)
				require.ErrorIs(t, err, matcher.ErrQuery)
			}
		})
}

// TestS14CompetingEdgesStayWhereTheyAreStored: a query that is refused now and that a checkpoint holds is restored,
// matches nothing, is warned of, and is told to be registered where the configuration still has it.
func TestS14CompetingEdgesStayWhereTheyAreStored(t *testing.T) {
	parse := func(cypher string) *matcher.Query {
		q, err := pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{Name: "q", Directed: true})
		require.NoError(t, err)
		return q
	}
	q := parse("MATCH (a)-[:T]->(b), (a)-[:T]->(b)")
	stored := *q
	stored.Version = 7
	d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
	require.NoError(t, d.Engine.Restore(t.Context(), []matcher.QueryState{{Query: &stored}}))
	w := newWorld(t, true)
	require.Empty(t, d.Batch(w.messages("+ x y T; + x y U; + y x T")).Records)
	require.Len(t, matcher.Warnings(&stored, d.Engine.Graph().Options(), d.Engine.Graph()), 1)
	prepare := func(q *matcher.Query) error {
		_, err := d.Engine.PrepareChange(&matcher.QueryChange{Add: q})
		return err
	}
	require.ErrorIs(t, prepare(q), matcher.ErrUnchanged)
	require.ErrorIs(t, prepare(parse("MATCH (a)-[:T]->(b), (a)-[:T]->(b), (a)-[:T]->(c)")), matcher.ErrCompeting)
	require.NoError(t, d.Engine.Restore(t.Context(), []matcher.QueryState{{Query: &stored, Suspended: true}}))
	require.NoError(t, prepare(q), "it is resumed")
	require.NoError(t, prepare(parse("MATCH (a)-[:T]->(b), (a)-[:U]->(b)")))
	gone := slices.Clone(d.Engine.Queries())
	gone[0].Removed = true
	require.NoError(t, d.Engine.Restore(t.Context(), gone))
	require.ErrorIs(t, prepare(q), matcher.ErrCompeting, "what was removed is new")
}
