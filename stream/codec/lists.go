package codec

import (
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// appendList appends what collect lists in a row: edges as they are under edges, or a value of each.
func (w *eventWriter) appendList(b []byte, aggregate int) []byte {
	b = append(b, '[')
	values := ListedValues(w.q, w.ev.View, w.row, aggregate)
	for i, e := range w.q.ListOf(w.row, aggregate) {
		if i > 0 {
			b = append(b, ',')
		}
		if values != nil {
			b = appendValue(b, values[i])
		} else {
			b = append(w.appendListed(append(b, `{"from":`...), dyngraph.EdgeIndex(e)), '}')
		}
	}
	return append(b, ']')
}

// appendListed appends an edge that is no key, from its source on.
func (w *eventWriter) appendListed(b []byte, e dyngraph.EdgeIndex) []byte {
	view := w.ev.View
	v, u, l := view.Edge(e)
	from, to, label := view.Key(v), view.Key(u), view.LabelName(l)
	if !w.directed && from > to {
		from, to = to, from
	}
	b = appendString(append(appendString(b, from), `,"to":`...), to)
	return w.appendValues(appendLabel(b, label), e, label)
}

// ListedValues returns the values that collect(x.p) lists, one for each edge of the row, which is one of a query with
// WITH. It is nil for collect(x), which lists the edges themselves.
func ListedValues(q *matcher.Query, view dyngraph.View, row []uint32, aggregate int) []property.Value {
	a := q.Groups.Aggregate(aggregate)
	if a.Formula == nil {
		return nil
	}
	values := []property.Value{}
	for _, e := range q.ListOf(row, aggregate) {
		slots := make([]property.Value, len(a.Formula.Slots))
		for i, slot := range a.Formula.Slots {
			if column := columnOf(view.Graph(), slot); column != noColumn {
				slots[i] = view.Value(dyngraph.EdgeIndex(e), column)
			}
		}
		values = append(values, a.Formula.Eval(slots))
	}
	return values
}
