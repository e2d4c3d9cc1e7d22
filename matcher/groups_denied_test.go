package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS25NegationsBesideWith plays groups whose rows negations block, on the CPU against recomputation: one stage and
// several, with paths in some, conditions, parallel edges, replaced and expiring edges and revised vertices.
func TestS25NegationsBesideWith(t *testing.T) {
	var seen struct {
		played
		begins, ends, changes, turned, stages, paths int
	}
	all := func() bool {
		return min(seen.begins, seen.ends, seen.revised, seen.parallel) > 5 &&
			min(seen.changes, seen.turned, seen.expired, seen.paths) > 0
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.begins > 0 }
	}
	matchertest.ForSeedsUntil(t, 4, all, func(t *testing.T, rng *rand.Rand) {
		c := deniedGroups(rng)
		kinds := map[string]*matcher.Query{}
		for _, q := range c.Queries {
			kinds[q.Name] = q
		}
		kept := matchertest.Retention(rng)
		for _, out := range playBackends(t, rng, c, kept) {
			seen.add(c, out)
			for i := range out.Records {
				r := &out.Records[i]
				q := kinds[r.Query]
				if r.Kind != matcher.EventMatches || r.Snapshot || q.Groups == nil || q.Groups.Negations() == 0 {
					continue
				}
				seen.begins += count(r.Sign > 0)
				seen.ends += count(r.Sign < 0)
				seen.changes += count(r.Sign == 0)
				seen.turned += count(r.Turned)
				seen.stages += count(len(q.Groups.Stages) > 1)
				seen.paths += count(q.Groups.HasPaths())
			}
		}
	})
	t.Logf("%+v", seen)
}

// deniedGroups draws a case of which most queries have WITH and negations.
func deniedGroups(rng *rand.Rand) *matchertest.Case {
	if rng.IntN(3) == 0 {
		return groupedPaths(rng, 4).Denied(rng)
	}
	return groupCase(rng).Denied(rng)
}

