package groups

import (
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// search maps the elements of a program in one view.
type search struct {
	x     *program
	graph *dyngraph.Graph
	view  dyngraph.View
	// row has the images, residual.None where there is none: those of vertices, then those of edges.
	row, vertices, edges []uint32
	found                func() error // called for each whole assignment
	work                 *residual.Work
	extend               residual.Search
	// Of negations: the search from a changed blocker, that for what blocks a row, and memory for these.
	lead, test residual.Search
	room       []uint32
	tested     []uint32
	values     []property.Value
}

func newSearch(x *program, g *dyngraph.Graph, which dyngraph.Which, w *residual.Work) *search {
	n := len(x.g.Vertices)
	row := slices.Repeat([]uint32{residual.None}, n+len(x.g.Edges))
	s := &search{x: x, graph: g, view: g.View(which), row: row, vertices: row[:n], edges: row[n:], work: w}
	s.extend = residual.Search{View: s.view, Work: w, Found: func([]uint32) (bool, error) { return true, s.found() }}
	return s
}

// bindVertex maps a pattern vertex, if the data vertex fits beside those that are bound. Conditions are tested by run.
func (s *search) bindVertex(u int, v uint32) bool {
	if s.vertices[u] != residual.None {
		return s.vertices[u] == v
	}
	id := dyngraph.VertexID(v)
	if !s.view.HasVertex(id) || !matcher.LabelFits(s.x.pattern.Vertices[u], s.view.Label(id)) {
		return false
	}
	for _, w := range s.x.pattern.VertexDiffers[u] {
		if s.vertices[w] == v {
			return false
		}
	}
	s.vertices[u] = v
	return true
}

// bindEdge maps a pattern edge and its ends, if they fit. reversed has the source be the image of To.
func (s *search) bindEdge(e int, d dyngraph.EdgeIndex, reversed bool) bool {
	from, to, label := s.view.Edge(d)
	if reversed {
		from, to = to, from
	}
	of := &s.x.pattern.Edges[e]
	if !s.view.Visible(d) || !matcher.LabelFits(of.Label, label) {
		return false
	}
	for _, f := range s.x.pattern.EdgeDiffers[e] {
		if s.edges[f] == uint32(d) {
			return false
		}
	}
	if !s.bindVertex(of.From, uint32(from)) || !s.bindVertex(of.To, uint32(to)) {
		return false
	}
	s.edges[e] = uint32(d)
	return true
}

// clear unbinds everything.
func (s *search) clear() {
	for i := range s.row {
		s.row[i] = residual.None
	}
}

// run enumerates what an order makes of what is bound.
func (s *search) run(o *residual.Order) error {
	_, err := s.extend.Run(o, s.row)
	return err
}
