package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
	"motifd/matcher/reference"
)

func TestDemoGenDeterminism(t *testing.T) {
	a, b, c := newDemoGen(7, 500), newDemoGen(7, 500), newDemoGen(8, 500)
	differ := false
	for range 50_000 {
		x := a.next()
		require.Equal(t, x, b.next())
		differ = differ || c.next().Update.From != x.Update.From
	}
	require.True(t, differ)
}

// TestDemoGenPlants follows the stream in a map: an insertion is of an absent edge, a deletion of a present one, a
// plant is there from its completion until it is broken, and the graph stays of one size.
func TestDemoGenPlants(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector; make test runs it")
	}
	t.Parallel()
	for seed, accounts := range map[uint64]int{1: 0, 2: 500, 3: 5000} {
		g := newDemoGen(seed, accounts)
		g.settle = 1000
		graph := make(map[demoEdge]bool) // without ids
		whole := func(p *demoPlant) bool {
			return !slices.ContainsFunc(p.Edges, func(e demoEdge) bool { e.ID = ""; return !graph[e] })
		}
		standing, kinds, broken, largest := make(map[string]*demoPlant), make(map[string]int), 0, 0
		for n := uint64(1); n <= 200_000; n++ {
			e := g.next()
			require.Equal(t, n, e.Number)
			u := e.Update
			require.Equal(t, demoEpoch+int64(n), u.Attr.TS)
			edge := demoEdge{u.From, u.To, u.Label, ""}
			require.Equal(t, u.Op == dyngraph.DeleteEdge, graph[edge])
			if e.Completes != nil {
				require.False(t, whole(e.Completes))
			}
			if e.Breaks != nil {
				require.True(t, whole(e.Breaks))
				require.GreaterOrEqual(t, n, e.Breaks.Completed+g.settle)
			}
			if u.Op == dyngraph.InsertEdge {
				graph[edge] = true
			} else {
				delete(graph, edge)
			}
			if p := e.Completes; p != nil {
				require.True(t, whole(p))
				require.Equal(t, n, p.Completed)
				require.Nil(t, standing[p.key()])
				standing[p.key()] = p
				kinds[p.Query]++
			}
			if p := e.Breaks; p != nil {
				require.False(t, whole(p))
				require.Same(t, p, standing[p.key()])
				delete(standing, p.key())
				broken++
			}
			if n%5000 == 0 {
				for _, p := range standing {
					require.True(t, whole(p))
				}
			}
			largest = max(largest, len(graph))
		}
		require.LessOrEqual(t, largest, g.window+10*demoFan*g.maxPlants())
		require.LessOrEqual(t, len(g.planned.steps)+g.standing.len(), 10*demoFan*g.maxPlants())
		require.Len(t, kinds, 6)
		require.Positive(t, broken)
		t.Logf("%d accounts: planted %v, broken %d, standing %d, at most %d edges", g.accounts, kinds, broken,
			len(standing), largest)
	}
}

// TestDemoQueries holds the demo's queries against the oracle: they find every plant that stands, and little else.
func TestDemoQueries(t *testing.T) {
	var queries []*matcher.Query
	for _, d := range demoQueries() {
		q, err := pattern.Parse(pattern.Cypher, []byte(d.Text),
			pattern.Options{Name: d.Name, File: d.Name, Directed: true})
		require.NoError(t, err)
		q.Unit = matcher.Subgraphs
		queries = append(queries, q)
	}
	gen := newDemoGen(11, 2000)
	graph := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	standing, chance, found := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for range 12 {
		var messages []dyngraph.Message
		for range 2000 {
			e := gen.next()
			messages = append(messages, dyngraph.Message{Updates: []dyngraph.Update{e.Update}})
			if e.Completes != nil {
				standing[e.Completes.key()] = true
			}
			if e.Breaks != nil {
				delete(standing, e.Breaks.key())
			}
		}
		updates, rejects := graph.Accept(messages)
		require.Empty(t, rejects)
		_, err := graph.Stage(updates)
		require.NoError(t, err)
		graph.Commit()
		view, matches := graph.View(dyngraph.New), make(map[string]bool)
		for _, q := range queries {
			for _, row := range reference.Matches(view, q) {
				var keys []string
				for _, v := range row[:len(q.Vertices)] {
					keys = append(keys, view.Key(dyngraph.VertexID(v)))
				}
				key := demoKey(q.Name, keys)
				require.False(t, matches[key], key)
				matches[key] = true
				if standing[key] {
					found[key] = true
				} else {
					chance[key] = true
				}
			}
		}
		for key := range standing {
			require.True(t, matches[key], key)
		}
	}
	require.Greater(t, len(found), 20)
	require.Less(t, len(chance), len(found), "by chance: %v", slices.Sorted(maps.Keys(chance)))
	t.Logf("planted %d, by chance %d", len(found), len(chance))
}

func BenchmarkDemoGen(b *testing.B) {
	g := newDemoGen(1, 20_000)
	for b.Loop() {
		g.next()
	}
}
