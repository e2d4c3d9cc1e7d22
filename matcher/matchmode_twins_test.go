package matcher_test

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
)

// TestS4HomomorphismsOfATree: the homomorphisms of a tree are a product over its subtrees at each vertex. Counts and
// deltas sum to that after each batch, on graphs whose matches are too many to list one by one.
func TestS4HomomorphismsOfATree(t *testing.T) {
	var most uint64
	matchertest.ForSeedsUntil(t, 20, func() bool { return most > 10_000 }, func(t *testing.T, rng *rand.Rand) {
		labels := matchertest.Labels{Vertex: []string{"A", "B", ""}, Edge: []string{"T", "U"}}
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Labels: labels, Vertices: 8 + rng.IntN(20),
			Edges: 20 + rng.IntN(40), Messages: 40, Full: true, IDs: rng.IntN(3) == 0}
		q := matchertest.RandomTree(rng, "tree", 2+rng.IntN(8), shape.Directed, labels)
		q.Unit, q.MatchMode = matcher.Embeddings, matcher.Homomorphism
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: newCPU(t, 1+rng.IntN(2), false),
			Graph:   dyngraph.NewGraph(dyngraph.Options{Directed: shape.Directed, EdgeIDs: shape.IDs}),
			Planner: plan.New()})
		g := matchertest.NewGraph(shape.Directed)
		g.EdgeIDs = shape.IDs
		d.Register(q)
		net := matcher.Count{}
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 10) {
			g.Step(batch)
			for _, s := range d.Batch(batch).Summary.Queries {
				net = net.Add(s.Positive).Sub(s.Negative)
			}
			want := uint64(0)
			for _, v := range verticesOf(g) {
				want += treeFrom(g, q, 0, -1, v)
			}
			require.Equal(t, matcher.CountOf(want), net, "%+v %+v", q.Vertices, q.Edges)
			most = max(most, want)
		}
	})
}

// verticesOf returns the vertices that have edges.
func verticesOf(g *matchertest.Graph) (all []matchertest.Vertex) {
	seen := map[matchertest.Vertex]bool{}
	for _, e := range g.Sorted() {
		for _, v := range [2]matchertest.Vertex{e.From, e.To} {
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	return all
}

// treeFrom counts the homomorphisms of the subtree at pattern vertex u, reached by a pattern edge, that map u to v.
func treeFrom(g *matchertest.Graph, q *matcher.Query, u, by int, v matchertest.Vertex) uint64 {
	if !fits(q.Vertices[u].Label, q.Vertices[u].AnyOf, v.Label) {
		return 0
	}
	ways := uint64(1)
	for i, e := range q.Edges {
		if i == by || e.From != u && e.To != u {
			continue
		}
		sum := uint64(0)
		for _, d := range g.Sorted() {
			if !fits(e.Label, e.AnyOf, d.Label) {
				continue
			}
			free := e.Either || !g.Directed
			if d.From == v && (free || e.From == u) {
				sum += treeFrom(g, q, e.From+e.To-u, i, d.To)
			}
			if d.To == v && (free || e.To == u) {
				sum += treeFrom(g, q, e.From+e.To-u, i, d.From)
			}
		}
		ways *= sum
	}
	return ways
}

func fits(label string, anyOf []string, have string) bool {
	if anyOf != nil {
		return slices.Contains(anyOf, have)
	}
	return label == "" || label == have
}

// TestS4TrailsOfAPath: the trails of an undirected path of n edges are the walks of n edges none of which comes twice.
func TestS4TrailsOfAPath(t *testing.T) {
	again := 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return again > 0 }, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Labels: matchertest.Labels{Vertex: []string{""}, Edge: []string{"T"}},
			Vertices: 5 + rng.IntN(4), Edges: 6 + rng.IntN(6), Messages: 20, Full: true}
		n := 2 + rng.IntN(4)
		q := &matcher.Query{Name: "path", MatchMode: matcher.Trail, Emit: matcher.Emit(rng.IntN(2)),
			Vertices: []matcher.QueryVertex{{Name: "v0"}}}
		for i := range n {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i+1)})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: i + 1, Either: true})
		}
		d := matchertest.NewDriver(t, false, newCPU(t, 1+rng.IntN(2), false), plan.New())
		g := matchertest.NewGraph(false)
		d.Register(q)
		net := matcher.Count{}
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 1+rng.IntN(9)) {
			g.Step(batch)
			for _, s := range d.Batch(batch).Summary.Queries {
				net = net.Add(s.Positive).Sub(s.Negative)
			}
			want := uint64(0)
			var walk func(v matchertest.Vertex, used []matchertest.Edge, seen []matchertest.Vertex)
			walk = func(v matchertest.Vertex, used []matchertest.Edge, seen []matchertest.Vertex) {
				if slices.Contains(seen, v) {
					again++
				}
				if len(used) == n {
					want++
					return
				}
				for _, e := range g.Sorted() {
					if slices.Contains(used, e) || e.From != v && e.To != v {
						continue
					}
					to := e.From
					if to == v {
						to = e.To
					}
					walk(to, append(used[:len(used):len(used)], e), append(seen[:len(seen):len(seen)], v))
				}
			}
			for _, v := range verticesOf(g) {
				walk(v, nil, nil)
			}
			require.Equal(t, matcher.CountOf(want), net, "%d edges", n)
		}
	})
}

