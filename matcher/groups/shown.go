package groups

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// shown has the values of the keys that records show, for a query that emits changes (matcher.Query.EmitsChanges).
type shown struct {
	edges []bool // by key edge: all its declared values are shown
	// By vertex of the program: all declared values are shown, or those that formulas read.
	whole []bool
	reads []matcher.Asked
}

// show finds the values that records show.
func (x *program) show() {
	n := len(x.g.Vertices)
	x.shown = shown{make([]bool, len(x.stage.Edges)), make([]bool, n), make([]matcher.Asked, n)}
	if !x.query.EmitsChanges() {
		return
	}
	elements := slices.Clone(x.g.Shown)
	for i, f := range x.query.Fields {
		if f.Formula == nil && !f.Element.Aggregate {
			elements = append(elements, f.Element)
		}
		for _, r := range x.plan.Groups.Fields[i] {
			if r.Element.Edge || r.Element.Aggregate {
				continue
			}
			a := &x.shown.reads[x.stage.Vertices[r.Element.Index]]
			a.Columns = append(a.Columns, r.Column)
		}
	}
	for _, r := range elements {
		if r.Edge {
			x.shown.edges[r.Index] = true
		} else {
			x.shown.whole[x.stage.Vertices[r.Index]] = true
		}
	}
}

// reads reports whether a match depends on values of the images of a vertex, or shows them.
func (x *program) reads(u int) bool {
	return x.asks(u) || x.shown.whole[u] || !x.shown.reads[u].Nothing()
}

// mayChange reports whether the revision of a data vertex, as the image of a vertex, may turn or change a match: it
// matters (DESIGN S16), or another value is shown.
func (x *program) mayChange(g *dyngraph.Graph, u int, v dyngraph.VertexID) bool {
	return x.reads(u) && (x.matters(g, u, v) || x.showsAnew(g, u, v))
}

// showsAnew reports whether a revised data vertex is shown with other values, or another value is read for a field.
func (x *program) showsAnew(g *dyngraph.Graph, u int, v dyngraph.VertexID) bool {
	return x.shown.whole[u] || x.shown.reads[u].Matters(g, v, nil)
}

// differ reports whether a group that holds in both views, of a query that emits changes, shows another value (DESIGN
// S24).
func (b *batch) differ(keys []uint32, before, after *group) (bool, error) {
	if !after.holds || !b.x.query.EmitsChanges() {
		return false, nil
	}
	n := len(b.x.stage.Vertices)
	for i, is := range b.x.shown.edges {
		if _, _, changed := b.graph.Staged(dyngraph.EdgeIndex(keys[n+i])); is && changed {
			return true, nil // it is replaced: it is in both views
		}
	}
	for i, u := range b.x.stage.Vertices {
		if _, revised := b.delta.RevisionOf(dyngraph.VertexID(keys[i])); revised && b.x.shown.whole[u] {
			return true, nil
		}
	}
	old, now := b.views[dyngraph.Old].view, b.views[dyngraph.New].view
	for i, f := range b.x.query.Fields {
		switch at := f.Element.Index; {
		case f.Element.Aggregate && b.x.aggregates[at].Function == matcher.Collect:
			if differs, err := b.listsDiffer(at, before, after); err != nil || differs {
				return differs, err
			}
		case f.Element.Aggregate:
			if !same(before.values[at], after.values[at]) {
				return true, nil
			}
		case f.Formula != nil:
			reads := b.x.plan.Groups.Fields[i]
			if !same(f.Formula.EvalWide(b.x.wides(nil, reads, old, keys, before.values)),
				f.Formula.EvalWide(b.x.wides(nil, reads, now, keys, after.values))) {
				return true, nil
			}
		}
	}
	return false, nil
}

// same reports whether two values are shown alike.
func same(a, b condition.Wide) bool {
	if a.Units == nil || b.Units == nil {
		return a.Units == b.Units && a.Value == b.Value
	}
	return a.Units.Cmp(b.Units) == 0 && a.Scale == b.Scale
}

// changedAt returns the order of the change that gives a match another value: the highest order among its own changes
// and those of its rows, in either view (DESIGN S24). A vertex that shows another value has an own change.
func (b *batch) changedAt(keys []uint32, before, after *group) uint32 {
	var all group
	all.join(before)
	all.join(after)
	n := len(b.x.stage.Vertices)
	for which := range b.views {
		which := dyngraph.Which(which)
		for i := range b.x.stage.Edges {
			if order, ok := b.orderOf(dyngraph.EdgeIndex(keys[n+i]), which); ok {
				all.note(order)
			}
		}
		for i, u := range b.x.stage.Vertices {
			if order, ok := b.revised(keys[i], which); ok && b.x.mayChange(b.graph, u, dyngraph.VertexID(keys[i])) {
				all.note(order)
			}
		}
	}
	return all.most
}

// wides appends what is read of keys in a view, and of aggregates.
func (x *program) wides(values []condition.Wide, reads []matcher.Read, view dyngraph.View, keys []uint32,
	aggregates []condition.Wide) []condition.Wide {
	for _, r := range reads {
		var w condition.Wide
		switch {
		case r.Element.Aggregate:
			w = aggregates[r.Element.Index]
		case r.Element.Edge:
			w.Value = r.Value(view, keys[len(x.stage.Vertices)+r.Element.Index])
		default:
			w.Value = r.Value(view, keys[r.Element.Index])
		}
		values = append(values, w)
	}
	return values
}
