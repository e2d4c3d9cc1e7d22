package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS25BlockersAreNoEvents is trap 14 of LANGUAGE.md: of two blockers one goes, and nothing begins.
func TestS25BlockersAreNoEvents(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)"))
	w.batch("+ x y PAID", "+q x y")
	w.batch("+ x y KNOWS", "-q x y")
	w.batch("+ y x KNOWS")
	w.batch("- x y KNOWS")
	w.batch("- y x KNOWS", "+q x y")
	// One goes and one comes: nothing. The match goes with its blocker, or before it: nothing begins.
	w.batch("+ x y KNOWS", "-q x y")
	w.batch("- x y KNOWS; + y x KNOWS")
	w.batch("- y x KNOWS; - x y PAID")
	w.batch("+ x y PAID; + x y KNOWS")
	w.batch("- x y PAID")
}

// TestS25Anchors: a match with own changes is anchored at these, one without at the change that turned the negation:
// the last one of those that ended its blockers, the first one of those that made some.
func TestS25Anchors(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT EXISTS { (a)-[:OWNS]->(c)<-[:OWNS]-(b) }"))
	anchors := func(out *matchertest.Output) (all []string) {
		for _, r := range out.Records {
			e := r.AnchorEdge
			all = append(all, fmt.Sprintf("%s-%s>%s %d", e.From.Key, e.Label, e.To.Key, r.UpdateIndex))
		}
		return all
	}
	w.batch("+ x y PAID; + x y KNOWS", "+q x y")
	out := w.batch("+ x c OWNS; + x d OWNS; + y d OWNS; + y c OWNS", "-q x y")
	require.Equal(t, []string{"x-OWNS>c 0"}, anchors(out),
		"the lowest change of all rows, and not the one that closed them")
	out = w.batch("- y c OWNS; - x d OWNS; - x y KNOWS", "+q x y")
	require.Equal(t, []string{"x-OWNS>d 1"}, anchors(out))
	// The match is made where its blocker goes: its own change is the anchor.
	w.batch("+ y d OWNS")
	w.batch("+ x d OWNS; - x y PAID", "-q x y")
	out = w.batch("+ x y PAID; - x d OWNS", "+q x y")
	require.Equal(t, []string{"x-PAID>y 0"}, anchors(out))
}

func negationSchema() *property.Schema {
	typ := func(s string) property.Type {
		t, err := property.ParseType(s)
		if err != nil {
			panic(err)
		}
		return t
	}
	return &property.Schema{
		Edges:    property.Declarations{"*": {"n": typ("int64"), "ts": typ("timestamp")}},
		Vertices: property.Declarations{"*": {"risk": typ("int64")}},
	}
}

// TestS25Conditions: a negation reads the values of the match; a revision that only a negation reads is an own change.
func TestS25Conditions(t *testing.T) {
	w := newWorldOf(t, true, negationSchema())
	w.register(w.query("e", "MATCH (a)-[t:PAID]->(b) WHERE NOT EXISTS { (a)-[k:KNOWS]->(b) WHERE k.ts < t.ts }"))
	w.register(w.query("v", "MATCH (a)-[t:PAID]->(b) WHERE NOT EXISTS { (a)-[:KNOWS]->(x) WHERE x.risk > a.risk }"))
	w.batch("+ x y KNOWS ts=5; + x y PAID ts=5", "+e x y", "+v x y")
	w.batch("+ x y KNOWS ts=4", "-e x y")
	w.batch("+ x y PAID ts=4", "-v x y", "+e x y", "+v x y") // another version of the match, which nothing blocks
	w.batch("=v x risk=1; =v y risk=1")
	out := w.batch("=v y risk=2", "-v x y")
	require.Equal(t, "y", out.Records[0].AnchorEdge.From.Key)
	out = w.batch("=v y risk=3; =v x risk=3", "+v x y")
	require.Equal(t, "x", out.Records[0].AnchorEdge.From.Key, "the own change is the anchor, and not the blocker's")
	w.batch("=v x risk=2; =v y risk=2")
}

