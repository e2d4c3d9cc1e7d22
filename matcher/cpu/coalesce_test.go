package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// TestS7CoalescedSearchPutsOutTheSame: anchors that are searched together put out what each puts out by itself, or
// what the reference does: with caps, totals and obeyed suspensions, by several threads that share work at every
// opportunity, whatever goes to disk. With a budget it is that up to the group where the budget ended, and existence
// is the same.
func TestS7CoalescedSearchPutsOutTheSame(t *testing.T) {
	var images, members, rows int
	var alike, different, revised bool // images of the same conditions between elements, of others, and on vertices
	seen := func() bool {
		return images > 0 && members > 0 && rows > 0 && alike && different && revised
	}
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 6).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(8) / 7) })
		alone, all := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}),
			eager(t, 1+rng.IntN(3), 64<<rng.IntN(12))
		alone.apart = true
		var each matcher.Backend = alone
		if rng.IntN(4) == 0 {
			each = reference.New()
		}
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, each, all)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			for _, p := range x.Plans() {
				for i := range p.Classes {
					members += len(p.Classes[i].Members) - 1
					images += len(p.Classes[i].Members[0].Images)
				}
				for _, o := range all.plans[p].rows {
					if o != nil && len(o.Variants) > 0 {
						different = different || len(o.Variants) > 1
						alike = alike || len(o.Variants[0].Forms) > 1
					}
					if o != nil && len(o.Forms) > 1 && o.Revising != nil {
						revised = revised || len(delta.Revised) > 0
					}
				}
			}
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				want := x.Search(each, sign, requests)
				rows += len(want.Rows)
				sameAnswer(t, want, x.Search(all, sign, requests))
				sameUpTo(t, want, x.Search(all, sign, withBudget(requests, 1+rng.Uint64N(5000))))
			}
			requests = x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantAny })
			sameAnswer(t, x.Search(each, dyngraph.Inserted, requests), x.Search(all, dyngraph.Inserted, requests))
			x.Commit()
		}
	})
}

func withBudget(requests []matcher.Request, budget uint64) []matcher.Request {
	requests = slices.Clone(requests)
	for i := range requests {
		requests[i].Limit, requests[i].Budget = 0, matcher.NewBudget(matcher.Limits{}, budget, nil)
	}
	return requests
}

// sameUpTo compares an answer with budgets, but without caps, with one without budgets: each request has the rows of
// the anchors before that of its suspension. Of a request that is capped without them, they are compared as far as
// the cap goes.
func sameUpTo(t *testing.T, want, got *matchertest.Answer) {
	t.Helper()
	for i := range want.Results {
		at := matcher.AllOrders
		for _, g := range got.Over {
			if g.Request == i {
				at = g.Order
			}
		}
		lines := func(a *matchertest.Answer) (all []string) {
			for _, r := range a.Rows {
				if r.Request == i && r.Order < at {
					all = append(all, r.Line)
				}
			}
			return all
		}
		w, g := lines(want), lines(got)
		if want.Results[i].Truncated {
			g = g[:min(len(g), len(w))]
			w = w[:len(g)]
		}
		require.Equal(t, w, g, "request %d, %+v", i, got.Results[i])
	}
}

