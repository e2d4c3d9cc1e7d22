package cpu

import (
	"fmt"
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

// TestA13CountsWithConditionsOnVerticesAreMultiplied counts a star whose centre and leaves are asked about: as many
// steps as there are edges find the matches, which are far more. In a batch that revises a vertex for which that
// matters, they are counted one by one; in one that revises a vertex for which it does not, they are multiplied.
func TestA13CountsWithConditionsOnVerticesAreMultiplied(t *testing.T) {
	schema := &property.Schema{Vertices: property.Declarations{property.Any: {"n": {Kind: property.Int64}}}}
	q := &matcher.Query{Name: "star", Version: 1, Emit: matcher.EmitCounts}
	const leaves, data = 4, 20
	for i := range leaves + 1 {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: "A"})
		if i > 0 {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), To: i, Either: true})
		}
	}
	c := &matchertest.Case{Schema: schema, Where: matchertest.Where{}}
	var exprs []*condition.Expr
	for _, v := range q.Vertices {
		exprs = append(exprs, compared(propertyOf(v.Name, "n"), condition.Gt, number("5")))
	}
	require.NoError(t, c.Ask(q, exprs...))
	of := func(n int64) dyngraph.Attr { return dyngraph.Attr{Values: []property.Value{property.Int(n)}} }
	var graph, insert []dyngraph.Update
	graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: "hub", Label: "A", Attr: of(6)})
	for i := range data + 2 { // two leaves are below
		key := fmt.Sprint("leaf", i)
		graph = append(graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: "A",
			Attr: of(int64(min(6, 4+i)))})
		insert = append(insert, dyngraph.Update{Op: dyngraph.InsertEdge, From: "hub", To: key})
	}
	for name, batch := range map[string]struct {
		revise     dyngraph.Update
		matches    uint64
		multiplied bool
	}{
		"no vertex":             {dyngraph.Update{}, 20 * 19 * 18 * 17, true},
		"within what holds":     {dyngraph.Update{Key: "leaf7", Attr: of(9)}, 20 * 19 * 18 * 17, true},
		"to where it holds":     {dyngraph.Update{Key: "leaf0", Attr: of(6)}, 21 * 20 * 19 * 18, false},
		"to where it does not":  {dyngraph.Update{Key: "leaf7", Attr: of(5)}, 19 * 18 * 17 * 16, false},
		"within what holds not": {dyngraph.Update{Key: "leaf0", Attr: of(1)}, 20 * 19 * 18 * 17, true},
	} {
		g := dyngraph.NewGraph(dyngraph.Options{Schema: schema})
		// The first edge is there before, so that the batch brings no new triple of labels.
		x := newBenchOf(t, g, append(slices.Clone(graph), insert[0]), q, Options{Threads: 1})
		us := slices.Clone(insert)
		if batch.revise.Key != "" {
			batch.revise.Op, batch.revise.Named = dyngraph.ReviseVertex, []int{0}
			us = append(us, batch.revise)
		}
		done := x.stage(us)
		res, err := x.b.Search(t.Context(), dyngraph.Inserted,
			[]matcher.Request{{Plan: x.plan, Want: matcher.WantCount, Before: matcher.AllOrders}}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, matcher.CountOf(batch.matches), res[0].Count, name)
		require.Equal(t, batch.multiplied, res[0].Steps < 2000, "%s: %d steps", name, res[0].Steps)
		done()
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
