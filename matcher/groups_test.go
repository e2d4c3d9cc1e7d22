package matcher_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS24BackendsPutOutTheSame drives two engines, one on cpu and one on reference, through random batches with groups:
// conditions, parallel edges, replaced edges, revised vertices and edges that expire.
func TestS24BackendsPutOutTheSame(t *testing.T) {
	var seen struct {
		played
		begins, ends, changes, lists, stages, further int
	}
	all := func() bool {
		return min(seen.begins, seen.ends, seen.changes, seen.revised, seen.parallel) > 8 &&
			min(seen.lists, seen.expired, seen.stages, seen.further) > 0
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.begins > 0 }
	}
	matchertest.ForSeedsUntil(t, 12, all, func(t *testing.T, rng *rand.Rand) {
		c := groupCase(rng)
		several, further := map[string]bool{}, map[string]bool{}
		for _, q := range c.Queries {
			several[q.Name] = q.Groups != nil && len(q.Groups.Stages) > 1
			further[q.Name] = several[q.Name] && len(q.Vertices)+len(q.Edges) >
				len(q.Groups.Stages[0].Vertices)+len(q.Groups.Stages[0].Edges)
		}
		kept := matchertest.Retention(rng)
		for _, out := range playBackends(t, rng, c, kept) {
			seen.add(c, out)
			for i := range out.Records {
				if r := &out.Records[i]; r.Kind == matcher.EventMatches && r.Aggregates != nil && !r.Snapshot {
					seen.begins += count(r.Sign > 0)
					seen.ends += count(r.Sign < 0)
					seen.changes += count(r.Sign == dyngraph.Changed)
					seen.lists += count(slices.ContainsFunc(r.Aggregates, isList))
					seen.stages += count(several[r.Query])
					seen.further += count(further[r.Query])
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// TestS24ReplayPutsOutTheSame replays batch logs with groups, of which some exceed their budgets, on other backends and
// from the middle on, with a graph that was loaded and queries that were restored.
func TestS24ReplayPutsOutTheSame(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS24BackendsPutOutTheSame has the same goroutines")
	decisions := 0
	enough := func() bool { return decisions > 10 }
	matchertest.ForSeedsUntil(t, 25, enough, func(t *testing.T, rng *rand.Rand) {
		c := groupCase(rng).With(func(q *matcher.Query) {
			if rng.IntN(3) == 0 {
				q.WorkBudget, q.OverBudget = 1+rng.Uint64N(300), matcher.OverBudget(rng.IntN(2))
			}
		})
		decisions += playReplay(t, rng, c)
	})
}

// groupCase draws a case of which most queries have WITH.
func groupCase(rng *rand.Rand) *matchertest.Case {
	c := matchertest.RandomCaseWhere(rng, 5, rng.IntN(2) == 0)
	return c.With(func(q *matcher.Query) {
		randomModes(rng, q)
		if q.IsVertex() || len(q.Edges) > 4 || rng.IntN(5) == 0 {
			return
		}
		*q = *c.Group(rng, q)
	})
}

// TestS24ThresholdsAreStars holds thresholds against enumerated stars: n distinct senders are there where a star of n
// arms has a match, and not before.
func TestS24ThresholdsAreStars(t *testing.T) {
	crossed := 0
	matchertest.ForSeedsUntil(t, 12, func() bool { return crossed > 200 }, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: true, Vertices: 8, Edges: 20, Messages: 60, IDs: rng.IntN(2) == 0,
			Labels: matchertest.Labels{Vertex: []string{"", "A"}, Edge: []string{"T", "U"}}}
		w := &world{t: t, directed: true}
		g := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: shape.IDs})
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: g, Backend: newCPU(t, 1, false),
			Planner: plan.New()})
		stars := map[string]*matcher.Query{}
		for k := 2; k <= 4; k++ {
			name := fmt.Sprint("k", k)
			d.Register(w.query(name, fmt.Sprintf(
				"MATCH (s)-[t:T]->(m) WITH m, count(DISTINCT s) AS n, count(*) AS rows WHERE n >= %d", k)))
			arms := make([]string, k)
			for i := range arms {
				arms[i] = fmt.Sprintf("(s%d)-[:T]->(m)", i)
			}
			stars[name] = w.query(name, "MATCH "+strings.Join(arms, ", "))
		}
		for _, batch := range matchertest.Cut(rng, matchertest.RandomStream(rng, shape)) {
			for _, r := range d.Batch(batch).Records {
				crossed++
				if n := r.Aggregates[0]; n < r.Query[1:] { // of one digit: of the view that is shown
					t.Fatalf("%s with n = %s", r.Line(), n)
				}
			}
			want := map[string]int{}
			view := g.View(dyngraph.New)
			for name, star := range stars {
				for _, row := range reference.Matches(view, star) {
					hub := slices.IndexFunc(star.Vertices, func(v matcher.QueryVertex) bool { return v.Name == "m" })
					want[name+" "+view.Key(dyngraph.VertexID(row[hub]))] = 1
				}
			}
			got := d.Net(func(_ string, m matchertest.Match) string { return m.Vertices[0].Key })
			if !maps.Equal(got, want) {
				t.Fatalf("batch %d: %v, stars say %v", len(d.Batches), got, want)
			}
		}
	})
}