// TestS25HubsBesideWith plays groups around hubs whose rows are denied often: payments of senders that the receiver
// knows, that a flag of an account denies, and that later payments deny. Every batch turns some.
func TestS25HubsBesideWith(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS25NegationsBesideWith has the same goroutines")
	var seen struct {
		played
		begins, ends, changes, turned int
	}
	all := func() bool {
		return min(seen.begins, seen.ends, seen.changes, seen.turned, seen.revised) > 30
	}
	matchertest.ForSeedsUntil(t, 3, all, func(t *testing.T, rng *rand.Rand) {
		w := deniedWorld(t)
		c := hubCase(rng, w.schema)
		deny := []string{"NOT (s)-[:U]-(m)", "NOT EXISTS { (s)-[k:U]->(x) WHERE k.amount > t.amount }",
			"NOT EXISTS { (m)-[v:T]->(x) WHERE v.ts >= t.ts AND x.limit > 1 }", "NOT (m)-[:U]->()<-[:U]-(s)",
			"NOT EXISTS { (s)-[:U]-(x) WHERE x.limit > s.limit }", "NOT EXISTS { (m)-[k:U]->() WHERE m.limit > 1 }",
			"NOT EXISTS { (x)-[k:U]->(s)-[l:T]-(x) WHERE k.ts <= l.ts }",
			"NOT EXISTS { (x)-[:U]->(m) WHERE x.limit < 2 }"}
		for i := range 4 {
			cypher, keys := "MATCH (s)-[t:T]->(m) WHERE ", "m"
			if rng.IntN(3) == 0 {
				cypher, keys = "MATCH (p)-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND ",
					[]string{"m, o", "o", "m, p"}[rng.IntN(3)]
			}
			cypher += deny[rng.IntN(len(deny))]
			if rng.IntN(3) == 0 {
				cypher += " AND " + deny[rng.IntN(len(deny))]
			}
			cypher += fmt.Sprintf(" WITH %s, count(*) AS n, count(DISTINCT s) AS k WHERE n >= %d", keys, 1+rng.IntN(2))
			if rng.IntN(3) == 0 && strings.Contains(keys, "m") {
				cypher += fmt.Sprintf(" MATCH (m)-[u:T|U]-(d) WHERE %s WITH %s, n, k, count(DISTINCT d) AS l",
					[]string{"NOT (m)-[:U]->(d)", "NOT EXISTS { (d)-[w:U]->(y) WHERE y.limit > 1 }"}[rng.IntN(2)], keys)
			}
			q := w.query(fmt.Sprint("q", i), cypher, backfill)
			q.SilentChange = rng.IntN(2) == 0
			c.Queries = append(c.Queries, q)
		}
		for _, out := range playBackends(t, rng, c, []int64{0, 4 + rng.Int64N(20)}[rng.IntN(2)]) {
			seen.revised += out.Summary.Revised
			for i := range out.Records {
				if r := &out.Records[i]; r.Kind == matcher.EventMatches && !r.Snapshot {
					seen.begins += count(r.Sign > 0)
					seen.ends += count(r.Sign < 0)
					seen.changes += count(r.Sign == 0)
					seen.turned += count(r.Turned)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// deniedWorld has payments and other edges with values, and accounts with a limit.
func deniedWorld(t *testing.T) *world {
	edge := map[string]property.Type{"ts": {Kind: property.Timestamp}, "amount": {Kind: property.Decimal, Scale: 2}}
	return newWorldOf(t, true, &property.Schema{Edges: property.Declarations{"T": edge, "U": edge},
		Vertices: property.Declarations{"*": {"limit": {Kind: property.Int64}}}})
}

// TestS25BesideWithByHand follows a group whose rows are denied: by whom they are known, and anchors.
func TestS25BesideWithByHand(t *testing.T) {
	w := deniedWorld(t)
	w.register(w.query("q", "MATCH (s)-[t:T]->(m) WHERE NOT (s)-[:U]-(m) WITH m, count(DISTINCT s) AS n WHERE n >= 2"))
	w.register(w.query("free", "MATCH (s)-[t:T]->(m:M) WHERE NOT EXISTS { (s)-[k:U]->(x) WHERE x.limit > 1 } "+
		"WITH m, count(*) AS n", func(q *matcher.Query) { q.SilentChange = false }))
	step := func(text string, want ...string) *matchertest.Output {
		t.Helper()
		msgs := w.messages(text)
		out := w.cpu.Batch(msgs)
		w.shows(out, want...)
		w.shows(w.other.Batch(msgs), want...)
		return out
	}
	step("+ a m:M T; + b m:M T", "+free m [2]", "+q m [2]")
	out := step("+ c m:M T; + m:M c U; + a x U; + m:M a U", "-q m [2]", "~free m [3]")
	require.Equal(t, "m-a U", anchorText(out, 0), "the first of the rows of q that turned: c was never counted")
	out = step("- m c U; - m a U", "+q m [3]")
	require.Equal(t, "m-a U", anchorText(out, 0))
	out = step("=v x limit=2", "~free m [2]")
	require.Equal(t, "x-x ", anchorText(out, 0))
	step("- a x U; =v x limit=0", "~free m [3]")
	step("- a m T; + a m U; - b m T", "-q m [3]", "~free m [1]")
}

func anchorText(out *matchertest.Output, i int) string {
	e := out.Records[i].AnchorEdge
	return e.From.Key + "-" + e.To.Key + " " + e.Label
}

// TestS25OneVertexForTwoNames: named vertices of two clauses may be one; a denied pattern then has both ends there.
func TestS25OneVertexForTwoNames(t *testing.T) {
	w := deniedWorld(t)
	w.register(w.query("q", "MATCH (p)-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE NOT EXISTS { (p)-[:U]->(x)<-[:U]-(s) } "+
		"WITH m, o, count(DISTINCT s) AS n WHERE n >= 1"))
	w.batch("+ a m T", "+q m")
	w.batch("+ a x U") // one edge is not two
	w.batch("+ b m T; + b x U", "+q m")
	w.batch("- a x U")
}

// TestS25LimitsBesideWith plays batch logs again, of groups with negations that exceed their budgets, on other backends
// and from the middle on.
func TestS25LimitsBesideWith(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS25NegationsBesideWith has the same goroutines")
	decisions := 0
	matchertest.ForSeedsUntil(t, 4, func() bool { return decisions > 0 }, func(t *testing.T, rng *rand.Rand) {
		decisions += playReplay(t, rng, deniedGroups(rng).With(func(q *matcher.Query) {
			if rng.IntN(3) == 0 {
				q.WorkBudget, q.OverBudget = 1+rng.Uint64N(300), matcher.OverBudget(rng.IntN(2))
			}
		}))
	})
}

// TestS25StoredBesideWith: a stored query is refused whose negations name what the rows of the stage do not have, or
// stand outside the stages.
func TestS25StoredBesideWith(t *testing.T) {
	w := deniedWorld(t)
	of := func() *matcher.Query {
		return w.query("q", "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n "+
			"MATCH (m)-[u:T]->(d) WHERE NOT (d)-[:U]-(m) WITH m, n, count(*) AS k")
	}
	q := of()
	require.NoError(t, q.Validate(true))
	q.Groups.Stages[1].Negations[0].Edges[0].To = 0
	require.ErrorContains(t, q.Validate(true), `has a negation of "s", which its rows do not have`)
	q = of()
	q.Negations = q.Groups.Stages[1].Negations
	require.ErrorContains(t, q.Validate(true), "are those of its stages")
	q = of()
	for range 8 {
		q.Groups.Stages[1].Negations = append(q.Groups.Stages[1].Negations, q.Groups.Stages[1].Negations[0])
	}
	require.ErrorContains(t, q.Validate(true), "at most 8")
	base := of()
	require.True(t, matcher.SameDefinition(base, of()))
	other := of()
	other.Groups.Stages[1].Negations = nil
	require.False(t, matcher.SameDefinition(base, other))
}
