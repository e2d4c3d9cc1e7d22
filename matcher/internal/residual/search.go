package residual

import (
	"math"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Search extends rows in a view. It holds memory for one search at a time; a callback that searches needs another one.
type Search struct {
	View dyngraph.View
	Work *Work
	// Admit, if not nil, tells whether an element may have an image: one that is mapped, not one that is given.
	Admit func(element condition.Ref, image uint32) bool
	// Found is called for each extension, with the row, which it must not keep or change. more tells to go on.
	Found func(row []uint32) (more bool, err error)

	o      *Order
	row    []uint32
	values []property.Value
	labels []dyngraph.LabelID
}

// None stands in a row for an element without an image.
const None = ^uint32(0)

// Run extends a row in the given order: it calls Found for each extension. The row has the images of what is given, and
// None for all else, before and after. What is given is not tested, except by conditions that read nothing else. more
// is false if Found ended the search.
func (s *Search) Run(o *Order, row []uint32) (more bool, err error) {
	if !s.Given(o, row) {
		return true, nil
	}
	return s.step(0)
}

// Given reports whether the conditions hold that read nothing but what an order is given: what Run begins with.
func (s *Search) Given(o *Order, row []uint32) bool {
	s.o, s.row = o, row
	return s.hold(o.first)
}

// hold reports whether conditions are true.
func (s *Search) hold(conditions []int) bool {
	p := s.o.p
	n := len(p.Vertices)
	for _, i := range conditions {
		c := &p.Conditions[i]
		if k := len(c.Reads); k > len(s.values) {
			s.values = make([]property.Value, k)
		}
		if !c.Holds(s.View, s.row[:n], s.row[n:], s.values) {
			return false
		}
	}
	return true
}

func (s *Search) step(at int) (more bool, err error) {
	if at == len(s.o.steps) {
		if s.o.whole && !Within(s.View, s.o.p.Within, s.row[len(s.o.p.Vertices):]) {
			return true, nil
		}
		return s.Found(s.row)
	}
	x := &s.o.steps[at]
	if x.vertex < 0 {
		return s.join(at, 0, -1)
	}
	return s.extend(at, x)
}

// Within reports whether the greatest ts of the edges less the least is at most within, in milliseconds; 0 is no bound.
func Within(view dyngraph.View, within int64, edges []uint32) bool {
	if within == 0 {
		return true
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range edges {
		t := view.Value(dyngraph.EdgeIndex(e), property.TS)
		if t.IsNull() {
			return false
		}
		least, most = min(least, t.Whole()), max(most, t.Whole())
	}
	return most < least || uint64(most)-uint64(least) <= uint64(within)
}

// extend maps a vertex by the shortest of the lists that lead to it.
func (s *Search) extend(at int, x *step) (more bool, err error) {
	best, least := 0, math.MaxInt
	for i, e := range x.edges {
		n := 0
		s.runs(e, x.vertex, func(r dyngraph.Range) bool {
			n += r.AtMost()
			return true
		})
		if n < least {
			best, least = i, n
		}
	}
	edge := x.edges[best]
	more = true
	s.runs(edge, x.vertex, func(r dyngraph.Range) bool {
		for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
			for i, v := range nbr {
				if err = s.Work.Step(); err != nil {
					return false
				}
				if !s.mapEdge(edge, ent[i]) || !s.mapVertex(x.vertex, v) {
					continue
				}
				if more, err = s.join(at, 0, edge); err != nil || !more {
					return false
				}
			}
		}
		return true
	})
	s.row[x.vertex], s.row[len(s.o.p.Vertices)+edge] = None, None
	return more, err
}

// mapVertex maps a vertex, unless it cannot have the image.
func (s *Search) mapVertex(vertex int, v dyngraph.VertexID) bool {
	p := s.o.p
	if !matcher.LabelFits(p.Vertices[vertex], s.View.Label(v)) {
		return false
	}
	for _, w := range p.VertexDiffers[vertex] {
		if s.row[w] == uint32(v) {
			return false
		}
	}
	if s.Admit != nil && !s.Admit(condition.Ref{Index: vertex}, uint32(v)) {
		return false
	}
	s.row[vertex] = uint32(v)
	return true
}

// mapEdge maps an edge, whose label is known to fit, unless it cannot have the image.
func (s *Search) mapEdge(edge int, x dyngraph.Entry) bool {
	p := s.o.p
	e := x.Index()
	if x.Staged() && !s.View.Visible(e) {
		return false
	}
	for _, f := range p.EdgeDiffers[edge] {
		if s.row[len(p.Vertices)+f] == uint32(e) {
			return false
		}
	}
	if s.Admit != nil && !s.Admit(condition.Ref{Edge: true, Index: edge}, uint32(e)) {
		return false
	}
	s.row[len(p.Vertices)+edge] = uint32(e)
	return true
}

// join maps the edges of a step from the i-th on, but for one that is mapped, and then the next step.
func (s *Search) join(at, i, mapped int) (more bool, err error) {
	x := &s.o.steps[at]
	if i < len(x.edges) && x.edges[i] == mapped {
		i++
	}
	if i >= len(x.edges) {
		if !s.hold(x.conditions) {
			return true, nil
		}
		return s.step(at + 1)
	}
	edge := x.edges[i]
	more = true
	s.between(edge, func(r dyngraph.Range) bool {
		for _, ent, ok := r.Next(); ok; _, ent, ok = r.Next() {
			for _, y := range ent {
				if err = s.Work.Step(); err != nil {
					return false
				}
				if !s.mapEdge(edge, y) {
					continue
				}
				if more, err = s.join(at, i+1, mapped); err != nil || !more {
					return false
				}
			}
		}
		return true
	})
	s.row[len(s.o.p.Vertices)+edge] = None
	return more, err
}
