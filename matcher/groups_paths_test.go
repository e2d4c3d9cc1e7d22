package matcher_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// groupedPaths draws a case of which most queries have WITH and paths.
func groupedPaths(rng *rand.Rand, queries int) *matchertest.Case {
	c := matchertest.RandomCasePaths(rng, queries)
	return c.With(func(q *matcher.Query) {
		if rng.IntN(3) == 0 {
			randomModes(rng, q)
		}
		if rng.IntN(6) == 0 {
			return
		}
		if grouped := c.Group(rng, q); grouped.Validate(c.Directed) == nil {
			*q = *grouped
		}
	})
}

// TestS26PathsBesideWith plays groups of rows with paths on the CPU, which searches variants of them, against the
// reference, which walks along paths: one stage and several, with conditions, parallel edges, replaced and expiring
// edges and revised vertices.
func TestS26PathsBesideWith(t *testing.T) {
	var seen struct {
		played
		begins, ends, stages int
	}
	all := func() bool {
		return min(seen.begins, seen.ends, seen.revised, seen.parallel) > 10 &&
			min(seen.expired, seen.stages) > 0
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.begins > 0 }
	}
	matchertest.ForSeedsUntil(t, 5, all, func(t *testing.T, rng *rand.Rand) {
		c := groupedPaths(rng, 4)
		several := map[string]bool{}
		for _, q := range c.Queries {
			several[q.Name] = q.Groups != nil && len(q.Groups.Stages) > 1
		}
		kept := matchertest.Retention(rng)
		for _, out := range playBackends(t, rng, c, kept) {
			seen.add(c, out)
			for i := range out.Records {
				if r := &out.Records[i]; r.Kind == matcher.EventMatches && r.Aggregates != nil && !r.Snapshot {
					seen.begins += count(r.Sign > 0)
					seen.ends += count(r.Sign < 0)
					seen.stages += count(several[r.Query])
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// TestS26ReplayOfPathsBesideWith plays batch logs again, of queries that exceed their budgets, on other backends and
// from the middle on.
func TestS26ReplayOfPathsBesideWith(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS26PathsBesideWith has the same goroutines")
	decisions := 0
	matchertest.ForSeedsUntil(t, 5, func() bool { return decisions > 0 }, func(t *testing.T, rng *rand.Rand) {
		decisions += playReplay(t, rng, groupedPaths(rng, 3).With(func(q *matcher.Query) {
			if rng.IntN(3) == 0 {
				q.WorkBudget, q.OverBudget = 1+rng.Uint64N(300), matcher.OverBudget(rng.IntN(2))
			}
		}))
	})
}

// TestS26PathsBesideWithByHand counts where money of several accounts comes together, over one payment or two: the rows
// of all lengths are the group's, and a longer path that breaks takes its rows.
func TestS26PathsBesideWithByHand(t *testing.T) {
	w := paymentsWorld(t)
	w.register(w.query("q", "MATCH (s:S)-[t:T*1..2]->(m) WHERE motifd.increasing(t) "+
		"AND all(e IN t WHERE e.amount > 1) WITH m, count(*) AS n, count(DISTINCT s) AS k WHERE k >= 2"))
	w.register(w.query("two", "MATCH ()-[o:T]->(m:M) MATCH (s:S)-[t:T*1..2]->(m) WHERE motifd.increasing(t) AND "+
		"motifd.span(t, o) <= 5 WITH m, o, count(*) AS n WHERE n >= 2 "+
		"MATCH (m)-[u:T*1..2]->(d:D) WITH m, o, n, count(DISTINCT d) AS k WHERE k >= n"))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		w.shows(w.cpu.Batch(msgs), want...)
		w.shows(w.other.Batch(msgs), want...)
	}
	step("+ a:S x T ts=1 amount=2; + x m:M T ts=3 amount=2")
	step("+ b:S m:M T ts=2 amount=2", "+q m [2 2]")
	step("+ a:S m:M T ts=4 amount=1")                                                   // too little for q
	step("+ m:M d:D T ts=9 amount=1; + m:M y T ts=9 amount=1; + y e:D T ts=9 amount=1") // two have 3 rows of each o
	step("+ y f:D T ts=9 amount=1", "+two m [3 3]", "+two m [3 3]", "+two m [3 3]")     // o is each payment to m
	step("- a x T", "-q m [2 2]")                                                       // two goes on with two rows
	step("- y f T; - y e T", "-two m [2 3]", "-two m [2 3]", "-two m [2 3]")
}

// TestS26StoredPathsBesideWith: a stored query that groups by a path, or adds one up, is refused.
func TestS26StoredPathsBesideWith(t *testing.T) {
	w := paymentsWorld(t)
	of := func() *matcher.Query {
		return w.query("q", "MATCH (s)-[t:T]->(m) WITH m, t, sum(t.amount) AS n, count(*) AS k WHERE n > 1")
	}
	q := of()
	q.Groups.Edges[0].Hops = &matcher.Hops{Least: 1, Most: 2}
	require.ErrorContains(t, q.Validate(true), "has a path for a key")
	q.Edges, q.Groups.Stages[0].Edges = nil, nil
	require.ErrorContains(t, q.Validate(true), `has the aggregate "n" of a path`)
	long := of()
	long.Groups.Stages[0].Rises = []matcher.Rise{{Edges: []int{7}}}
	require.ErrorContains(t, long.Validate(true), "it reads edge 7")
}

// TestS26DefinitionBesideWith: a query with other lengths, or another span, is another version.
func TestS26DefinitionBesideWith(t *testing.T) {
	w := paymentsWorld(t)
	of := func(hops, where string) *matcher.Query {
		return w.query("q", "MATCH (s)-[t:T"+hops+"]->(m) WHERE "+where+" WITH m, count(*) AS n WHERE n > 1")
	}
	base := of("*1..2", "motifd.span(t) <= 5 AND motifd.increasing(t)")
	require.True(t, matcher.SameDefinition(base, of("*1..2", "motifd.increasing(t) AND motifd.span(t) <= 5")))
	for _, other := range []*matcher.Query{of("*1..3", "motifd.span(t) <= 5 AND motifd.increasing(t)"),
		of("*1..2", "motifd.span(t) <= 6 AND motifd.increasing(t)"), of("*1..2", "motifd.span(t) <= 5")} {
		require.False(t, matcher.SameDefinition(base, other))
	}
}
