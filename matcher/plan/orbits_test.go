package plan

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestFind compares the orbits of oriented edges in subgraphs of random patterns with those that all automorphisms of
// the subgraph make, one by one.
func TestFind(t *testing.T) {
	alike := 0
	matchertest.ForSeedsUntil(t, 200, func() bool { return alike > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		q := matchertest.RandomQuery(rng, "q", directed, matchertest.RandomLabels(rng))
		p, err := New().Plan(q, dyngraph.NewGraph(dyngraph.Options{Directed: directed}))
		require.NoError(t, err)
		m := newMapper(p, p.Query.Conditions)
		set := uint32(3)
		for range 2 {
			set |= rng.Uint32() & (1<<m.n - 1)
		}
		if !m.connected(set) {
			set = 1<<m.n - 1
		}
		colour := m.colours(set)
		sub, vertex, edge := induced(q, set)
		group := matchertest.Automorphisms(sub)
		for i := range p.Anchored {
			for k := range p.Anchored {
				x, y := &p.Anchored[i], &p.Anchored[k]
				if edge[x.Edge] < 0 || edge[y.Edge] < 0 {
					continue
				}
				takes := func(a matchertest.Automorphism) bool {
					return a.Edges[edge[x.Edge]] == edge[y.Edge] && a.Vertices[vertex[x.Steps[0].Vertex]] ==
						vertex[y.Steps[0].Vertex] &&
						a.Vertices[vertex[x.Steps[1].Vertex]] == vertex[y.Steps[1].Vertex]
				}
				image := m.find(set, colour, x, y)
				if image == nil {
					for _, a := range group {
						require.False(t, takes(a), "orders %d and %d of %+v in %b", i, k, q, set)
					}
					continue
				}
				alike++
				a := matchertest.Automorphism{Vertices: make([]int, len(sub.Vertices)),
					Edges: make([]int, len(sub.Edges))}
				for v, w := range image {
					if set>>v&1 == 0 {
						require.Equal(t, -1, w)
					} else {
						a.Vertices[vertex[v]] = vertex[w]
					}
				}
				for e, f := range m.edges(image, x.Edge, y.Edge) {
					if edge[e] < 0 {
						require.Equal(t, -1, f)
					} else {
						a.Edges[edge[e]] = edge[f]
					}
				}
				require.True(t, takes(a))
				require.Contains(t, texts(group), fmt.Sprint(a))
			}
		}
	})
}

// induced returns the pattern less the vertices outside the set, and where its vertices and edges are in it, or -1.
func induced(q *matcher.Query, set uint32) (sub *matcher.Query, vertex, edge []int) {
	sub = &matcher.Query{Name: q.Name}
	for v := range q.Vertices {
		vertex = append(vertex, -1)
		if set>>v&1 != 0 {
			vertex[v] = len(sub.Vertices)
			sub.Vertices = append(sub.Vertices, q.Vertices[v])
		}
	}
	for i, e := range q.Edges {
		edge = append(edge, -1)
		if vertex[e.From] >= 0 && vertex[e.To] >= 0 {
			edge[i] = len(sub.Edges)
			e.From, e.To = vertex[e.From], vertex[e.To]
			sub.Edges = append(sub.Edges, e)
		}
	}
	return sub, vertex, edge
}

func texts(group []matchertest.Automorphism) (all []string) {
	for _, a := range group {
		all = append(all, fmt.Sprint(a))
	}
	return all
}