// TestS25Vertex: a pattern of one vertex may have a negation in the place of a condition.
func TestS25Vertex(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (a:A) WHERE NOT (a)-[:CHECKED]->()"))
	w.batch("+v x:A; +v y:B", "+q x")
	w.batch("+ x y CHECKED; + z:A y PAID", "-q x", "+q z")
	w.batch("- x y CHECKED; -v z", "-q z", "+q x")
	w.register(w.query("p", "MATCH (a:A) WHERE NOT (a)-[:CHECKED]->()", backfill), "+p snapshot x")
}

// TestS25Injectivity: own vertices differ from each other and from the core vertices that the negation names; own edges
// may be the core's.
func TestS25Injectivity(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("edge", "MATCH (a)-[:PAID]->(b) WHERE NOT EXISTS { (a)-[:PAID]->(x)-[:KNOWS]->() }"))
	w.register(w.query("named", "MATCH (a)-[:PAID]->(b) WHERE NOT EXISTS { (a)-[:PAID]->(x), (b)-->() }"))
	w.batch("+ x y PAID", "+edge x y", "+named x y")
	w.batch("+ y x KNOWS")              // x is named by nothing here but a: (b)-->(x) needs another vertex than a
	w.batch("+ y z KNOWS", "-edge x y") // and (a)-[:PAID]->(x) another one than b, in named
	w.batch("+ x z PAID", "+named x z")
	w.batch("+ x u PAID", "-named x y", "+named x u")
}

// TestS25Expired: a blocker that expires begins matches, whose records say so; on_expiry: silent leaves them out, and
// an expired match under it says nothing either.
func TestS25Expired(t *testing.T) {
	for _, be := range []matcher.Backend{newCPU(t, 2, false), reference.New()} {
		w := newWorldOf(t, true, negationSchema())
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: be, Planner: plan.New(),
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: negationSchema()})})
		d.Expire(10)
		d.Register(w.query("loud", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)"))
		d.Register(w.query("silent", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)",
			func(q *matcher.Query) { q.SilentExpiry = true }))
		w.check(d.Batch(w.messages("+ x y KNOWS ts=1; + x y PAID ts=8")), nil)
		w.check(d.Batch(w.messages("+ p q OTHER ts=9")), nil)
		out := d.Batch(w.messages("+ p q OTHER ts=13"))
		w.check(out, []string{"+loud x y"})
		require.True(t, out.Records[0].Expired)
		w.check(d.Batch(w.messages("+ p q OTHER ts=30")), []string{"-loud x y"})
	}
}

// TestS25Modes: counts, exists, backfill, caps and exact totals of queries with negations.
func TestS25Modes(t *testing.T) {
	w := newWorld(t, true)
	text := "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)"
	w.register(w.query("c", text, counts))
	w.register(w.query("e", text, exists))
	w.register(w.query("l", text, capped(1), exactTotal))
	w.batch("+ x y PAID; + x y KNOWS")
	w.batch("- x y KNOWS; + x z PAID", "+c #2", "+e exists", "+l x y", "+l ! truncated")
	w.batch("+ z x KNOWS", "-c #1", "-l x z")
	w.batch("+ x y KNOWS", "-c #1", "-e exists", "-l x y")
	w.batch("- z x KNOWS", "+c #1", "+e exists", "+l x z")
	w.register(w.query("c2", text, counts, backfill), "+c2 snapshot #1")
	w.register(w.query("e2", text, exists, backfill), "+e2 snapshot exists")
	w.register(w.query("d2", text, backfill, capped(1)), "+d2 snapshot x z")
	w.batch("- x y KNOWS", "+c #1", "+c2 #1", "+d2 x y", "+l x y")
	w.register(w.query("d3", text, backfill, capped(1)), "+d3 snapshot x y", "+d3 snapshot ! truncated")
}

