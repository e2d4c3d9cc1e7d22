package truths_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/truths"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestA13WordsAreTheirConditions compares truth words with the conditions that they stand for, in both views of random
// batches. The batches insert, delete and replace edges, create, delete and revise vertices, and are committed or
// aborted. Queries come and go: a few, or more than a word has bits for.
func TestA13WordsAreTheirConditions(t *testing.T) {
	wide, replaced, turned, left := false, false, false, false
	seen := func() bool { return wide && replaced && turned && left }
	matchertest.ForSeedsUntil(t, 15, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseWhere(rng, 4, true)
		most := []int{5, 200}[rng.IntN(2)]
		g := c.Graph()
		var table truths.Table
		table.Load(g)
		var plans []*matcher.Plan
		for _, msgs := range c.Batches {
			for range rng.IntN(3) {
				if n := rng.IntN(most); rng.IntN(3) == 0 {
					plans = plans[:min(n, len(plans))]
				} else {
					plans = append(plans, randomPlans(t, rng, c, g, n)...)
				}
			}
			table.Prepare(plans)
			updates, _ := g.Accept(msgs)
			d, err := g.Stage(updates)
			require.NoError(t, err)
			if rng.IntN(4) == 0 {
				table.Prepare(plans) // as a batch that wakes a plan has it
			}
			table.Stage(d)
			replaced = replaced || d.Replaced > 0
			check(t, g, &table, plans)
			turned = turned || checkVertices(t, g, &table, plans)
			for i := range d.Net {
				n := &d.Net[i]
				if n.Vertex {
					continue
				}
				which := dyngraph.New
				if n.Sign == dyngraph.Deleted {
					which = dyngraph.Old
				}
				require.Equal(t, table.In(which, dyngraph.EntryOf(n.Edge, true)), table.OfNet(uint32(i)))
				if i < 2 {
					left = checkIndex(t, &table, plans, table.OfNet(uint32(i))) || left
				}
				wide = wide || len(table.OfNet(uint32(i))) > 1
			}
			if rng.IntN(4) == 0 {
				table.Abort()
				g.Abort()
			} else {
				table.Commit()
				g.Commit()
			}
			check(t, g, &table, plans)
			checkVertices(t, g, &table, plans)
		}
	})
}

// checkIndex holds that an index of all tests of edges finds those that an edge with these words passes, and reports
// whether it leaves some out.
func checkIndex(t *testing.T, table *truths.Table, plans []*matcher.Plan, words []uint64) (left bool) {
	var tests []*truths.Test
	for _, p := range plans {
		for e := range p.Query.Edges {
			tests = append(tests, table.Of(p, e))
		}
	}
	found := make([]uint64, len(tests)/64+1)
	truths.NewIndex(tests).Mark(words, found)
	for i, test := range tests {
		marked := found[i/64]>>(i%64)&1 != 0
		require.False(t, !marked && (test == nil || test.Passes(words)), "test %s of words %x is not found", test.Key(),
			words)
		left = left || !marked
	}
	return left
}

// randomPlans plans queries of one pattern of the case, with comparisons, lists and what the case draws.
func randomPlans(t *testing.T, rng *rand.Rand, c *matchertest.Case, g *dyngraph.Graph, n int) (plans []*matcher.Plan) {
	number := func() *condition.Expr {
		return &condition.Expr{Op: condition.OpNumber, Text: fmt.Sprintf("%d.%d", rng.IntN(4), rng.IntN(10))}
	}
	for i := range n {
		q := *c.Queries[rng.IntN(len(c.Queries))]
		if q.IsVertex() {
			continue
		}
		q.Name, q.Version, q.Within = fmt.Sprint("more", i), 1, 0
		name := q.Edges[rng.IntN(len(q.Edges))].Name
		if rng.IntN(2) == 0 {
			name = q.Vertices[rng.IntN(len(q.Vertices))].Name
		}
		read := &condition.Expr{Op: condition.OpProperty, Text: name,
			Property: []string{"n", "amount", "rate"}[rng.IntN(3)]}
		expr := &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Relation(rng.IntN(6))},
			Args: []*condition.Expr{number(), read}}
		switch rng.IntN(4) {
		case 0:
			expr = &condition.Expr{Op: condition.OpIn, Args: []*condition.Expr{read,
				{Op: condition.OpList, Args: []*condition.Expr{number(), number()}}}}
		case 1:
			expr.Args = []*condition.Expr{read, number()}
			expr.Chain = append(expr.Chain, condition.Relation(rng.IntN(6)))
			expr.Args = append(expr.Args, number())
		}
		if c.Ask(&q, expr) != nil { // it is not declared there, or never holds
			q.Conditions = nil
		}
		p, err := plan.New().Plan(&q, g)
		require.NoError(t, err)
		plans = append(plans, p)
	}
	return plans
}

