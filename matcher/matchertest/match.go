package matchertest

import (
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

// Matches returns every embedding of the query's pattern in the graph (DESIGN S4), whatever the query's Unit. It gives
// up after most matches or 200 times as many steps, and then returns false.
func (g *Graph) Matches(q *matcher.Query, most int) ([]Match, bool) {
	s := &edgeSearch{g: g, q: q, data: g.Sorted(), most: most, steps: 200 * most,
		order: connectedEdges(q), vertex: make([]Vertex, len(q.Vertices)), bound: make([]bool, len(q.Vertices)),
		edge: make([]Edge, len(q.Edges)), used: map[Edge]bool{}, taken: map[Vertex]bool{}}
	s.extend(0)
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
	taken  map[Vertex]bool
	edge   []Edge
	used   map[Edge]bool
	found  []Match
	most   int
	steps  int
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
		if s.used[e] || pe.Label != "" && pe.Label != e.Label {
			continue
		}
		s.orient(depth, at, pe, e, e.From, e.To)
		if pe.Either || !s.g.Directed {
			s.orient(depth, at, pe, e, e.To, e.From)
		}
	}
}

// orient maps the pattern edge to e such that its From maps to a and its To to b.
func (s *edgeSearch) orient(depth, at int, pe matcher.QueryEdge, e Edge, a, b Vertex) {
	newA, ok := s.bind(pe.From, a)
	if !ok {
		return
	}
	if newB, ok := s.bind(pe.To, b); ok {
		s.edge[at], s.used[e] = e, true
		s.extend(depth + 1)
		delete(s.used, e)
		s.release(pe.To, newB)
	}
	s.release(pe.From, newA)
}

// bind maps pattern vertex u to v; fresh tells that it was not mapped before.
func (s *edgeSearch) bind(u int, v Vertex) (fresh, ok bool) {
	if s.bound[u] {
		return false, s.vertex[u] == v
	}
	if label := s.q.Vertices[u].Label; s.taken[v] || label != "" && label != v.Label {
		return false, false
	}
	s.bound[u], s.vertex[u], s.taken[v] = true, v, true
	return true, true
}

func (s *edgeSearch) release(u int, fresh bool) {
	if fresh {
		s.bound[u] = false
		delete(s.taken, s.vertex[u])
	}
}

// connectedEdges orders the pattern's edges such that each but the first has an end in common with an earlier one.
func connectedEdges(q *matcher.Query) []int {
	var order []int
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
