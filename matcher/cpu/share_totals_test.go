package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// drawHubs draws a graph in which some vertices have most others for neighbours, and a batch after it: one edge between
// two hubs, and perhaps other updates. The batch after that takes much of it away.
func drawHubs(rng *rand.Rand, directed bool, labels matchertest.Labels) [][]dyngraph.Message {
	g := matchertest.NewGraph(directed)
	var batches [3][]dyngraph.Message
	n, hubs := 8+rng.IntN(7), 2+rng.IntN(2)
	key := func(v int) string { return fmt.Sprint("k", v) }
	at := func(from []string) string { return from[rng.IntN(len(from))] }
	do := func(batch int, u dyngraph.Update) {
		m := dyngraph.Message{Updates: []dyngraph.Update{u}}
		if g.Accept(m) {
			batches[batch] = append(batches[batch], m)
		}
	}
	edge := func(batch int, op dyngraph.Op, v, w int) {
		if rng.IntN(2) == 0 {
			v, w = w, v
		}
		do(batch, dyngraph.Update{Op: op, From: key(v), To: key(w), Label: at(labels.Edge)})
	}
	for v := range n {
		do(0, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key(v), Label: at(labels.Vertex)})
	}
	for v := range n {
		for w := range v {
			hub := min(v, w) < hubs
			if hub && max(v, w) >= hubs && rng.IntN(8) > 0 || !hub && rng.IntN(3) == 0 {
				edge(0, dyngraph.InsertEdge, v, w)
			}
		}
	}
	do(1, dyngraph.Update{Op: dyngraph.InsertEdge, From: key(0), To: key(1), Label: labels.Edge[0]})
	for range rng.IntN(2) * rng.IntN(12) {
		edge(1, []dyngraph.Op{dyngraph.InsertEdge, dyngraph.DeleteEdge}[rng.IntN(2)], rng.IntN(n), rng.IntN(n))
	}
	do(2, dyngraph.Update{Op: dyngraph.DeleteEdge, From: key(0), To: key(1), Label: labels.Edge[0]})
	for range rng.IntN(2) * rng.IntN(12) {
		edge(2, dyngraph.DeleteEdge, rng.IntN(n), rng.IntN(n))
	}
	return batches[:]
}

// drawDense draws a connected pattern with cycles.
func drawDense(rng *rand.Rand, name string, directed bool, labels matchertest.Labels) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1,
		Emit: []matcher.Emit{matcher.EmitCounts, matcher.EmitExists}[rng.IntN(2)], Unit: matcher.Unit(rng.IntN(2))}
	wild, one := rng.IntN(3) == 0, rng.IntN(2) == 0 // edges of any label; vertices of one label
	for v := range 3 + rng.IntN(3) {
		label := labels.Vertex[0]
		if !one {
			label = append(labels.Vertex, "")[rng.IntN(len(labels.Vertex)+1)]
		}
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v), Label: label})
		tree := -1
		if v > 0 {
			tree = rng.IntN(v)
		}
		for w := range v {
			if w != tree && rng.IntN(2) == 0 {
				continue
			}
			label := labels.Edge[0]
			if wild && rng.IntN(2) == 0 {
				label = ""
			}
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: v, To: w,
				Label: label, Either: !directed || wild && rng.IntN(3) == 0})
		}
	}
	return q
}

