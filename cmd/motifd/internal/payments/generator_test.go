package payments

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

func TestGeneratorIsDeterministic(t *testing.T) {
	start := func(seed uint64) *Generator { return NewGenerator(Options{Seed: seed, Accounts: 500}) }
	a, b, c := start(7), start(7), start(8)
	differ := false
	for range 50_000 {
		x := a.Next()
		require.Equal(t, x, b.Next())
		differ = differ || c.Next().Update.From != x.Update.From
	}
	require.True(t, differ)
}

// TestPlants follows the stream in a map: an insertion is of an absent edge, a deletion of a present one, a
// plant is there from its completion until it is broken, and the graph stays of one size.
func TestPlants(t *testing.T) {
	t.Parallel()
	for seed, accounts := range map[uint64]int{1: 0, 2: 500, 3: 5000} {
		g := NewGenerator(Options{Seed: seed, Accounts: accounts, settle: 1000})
		graph := make(map[Edge]bool) // without ids
		whole := func(p *Plant) bool {
			return !slices.ContainsFunc(p.Edges, func(e Edge) bool { e.ID = ""; return !graph[e] })
		}
		standing, kinds, broken, largest := make(map[string]*Plant), make(map[string]int), 0, 0
		for n := uint64(1); n <= 200_000; n++ {
			e := g.Next()
			require.Equal(t, n, e.Number)
			u := e.Update
			require.Equal(t, Epoch+int64(n), u.Attr.TS)
			edge := Edge{u.From, u.To, u.Label, ""}
			require.Equal(t, u.Op == dyngraph.DeleteEdge, graph[edge])
			if e.Completes != nil {
				require.False(t, whole(e.Completes))
			}
			if e.Breaks != nil {
				require.True(t, whole(e.Breaks))
				require.GreaterOrEqual(t, n, e.Breaks.Completed+g.opt.settle)
			}
			if u.Op == dyngraph.InsertEdge {
				graph[edge] = true
			} else {
				delete(graph, edge)
			}
			if p := e.Completes; p != nil {
				require.True(t, whole(p))
				require.Equal(t, n, p.Completed)
				require.Nil(t, standing[p.Key()])
				standing[p.Key()] = p
				kinds[p.Query]++
			}
			if p := e.Breaks; p != nil {
				require.False(t, whole(p))
				require.Same(t, p, standing[p.Key()])
				delete(standing, p.Key())
				broken++
			}
			if n%5000 == 0 {
				for _, p := range standing {
					require.True(t, whole(p))
				}
			}
			largest = max(largest, len(graph))
		}
		require.LessOrEqual(t, largest, g.window+10*fanSize*g.maxPlants())
		require.LessOrEqual(t, len(g.planned.steps)+g.standing.len(), 10*fanSize*g.maxPlants())
		require.Len(t, kinds, 6)
		require.Positive(t, broken)
		t.Logf("%d accounts: planted %v, broken %d, standing %d, at most %d edges", g.opt.Accounts, kinds, broken,
			len(standing), largest)
	}
}

// TestQueries holds the queries against the oracle: they find every plant that stands, and little else.
func TestQueries(t *testing.T) {
	var queries []*matcher.Query
	for _, d := range Queries() {
		q, err := pattern.Parse(pattern.Cypher, []byte(d.Text),
			pattern.Options{Name: d.Name, File: d.Name, Directed: true})
		require.NoError(t, err)
		q.Unit = matcher.Subgraphs
		queries = append(queries, q)
	}
	gen := NewGenerator(Options{Seed: 11, Accounts: 2000})
	graph := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	standing, chance, found := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for range 12 {
		var messages []dyngraph.Message
		for range 2000 {
			e := gen.Next()
			messages = append(messages, dyngraph.Message{Updates: []dyngraph.Update{e.Update}})
			if e.Completes != nil {
				standing[e.Completes.Key()] = true
			}
			if e.Breaks != nil {
				delete(standing, e.Breaks.Key())
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
				key := Key(q.Name, keys)
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

func BenchmarkGenerator(b *testing.B) {
	g := NewGenerator(Options{Seed: 1, Accounts: 20_000})
	for b.Loop() {
		g.Next()
	}
}
