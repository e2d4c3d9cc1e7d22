package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// holds reports whether what step d has mapped, edges included, meets the conditions that it completes, and the window.
func (s *Search) holds(d int, st *program.Step) bool {
	c := s.order.Conditions
	return (c.Within == 0 || s.fits(d, st)) && s.Hold(c.Between[d], s.edges)
}

// fits notes the span of the edges that are mapped up to step d, from step 1 on, and reports whether it is within the
// window.
func (s *Search) fits(d int, st *program.Step) bool {
	span := program.NoEdges
	if d > 1 {
		span = s.spans[d-1]
	}
	known := true
	if d == 1 && s.order.Anchor >= 0 {
		known = s.Add(&span, dyngraph.EdgeIndex(s.edges[s.order.Anchor]))
	}
	for k := range st.Back {
		known = known && s.Add(&span, dyngraph.EdgeIndex(s.edges[st.Back[k].Edge]))
	}
	s.spans[d] = span
	return known && span.Within(s.order.Conditions.Within)
}

// possible reports whether the conditions that step d completes can hold, and the window: as far as the edges that are
// mapped by then have one option each.
func (c *CanonicalSearch) possible(d int) bool {
	st, se := c.o.Steps[d].Step, c.search
	if !st.Tested {
		return true
	}
	span, within := program.NoEdges, c.o.Conditions.Within
	if c.o.Anchor >= 0 && within > 0 && !se.Add(&span, dyngraph.EdgeIndex(se.edges[c.o.Anchor])) {
		return false
	}
	single := true
	for i := range c.o.Steps[:d+1] {
		for k := range c.o.Steps[i].Back {
			e := c.o.Steps[i].Back[k].Edge
			if len(c.options[e]) != 1 {
				single = false
				continue
			}
			se.edges[e] = c.options[e][0]
			if within > 0 && !se.Add(&span, dyngraph.EdgeIndex(se.edges[e])) {
				return false
			}
		}
	}
	return (within == 0 || span.Within(within)) && (!single || se.Hold(c.o.Conditions.Between[d], se.edges))
}

// fits reports whether the edges of a complete match are within the window.
func (c *CanonicalSearch) fits() bool {
	if c.o.Conditions == nil || c.o.Conditions.Within == 0 {
		return true
	}
	span := program.NoEdges
	for _, e := range c.search.edges[:len(c.o.Parallel)] {
		if !c.search.Add(&span, dyngraph.EdgeIndex(e)) {
			return false
		}
	}
	return span.Within(c.o.Conditions.Within)
}