// TestS7SharedTotalsAreThoseOfTheReference: counts, with and without a budget, existence, and all of a graph, by 1 to 8
// workers that give away what they can of single searches, are what the reference finds; and all these searches are
// shared.
func TestS7SharedTotalsAreThoseOfTheReference(t *testing.T) {
	labels := matchertest.Labels{Vertex: []string{"A", "A", "B"}, Edge: []string{"E", "E", "E", "F"}}
	kinds := []string{"sums", "one by one", "existence", "suspended or exact", "sums of a graph", "rows of a graph",
		"existence in a graph"}
	shared, suspended, exact := map[string]int64{}, 0, 0
	seen := func() bool {
		return len(shared) == len(kinds) && suspended > 0 && exact > 0
	}
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(3) == 0
		var queries []*matcher.Query
		for i := range 4 {
			queries = append(queries, drawDense(rng, fmt.Sprint("q", i), directed, labels))
		}
		ref, backends := reference.New(), []matcher.Backend{}
		oneByOne := rng.IntN(2) == 0
		step := 2
		if matchertest.UnderRace {
			step = 3
		}
		for threads := 1; threads <= 8; threads += step {
			b := eager(t, threads, 1<<20)
			b.work.Hold = untilSo
			b.oneByOnes = oneByOne
			backends = append(backends, b)
		}
		x := matchertest.NewBench(t, directed, plan.New(), queries, append(backends, ref)...)
		for _, batch := range drawHubs(rng, directed, labels) {
			x.Stage(batch)
			for i := range x.Plans() {
				for _, be := range backends {
					b := be.(*Backend)
					note := func(kind string, search func()) {
						before := b.work.Shared.Load()
						search()
						if n := b.work.Shared.Load() - before; n > 0 {
							shared[kind] += n
						}
					}
					for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
						ask := func(be matcher.Backend, want matcher.Want, budget uint64) matcher.Result {
							return x.Search(be, sign, x.Requests(func(k int, r *matcher.Request) {
								if r.Want, r.Budget = want, stepsOf(budget); k != i {
									r.Before = 0
								}
							})).Results[i]
						}
						kind := "sums"
						if b.plans[x.Plans()[i]].countPlan == nil {
							kind = "one by one"
						}
						want := ask(ref, matcher.WantCount, 0)
						note(kind, func() {
							require.Equal(t, want.Count.String(), ask(b, matcher.WantCount, 0).Count.String(),
								"%s of %+v by %d", kind, x.Plans()[i].Query, b.opt.Threads)
						})
						note("suspended or exact", func() {
							got := ask(b, matcher.WantCount, 1+rng.Uint64N(400))
							if got.Over != matcher.NoCause {
								suspended++
								return
							}
							require.Equal(t, want.Count.String(), got.Count.String(), "a budget was kept")
							exact++
						})
						if x.Plans()[i].Query.Emit == matcher.EmitCounts {
							continue // existence is not asked of it
						}
						note("existence", func() {
							got := ask(b, matcher.WantAny, 0)
							require.Equal(t, min(1, want.Count.Cmp(matcher.Count{})), got.Count.Cmp(matcher.Count{}))
							isMatch(t, x, sign, x.Plans()[i].Query, got.Witness)
						})
					}
					for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
						for k, kind := range map[matcher.Want]string{matcher.WantRows: "rows of a graph",
							matcher.WantCount: "sums of a graph", matcher.WantAny: "existence in a graph"} {
							want := enumerated(t, ref, which, x.Plans()[i], k, 0)
							note(kind, func() {
								require.Equal(t, want, enumerated(t, b, which, x.Plans()[i], k, 0), "%s by %d", kind,
									b.opt.Threads)
							})
						}
						limit := 1 + rng.Uint64N(9)
						require.Equal(t, enumerated(t, ref, which, x.Plans()[i], matcher.WantRows, limit),
							enumerated(t, b, which, x.Plans()[i], matcher.WantRows, limit))
					}
				}
			}
			x.Commit()
		}
		require.Zero(t, backends[0].(*Backend).work.Shared.Load(), "one worker has nobody to share with")
	})
}

// isMatch checks a witness.
func isMatch(t *testing.T, x *matchertest.Bench, sign dyngraph.Sign, q *matcher.Query, witness []uint32) {
	t.Helper()
	if witness == nil {
		return
	}
	which := dyngraph.New
	if sign == dyngraph.Deleted {
		which = dyngraph.Old
	}
	all := *q
	all.Unit = matcher.Embeddings
	require.True(t, slices.ContainsFunc(reference.Matches(x.Graph.View(which), &all),
		func(row []uint32) bool { return slices.Equal(row, witness) }))
}

