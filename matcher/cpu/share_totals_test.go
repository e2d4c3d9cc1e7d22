package cpu

import (
	"fmt"
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

// drawHubs draws a graph in which some vertices have most others for neighbours, and a batch after it: one edge between two hubs, and perhaps other
// updates. The batch after that takes much of it away.
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
	q := &matcher.Query{Name: name, Version: 1, Emit: []matcher.Emit{matcher.EmitCounts, matcher.EmitExists}[rng.IntN(2)], Unit: matcher.Unit(rng.IntN(2))}
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
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: v, To: w, Label: label, Either: !directed || wild && rng.IntN(3) == 0})
		}
	}
	return q
}

// TestS7SharedTotalsAreThoseOfTheReference: counts, with and without a budget, existence, and all of a graph, by 1 to 8 workers that give away what they can of
// single searches, are what the reference finds; and all these searches are shared.
func TestS7SharedTotalsAreThoseOfTheReference(t *testing.T) {
	labels := matchertest.Labels{Vertex: []string{"A", "A", "B"}, Edge: []string{"E", "E", "E", "F"}}
	kinds := []string{"sums", "one by one", "existence", "suspended or exact", "sums of a graph", "rows of a graph", "existence in a graph"}
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
		for threads := 1; threads <= 8; threads++ {
			b := eager(t, threads, 1<<20)
			b.hold = untilSo
			backends = append(backends, b)
		}
		x := matchertest.NewBench(t, directed, plan.New(), queries, append(backends, ref)...)
		for _, batch := range drawHubs(rng, directed, labels) {
			x.Stage(batch)
			for i := range x.Plans() {
				for _, be := range backends {
					b := be.(*Backend)
					note := func(kind string, search func()) {
						before := b.shared.Load()
						search()
						if n := b.shared.Load() - before; n > 0 {
							shared[kind] += n
						}
					}
					for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
						ask := func(be matcher.Backend, want matcher.Want, budget uint64) matcher.Result {
							return x.Search(be, sign, x.Requests(func(k int, r *matcher.Request) {
								if r.Want, r.Budget = want, budget; k != i {
									r.Before = 0
								}
							})).Results[i]
						}
						kind := "sums"
						if b.plans[x.Plans()[i]].shape == nil {
							kind = "one by one"
						}
						want := ask(ref, matcher.WantCount, 0)
						note(kind, func() {
							require.Equal(t, want.Count.String(), ask(b, matcher.WantCount, 0).Count.String(), "%s of %+v by %d", kind, x.Plans()[i].Query, b.opt.Threads)
						})
						note("suspended or exact", func() {
							got := ask(b, matcher.WantCount, 1+rng.Uint64N(400))
							if got.Suspended {
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
						for k, kind := range map[matcher.Want]string{matcher.WantRows: "rows of a graph", matcher.WantCount: "sums of a graph", matcher.WantAny: "existence in a graph"} {
							want := enumerated(t, ref, which, x.Plans()[i], k, 0)
							note(kind, func() {
								require.Equal(t, want, enumerated(t, b, which, x.Plans()[i], k, 0), "%s by %d", kind, b.opt.Threads)
							})
						}
						limit := 1 + rng.Uint64N(9)
						require.Equal(t, enumerated(t, ref, which, x.Plans()[i], matcher.WantRows, limit), enumerated(t, b, which, x.Plans()[i], matcher.WantRows, limit))
					}
				}
			}
			x.Commit()
		}
		require.Zero(t, backends[0].(*Backend).shared.Load(), "one worker has nobody to share with")
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
	require.True(t, slices.ContainsFunc(reference.Matches(x.Graph.View(which), &all), func(row []uint32) bool { return slices.Equal(row, witness) }))
}

// enumerated returns what a backend finds in a view, as text.
func enumerated(t *testing.T, be matcher.Backend, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64) string {
	t.Helper()
	var rows []uint32
	res, err := be.Enumerate(t.Context(), which, p, want, limit, func(r matcher.Rows) error {
		rows = append(rows, r.Data...)
		return nil
	})
	require.NoError(t, err)
	return fmt.Sprint(res.Count, res.Truncated, rows)
}
