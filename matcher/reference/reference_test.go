package reference_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/reference"
)

// TestS5DeltasEqualRecomputation holds the reference against an oracle that has no code in common with it nor with
// package dyngraph: the matches of each batch, and their anchors.
func TestS5DeltasEqualRecomputation(t *testing.T) {
	matchertest.ForSeeds(t, 60, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		ref := reference.New()
		bench := matchertest.NewBench(t, c.Directed, matchertest.BarePlanner{}, c.Queries, ref)
		oracle := matchertest.NewOracle(c.Directed, c.Queries)
		for n, batch := range c.Batches {
			found, err := oracle.Step(batch)
			if err != nil {
				t.Fatal(err)
			}
			delta := bench.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				answer := bench.Search(ref, sign, bench.Requests(nil))
				checkOrder(t, answer)
				for i := range c.Queries {
					want, mark := found[i].Positive, "+"
					if sign == dyngraph.Deleted {
						want, mark = found[i].Negative, "-"
					}
					var got []string
					for _, r := range answer.Rows {
						if r.Request != i {
							continue
						}
						name := oracle.Name(i, r.Match)
						got = append(got, name)
						if place := int(delta.Net[r.Order].UpdateIndex); place != found[i].Anchor[mark+name] {
							t.Fatalf("batch %d, query %d: %s%s is anchored at update %d, the oracle says %d", n, i,
								mark, name,
								place, found[i].Anchor[mark+name])
						}
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Fatalf("batch %d, query %d, sign %d:\n got %q\nwant %q", n, i, sign, got, want)
					}
					if answer.Results[i].Count != matcher.CountOf(uint64(len(want))) {
						t.Fatalf("batch %d, query %d: counted %v of %d", n, i, answer.Results[i].Count, len(want))
					}
				}
			}
			bench.Commit()
			for i, q := range c.Queries {
				if got := len(reference.Matches(bench.Graph.View(dyngraph.New), q)); got != len(found[i].After) {
					t.Fatalf("batch %d, query %d: Matches finds %d, the oracle %d", n, i, got, len(found[i].After))
				}
			}
		}
	})
}

// checkOrder checks that groups ascend by (anchor, request).
func checkOrder(t *testing.T, a *matchertest.Answer) {
	t.Helper()
	if !slices.IsSortedFunc(a.Rows, func(x, y matchertest.Row) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.Request, y.Request))
	}) {
		t.Fatalf("groups are out of order: %q", a.Lines())
	}
}

// ring is a directed cycle of three over unlabelled vertices.
func ring(unit matcher.Unit) *matcher.Query {
	q := &matcher.Query{Name: "ring", Version: 1, Unit: unit}
	for i := range 3 {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i)})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % 3})
	}
	return q
}

// rings stages n disjoint triangles in one batch, the i-th being closed by update 3i+2.
func rings(t *testing.T, q *matcher.Query, n int) (*matchertest.Bench, *reference.Backend) {
	ref := reference.New()
	bench := matchertest.NewBench(t, true, matchertest.BarePlanner{}, []*matcher.Query{q}, ref)
	var m dyngraph.Message
	for i := range n {
		for j := range 3 {
			m.Updates = append(m.Updates, dyngraph.Update{Op: dyngraph.InsertEdge,
				From: fmt.Sprint(i, "/", j), To: fmt.Sprint(i, "/", (j+1)%3)})
		}
	}
	bench.Stage([]dyngraph.Message{m})
	return bench, ref
}

func TestS11LimitIsAPrefix(t *testing.T) {
	bench, ref := rings(t, ring(matcher.Embeddings), 3)
	all := bench.Search(ref, dyngraph.Inserted, bench.Requests(nil)).Lines()
	if len(all) != 9 {
		t.Fatalf("%d rows of 9: %q", len(all), all)
	}
	for limit := uint64(1); limit <= 10; limit++ {
		a := bench.Search(ref, dyngraph.Inserted, bench.Requests(func(_ int, r *matcher.Request) { r.Limit = limit }))
		want := all[:min(9, limit)]
		if !slices.Equal(a.Lines(), want) {
			t.Fatalf("limit %d: %q", limit, a.Lines())
		}
		if r := a.Results[0]; r.Count != matcher.CountOf(uint64(len(want))) || r.Truncated != (limit <= 9) {
			t.Fatalf("limit %d: %+v", limit, r)
		}
	}
}

func TestS11BudgetStopsAtAGroup(t *testing.T) {
	bench, ref := rings(t, ring(matcher.Subgraphs), 3)
	full := bench.Search(ref, dyngraph.Inserted, bench.Requests(nil))
	steps := full.Results[0].Steps
	for budget := steps - 4; budget <= steps; budget++ {
		a := bench.Search(ref, dyngraph.Inserted, bench.Requests(func(_ int, r *matcher.Request) {
			r.Budget = matcher.NewBudget(matcher.Limits{}, budget, nil)
		}))
		emitted := 3 - int(min(3, steps-budget))
		if !slices.Equal(a.Lines(), full.Lines()[:emitted]) {
			t.Fatalf("budget %d of %d: %q", budget, steps, a.Lines())
		}
		r := a.Results[0]
		if (len(a.Over) > 0) != (budget < steps) || r.Count != matcher.CountOf(uint64(emitted)) {
			t.Fatalf("budget %d of %d: %+v", budget, steps, r)
		}
		if len(a.Over) == 0 {
			continue
		}
		at := uint32(3*emitted + 2)
		if steps-budget > 3 {
			at = 0 // while enumerating
		}
		if len(a.Over) != 1 || a.Over[0].Order != at {
			t.Fatalf("budget %d of %d: %+v %+v", budget, steps, r, a.Over)
		}
		obeyed := bench.Search(ref, dyngraph.Inserted,
			bench.Requests(func(_ int, r *matcher.Request) { r.Before = at }))
		if !slices.Equal(obeyed.Lines(), a.Lines()) {
			t.Fatalf("budget %d of %d: %q, but obeyed: %q", budget, steps, a.Lines(), obeyed.Lines())
		}
	}
}

func TestS12CountAndAny(t *testing.T) {
	bench, ref := rings(t, ring(matcher.Embeddings), 2)
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		want := uint64(0)
		if sign == dyngraph.Inserted {
			want = 6
		}
		count := bench.Search(ref, sign, bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount }))
		if len(count.Rows) != 0 || count.Results[0].Count != matcher.CountOf(want) {
			t.Fatalf("sign %d: %+v", sign, count)
		}
		anyOne := bench.Search(ref, sign, bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantAny }))
		if len(anyOne.Rows) != 0 || anyOne.Results[0].Count != matcher.CountOf(min(1, want)) ||
			len(anyOne.Results[0].Witness) != 6*int(min(1, want)) {
			t.Fatalf("sign %d: %+v", sign, anyOne)
		}
	}
}

func TestEnumerate(t *testing.T) {
	bench, ref := rings(t, ring(matcher.Embeddings), 2)
	for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
		for limit := range uint64(7) {
			var rows int
			res, err := ref.Enumerate(t.Context(), which, bench.Plans()[0], matcher.WantRows, limit, nil,
				func(r matcher.Rows) error { rows += r.Len(); return nil })
			if err != nil {
				t.Fatal(err)
			}
			want := 6 * int(which)
			if limit > 0 {
				want = min(want, int(limit))
			}
			if rows != want || res.Count != matcher.CountOf(uint64(want)) || res.Truncated != (want > 0 && want < 6) {
				t.Fatalf("view %d, limit %d: %d rows, %+v", which, limit, rows, res)
			}
		}
	}
}
