package matcher_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// changing has a query with WITH emit changes.
func changing(q *matcher.Query) { q.SilentChange = false }

// TestS24Changes has matches that go on and show another value: by an aggregate, a key edge or a key vertex.
func TestS24Changes(t *testing.T) {
	w := paymentsWorld(t)
	const star = "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n, sum(t.amount) AS total WHERE n >= 2"
	const pair = "MATCH (s)-[t:T]->(m) MATCH (m)-[o:T]->() WITH m, o, count(*) AS n"
	w.register(w.query("all", star, changing))
	w.register(w.query("n", star+" RETURN m.limit, n", changing))
	w.register(w.query("o", pair, changing))
	w.register(w.query("quiet", pair+" RETURN n", changing))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		w.shows(w.cpu.Batch(msgs), want...)
		w.shows(w.other.Batch(msgs), want...)
	}
	step("+ a m T amount=1; + b m T amount=2", "+all m [2 3.00]", "+n m [2 3.00]")
	step("+ a m T amount=2; + b m T amount=1")  // the same sum
	step("+ a m T amount=5", "~all m [2 6.00]") // n is the same
	step("+ c m T amount=0", "~all m [3 6.00]", "~n m [3 6.00]")
	step("=v m limit=4", "~all m [3 6.00]", "~n m [3 6.00]") // a key that is shown
	step("+ m x T amount=1", "+o m [3]", "+quiet m [3]")
	step("+ m x T amount=2", "~o m [3]") // the key edge is replaced: no pair
	step("- c m T", "~all m [2 6.00]", "~n m [2 6.00]", "~o m [2]", "~quiet m [2]")
	// Signs come one after the other: negatives, changes, positives.
	step("+ a y T; + b y T; - m x T; + m z T; + c m T amount=1", "-o m [2]", "-quiet m [2]", "~all m [3 7.00]",
		"~n m [3 7.00]", "+all y [2 0.00]", "+n y [2 0.00]", "+o m [3]", "+quiet m [3]")
}

// TestS24ChangesModes has changes meet counts, transitions, caps, samples, shadows and edges that expire.
func TestS24ChangesModes(t *testing.T) {
	w := paymentsWorld(t)
	const cypher = "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 2"
	w.batch("+ a x T ts=1; + b x T ts=2")
	w.register(w.query("a", cypher, backfill, changing), "+a snapshot x")
	w.register(w.query("c", cypher, counts, backfill, changing), "+c snapshot #1")
	w.register(w.query("e", cypher, exists, backfill, changing), "+e snapshot exists")
	w.register(w.query("p", cypher, changing, capped(1), exactTotal))
	w.register(w.query("s", cypher, changing, func(q *matcher.Query) { q.Shadow = true }))
	w.register(w.query("z", cypher, changing, func(q *matcher.Query) { q.SilentExpiry = true }))
	w.batch("+ a y T ts=3; + b y T ts=3; + a z T ts=4; + b z T ts=4", "+c #2", "+a y", "+p y", "+z y", "+a z",
		"+p ! truncated", "+z z")
	// Changes are not cut: one is of a match that was not announced.
	out := w.batch("+ c x T ts=9; + c y T ts=9; + c z T ts=9", "~c #3", "~a x", "~p x", "~z x", "~a y", "~p y", "~z y",
		"~a z", "~p z", "~z z")
	for _, q := range out.Summary.Queries {
		if q.Query.Name != "e" && (q.Changed != matcher.CountOf(3) || !q.Positive.IsZero()) {
			t.Errorf("%s: %v changed, %v positive", q.Query.Name, q.Changed, q.Positive)
		}
	}
	for _, r := range out.Records {
		if want := map[string]uint64{"p": 8}[r.Query]; r.LossySince != want {
			t.Errorf("%s: lossy since %d, not %d", r.Line(), r.LossySince, want)
		}
	}
	w.cpu.Expire(6)
	w.other.Expire(6)
	out = w.batch("+ q q3 T ts=8", "~c #1", "~a x", "~p x") // a to x goes
	for _, r := range out.Records {
		if r.Kind == matcher.EventMatches && !r.Expired {
			t.Errorf("%s has not expired", r.Line())
		}
	}
}

// TestS24ChangesRefusals has what on_change: emit and upsert do not go with.
func TestS24ChangesRefusals(t *testing.T) {
	w := paymentsWorld(t)
	const cypher = "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 2"
	q := w.query("q", cypher, changing)
	require.NoError(t, q.SetOnce([]string{"m"}, 1000, 0))
	require.ErrorContains(t, q.Validate(true), "once emits positives only")
	q.SilentChange = true
	require.NoError(t, q.Validate(true))

	upsert := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: newCPU(t, 1, false), Planner: plan.New(),
		Upsert: true, Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: w.schema})})
	_, err := upsert.Engine.PrepareChange(&matcher.QueryChange{Add: w.query("q", cypher, backfill)})
	require.ErrorContains(t, err, "does not go with on_change: silent")
	upsert.Register(w.query("q", cypher, backfill, changing))
	upsert.Batch(w.messages("+ a m T; + b m T"))
	require.Len(t, upsert.Batch(w.messages("+ c m T")).Records, 1)
	removed := upsert.Remove("q")
	require.Len(t, removed.Records, 1)
	require.Equal(t, dyngraph.Deleted, removed.Records[0].Sign)
}