// enumerated returns what a backend finds in a view, as text.
func enumerated(t *testing.T, be matcher.Backend, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	limit uint64) string {
	t.Helper()
	var rows []uint32
	res, err := be.Enumerate(t.Context(), which, p, want, limit, nil, func(r matcher.Rows) error {
		rows = append(rows, r.Data...)
		return nil
	})
	require.NoError(t, err)
	return fmt.Sprint(res.Count, res.Truncated, rows)
}

// hubClique is a graph of two hubs whose neighbours are joined at random, and the edge between them; and the clique of
// some vertices. With edges of any label a clique is counted match by match.
func hubClique(vertices, neighbours int, label string) (graph, insert []dyngraph.Update, q *matcher.Query) {
	rng := rand.New(rand.NewPCG(1, 0))
	vertex := func(key string) {
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: "A"})
	}
	edge := func(v, w string) dyngraph.Update {
		return dyngraph.Update{Op: dyngraph.InsertEdge, From: v, To: w, Label: "E"}
	}
	vertex("x")
	vertex("y")
	for v := range neighbours {
		key := fmt.Sprint(v)
		vertex(key)
		graph = append(graph, edge("x", key), edge("y", key))
		for w := range v {
			if rng.IntN(2) == 0 {
				graph = append(graph, edge(key, fmt.Sprint(w)))
			}
		}
	}
	q = &matcher.Query{Name: "clique", Version: 1, Emit: matcher.EmitCounts}
	for v := range vertices {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v), Label: "A"})
		for w := range v {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: w, To: v,
				Label: label, Either: true})
		}
	}
	return graph, []dyngraph.Update{edge("x", "y")}, q
}

// stepsOf is a budget of so many steps; 0 is none.
func stepsOf(n uint64) *matcher.Budget {
	if n == 0 {
		return nil
	}
	return matcher.NewBudget(matcher.Limits{}, n, nil)
}

// total searches the staged batch for a total.
func (x *bench) total(want matcher.Want, budget uint64) matcher.Result {
	x.tb.Helper()
	res, err := x.b.Search(x.tb.Context(), dyngraph.Inserted,
		[]matcher.Request{{Plan: x.plan, Want: want, Before: matcher.AllOrders, Budget: stepsOf(budget)}}, nil,
		func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
	if err != nil {
		x.tb.Fatal(err)
	}
	return res[0]
}

// TestExistenceEndsAtTheFirstMatch: where there are very many matches, one is found in hardly any steps, whatever it
// takes to count them.
func TestExistenceEndsAtTheFirstMatch(t *testing.T) {
	graph, insert, q := hubClique(5, 40, "")
	x := newBench(t, graph, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	defer x.stage(insert)()
	counted, found := x.total(matcher.WantCount, 0), x.total(matcher.WantAny, 0)
	require.Equal(t, matcher.CountOf(1), found.Count)
	require.Positive(t, counted.Count.Cmp(matcher.CountOf(10_000)))
	require.Greater(t, counted.Steps, uint64(10_000))
	require.Less(t, found.Steps, uint64(1000))
}

// TestS11BudgetEndsACountWithinAnAnchor: what exceeds its budget ends at the next look at it, however long the count
// from one anchor is, one by one or by sums, with one worker or several.
func TestS11BudgetEndsACountWithinAnAnchor(t *testing.T) {
	matchertest.NotUnderRace(t, "it counts for half a minute; TestS7OneHubEdgeIsShared has workers that share a count")
	for _, label := range []string{"E", ""} {
		for _, threads := range []int{1, 4} {
			graph, insert, q := hubClique(6, 60, label)
			x := newBench(t, graph, q, Options{Threads: threads, TempFiles: tempfile.In(t.TempDir())})
			done := x.stage(insert)
			all, some := x.total(matcher.WantCount, 0), x.total(matcher.WantCount, 1)
			require.Greater(t, all.Steps, uint64(20*work.PollEvery))
			require.Equal(t, matcher.CauseSteps, some.Over)
			require.Less(t, some.Steps, uint64(2*threads*work.PollEvery))
			done()
		}
	}
}