func check(t *testing.T, g *dyngraph.Graph, table *truths.Table, plans []*matcher.Plan) {
	values := make([]property.Value, 16)
	for _, p := range plans {
		for e := range p.Query.Edges {
			test := table.Of(p, e)
			if p.Own == nil || len(p.Own[e]) == 0 {
				require.Nil(t, test)
				continue
			}
			var passes [2]map[dyngraph.EdgeIndex]bool
			for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
				view := g.View(which)
				passes[which] = map[dyngraph.EdgeIndex]bool{}
				for x := range view.EdgesSeq() {
					if _, _, label := view.Edge(x); !matcher.LabelFits(p.EdgeLabels[e], label) {
						continue
					}
					want := true
					for _, i := range p.Own[e] {
						want = want && p.Conditions[i].Meets(view, uint32(x), values)
					}
					passes[which][x] = want
					_, _, staged := g.Staged(x)
					if got := test.Passes(table.In(which, dyngraph.EntryOf(x, staged))); got != want {
						t.Fatalf("edge %d in view %v passes %q: %t, want %t", x, which, test.Key(), got, want)
					}
				}
			}
			for x, old := range passes[dyngraph.Old] {
				if now, both := passes[dyngraph.New][x]; both {
					_, _, staged := g.Staged(x)
					require.Equal(t, old || now, table.Either(test, dyngraph.EntryOf(x, staged)))
				}
			}
		}
	}
}

// checkVertices is check for the words of vertices. It reports whether a vertex passes some test in one view only.
func checkVertices(t *testing.T, g *dyngraph.Graph, table *truths.Table, plans []*matcher.Plan) (turned bool) {
	values := make([]property.Value, 16)
	for _, p := range plans {
		for v := range p.Query.Vertices {
			test := table.OfVertex(p, v)
			if p.OwnVertex == nil || len(p.OwnVertex[v]) == 0 {
				require.Nil(t, test)
				continue
			}
			passes := map[dyngraph.VertexID]int{}
			for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
				view := g.View(which)
				for x := range view.VerticesSeq() {
					if !matcher.LabelFits(p.VertexLabels[v], view.Label(x)) {
						continue
					}
					want := p.Asked[v].Meets(view, x, values)
					if got := test.Passes(table.OfVertexIn(which, x)); got != want {
						t.Fatalf("vertex %d in view %v passes %q: %t, want %t", x, which, test.Key(), got, want)
					}
					passes[x]++
					if want {
						passes[x] += 2
					}
				}
			}
			for x, n := range passes { // 2 in both views, and 2 for each in which it passes
				if n == 4 {
					turned = true
					require.True(t, table.Turns(test, x))
				} else if n == 2 || n == 6 {
					require.False(t, table.Turns(test, x))
				}
			}
		}
	}
	return turned
}

// TestA21ThresholdsShareAWord has five hundred thresholds of one property share one word, and none left behind.
func TestA21ThresholdsShareAWord(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"n": {Kind: property.Int64}}}}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})
	var plans []*matcher.Plan
	for i := range 500 {
		q := &matcher.Query{Name: fmt.Sprint("q", i), Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"},
			{Name: "b"}}, Edges: []matcher.QueryEdge{{Name: "t", To: 1, Label: "T"}}}
		c := &matchertest.Case{Schema: schema, Where: matchertest.Where{}}
		require.NoError(t, c.Ask(q, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Ge},
			Args: []*condition.Expr{{Op: condition.OpProperty, Text: "t", Property: "n"},
				{Op: condition.OpNumber, Text: fmt.Sprint(10 * i)}}}))
		updates, rejects := g.Accept([]dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge,
			From: fmt.Sprint("v", i), To: "w", Label: "T",
			Attr: dyngraph.Attr{Values: []property.Value{property.Int(int64(10*i + 5))}}}}}})
		require.Empty(t, rejects)
		_, err := g.Stage(updates)
		require.NoError(t, err)
		g.Commit()
		p, err := plan.New().Plan(q, g)
		require.NoError(t, err)
		plans = append(plans, p)
	}
	var table truths.Table
	table.Load(g)
	table.Prepare(plans)
	require.Len(t, table.In(dyngraph.Old, dyngraph.EntryOf(7, false)), 1)
	for i, p := range plans {
		n := 0
		for e := range g.View(dyngraph.Old).EdgesSeq() {
			if table.Of(p, 0).Passes(table.In(dyngraph.Old, dyngraph.EntryOf(e, false))) {
				n++
			}
		}
		require.Equal(t, 500-i, n)
	}
	table.Prepare(nil)
	require.Empty(t, table.In(dyngraph.Old, dyngraph.EntryOf(0, false)))
}