// TestS25Upsert: a removal retracts the matches that nothing blocks.
func TestS25Upsert(t *testing.T) {
	w := newWorld(t, true)
	w.cpu, w.other = upsertWorld(t, newCPU(t, 2, false)), upsertWorld(t, reference.New())
	w.batch("+ x y PAID; + x z PAID; + x z KNOWS")
	w.register(w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)", backfill), "+q snapshot x y")
	w.batch("- x z KNOWS; + x y KNOWS", "-q x y", "+q x z")
	w.remove("q", "-q snapshot x z")
}

// TestS25Refused: a backend that has no search for negations is never asked to.
func TestS25Refused(t *testing.T) {
	w := newWorld(t, true)
	q := w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)")
	d := matchertest.NewDriver(t, true, cpu.New(cpu.Options{}), plan.New())
	_, err := d.Engine.PrepareChange(&matcher.QueryChange{Add: q})
	require.ErrorIs(t, err, matcher.ErrQuery)
	require.ErrorContains(t, err, "backend cpu does not search")
}

// TestS25Definition: a query with another negation is another version.
func TestS25Definition(t *testing.T) {
	w := newWorldOf(t, true, negationSchema())
	of := func(text string) *matcher.Query { return w.query("q", "MATCH (a)-[t:PAID]->(b) WHERE "+text) }
	base := of("NOT EXISTS { (a)-[k:KNOWS]->(x) WHERE k.n > 1 AND t.n > 2 }")
	require.True(t, matcher.SameDefinition(base, of("NOT EXISTS { (a)-[l:KNOWS]->(y) WHERE t.n > 2 AND l.n > 1 }")))
	for _, text := range []string{"NOT EXISTS { (a)-[k:KNOWS]->(x) WHERE k.n > 1 }", "t.n > 2",
		"NOT EXISTS { (a)-[k:KNOWS]-(x) WHERE k.n > 1 AND t.n > 2 }",
		"NOT EXISTS { (b)-[k:KNOWS]->(x) WHERE k.n > 1 AND t.n > 2 }",
		"NOT EXISTS { (a)-[k:OTHER]->(x) WHERE k.n > 1 AND t.n > 2 }",
		"NOT EXISTS { (a)-[k:KNOWS]->(x:X) WHERE k.n > 1 AND t.n > 2 }",
		"NOT EXISTS { (a)-[k:KNOWS]->(x) WHERE k.n > 1 AND t.n > 2 } AND NOT (b)-->(a)"} {
		require.False(t, matcher.SameDefinition(base, of(text)), text)
	}
}

// TestS25Subgraphs: an automorphism of the core that does not carry the negations onto themselves is none.
func TestS25Subgraphs(t *testing.T) {
	w := newWorld(t, true)
	for text, want := range map[string]string{
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)--(b)":                                        "2",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)-->(b)":                                       "1",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)-->(b) AND NOT (b)-->(a)":                     "2",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)-->(:X)":                                      "1",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (m)-->(:X)":                                      "2",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT EXISTS { (a)-->(x)-->(y), (b)-->(z)-->(y) }":     "2",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT EXISTS { (a)-->(x)-->(y), (b)-->(z)<--(y) }":     "1",
		"MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT EXISTS { (a)-->(x:X)-->(y), (b)-->(z:Z)-->(y) }": "1",
	} {
		p, err := plan.New().Plan(w.query("q", text, subgraphs), w.cpu.Engine.Graph())
		require.NoError(t, err)
		require.Equal(t, want, p.Automorphisms.String(), text)
	}
	w.register(w.query("q", "MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)-[:K]->(b)", subgraphs))
	w.register(w.query("s", "MATCH (a)<-[:P]-(m)-[:P]->(b) WHERE NOT (a)-[:K]-(b)", subgraphs))
	w.batch("+ m x P; + m y P", "+q x m y", "+q y m x", "+s x m y")
	w.batch("+ x y K", "-q x m y", "-s x m y")
}

