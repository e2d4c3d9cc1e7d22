package codec

import (
	"strconv"

	"motifd/matcher"
)

// appendLengths appends the field that the match ids of a query with paths have behind the version: the lengths of its
// paths in pattern order, "2,3"; nothing for any other query.
func appendLengths(b []byte, q *matcher.Query) []byte {
	lengths := q.Lengths()
	if lengths == nil {
		return b
	}
	var field []byte
	for i, n := range lengths {
		if i > 0 {
			field = append(field, ',')
		}
		field = strconv.AppendInt(field, int64(n), 10)
	}
	return appendField(b, string(field))
}

// outsidePaths returns how many vertices of a pattern, the first ones, are in no path, and which edges are.
func outsidePaths(q *matcher.Query) (vertices int, inPath map[int]bool) {
	of := q.VariantOf()
	if of == nil {
		return len(q.Vertices), nil
	}
	inPath = map[int]bool{}
	for _, p := range of.Paths() {
		edges, _ := q.Part(p)
		for i := edges[0]; i < edges[1]; i++ {
			inPath[i] = true
		}
	}
	return len(of.Vertices), inPath
}

// appendPaths appends the paths of a row, behind its vertices and edges; the object is left open as theirs are.
func (w *eventWriter) appendPaths(b []byte) []byte {
	of := w.q.VariantOf()
	open := `},"paths":{`
	for _, edge := range of.Paths() {
		b = append(appendString(append(b, open...), of.Edges[edge].Name), ':')
		b = w.appendPath(b, edge)
		open = ","
	}
	return b
}

// appendPath appends what a path is mapped to: its edges from its beginning on, and the vertices between them. edge is
// the path in the query that has it.
func (w *eventWriter) appendPath(b []byte, edge int) []byte {
	edges, inner := w.q.Part(edge)
	b = append(b, `{"edges":[`...)
	for i := edges[0]; i < edges[1]; i++ {
		if i > edges[0] {
			b = append(b, ',')
		}
		b = append(w.appendEdge(append(b, `{"from":`...), i), '}')
	}
	b = append(b, `],"vertices":[`...)
	for i := inner[0]; i < inner[1]; i++ {
		if i > inner[0] {
			b = append(b, ',')
		}
		b = append(w.appendVertex(append(b, `{"key":`...), i), '}')
	}
	return append(b, `]}`...)
}

// pathOf returns the path that a field of RETURN is, in the query that has it, or -1.
func pathOf(q *matcher.Query, field int) int {
	of := q.VariantOf()
	if of == nil {
		return -1
	}
	if f := &of.Fields[field]; f.Formula == nil && f.Element.Edge && of.Edges[f.Element.Index].Hops != nil {
		return f.Element.Index
	}
	return -1
}
