package groups

import (
	"context"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

const unbound = ^uint32(0)

// errOver ends a search beyond its budget.
var errOver = errors.New("groups: beyond the budget")

// search maps the elements of a program in one view.
type search struct {
	x     *program
	graph *dyngraph.Graph
	view  dyngraph.View
	// The images, unbound where there is none.
	vertices, edges []uint32
	found           func() error // called for each whole assignment
	values          []property.Value

	ctx     context.Context
	meter   *meter
	steps   uint64
	charged uint64 // of the steps, to the meter
}

func newSearch(ctx context.Context, x *program, g *dyngraph.Graph, which dyngraph.Which, m *meter) *search {
	return &search{x: x, graph: g, view: g.View(which), ctx: ctx, meter: m,
		vertices: slices.Repeat([]uint32{unbound}, len(x.g.Vertices)),
		edges:    slices.Repeat([]uint32{unbound}, len(x.g.Edges)), values: make([]property.Value, x.reads)}
}

// charge is the number of steps after which the meter and the context are asked.
const charge = 1024

func (s *search) step() error {
	if s.steps++; s.steps-s.charged < charge {
		return nil
	}
	return s.spend()
}

// spend charges the steps since the last time.
func (s *search) spend() error {
	n := s.steps - s.charged
	s.charged = s.steps
	if !s.meter.spend(n) {
		return errOver
	}
	return s.ctx.Err()
}

// meter is the measure of what is searched for one request, by one goroutine.
type meter struct {
	*matcher.Meter
	clock func() int64
	last  int64 // when it was asked last; 0 at first
	ns    int64 // in all
}

// spend counts steps and the time since it was asked last.
func (m *meter) spend(steps uint64) bool {
	now := m.clock()
	if m.last == 0 {
		m.last = now
	}
	ns := now - m.last
	m.last = now
	m.ns += ns
	return m.Spend(steps, 0, ns)
}

// fitsVertex reports whether a data vertex can be the image of a pattern vertex beside those that are bound.
func (s *search) fitsVertex(u int, v uint32) bool {
	if !matcher.LabelFits(s.x.vertexLabels[u], s.view.Label(dyngraph.VertexID(v))) {
		return false
	}
	for _, w := range s.x.apart[u] {
		if s.vertices[w] == v && w != u {
			return false
		}
	}
	for _, c := range s.x.ownVertex[u] {
		if !c.Meets(s.view, v, s.values) {
			return false
		}
	}
	return true
}

// fitsEdge reports whether a data edge of the view can be the image of a pattern edge beside those that are bound.
func (s *search) fitsEdge(e int, d dyngraph.EdgeIndex) bool {
	for _, f := range s.x.apartEdges[e] {
		if s.edges[f] == uint32(d) {
			return false
		}
	}
	for _, c := range s.x.ownEdge[e] {
		if !c.Meets(s.view, uint32(d), s.values) {
			return false
		}
	}
	return true
}

// bindVertex maps a pattern vertex, if the data vertex fits.
func (s *search) bindVertex(u int, v uint32) bool {
	if s.vertices[u] != unbound {
		return s.vertices[u] == v
	}
	if !s.view.HasVertex(dyngraph.VertexID(v)) || !s.fitsVertex(u, v) {
		return false
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
	of := s.x.g.Edges[e]
	if !s.view.Visible(d) || !matcher.LabelFits(s.x.edgeLabels[e], label) || !s.fitsEdge(e, d) ||
		!s.bindVertex(of.From, uint32(from)) || !s.bindVertex(of.To, uint32(to)) {
		return false
	}
	s.edges[e] = uint32(d)
	return true
}

// clear unbinds everything.
func (s *search) clear() {
	for i := range s.vertices {
		s.vertices[i] = unbound
	}
	for i := range s.edges {
		s.edges[i] = unbound
	}
}

func (s *search) hold(all []*matcher.Condition) bool {
	for _, c := range all {
		if !c.Holds(s.view, s.vertices, s.edges, s.values) {
			return false
		}
	}
	return true
}

// run enumerates what an order makes of what is bound.
func (s *search) run(o *order) error {
	if !s.hold(o.before) {
		return nil
	}
	return s.from(o.steps)
}

func (s *search) from(steps []step) error {
	if len(steps) == 0 {
		return s.found()
	}
	st := &steps[0]
	of := &s.x.g.Edges[st.edge]
	d := dyngraph.Out
	if st.at == of.To {
		d = dyngraph.In
	}
	if !s.x.directed {
		d = dyngraph.Out
	}
	if err := s.along(steps, d); err != nil || !s.x.directed || !of.Either {
		return err
	}
	return s.along(steps, dyngraph.Out+dyngraph.In-d)
}

// along tries the edges of one direction for the first step.
func (s *search) along(steps []step, d dyngraph.Dir) error {
	st := &steps[0]
	at := dyngraph.VertexID(s.vertices[st.at])
	for _, l := range matcher.EachLabel(s.x.edgeLabels[st.edge]) {
		switch {
		case l == matcher.UnknownLabel:
		case l != matcher.AnyLabel:
			r := s.graph.Range(at, d, l)
			if st.closes {
				r = s.closing(at, d, l, dyngraph.VertexID(s.vertices[st.to]))
			}
			if err := s.each(steps, r, at); err != nil {
				return err
			}
		default:
			if err := s.each(steps, s.graph.RangeAll(at, d), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// closing returns the edges of a label between two vertices, by the one with fewer.
func (s *search) closing(at dyngraph.VertexID, d dyngraph.Dir, l dyngraph.LabelID,
	to dyngraph.VertexID) dyngraph.Range {
	other := d
	if s.x.directed {
		other = dyngraph.Out + dyngraph.In - d
	}
	if s.graph.Degree(to, other) < s.graph.Degree(at, d) {
		r := s.graph.Range(to, other, l)
		return r.Among(at)
	}
	r := s.graph.Range(at, d, l)
	return r.Among(to)
}

// each tries the edges of a range for the first step. A range that closing found may be seen from either end.
func (s *search) each(steps []step, r dyngraph.Range, at dyngraph.VertexID) error {
	st := &steps[0]
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		for i, ent := range ents {
			if err := s.step(); err != nil {
				return err
			}
			d := ent.Index()
			if ent.Staged() && !s.view.Visible(d) {
				continue
			}
			if st.closes {
				to := dyngraph.VertexID(s.vertices[st.to])
				if nbrs[i] != to && nbrs[i] != at || !s.fitsEdge(st.edge, d) {
					continue
				}
			} else {
				if !s.fitsEdge(st.edge, d) || !s.fitsVertex(st.to, uint32(nbrs[i])) {
					continue
				}
				s.vertices[st.to] = uint32(nbrs[i])
			}
			s.edges[st.edge] = uint32(d)
			var err error
			if s.hold(st.decided) {
				err = s.from(steps[1:])
			}
			s.edges[st.edge] = unbound
			if !st.closes {
				s.vertices[st.to] = unbound
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
