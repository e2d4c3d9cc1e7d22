package codec

import (
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// fieldColumns notes in which columns the formulas of the query's fields find their slots.
func (w *eventWriter) fieldColumns() {
	s := w.s
	s.columns = s.columns[:0]
	columns := w.ev.View.Graph().Columns()
	for i := range w.ev.Query.Fields {
		f := w.ev.Query.Fields[i].Formula
		if f == nil {
			continue
		}
		for _, slot := range f.Slots {
			s.columns = append(s.columns, columnOf(columns, slot))
		}
	}
}

// noColumn stands for a property that the graph does not declare.
const noColumn = property.TS - 1

func columnOf(columns *property.Columns, slot condition.Slot) int {
	if slot.Property == "ts" {
		return property.TS
	}
	if column, ok := columns.Find(slot.Property, slot.Type); ok {
		return column
	}
	return noColumn
}

// appendFields appends what RETURN lists: elements as they are under vertices and edges, and values.
func (w *eventWriter) appendFields(b []byte) []byte {
	s, q := w.s, w.ev.Query
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
		case f.Formula != nil:
			s.values = s.values[:0]
			for _, slot := range f.Formula.Slots {
				v := property.Value{}
				if column := s.columns[at]; column != noColumn && slot.Element.Edge {
					e := w.row[len(q.Vertices)+slot.Element.Index]
					v = w.ev.View.Value(dyngraph.EdgeIndex(e), column)
				}
				s.values = append(s.values, v)
				at++
			}
			b = appendValue(b, f.Formula.Eval(s.values))
		case f.Element.Edge:
			b = append(w.appendEdge(append(b, `{"from":`...), f.Element.Index), '}')
		default:
			b = append(w.appendVertex(append(b, `{"key":`...), f.Element.Index), '}')
		}
	}
	return append(b, '}')
}