// TestS25Complement is the twin of LANGUAGE.md: in every graph the matches of the core are those with a blocker, each
// counted once, and those without. With EXISTS in place of NOT EXISTS it is the core joined with the negation's
// pattern, projected.
func TestS25Complement(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS25RandomBatches has the same goroutines")
	both := 0
	enough := func() bool { return both > 50 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 1)
		core := c.Queries[0]
		denied := c.With(func(q *matcher.Query) { c.DenyRandomly(rng, q) }).Queries[0]
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: newCPU(t, 1, false),
			Planner: plan.New()})
		core.Backfill, denied.Backfill = matcher.BackfillFull, matcher.BackfillFull
		for _, batch := range c.Batches[:len(c.Batches)/2] { // in the end the graph is empty
			d.Batch(batch)
		}
		snapshot := func(q *matcher.Query) (names []string) {
			for _, r := range d.Register(q).Records {
				names = append(names, r.Match.String())
			}
			d.Remove(q.Name)
			return names
		}
		all, free := snapshot(core), snapshot(denied)
		blocked := existing(t, d.Engine.Graph().View(dyngraph.New), denied)
		for _, m := range free {
			require.NotContains(t, blocked, m)
			require.Contains(t, all, m)
		}
		for m := range blocked {
			require.Contains(t, all, m)
		}
		require.Len(t, all, len(free)+len(blocked))
		if len(free) > 0 && len(blocked) > 0 {
			both++
		}
	})
}

// existing returns the matches of the core for which some negation has a row, by another way than the search for
// negations: the core and the negation are one pattern, whose own vertices may be core vertices that the negation does
// not name. EXISTS would be this.
func existing(t *testing.T, view dyngraph.View, q *matcher.Query) map[string]bool {
	t.Helper()
	core := *q
	core.Negations = nil
	found := map[string]bool{}
	for i := range q.Negations {
		n := &q.Negations[i]
		named := q.Named(n)
		alone := &matcher.Query{Name: q.Name}
		at := map[int]int{}
		whole := q.Subquery(n)
		for v := range whole.Vertices {
			if v >= len(q.Vertices) || slices.Contains(named, v) {
				at[v] = len(alone.Vertices)
				alone.Vertices = append(alone.Vertices, whole.Vertices[v])
			}
		}
		for _, e := range n.Edges {
			e.From, e.To = at[e.From], at[e.To]
			alone.Edges = append(alone.Edges, e)
		}
		conditions, err := q.ResolveNegation(view.Graph(), n)
		require.NoError(t, err)
		rows := reference.Matches(view, alone)
		values := make([]property.Value, 64)
		for _, m := range reference.Matches(view, &core) {
			for _, r := range rows {
				vertices := append(slices.Clone(m[:len(q.Vertices)]), make([]uint32, len(n.Vertices))...)
				same := true
				for v, k := range at {
					same = same && (v >= len(q.Vertices) || m[v] == r[k])
					vertices[v] = r[k]
				}
				edges := append(slices.Clone(m[len(q.Vertices):]), r[len(alone.Vertices):]...)
				for k := range conditions {
					same = same && conditions[k].Holds(view, vertices, edges, values)
				}
				if same {
					found[matchertest.MatchOf(view, matcher.Rows{Vertices: len(q.Vertices), Edges: len(q.Edges),
						Data: m}, 0).String()] = true
					break
				}
			}
		}
	}
	return found
}

