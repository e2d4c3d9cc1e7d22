package residual

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// directions returns the sides from which a data vertex sees the images of a pattern edge, one end of which it is the
// image of.
func (s *Search) directions(edge, end int) (dirs [2]dyngraph.Dir, n int) {
	e := &s.o.p.Edges[edge]
	switch {
	case !s.View.Graph().Directed():
		return dirs, 1
	case e.Either:
		dirs[1] = dyngraph.In
		return dirs, 2
	case end == e.To:
		dirs[0] = dyngraph.In
	}
	return dirs, 1
}

// runs calls f with the lists of an edge's images by which a vertex is found: those of the image of its other end, by
// direction and label. f returns false to end.
func (s *Search) runs(edge, vertex int, f func(dyngraph.Range) bool) {
	g, e := s.View.Graph(), &s.o.p.Edges[edge]
	from := e.From + e.To - vertex
	v := dyngraph.VertexID(s.row[from])
	dirs, n := s.directions(edge, from)
	for _, d := range dirs[:n] {
		switch set := matcher.Alternatives(e.Label); {
		case e.Label == matcher.UnknownLabel:
		case e.Label == matcher.AnyLabel:
			if !f(g.RangeAll(v, d)) {
				return
			}
		case set == nil:
			if !f(g.Range(v, d, e.Label)) {
				return
			}
		default:
			for _, l := range set {
				if !f(g.Range(v, d, l)) {
					return
				}
			}
		}
	}
}

// between calls f with the lists of the images of an edge whose ends are mapped, as the end of fewer edges has them.
func (s *Search) between(edge int, f func(dyngraph.Range) bool) {
	g, e := s.View.Graph(), &s.o.p.Edges[edge]
	end, other := e.From, e.To
	v, w := dyngraph.VertexID(s.row[end]), dyngraph.VertexID(s.row[other])
	if dirs, _ := s.directions(edge, end); g.Degree(w, 1-dirs[0]) < g.Degree(v, dirs[0]) && g.Directed() {
		end, v, w = other, w, v
	} else if !g.Directed() && g.Degree(w, dyngraph.Out) < g.Degree(v, dyngraph.Out) {
		v, w = w, v
	}
	dirs, n := s.directions(edge, end)
	for _, d := range dirs[:n] {
		labels := matcher.Alternatives(e.Label)
		switch {
		case e.Label == matcher.UnknownLabel:
			continue
		case e.Label == matcher.AnyLabel:
			s.labels = g.LabelsOf(v, d, s.labels[:0])
			labels = append([]dyngraph.LabelID(nil), s.labels...) // f may come here again
		case labels == nil:
			r := g.Range(v, d, e.Label)
			if !f(r.Among(w)) {
				return
			}
			continue
		}
		for _, l := range labels {
			r := g.Range(v, d, l)
			if !f(r.Among(w)) {
				return
			}
		}
	}
}