func paymentsWorld(t *testing.T) *world {
	return newWorldOf(t, true, &property.Schema{Edges: property.Declarations{"T": {
		"ts": {Kind: property.Timestamp}, "amount": {Kind: property.Decimal, Scale: 2}}},
		Vertices: property.Declarations{"*": {"limit": {Kind: property.Int64}}}})
}

// shows compares records, each with its aggregates.
func (w *world) shows(out *matchertest.Output, want ...string) {
	w.t.Helper()
	var got []string
	for _, r := range out.Records {
		got = append(got, fmt.Sprint(short(&r), " ", r.Aggregates))
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("batch %d:\n got %q\nwant %q", out.Number, got, want)
	}
}

// TestS24FanIn has each burst be reported by the payment that completed it.
func TestS24FanIn(t *testing.T) {
	w := paymentsWorld(t)
	w.register(w.query("q", "MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= 10 "+
		"WITH m, o, count(DISTINCT s) AS n, sum(t.amount) AS total WHERE n >= 3 AND total >= 10"))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		w.shows(w.cpu.Batch(msgs), want...)
		w.shows(w.other.Batch(msgs), want...)
	}
	step("+ a m T ts=1 amount=2.5; + b m T ts=2 amount=2.5")
	step("+ c m T ts=11 amount=4.99")                                  // 9.99
	step("+ c m T ts=11 amount=5", "+q m [3 10.00]")                   // corrected
	step("+ d m T ts=12 amount=1")                                     // 8.50
	step("+ e m T ts=12 amount=4", "+q m [4 12.50]", "+q m [4 12.50]") // d and e are both at the end of it
	step("- b m T; + f m T ts=30 amount=1", "-q m [3 10.00]")          // d and e have three senders still
}

// TestS24NothingCrosses has a group leave its threshold and come back within a batch: nothing.
func TestS24NothingCrosses(t *testing.T) {
	w := paymentsWorld(t)
	w.register(w.query("q", "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 3"))
	w.batch("+ a m T; + b m T; + c m T", "+q m")
	w.batch("- a m T; + d m T")
	w.batch("- d m T", "-q m")
	w.batch("+ d m T; - d m T")
}

// TestS24Modes has counts, transitions, backfills, caps and silent expiry.
func TestS24Modes(t *testing.T) {
	w := paymentsWorld(t)
	const cypher = "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 2"
	w.batch("+ a x T; + b x T")
	w.register(w.query("a", cypher, backfill), "+a snapshot x")
	w.register(w.query("c", cypher, counts, backfill), "+c snapshot #1")
	w.register(w.query("e", cypher, exists, backfill), "+e snapshot exists")
	w.register(w.query("p", cypher, capped(1)))
	w.batch("+ a y T; + b y T; + a z T; + b z T", "+c #2", "+a y", "+p y", "+a z", "+p ! truncated")
	w.batch("- a x T", "-c #1", "-a x", "-p x")
	w.batch("- a y T; - b z T", "-c #2", "-e exists", "-a y", "-p y", "-a z", "-p z")
	w.batch("+ b z T", "+c #1", "+e exists", "+a z", "+p z")
	// A deletion makes a match, too.
	w.register(w.query("few", "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n = 1"))
	w.batch("- b z T", "-c #1", "-e exists", "-a z", "-p z", "+few z")
}