// TestS4DistinctLabelsDiffer: where all vertices of a pattern have labels of their own, every mode has the same matches
// but for edges between the same two vertices, of which there are none.
func TestS4DistinctLabelsDiffer(t *testing.T) {
	records := 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return records > 0 }, func(t *testing.T, rng *rand.Rand) {
		labels := matchertest.Labels{Vertex: []string{"A", "B", "C", "D"}, Edge: []string{"T", ""}}
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Labels: labels, Vertices: 12, Edges: 30, Messages: 60,
			Full: true}
		q := matchertest.RandomTree(rng, "q", 2+rng.IntN(3), shape.Directed, labels)
		q.Emit, q.Unit = matcher.EmitDeltas, matcher.Embeddings
		for i, at := range rng.Perm(len(q.Vertices)) {
			q.Vertices[i].Label, q.Vertices[i].AnyOf = labels.Vertex[at], nil
		}
		c := &matchertest.Case{Directed: shape.Directed, Labels: labels, Messages: matchertest.RandomStream(rng, shape),
			Queries: []*matcher.Query{q}}
		c.Batches = matchertest.Cut(rng, c.Messages)
		want := matchertest.Run(t, c, newCPU(t, 1, false), plan.New()).Transcript()
		records += len(want)
		for _, mode := range []matcher.MatchMode{matcher.Homomorphism, matcher.Trail} {
			in := c.With(func(q *matcher.Query) { q.MatchMode = mode })
			got := matchertest.Run(t, in, newCPU(t, 1, false), plan.New()).Transcript()
			require.Empty(t, matchertest.Diff(want, got), "%s %+v", mode, q)
		}
	})
}

// TestS4MatchModesOnOneEdge tells the modes apart by what they are: a path of two edges walks back over one edge as a
// homomorphism, and needs a second edge, a parallel one too, as a trail.
func TestS4MatchModesOnOneEdge(t *testing.T) {
	d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: newCPU(t, 1, false), Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{EdgeIDs: true})})
	for _, mode := range []matcher.MatchMode{matcher.Isomorphism, matcher.Homomorphism, matcher.Trail} {
		d.Register(&matcher.Query{Name: mode.String(), MatchMode: mode,
			Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}, {Name: "c"}},
			Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Either: true},
				{Name: "f", From: 1, To: 2, Either: true}}})
	}
	insert := func(to, id string) map[string]string {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: "x", To: to, Attr: dyngraph.Attr{ID: id}}
		return numbers(d.Batch([]dyngraph.Message{{Updates: []dyngraph.Update{u}}}))
	}
	count := func(positive int) string { return fmt.Sprint(positive, 0, false, false) }
	require.Equal(t, map[string]string{"homomorphism": count(2)}, insert("y", "1"))
	// Back over another edge of the two: from either end, in either order; and each over itself.
	require.Equal(t, map[string]string{"homomorphism": count(6), "trail": count(4)}, insert("y", "2"))
	require.Equal(t, map[string]string{"isomorphism": count(4), "homomorphism": count(6), "trail": count(4)},
		insert("z", "3"))
}

// TestS4MatchModesAreRefused holds what they do not go with, and what is advised.
func TestS4MatchModesAreRefused(t *testing.T) {
	w := newWorld(t, true)
	for cypher, want := range map[string]string{
		"MATCH (a)-[:T*1..2]->(b)":                               "write a query for each length",
		"MATCH (a)-[:T]->(b) WHERE NOT (a)<-[:T]-(b)":            "NOT and NOT EXISTS",
		"MATCH (a)-[t:T]->(b) WITH b, count(*) AS n WHERE n > 2": "WITH; leave match_mode out",
	} {
		q := w.query("q", cypher, func(q *matcher.Query) { q.MatchMode = matcher.Trail })
		require.ErrorContains(t, q.Validate(true), want)
		require.ErrorIs(t, q.Validate(true), matcher.ErrQuery)
		q.MatchMode = matcher.Isomorphism
		require.NoError(t, q.Validate(true))
	}
	q := w.query("q", "MATCH (a)-[:T]->(b)", subgraphs, func(q *matcher.Query) { q.MatchMode = matcher.Homomorphism })
	require.ErrorContains(t, q.Validate(true), "write unit: embeddings")
	q.Unit, q.MatchMode = matcher.Embeddings, matcher.Trail+1
	require.ErrorContains(t, q.Validate(true), "no match mode")
	q.MatchMode = matcher.Homomorphism
	require.NoError(t, q.Validate(true))
	other := *q
	other.MatchMode = matcher.Trail
	require.False(t, matcher.SameDefinition(q, &other))
	twice := w.query("q", "MATCH (a)-[:T]->(b), (a)-[:T]->(b)")
	for mode, refused := range map[matcher.MatchMode]bool{matcher.Isomorphism: true, matcher.Trail: true,
		matcher.Homomorphism: false} {
		twice.MatchMode = mode
		require.Equal(t, refused, twice.CheckCompeting(true) != nil, mode)
	}
}