// TestS25Limits: what searching for blockers costs counts against the budget of the query; what is left out is decided,
// logged and left out again in a replay on other backends, whatever the order of limits, caps and modes.
func TestS25Limits(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS25RandomBatches has the same goroutines")
	decided := map[matcher.Action]int{}
	enough := func() bool { return min(decided[matcher.Skip], decided[matcher.Suspend]) > 20 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 4)
		c = c.Denied(rng).With(func(q *matcher.Query) { limited(rng, q) })
		first := matchertest.Run(t, c, newCPU(t, 2, rng.IntN(2) == 0), plan.New())
		for _, b := range first.Log {
			for _, x := range b.Decisions {
				decided[x.Action]++
			}
		}
		for _, other := range []matcher.Backend{reference.New(), newCPU(t, 1+rng.IntN(4), rng.IntN(2) == 0)} {
			again := matchertest.Replay(t, first.Log,
				matcher.EngineOptions{Graph: c.Graph(), Backend: other, Planner: plan.New()})
			if diff := matchertest.Diff(first.Transcript(), again.Transcript()); diff != "" {
				t.Fatalf("first run against replay on %s: %s", other.Name(), diff)
			}
		}
	})
	t.Logf("%v", decided)
}

// TestS25Spill: a group of matches that one blocker ends is sorted on disk; beyond the limit of temporary files it is
// left out, and the batch goes on.
func TestS25Spill(t *testing.T) {
	for _, limit := range []int64{0, 1} {
		w := newWorld(t, true)
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: newCPU(t, 1, true), Planner: plan.New(),
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}), Limits: matcher.Limits{Spill: limit}})
		var text []string
		for i := range 3000 {
			text = append(text, fmt.Sprintf("+ hub v%d PAID", i))
		}
		d.Batch(w.messages(strings.Join(text, "; ")))
		d.Batch(w.messages("+ hub x CLOSED"))
		d.Register(w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:CLOSED]->()"))
		out := d.Batch(w.messages("- hub x CLOSED"))
		if limit == 0 {
			require.Len(t, out.Records, 3000)
			continue
		}
		require.Len(t, out.Records, 1)
		require.Equal(t, matcher.ReasonSkipped, out.Records[0].Notice.Reason)
		require.Equal(t, matcher.CauseSpill, out.Decided[0].Cause)
		out = d.Batch(w.messages("+ hub x CLOSED"))
		require.Equal(t, matcher.Suspend, out.Decided[0].Action, "no notice can name the matches that end")
	}
}

// TestS25Replay plays batch logs again on other backends, and the end of them after a restart in the middle.
func TestS25Replay(t *testing.T) {
	decisions := 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return decisions > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4)
		if rng.IntN(2) == 0 {
			c = matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)
		}
		decisions += playReplay(t, rng, c.Denied(rng).With(func(q *matcher.Query) { limited(rng, q) }))
	})
}

// TestS25Hub: blockers at a hub of many edges stop at the budget, in the middle of the search.
func TestS25Hub(t *testing.T) {
	w := newWorld(t, true)
	q := w.query("q", "MATCH (a)-[:PAID]->(b) WHERE NOT EXISTS { (a)-[:K]->(x)-[:K]->(b) }")
	q.WorkBudget = 2000
	d := w.cpu
	d.Register(q)
	var text []string
	for i := range 20000 {
		text = append(text, fmt.Sprintf("+ hub v%d K", i))
	}
	d.Batch(w.messages(strings.Join(text, "; ")))
	for i := range text {
		text[i] = fmt.Sprintf("+ v%d end K", i+20000)
	}
	d.Batch(w.messages(strings.Join(text, "; ")))
	out := d.Batch(w.messages("+ hub end PAID")) // no vertex is between them: all are tried
	s := out.Summary.Queries[0]
	require.EqualValues(t, 1, s.Skipped)
	require.Equal(t, matcher.CauseSteps, s.Cause)
	require.Less(t, s.Steps, uint64(4000))
	require.Equal(t, matcher.ReasonSkipped, out.Records[0].Notice.Reason)
}

// TestS25ExistsOfAVertexThatGoes: a match of one vertex that only denies something ends with its vertex.
func TestS25ExistsOfAVertexThatGoes(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (a:B) WHERE NOT (a)-[:X]->()", exists))
	w.batch("+ c:B d T", "+q exists")
	w.batch("-v c", "-q exists")
	w.batch("+ c:B d X")
	w.batch("- c d X", "+q exists")
}
