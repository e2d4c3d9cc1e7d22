package program

import (
	"math"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// The conditions of a query (DESIGN S17) are tested as early as they can be: those on one edge where a data edge is
// admitted as its image, the anchor's before anything is searched; those on several, and the window, once the step is
// mapped that maps the last of these edges. Values are those of the view that is searched.

// Conditions are those of an order.
type Conditions struct {
	// Own are, by pattern edge, those on it alone.
	Own [][]*matcher.Condition
	// Between are, by step, those on several edges that are tested when the step is mapped.
	Between [][]*matcher.Condition
	Within  int64 // the window in milliseconds, 0 for none
}

// addConditions fills in what a compiled order tests.
func (o *Order) addConditions(p *matcher.Plan, from *matcher.Order) {
	if !p.Query.Conditioned() {
		return
	}
	c := &Conditions{Within: p.Query.Within, Own: make([][]*matcher.Condition, len(p.Query.Edges)),
		Between: make([][]*matcher.Condition, len(o.Steps))}
	o.Conditions = c
	for e, own := range p.Own {
		for _, i := range own {
			c.Own[e] = append(c.Own[e], &p.Conditions[i])
		}
	}
	between := p.Between(from)
	for i := range o.Steps {
		st := &o.Steps[i]
		for k := range st.Back {
			st.HasOwn = st.HasOwn || c.Own[st.Back[k].Edge] != nil
		}
		for _, k := range between[i] {
			c.Between[i] = append(c.Between[i], &p.Conditions[k])
		}
		st.Tested = c.Between[i] != nil || c.Within > 0
	}
}

// OwnOf returns the conditions on a pattern edge alone.
func (o *Order) OwnOf(edge int) []*matcher.Condition {
	if o.Conditions == nil {
		return nil
	}
	return o.Conditions.Own[edge]
}

// AnchorOwn returns the conditions on the anchor's edge alone.
func (o *Order) AnchorOwn() []*matcher.Condition { return o.OwnOf(o.Anchor) }

// View returns the view that is searched.
func (a *Admission) View() dyngraph.View {
	switch a.Sign {
	case dyngraph.Inserted:
		return a.graph.View(dyngraph.New)
	case dyngraph.Deleted:
		return a.graph.View(dyngraph.Old)
	}
	return a.graph.View(a.Which)
}

// Meets reports whether a data edge meets conditions on it alone.
func (a *Admission) Meets(own []*matcher.Condition, e dyngraph.EdgeIndex) bool {
	for _, c := range own {
		if !a.meets(c, e) {
			return false
		}
	}
	return true
}

func (a *Admission) meets(c *matcher.Condition, e dyngraph.EdgeIndex) bool {
	return c.Meets(a.View(), e, a.room(len(c.Reads)))
}

// room returns memory for n values.
func (a *Admission) room(n int) []property.Value {
	a.values = slices.Grow(a.values[:0], n)
	return a.values[:n]
}

// Hold reports whether conditions on several edges hold, for data edges by pattern edge.
func (a *Admission) Hold(between []*matcher.Condition, edges []uint32) bool {
	for _, c := range between {
		if !c.Holds(a.View(), edges, a.room(len(c.Reads))) {
			return false
		}
	}
	return true
}

// Span is the least and the greatest ts of some edges.
type Span struct{ Least, Most int64 }

// NoEdges is the span of no edges.
var NoEdges = Span{math.MaxInt64, math.MinInt64}

// Add makes the span include a data edge; false if that has no ts.
func (a *Admission) Add(s *Span, e dyngraph.EdgeIndex) bool {
	v := a.View().Value(e, property.TS)
	s.Least, s.Most = min(s.Least, v.Whole()), max(s.Most, v.Whole())
	return !v.IsNull()
}

// Within reports whether the span is at most ms milliseconds long. A span without edges is.
func (s *Span) Within(ms int64) bool {
	return s.Least > s.Most || uint64(s.Most)-uint64(s.Least) <= uint64(ms)
}