// TestA6FiltersAreTestedAfterPermuting inserts v0v2 into the triangle v0:B, v1:B, v2:A with v3:C on v1, and looks for
// the triangle u0:B, u1:B, u2:A with u3:C on u0. The edges u0u2 and u1u2 are searched together as those of the
// triangle; the update maps to u1u2 alone, as only v1 has a neighbour C.
func TestA6FiltersAreTestedAfterPermuting(t *testing.T) {
	q := &matcher.Query{Name: "q", Version: 1}
	for i, l := range []string{"B", "B", "A", "C"} {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: l})
	}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 3}} {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("u", e[0], "u", e[1]), From: e[0], To: e[1],
			Either: true})
	}
	b := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, b)
	var ms []dyngraph.Message
	labels := []string{"B", "B", "A", "C"}
	edge := func(i, k int) dyngraph.Message {
		return dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint("v", i),
			FromLabel: labels[i],
			To:        fmt.Sprint("v", k), ToLabel: labels[k]}}}
	}
	for _, e := range [][2]int{{0, 1}, {1, 2}, {1, 3}} {
		ms = append(ms, edge(e[0], e[1]))
	}
	x.Stage(ms)
	x.Commit()
	x.Stage([]dyngraph.Message{edge(0, 2)})
	classes := 0
	for _, c := range x.Plans()[0].Classes {
		if len(c.Members) == 2 && q.Edges[c.Members[0].Order.Edge].To == 2 {
			require.Equal(t, 3, c.Shared)
			classes++
		}
	}
	require.Equal(t, 2, classes) // the update's source is the A, or the B
	got := x.Search(b, dyngraph.Inserted, x.Requests(nil))
	require.Len(t, got.Rows, 1)
	require.Contains(t, got.Rows[0].Line, " 1 0 2 3 |") // the ids of v1, v0, v2, v3
}

// ways are patterns for BenchmarkCoalesced: shapes without labels, that automorphisms of a part of them map to
// themselves.
var ways = []struct {
	name    string
	edges   [][2]int
	updates int
}{
	{"ring of 3", [][2]int{{0, 1}, {1, 2}, {2, 0}}, 2000},
	{"ring of 4", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 500},
	{"ring of 5", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 60},
	{"clique of 4 with a tail", [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}, {3, 4}}, 200},
	{"triangle with a tail", [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 3}}, 500},
	{"house", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}}, 100},
	{"ring of 4 and a triangle", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {4, 5}, {5, 3}}, 10},
	{"ring of 5 with a chord", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}}, 60},
	{"path of 5", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 10},
}

// BenchmarkCoalesced reports how much faster the rows of patterns come when anchors that are alike are searched
// together.
func BenchmarkCoalesced(b *testing.B) {
	for _, labels := range []int{1, 3} {
		p := newPowerLaw(1, 20_000, 100_000, labels, 2000)
		for _, w := range ways {
			q := &matcher.Query{Name: "q", Version: 1}
			for i, e := range w.edges {
				for len(q.Vertices) <= max(e[0], e[1]) {
					n := len(q.Vertices)
					v := matcher.QueryVertex{Name: fmt.Sprint("v", n), Label: "L0"}
					if labels > 1 && n == len(w.edges)-1 {
						v.Label = "L1"
					}
					q.Vertices = append(q.Vertices, v)
				}
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1],
					Either: true})
			}
			b.Run(fmt.Sprintf("%s, %d labels", w.name, labels), func(b *testing.B) {
				us := p.stream[:min(len(p.stream), w.updates*labels*labels)]
				var least [2]time.Duration
				var counts, members [2]uint64
				for b.Loop() {
					for i := range least {
						x := newBench(b, p.graph, q, Options{Threads: 1, TempFiles: tempfile.In(b.TempDir())})
						x.b.apart = i == 0
						x.prepare(q)
						done := x.stage(us)
						for _, c := range x.plan.Classes {
							members[i] = max(members[i], uint64(len(c.Members)))
						}
						began := time.Now()
						counts[i], _ = x.rows(func(matcher.Group) error { return nil }).Count.Uint64()
						if took := time.Since(began); least[i] == 0 || took < least[i] {
							least[i] = took
						}
						done()
					}
				}
				require.Equal(b, counts[0], counts[1])
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(counts[0]), "matches")
				b.ReportMetric(least[0].Seconds()*1e3, "apart-ms")
				b.ReportMetric(least[0].Seconds()/least[1].Seconds(), "apart/together")
				b.ReportMetric(float64(members[1]), "members")
			})
		}
	}
}