// TestS24ChangesAreLimited leaves changes out that are too many, which a record says; a replay puts out the same.
func TestS24ChangesAreLimited(t *testing.T) {
	w := paymentsWorld(t)
	options := func() matcher.EngineOptions {
		return matcher.EngineOptions{Backend: newCPU(t, 1, false), Planner: plan.New(),
			Limits: matcher.Limits{Matches: 2},
			Graph:  dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: w.schema})}
	}
	d := matchertest.NewDriverWith(t, options())
	d.Register(w.query("q", "MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= 10 "+
		"WITH m, o, count(*) AS n", changing))
	w.check(d.Batch(w.messages("+ a m T ts=3")), []string{"+q m"})
	w.check(d.Batch(w.messages("+ b m T ts=4")), []string{"+q m"})
	w.check(d.Batch(w.messages("+ c m T ts=5")), []string{"+q m"})
	out := d.Batch(w.messages("+ d m T ts=1")) // in three windows
	w.check(out, []string{"~q ! skipped", "+q m"})
	require.Equal(t, dyngraph.Changed, out.Decided[0].Sign)
	require.Equal(t, matcher.Skip, out.Decided[0].Action)
	require.Zero(t, out.Queries[0].LossySince, "no match is missing")
	again := matchertest.Replay(t, d.Log, options())
	require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()))
}

// TestS24ChangesKeepATable has a consumer apply records to a table: it holds what the graph says after each batch.
// Where changes are left out, which a record says, it holds the right matches with some values that are old.
func TestS24ChangesKeepATable(t *testing.T) {
	changed, left := 0, 0
	seen := func() bool { return changed > 100 && left > 3 }
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		w := paymentsWorld(t)
		c := hubCase(rng, w.schema)
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: newCPU(t, 1, false),
			Planner: plan.New(), Limits: matcher.Limits{Matches: []uint64{0, 1, 2}[rng.IntN(3)]}})
		queries := []*matcher.Query{
			w.query("star", "MATCH (s)-[t:T]->(m) WITH m, count(DISTINCT s) AS n, sum(t.amount) AS k WHERE n >= 2",
				changing),
			w.query("window", fmt.Sprintf("MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND "+
				"o.ts - t.ts <= %d WITH m, o, count(*) AS n, sum(t.amount) AS k WHERE n >= 2", 1+rng.IntN(9)),
				changing),
			w.query("stages", "MATCH ()-[i:T]->(m) WITH m, count(*) AS a WHERE a >= 2 "+
				"MATCH (m)-[o:T]->() WITH m, a, sum(o.amount) AS b WHERE b >= a", changing),
		}
		for _, q := range queries {
			d.Register(q)
		}
		table := map[string]string{}
		lossy, old := map[string]bool{}, map[string]bool{} // queries of which matches, or values, are not known
		for _, batch := range c.Batches {
			out := d.Batch(batch)
			for i := range out.Records {
				r := &out.Records[i]
				if r.Kind == matcher.EventNotice {
					if r.Notice.Reason == matcher.ReasonSkipped && r.Sign == dyngraph.Changed {
						old[r.Query] = true
						left++
					} else {
						lossy[r.Query] = true // or suspended
					}
				}
				if lossy[r.Query] || r.Kind == matcher.EventNotice {
					continue
				}
				key := fmt.Sprint(r.Query, " ", matchertest.Identity(r.Match))
				_, there := table[key]
				if there != (r.Sign != dyngraph.Inserted) {
					t.Fatalf("batch %d: %s, and the table has it: %v", out.Number, r.Line(), there)
				}
				if delete(table, key); r.Sign == dyngraph.Deleted {
					continue
				}
				changed += count(r.Sign == dyngraph.Changed)
				table[key] = strings.Join(r.Aggregates, " ") + fmt.Sprint(r.Match)
			}
			want := tableOf(t, d.Engine.Graph(), queries)
			for _, all := range []map[string]string{table, want} {
				for key := range all {
					query, _, _ := strings.Cut(key, " ")
					if old[query] {
						all[key] = ""
					}
				}
				maps.DeleteFunc(all, func(key, _ string) bool {
					query, _, _ := strings.Cut(key, " ")
					return lossy[query]
				})
			}
			if !maps.Equal(table, want) {
				t.Fatalf("batch %d: the table is\n%v, the graph says\n%v", out.Number, table, want)
			}
		}
	})
}

// tableOf returns all matches in a graph by recomputation.
func tableOf(t *testing.T, g *dyngraph.Graph, queries []*matcher.Query) map[string]string {
	t.Helper()
	table := map[string]string{}
	be := reference.New()
	require.NoError(t, be.Load(g))
	for _, q := range queries {
		p, err := plan.New().Plan(q, g)
		require.NoError(t, err)
		_, err = be.Enumerate(t.Context(), dyngraph.New, p, matcher.WantRows, 0, nil, func(rows matcher.Rows) error {
			for i := range rows.Len() {
				m := matchertest.MatchOf(g.View(dyngraph.New), rows, i)
				values := matchertest.AggregatesOf(g.View(dyngraph.New), q, rows.Row(i))
				table[fmt.Sprint(q.Name, " ", matchertest.Identity(m))] = strings.Join(values, " ") + fmt.Sprint(m)
			}
			return nil
		})
		require.NoError(t, err)
	}
	return table
}
