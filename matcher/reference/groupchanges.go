package reference

import (
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// showing returns the content of a group's record in one view, as a list of property.Value and text: the keys that
// RETURN lists with all their declared values, then the fields (DESIGN S22, S24).
func showing(view dyngraph.View, q *matcher.Query, x *groupRow) (all []any, err error) {
	w := &where{view: view, q: q, bits: condition.WideBits}
	for i, a := range q.Groups.Aggregates() {
		if a.Function == matcher.Collect {
			w.aggregates = append(w.aggregates, value{})
			continue
		}
		wide := q.AggregateOf(x.shown, i)
		v := value{null: wide.IsNull(), kind: a.Type().Kind, decimals: int(a.Type().Scale)}
		if !v.null {
			v.number = new(big.Rat).SetFrac(wide.Units, power(v.decimals))
		}
		w.aggregates = append(w.aggregates, v)
	}
	for _, r := range q.Groups.Shown {
		all = append(all, valuesOf(view, q, x.keys, r)...)
	}
	for _, f := range q.Fields {
		switch {
		case f.Formula != nil:
			n, err := nodeOf(f.Formula)
			if err != nil {
				return nil, err
			}
			all = append(all, w.value(n, x.keys).show())
		case f.Element.Aggregate && q.Groups.Aggregates()[f.Element.Index].Function == matcher.Collect:
			list, err := listing(view, q, x, f.Element.Index)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		case f.Element.Aggregate:
			all = append(all, w.aggregates[f.Element.Index].show())
		default:
			all = append(all, valuesOf(view, q, x.keys, f.Element)...)
		}
	}
	return all, nil
}

// listing returns the content of a list in a record: edges with all their declared values, or one value of each edge.
func listing(view dyngraph.View, q *matcher.Query, x *groupRow, at int) (all []any, err error) {
	union := &matcher.Query{Vertices: q.Groups.Vertices, Edges: q.Groups.Edges}
	a := q.Groups.Aggregates()[at]
	for _, e := range q.ListOf(x.shown, at) {
		r := slices.Repeat(row{unbound}, len(union.Vertices)+len(union.Edges))
		if r[len(union.Vertices)+a.Of.Index] = e; a.Formula == nil {
			all = append(append(all, e), valuesOf(view, union, r, *a.Of)...)
			continue
		}
		n, err := nodeOf(a.Formula)
		if err != nil {
			return nil, err
		}
		w := &where{view: view, q: union, bits: 64}
		all = append(all, w.value(n, r).show())
	}
	return append(all, "end"), nil
}

// show writes a value down.
func (v value) show() string {
	switch {
	case v.null:
		return "null"
	case v.number == nil:
		return "text " + v.text
	}
	return v.number.RatString()
}

// valuesOf returns all declared values of a key in a view, and the labels of a vertex.
func valuesOf(view dyngraph.View, q *matcher.Query, keys row, r condition.Ref) (all []any) {
	g := view.Graph()
	if !r.Edge {
		for column := range g.VertexColumns().All() {
			all = append(all, view.VertexValue(dyngraph.VertexID(keys[r.Index]), column))
		}
		return all
	}
	e := dyngraph.EdgeIndex(keys[len(q.Vertices)+r.Index])
	_, _, label := view.Edge(e)
	for column := range g.Columns().All() {
		all = append(all, view.Value(e, column))
	}
	if _, declared := g.Columns().Of(view.LabelName(label), property.TimeName); declared {
		all = append(all, view.Value(e, property.TS))
	}
	return all
}

// differ reports whether a group shows other values in the new view than in the old one. It holds in both.
func (c *groupChanges) differ(q *matcher.Query, old, now *groupRow) (bool, error) {
	if !old.holds || !now.holds {
		return true, nil
	}
	before, err := showing(c.before.view, q, old)
	if err != nil {
		return false, err
	}
	after, err := showing(c.after.view, q, now)
	return !slices.Equal(before, after), err
}

// changedAt returns the order of what gave a group another value: the highest one among the changes of its keys and of
// its rows of all stages, in either view. A key vertex that is shown with other values is changed, too.
func (c *groupChanges) changedAt(q *matcher.Query, old, now *groupRow) (anchor uint32, found bool) {
	take := func(order uint32, ok bool) {
		if ok && (!found || order > anchor) {
			anchor, found = order, true
		}
	}
	n := len(q.Groups.Vertices)
	for side, x := range []*groupRow{old, now} {
		for i, v := range x.keys[:len(q.Vertices)] {
			if order, ok := c.vertices[side][v]; ok {
				take(order, c.shownAnew(q, i, x.keys))
			}
		}
		for _, stage := range x.stages {
			for _, r := range stage.rows {
				for u, v := range r[:n] {
					if order, ok := c.vertices[side][v]; ok && v != unbound {
						take(order, c.matters(u, r))
					}
				}
				for _, e := range r[n:] {
					order, ok := c.edges[side][e]
					take(order, ok && e != unbound)
				}
			}
		}
	}
	for i := range q.Groups.Stages {
		c.turnedBy(q.Groups, i, old.stages[i].rows, &now.stages[i], side(dyngraph.Inserted), take)
		c.turnedBy(q.Groups, i, now.stages[i].rows, &old.stages[i], side(dyngraph.Deleted), take)
	}
	return anchor, found
}

// shownAnew reports whether a value of a key vertex differs that RETURN lists, by itself or in a formula.
func (c *groupChanges) shownAnew(q *matcher.Query, at int, keys row) bool {
	this := condition.Ref{Index: at}
	if !slices.Equal(valuesOf(c.before.view, q, keys, this), valuesOf(c.after.view, q, keys, this)) &&
		(slices.Contains(q.Groups.Shown, this) || slices.ContainsFunc(q.Fields, func(f matcher.Field) bool {
			return f.Formula == nil && f.Element == this
		})) {
		return true
	}
	before, after := &where{view: c.before.view, q: q}, &where{view: c.after.view, q: q}
	for _, f := range q.Fields {
		if f.Formula == nil {
			continue
		}
		n, err := nodeOf(f.Formula)
		if err != nil {
			return false // showing has failed
		}
		reads, _ := n.reads(this)
		for _, read := range reads {
			if before.read(read, keys) != after.read(read, keys) {
				return true
			}
		}
	}
	return false
}
