package matchertest

import (
	"slices"
	"strings"

	"motifd/matcher"
)

// Match is one match by keys: vertices and edges in pattern order.
type Match struct {
	Vertices []Vertex
	Edges    []Edge
}

// String names the match: two matches are the same if and only if their names are (DESIGN S6).
func (m Match) String() string {
	var b strings.Builder
	for _, v := range m.Vertices {
		b.WriteString(v.String())
		b.WriteByte(' ')
	}
	for _, e := range m.Edges {
		b.WriteByte('|')
		b.WriteString(e.String())
	}
	return b.String()
}

// Identity returns a match without the values of its edges, by which match ids do not tell matches apart.
func Identity(m Match) Match {
	m.Edges = slices.Clone(m.Edges)
	for k := range m.Edges {
		m.Edges[k].Version = ""
	}
	return m
}

// Matches returns every match of the query's pattern in the graph (DESIGN S4), whatever the query's Unit. It gives
// up after most matches or 200 times as many steps, and then returns false.
func (g *Graph) Matches(q *matcher.Query, most int) ([]Match, bool) {
	s := &edgeSearch{g: g, q: q, data: g.Sorted(), most: most, steps: 200 * most,
		order: connectedEdges(q), vertex: make([]Vertex, len(q.Vertices)), bound: make([]bool, len(q.Vertices)),
		edge: make([]Edge, len(q.Edges)), used: map[Edge]int{}, taken: map[Vertex]int{}}
	if q.IsVertex() {
		s.vertices()
	} else {
		s.extend(0)
	}
	return s.found, s.steps >= 0 && len(s.found) <= most
}

// edgeSearch maps pattern edges one by one, each to every data edge in turn.
type edgeSearch struct {
	g      *Graph
	q      *matcher.Query
	data   []Edge
	order  []int
	vertex []Vertex
	bound  []bool
	taken  map[Vertex]int // how often it is an image
	edge   []Edge
	used   map[Edge]int // likewise
	found  []Match
	most   int
	steps  int
}

// vertices finds the matches of a pattern of one vertex.
func (s *edgeSearch) vertices() {
	for _, key := range s.g.Keys() {
		if v := s.g.vertex(key); admits(s.q.Vertices[0].Label, s.q.Vertices[0].AnyOf, v.Label) {
			s.found = append(s.found, Match{Vertices: []Vertex{v}, Edges: []Edge{}})
		}
	}
}

func (s *edgeSearch) extend(depth int) {
	if depth == len(s.order) {
		s.found = append(s.found, Match{append([]Vertex(nil), s.vertex...), append([]Edge(nil), s.edge...)})
		return
	}
	at := s.order[depth]
	pe := s.q.Edges[at]
	for _, e := range s.data {
		if s.steps--; s.steps < 0 || len(s.found) > s.most {
			return
		}
		if s.used[e] > 0 && s.q.MatchMode != matcher.Homomorphism || !admits(pe.Label, pe.AnyOf, e.Label) {
			continue
		}
		s.orient(depth, at, pe, e, e.From, e.To)
		if pe.Either || !s.g.Directed {
			s.orient(depth, at, pe, e, e.To, e.From)
		}
	}
}

// admits tells whether a data label is the one that the pattern wants, or one of the alternatives, or anything will do.
func admits(label string, anyOf []string, have string) bool {
	if anyOf != nil {
		return slices.Contains(anyOf, have)
	}
	return label == "" || label == have
}

// orient maps the pattern edge to e such that its From maps to a and its To to b.
func (s *edgeSearch) orient(depth, at int, pe matcher.QueryEdge, e Edge, a, b Vertex) {
	newA, ok := s.bind(pe.From, a)
	if !ok {
		return
	}
	if newB, ok := s.bind(pe.To, b); ok {
		s.edge[at] = e
		s.used[e]++
		s.extend(depth + 1)
		s.used[e]--
		s.release(pe.To, newB)
	}
	s.release(pe.From, newA)
}

// bind maps pattern vertex u to v; fresh tells that it was not mapped before.
func (s *edgeSearch) bind(u int, v Vertex) (fresh, ok bool) {
	if s.bound[u] {
		return false, s.vertex[u] == v
	}
	qv := &s.q.Vertices[u]
	if s.taken[v] > 0 && s.q.MatchMode == matcher.Isomorphism || !admits(qv.Label, qv.AnyOf, v.Label) {
		return false, false
	}
	s.bound[u], s.vertex[u] = true, v
	s.taken[v]++
	return true, true
}

func (s *edgeSearch) release(u int, fresh bool) {
	if fresh {
		s.bound[u] = false
		s.taken[s.vertex[u]]--
	}
}

// connectedEdges orders the pattern's edges such that each but the first has an end in common with an earlier one.
func connectedEdges(q *matcher.Query) []int {
	var order []int
	if q.IsVertex() {
		return nil
	}
	reached := make([]bool, len(q.Vertices))
	reached[q.Edges[0].From] = true
	done := make([]bool, len(q.Edges))
	for len(order) < len(q.Edges) {
		for i, e := range q.Edges {
			if !done[i] && (reached[e.From] || reached[e.To]) {
				done[i], reached[e.From], reached[e.To] = true, true, true
				order = append(order, i)
			}
		}
	}
	return order
}