// TestS24VerticesAreRevised has a condition behind WITH read a property of a key.
func TestS24VerticesAreRevised(t *testing.T) {
	w := paymentsWorld(t)
	w.register(w.query("q", "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n > m.limit"))
	w.batch("+ a m T; + b m T")
	w.batch("=v m limit=1", "+q m")
	w.batch("=v m limit=0")
	w.batch("=v m limit=2", "-q m")
	w.batch("+ c m T; =v m limit=1", "+q m")
}

// TestS24HubsPutOutTheSame plays the shapes of which state is kept of hubs (package groups): members of a hub, with a
// window behind a pivot or without. Times come in order or not, edges expire, are parallel and are replaced.
func TestS24HubsPutOutTheSame(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS24BackendsPutOutTheSame has the same goroutines")
	var seen struct {
		played
		begins, ends, changes int
	}
	all := func() bool {
		return min(seen.begins, seen.ends, seen.changes, seen.expired, seen.revised) > 300
	}
	matchertest.ForSeedsUntil(t, 30, all, func(t *testing.T, rng *rand.Rand) {
		w := paymentsWorld(t)
		c := hubCase(rng, w.schema)
		window := []string{"t.ts <= o.ts AND o.ts - t.ts <= %d", "t.ts < o.ts", "t.amount > 0",
			"o.ts - t.ts <= %d AND t.ts - o.ts <= 3",
			"t.ts <= o.ts AND o.ts - t.ts <= %d AND t.amount > 0.5", "o.ts <= t.ts AND o.amount <> 1",
			"t.ts <= o.ts AND o.ts - t.ts <= %d AND t.amount <> m.limit"}
		aggregates := []string{"count(*)", "count(DISTINCT s)", "count(DISTINCT t)", "sum(t.amount)",
			"sum(t.amount * s.limit)"}
		having := []string{"n >= 2", "n >= 3", "n > 1 AND k >= 2", "n = 2", "n <= 2", "n > k", "n >= o.amount"}
		for i := range 4 {
			n, k := aggregates[rng.IntN(5)], aggregates[rng.IntN(5)]
			where, with := having[rng.IntN(6)], "m, "
			cypher := "MATCH (s)-[t:T]->(m)"
			if rng.IntN(5) == 0 {
				cypher = "MATCH (s)<-[t:T]-(m) WHERE t.amount IS NOT NULL"
			}
			if i > 0 {
				text := window[rng.IntN(len(window))]
				if strings.Contains(text, "%d") {
					text = fmt.Sprintf(text, 1+rng.IntN(6))
				}
				cypher = "MATCH (p)-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE " + text
				with = []string{"m, o, ", "o, ", "o, m, p, "}[rng.IntN(3)]
				where = having[rng.IntN(7)]
			}
			list := []string{"", ", collect(t)[..2] AS l", ", collect(DISTINCT t)[..9] AS l",
				", collect(t.amount)[..3] AS l"}[rng.IntN(4)]
			cypher += fmt.Sprintf(" WITH %s%s AS n, %s AS k%s WHERE %s", with, n, k, list, where)
			returns := []string{"", " RETURN m", " RETURN n", " RETURN n - k AS z", " RETURN *"}[rng.IntN(5)]
			if !strings.Contains(with, "m") && strings.Contains(returns, "m") {
				returns = " RETURN o"
			}
			c.Queries = append(c.Queries, w.query(fmt.Sprint("q", i), cypher+returns, backfill, func(q *matcher.Query) {
				q.SilentChange = rng.IntN(3) == 0
			}))
		}
		for _, out := range playBackends(t, rng, c, []int64{0, 4 + rng.Int64N(20)}[rng.IntN(2)]) {
			seen.expired += out.Summary.Expired
			seen.revised += out.Summary.Revised
			for i := range out.Records {
				if r := &out.Records[i]; r.Kind == matcher.EventMatches && !r.Snapshot {
					seen.begins += count(r.Sign > 0)
					seen.ends += count(r.Sign < 0)
					seen.changes += count(r.Sign == dyngraph.Changed)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// isList reports whether an aggregate, as text, is a list that is not empty.
func isList(aggregate string) bool { return aggregate[0] == '[' && aggregate != "[]" }

// hubCase draws a stream around a few hubs.
func hubCase(rng *rand.Rand, schema *property.Schema) *matchertest.Case {
	shape := matchertest.Shape{Directed: true, Vertices: 9, Edges: 30, Messages: 120, Hubs: 1 + rng.IntN(2),
		IDs: rng.IntN(3) > 0, Renewals: rng.IntN(2) == 0, Labels: matchertest.Labels{Vertex: []string{""},
			Edge: []string{"T", "T", "U"}}}
	c := &matchertest.Case{Directed: true, EdgeIDs: shape.IDs, Labels: shape.Labels, Schema: schema,
		Messages: matchertest.RandomStream(rng, shape)}
	matchertest.SetValues(rng, c.Messages, schema.EdgeColumns())
	inOrder := rng.IntN(3) > 0
	for i := range c.Messages {
		for j := range c.Messages[i].Updates {
			if u := &c.Messages[i].Updates[j]; inOrder && u.Op == dyngraph.InsertEdge && u.Attr.HasTS {
				if u.Attr.TS = int64(i / 2); rng.IntN(8) == 0 {
					u.Attr.TS -= rng.Int64N(5)
				}
			}
		}
	}
	if rng.IntN(2) == 0 {
		c.Messages = matchertest.ReviseVertices(rng, c.Messages, schema.VertexColumns())
	}
	c.Batches = matchertest.Cut(rng, c.Messages)
	return c
}

// TestS24Stages has a second WITH: what goes on from a burst, and what is passed through.
func TestS24Stages(t *testing.T) {
	w := paymentsWorld(t)
	w.register(w.query("gather", "MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= 10 "+
		"WITH m, o, count(DISTINCT s) AS n WHERE n >= 2 "+
		"MATCH (m)-[u:T]->(d) WHERE o.ts <= u.ts AND u.ts - o.ts <= 20 "+
		"WITH m, o, n, count(DISTINCT d) AS k WHERE k >= 2 RETURN m, o, n, k"))
	w.register(w.query("pass", "MATCH ()-[i:T]->(m) WITH m, sum(i.amount) AS si WHERE si >= 10 "+
		"MATCH (m)-[o:T]->() WITH m, si, sum(o.amount) AS so WHERE 10 * so >= 9 * si"))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		w.shows(w.cpu.Batch(msgs), want...)
		w.shows(w.other.Batch(msgs), want...)
	}
	step("+ a m T ts=1 amount=5; + b m T ts=2 amount=5")
	step("+ m x T ts=5 amount=4")
	step("+ m y T ts=9 amount=5", "+gather m [2 2]", "+pass m [10.00 9.00]")
	step("+ c m T ts=3 amount=1", "-pass m [10.00 9.00]", "+gather m [3 2]")
	step("- a m T", "-gather m [2 2]") // c has two senders before it still
}

// TestS24FurtherKeys has a second WITH add a key: one match for each account that a busy one pays.
func TestS24FurtherKeys(t *testing.T) {
	w := paymentsWorld(t)
	const cypher = "MATCH ()-[i:T]->(m) WITH m, count(*) AS n WHERE n >= 2 " +
		"MATCH (m)-[o:T]->(d) WITH d, m, n, sum(o.amount) AS total WHERE total >= n"
	w.register(w.query("each", cypher))
	w.register(w.query("tell", cypher+" RETURN n, total", changing))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		w.shows(w.cpu.Batch(msgs), want...)
		w.shows(w.other.Batch(msgs), want...)
	}
	step("+ a m T; + m x T amount=3; + m y T amount=1")
	step("+ b m T", "+each m x [2 3.00]", "+tell m x [2 3.00]")
	step("+ m y T amount=4", "+each m y [2 4.00]", "+tell m y [2 4.00]")
	step("+ c m T", "~tell m x [3 3.00]", "~tell m y [3 4.00]")
	step("+ d m T", "-each m x [3 3.00]", "-tell m x [3 3.00]", "~tell m y [4 4.00]")
	step("- m y T; + m z T amount=9", "-each m y [4 4.00]", "-tell m y [4 4.00]", "+each m z [4 9.00]",
		"+tell m z [4 9.00]")
	step("- a m T; - b m T; - c m T", "-each m z [4 9.00]", "-tell m z [4 9.00]")
}
