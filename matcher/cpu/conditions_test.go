package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// amounts declares a number and a time for edges of every label.
var amounts = &property.Schema{Edges: property.Declarations{property.Any: {"n": {Kind: property.Int64},
	"ts": {Kind: property.Timestamp}}}}

// value gives updates a number and a time.
func value(us []dyngraph.Update, of func(i int) (n, ts int64)) {
	for i := range us {
		n, ts := of(i)
		us[i].Attr = dyngraph.Attr{TS: ts, HasTS: true, Values: []property.Value{property.Int(n)}}
	}
}

func number(text string) *condition.Expr { return &condition.Expr{Op: condition.OpNumber, Text: text} }

func propertyOf(edge, name string) *condition.Expr {
	return &condition.Expr{Op: condition.OpProperty, Text: edge, Property: name}
}

func compared(a *condition.Expr, r condition.Relation, b *condition.Expr) *condition.Expr {
	return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{r}, Args: []*condition.Expr{a, b}}
}

// ask gives a query conditions.
func ask(tb testing.TB, q *matcher.Query, exprs ...*condition.Expr) *matcher.Query {
	tb.Helper()
	c := &matchertest.Case{Schema: amounts, Where: matchertest.Where{}}
	require.NoError(tb, c.Ask(q, exprs...))
	return q
}

// TestS17AnUpdateThatFailsItsConditionCostsNoSearch: not one step, and the query is not concerned.
func TestS17AnUpdateThatFailsItsConditionCostsNoSearch(t *testing.T) {
	p := newPowerLaw(1, 200, 1000, 2, 50)
	for _, want := range []matcher.Want{matcher.WantRows, matcher.WantCount, matcher.WantAny} {
		for _, passes := range []bool{false, true} {
			q := (&patternShape{"path", "010", [][2]int{{0, 1}, {1, 2}}, 0}).query()
			if want == matcher.WantCount {
				q.Emit = matcher.EmitCounts
			}
			ask(t, q, compared(propertyOf("e0", "n"), condition.Gt, number("5")),
				compared(propertyOf("e1", "n"), condition.Gt, number("5")))
			value(p.graph, func(int) (n, ts int64) { return 6, 0 })
			value(p.stream, func(int) (n, ts int64) {
				if passes {
					return 6, 0
				}
				return 5, 0
			})
			x := newBenchOf(t, dyngraph.NewGraph(dyngraph.Options{Schema: amounts}), p.graph, q, Options{Threads: 1})
			done := x.stage(p.stream)
			concerned := false
			x.b.Concern(func(int, dyngraph.Sign) { concerned = true })
			res, err := x.b.Search(t.Context(), dyngraph.Inserted,
				[]matcher.Request{{Plan: x.plan, Want: want, Before: matcher.AllOrders}},
				func(matcher.Group) error { return nil }, nil)
			require.NoError(t, err)
			require.Equal(t, passes, concerned)
			require.Equal(t, passes, res[0].Steps > 0)
			require.Equal(t, passes, !res[0].Count.IsZero())
			done()
		}
	}
}

// TestS18AWindowIsShared: within a window, several workers that share the search of one anchor find what one worker
// finds. A worker that takes over a part of the search takes over the span of the edges mapped so far.
func TestS18AWindowIsShared(t *testing.T) {
	graph, insert, q := hubCase(30)
	rng := rand.New(rand.NewPCG(1, 2))
	value(graph, func(int) (n, ts int64) { return 0, rng.Int64N(10) })
	value(insert, func(int) (n, ts int64) { return 0, 5 })
	q.Within = 6
	var first []uint32
	for _, threads := range []int{1, 2, 3, 8} {
		x := newBenchOf(t, dyngraph.NewGraph(dyngraph.Options{Schema: amounts}), graph, q, Options{Threads: threads,
			TempFiles: tempfile.In(t.TempDir())})
		x.b.work.ShareEvery = 1
		if threads > 1 {
			x.b.work.Hold = untilSo
		}
		done := x.stage(insert)
		var rows []uint32
		x.rows(func(g matcher.Group) error {
			rows = append(rows, g.Rows.Data...)
			return nil
		})
		done()
		if threads == 1 {
			first = rows
			all, n := 30*30*29, len(rows)/(len(q.Vertices)+len(q.Edges))
			require.True(t, 0 < n && n < all, "%d of %d matches", n, all)
			continue
		}
		require.Positive(t, x.b.work.Shared.Load())
		require.True(t, slices.Equal(first, rows), "%d threads", threads)
	}
}
