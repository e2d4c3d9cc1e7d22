package codec

import (
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// fieldColumns notes in which columns the formulas of the query's fields find their slots.
func (w *eventWriter) fieldColumns() {
	s := w.s
	s.columns = s.columns[:0]
	g := w.ev.View.Graph()
	for i := range w.q.Fields {
		f := w.q.Fields[i].Formula
		if f == nil {
			continue
		}
		for _, slot := range f.Slots {
			s.columns = append(s.columns, columnOf(g, slot))
		}
	}
}

// WideValues returns the values of the fields of a query with WITH for a row, in their order; of an element or a list
// it is null.
func WideValues(q *matcher.Query, view dyngraph.View, row []uint32) []condition.Wide {
	values := make([]condition.Wide, len(q.Fields))
	for i := range q.Fields {
		switch f := &q.Fields[i]; {
		case f.Formula != nil:
			values[i] = wideValue(q, view, row, f.Formula)
		case f.Element.Aggregate && !q.Groups.Aggregate(f.Element.Index).IsList():
			values[i] = q.AggregateOf(row, f.Element.Index)
		}
	}
	return values
}

// wideValue computes a field of a query with WITH.
func wideValue(q *matcher.Query, view dyngraph.View, row []uint32, f *condition.Formula) condition.Wide {
	slots := make([]condition.Wide, len(f.Slots))
	for i, slot := range f.Slots {
		if slot.Element.Aggregate {
			slots[i] = q.AggregateOf(row, slot.Element.Index)
		} else {
			slots[i].Value = slotValue(q, view, row, slot, columnOf(view.Graph(), slot))
		}
	}
	return f.EvalWide(slots)
}

// appendWide appends an exact number, whatever its size, or another value.
func appendWide(b []byte, w condition.Wide) []byte {
	if w.Units != nil {
		return w.Append(b)
	}
	return appendValue(b, w.Value)
}

// FieldValues returns the values of a query's fields for a row, in their order; of an element it is null. Those of a
// query with WITH are WideValues.
func FieldValues(q *matcher.Query, view dyngraph.View, row []uint32) []property.Value {
	values := make([]property.Value, len(q.Fields))
	for i := range q.Fields {
		f := q.Fields[i].Formula
		if f == nil {
			continue
		}
		slots := make([]property.Value, len(f.Slots))
		for j, slot := range f.Slots {
			slots[j] = slotValue(q, view, row, slot, columnOf(view.Graph(), slot))
		}
		values[i] = f.Eval(slots)
	}
	return values
}

// slotValue is the value that a slot reads of a row.
func slotValue(q *matcher.Query, view dyngraph.View, row []uint32, slot condition.Slot, column int) property.Value {
	if column == noColumn {
		return property.Value{}
	}
	if !slot.Element.Edge {
		return view.VertexValue(dyngraph.VertexID(row[slot.Element.Index]), column)
	}
	return view.Value(dyngraph.EdgeIndex(row[len(q.Vertices)+slot.Element.Index]), column)
}

// noColumn stands for a property that the graph does not declare.
const noColumn = property.TS - 1

func columnOf(g *dyngraph.Graph, slot condition.Slot) int {
	columns := g.VertexColumns()
	if slot.Element.Edge {
		columns = g.Columns()
		if slot.Property == property.TimeName {
			return property.TS
		}
	}
	if column, ok := columns.Find(slot.Property, slot.Type); ok {
		return column
	}
	return noColumn
}

// appendFields appends what RETURN lists: elements as they are under vertices and edges, and values.
func (w *eventWriter) appendFields(b []byte) []byte {
	s, q := w.s, w.q
	at := 0 // in s.columns
	for i := range q.Fields {
		f := &q.Fields[i]
		if i == 0 {
			b = append(b, `,"fields":{`...)
		} else {
			b = append(b, ',')
		}
		b = append(appendString(b, f.Name), ':')
		switch {
		case f.Element.Aggregate && q.Groups.Aggregate(f.Element.Index).IsList():
			b = w.appendList(b, f.Element.Index)
		case f.Element.Aggregate:
			b = appendWide(b, q.AggregateOf(w.row, f.Element.Index))
		case f.Formula != nil && q.Groups != nil:
			b = appendWide(b, wideValue(q, w.ev.View, w.row, f.Formula))
		case f.Formula != nil:
			s.values = s.values[:0]
			for _, slot := range f.Formula.Slots {
				s.values = append(s.values, slotValue(q, w.ev.View, w.row, slot, s.columns[at]))
				at++
			}
			b = appendValue(b, f.Formula.Eval(s.values))
		case pathOf(q, i) >= 0:
			b = w.appendPath(b, pathOf(q, i))
		case f.Element.Edge:
			b = append(w.appendEdge(append(b, `{"from":`...), f.Element.Index), '}')
		default:
			b = append(w.appendVertex(append(b, `{"key":`...), f.Element.Index), '}')
		}
	}
	return append(b, '}')
}