// TestClasses checks the classes of random patterns: every anchored order is in one, images are
// automorphisms, and the members' orders are orders of the pattern that begin alike.
func TestClasses(t *testing.T) {
	images, members := 0, 0
	seen := func() bool { return images > 0 && members > 0 }
	matchertest.ForSeedsUntil(t, 300, seen, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		q := matchertest.RandomQueryOf(rng, 2+rng.IntN(7), "q", directed, matchertest.RandomLabels(rng))
		q.Unit = matcher.Unit(rng.IntN(8) / 7)
		p, err := New().Plan(q, dyngraph.NewGraph(dyngraph.Options{Directed: directed}))
		require.NoError(t, err)
		seen := make([]int, len(p.Anchored))
		for i := range p.Classes {
			c := &p.Classes[i]
			first := &c.Members[0].Order
			members += len(c.Members) - 1
			if len(c.Members) == 1 {
				require.Len(t, first.Steps, c.Shared)
				require.Equal(t, p.Anchored[c.Members[0].Anchor], *first)
			}
			for k := range c.Members {
				m := &c.Members[k]
				seen[m.Anchor]++
				o, anchor := &m.Order, &p.Anchored[m.Anchor]
				require.Equal(t, [4]int{anchor.Edge, anchor.Steps[0].Vertex, anchor.Steps[1].Vertex, len(q.Vertices)},
					[4]int{o.Edge, o.Steps[0].Vertex, o.Steps[1].Vertex, len(o.Steps)})
				requireOrder(t, p, o)
				for s := range c.Shared {
					a, b := &first.Steps[s], &o.Steps[s]
					require.Equal(t, p.VertexLabels[a.Vertex], p.VertexLabels[b.Vertex])
					require.Len(t, b.Back, len(a.Back))
					for j := range a.Back {
						x, y := a.Back[j], b.Back[j]
						y.Edge = x.Edge
						require.Equal(t, x, y)
					}
				}
				for _, image := range m.Images {
					seen[image.Anchor]++
					images++
					to := &p.Anchored[image.Anchor]
					require.Equal(t, [3]int{to.Edge, to.Steps[0].Vertex, to.Steps[1].Vertex},
						[3]int{image.Edges[o.Edge], image.Vertices[o.Steps[0].Vertex],
							image.Vertices[o.Steps[1].Vertex]})
					requireAutomorphism(t, q, image)
				}
			}
		}
		for i, n := range seen {
			require.Equal(t, 1, n, "order %d of %+v", i, q)
		}
		if q.Unit == matcher.Subgraphs {
			require.Len(t, p.Classes, len(p.Anchored))
		}
	})
}

// requireOrder checks that an order maps every vertex and edge once, from where the edge's data is right.
func requireOrder(t *testing.T, p *matcher.Plan, o *matcher.Order) {
	t.Helper()
	mapped, edges := uint32(0), uint64(1)<<o.Edge
	for i, s := range o.Steps {
		require.Zero(t, mapped>>s.Vertex&1)
		mapped |= 1 << s.Vertex
		require.True(t, i < 2 || len(s.Back) > 0)
		for _, b := range s.Back {
			require.Zero(t, edges>>b.Edge&1)
			edges |= 1 << b.Edge
			e := p.Query.Edges[b.Edge]
			require.Less(t, b.Step, i)
			earlier := o.Steps[b.Step].Vertex
			require.Equal(t, s.Vertex, e.From+e.To-earlier)
			require.Equal(t, p.EdgeLabels[b.Edge], b.Label)
			require.Equal(t, p.Directed && e.Either, b.Either)
			if p.Directed && !e.Either {
				require.Equal(t, earlier == e.To, b.Dir == dyngraph.In)
			}
		}
	}
	require.Equal(t, len(p.Query.Vertices), bits.OnesCount32(mapped))
	require.Equal(t, len(p.Query.Edges), bits.OnesCount64(edges))
}

func requireAutomorphism(t *testing.T, q *matcher.Query, image matcher.Image) {
	t.Helper()
	vertices, edges := uint32(0), uint64(0)
	for v, w := range image.Vertices {
		vertices |= 1 << w
		require.Equal(t, q.Vertices[v].Label, q.Vertices[w].Label)
	}
	for i, j := range image.Edges {
		edges |= 1 << j
		a, b := q.Edges[i], q.Edges[j]
		require.Equal(t, [2]any{a.Label, a.Either}, [2]any{b.Label, b.Either})
		from, to := image.Vertices[a.From], image.Vertices[a.To]
		require.True(t, from == b.From && to == b.To || a.Either && from == b.To && to == b.From)
	}
	require.Equal(t, len(q.Vertices), bits.OnesCount32(vertices))
	require.Equal(t, len(q.Edges), bits.OnesCount64(edges))
}
