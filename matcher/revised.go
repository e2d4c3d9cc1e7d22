package matcher

import (
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Asked tells what a plan asks about one pattern vertex.
type Asked struct {
	// Own are the conditions on the vertex alone.
	Own []*Condition
	// Columns are those that conditions on the vertex and other elements read, ascending.
	Columns []int
}

// Nothing reports whether nothing is asked about the vertex: then no revision matters there.
func (a *Asked) Nothing() bool { return len(a.Own)+len(a.Columns) == 0 }

// Meets reports whether a data vertex meets the conditions on it alone in a view. values is memory for as many values
// as the longest condition reads, or nil.
func (a *Asked) Meets(view dyngraph.View, v dyngraph.VertexID, values []property.Value) bool {
	for _, c := range a.Own {
		values = slices.Grow(values[:0], len(c.Reads))
		if !c.Meets(view, uint32(v), values[:len(c.Reads)]) {
			return false
		}
	}
	return true
}

// Matters reports whether the revision of a data vertex matters at the pattern vertex (DESIGN S16): its own conditions
// hold in one view only, or a value differs that a condition on it and another element reads.
func (a *Asked) Matters(g *dyngraph.Graph, v dyngraph.VertexID, values []property.Value) bool {
	before, after := g.View(dyngraph.Old), g.View(dyngraph.New)
	for _, column := range a.Columns {
		if before.VertexValue(v, column) != after.VertexValue(v, column) {
			return true
		}
	}
	return len(a.Own) > 0 && a.Meets(before, v, values) != a.Meets(after, v, values)
}

// Begins reports whether a vertex of the net elements can be the anchor of matches that map the pattern vertex to it:
// it meets the conditions on it alone and, if it is revised, that matters.
func (a *Asked) Begins(g *dyngraph.Graph, n *dyngraph.NetEdge) bool {
	var room [4]property.Value
	view := g.View(dyngraph.New)
	if n.Sign == dyngraph.Deleted {
		view = g.View(dyngraph.Old)
	}
	return a.Meets(view, n.From, room[:0]) && (!n.Revised || a.Matters(g, n.From, room[:0]))
}

// endsWith reports whether the revision of a data vertex ends all matches of the plan that hold the vertex, going by
// labels and the conditions on it alone.
func (p *Plan) endsWith(g *dyngraph.Graph, v dyngraph.VertexID) bool {
	for _, part := range p.Variants {
		if !part.endsWith(g, v) {
			return false
		}
	}
	before, after := g.View(dyngraph.Old), g.View(dyngraph.New)
	for u := range p.Asked {
		if a := &p.Asked[u]; LabelFits(p.VertexLabels[u], before.Label(v)) && a.Meets(before, v, nil) &&
			a.Meets(after, v, nil) {
			return false
		}
	}
	return true
}

// revisedAt is an order of a query's plan that begins with a revised vertex.
type revisedAt struct {
	of    *registered
	asked *Asked // of the first step's vertex
}

// IsRevisedBy reports whether the revision of a data vertex matters at some pattern vertex that it can be the image of,
// going by labels alone.
func (p *Plan) IsRevisedBy(g *dyngraph.Graph, v dyngraph.VertexID) bool {
	label := g.View(dyngraph.New).Label(v)
	for u := range p.Asked {
		if a := &p.Asked[u]; !a.Nothing() && LabelFits(p.VertexLabels[u], label) && a.Matters(g, v, nil) {
			return true
		}
	}
	return false
}

// mayHoldVertex reports whether some match of the plan may map a pattern vertex to a revised vertex that matters there,
// or its only one to an inserted or deleted vertex, going by labels and the conditions on it alone.
func (p *Plan) mayHoldVertex(view dyngraph.View, n *dyngraph.NetEdge) bool {
	if len(p.Variants) > 0 {
		return slices.ContainsFunc(p.Variants, func(v *Plan) bool { return v.mayHoldVertex(view, n) })
	}
	if !n.Revised && !p.Query.IsVertex() {
		return false
	}
	for i := range p.Revised {
		at := p.Revised[i].Steps[0].Vertex
		if !LabelFits(p.VertexLabels[at], view.Label(n.From)) {
			continue
		}
		if p.Asked[at].Begins(view.Graph(), n) {
			return true
		}
	}
	return false
}

// RevisedOrders is the index of Plan.Revised by the labels that the vertex at which an order begins must have. T is the
// owner's data for each order.
type RevisedOrders[T any] struct {
	// By label, AnyLabel included: all of them, and those of patterns of one vertex, which may begin with inserted and
	// deleted vertices, too.
	all, single map[dyngraph.LabelID][]T
}

// Set makes the index hold the orders of these plans, and no others; of makes the T of an order of the plan of index i.
func (x *RevisedOrders[T]) Set(plans []*Plan, of func(i, order int) T) {
	x.all, x.single = map[dyngraph.LabelID][]T{}, map[dyngraph.LabelID][]T{}
	for i, p := range plans {
		for o := range p.Revised {
			t := of(i, o)
			for _, label := range EachLabel(p.VertexLabels[p.Revised[o].Steps[0].Vertex]) {
				x.all[label] = append(x.all[label], t)
				if p.Query.IsVertex() {
					x.single[label] = append(x.single[label], t)
				}
			}
		}
	}
}

// Of goes through the orders that may begin with a vertex of a label which is revised, or is inserted or deleted.
func (x *RevisedOrders[T]) Of(label dyngraph.LabelID, revised bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		orders := x.single
		if revised {
			orders = x.all
		}
		for _, l := range [2]dyngraph.LabelID{label, AnyLabel} {
			for _, t := range orders[l] {
				if !yield(t) {
					return
				}
			}
		}
	}
}
