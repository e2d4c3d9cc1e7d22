package dyngraph

import (
	"bytes"
	"slices"

	"motifd/dyngraph/property"
)

// The schema of histories with declared properties: two types of one name, a string, one of every label, and a time
// that only one label declares.
var (
	twinMoney  = property.Type{Kind: property.Decimal, Scale: 2}
	twinSchema = &property.Schema{Edges: property.Declarations{
		"A":          {"amount": twinMoney, "ts": {Kind: property.Timestamp}},
		"B":          {"amount": {Kind: property.Int64}, "note": {Kind: property.String}},
		property.Any: {"flag": {Kind: property.Bool}},
	}, Vertices: property.Declarations{
		"A":          {"risk": {Kind: property.Int64}},
		"B":          {"risk": twinMoney},
		property.Any: {"mark": {Kind: property.String}},
	}}
)

// The columns of the vertices of twinSchema.
const (
	twinMark = iota
	twinRisk
	twinRiskMoney
	twinVertexColumns
)

// twinValues are the declared values of a vertex and, behind them, a truth for each of its labels.
type twinValues [twinVertexColumns + len(twinNames)]property.Value

// vertexDeclares tells by hand what the schema declares for a vertex label.
func (w *twin) vertexDeclares(label string, column int) bool {
	if !w.declares || w.several {
		return w.declares
	}
	switch column {
	case twinRisk:
		return label == "A"
	case twinRiskMoney:
		return label == "B"
	}
	return column == twinMark
}

var twinVertexTypes = [twinVertexColumns]property.Type{{Kind: property.String}, {Kind: property.Int64}, twinMoney}

// makeVertexValues gives an operation on a vertex values, whatever its label declares; seldom one that is refused.
func makeVertexValues(pick source, u *Update) {
	for column := range twinVertexColumns {
		var v property.Value
		switch n := pick(4); {
		case n == 0:
		case column == twinMark:
			v = property.Text([]string{"", "x", "y"}[n-1])
		case column == twinRisk:
			v = property.Int(int64(n % 2))
		default:
			v = cents(int64(n % 2))
		}
		if pick(60) == 0 {
			v = property.Time(1)
		}
		u.Attr.Values = append(u.Attr.Values, v)
		if u.Op == ReviseVertex && pick(2) == 0 {
			u.Named = append(u.Named, column)
		}
	}
	if u.Op == ReviseVertex && pick(60) == 0 {
		u.Named = append(u.Named, twinVertexColumns)
	}
}

// vertexValuesFit tells whether the values of an operation on a vertex may be accepted.
func (w *twin) vertexValuesFit(u *Update) bool {
	for column, v := range u.Attr.Values {
		if column -= w.first(); column < 0 {
			continue
		}
		if !v.IsNull() && (!w.declares || column >= twinVertexColumns || v.Type() != twinVertexTypes[column]) {
			return false
		}
	}
	return len(u.Named) == 0 || w.declares && u.Named[len(u.Named)-1]-w.first() < twinVertexColumns
}

// setVertex sets the values of a vertex that an update names, or all.
func (w *twin) setVertex(u *Update) {
	v := w.verts[u.Key]
	for column := range twinVertexColumns {
		if w.vertexDeclares(v.label, column) &&
			(u.Op == InsertVertex || slices.Contains(u.Named, column+w.first())) {
			v.values[column] = u.Attr.Value(column + w.first())
		}
	}
	if w.verts[u.Key] = v; w.several {
		w.relabel(u.Key, u.Label, u.Op)
	}
}

// ends gives the vertices' values by key and label.
func (w *twin) ends() map[end]twinValues {
	m := map[end]twinValues{}
	for key, v := range w.verts {
		m[end{key, v.label}] = v.values
	}
	return m
}

// The columns of twinSchema.
const (
	twinWhole = iota
	twinAmount
	twinFlag
	twinNote
	twinColumns
)

// twinDeclared tells by hand what the schema declares for a label.
func twinDeclared(label string, column int) bool {
	switch column {
	case property.TS, twinAmount:
		return label == "A"
	case twinWhole, twinNote:
		return label == "B"
	}
	return column == twinFlag
}

// makeValues draws values of few kinds, so that they often stay what they are; seldom one that is refused.
func makeValues(pick source, label string) []property.Value {
	var values []property.Value
	put := func(column int, v property.Value) {
		for len(values) <= column {
			values = append(values, property.Value{})
		}
		values[column] = v
	}
	bad := pick(40) == 0
	if (twinDeclared(label, twinWhole) || bad) && pick(3) > 0 {
		put(twinWhole, property.Int(int64(pick(2))))
	}
	if twinDeclared(label, twinAmount) && pick(3) > 0 {
		if put(twinAmount, property.Units(int64(pick(3)), 2)); bad {
			put(twinAmount, property.Units(1, 3))
		}
	}
	if pick(3) == 0 {
		put(twinFlag, property.Truth(pick(2) == 0))
	}
	if twinDeclared(label, twinNote) && pick(3) > 0 {
		put(twinNote, property.Text([]string{"", "x", "y"}[pick(3)]))
	}
	for range pick(2) * pick(3) {
		values = append(values, property.Value{})
	}
	return values
}

// twinValue is a value of an edge, as a map would have it: null is no entry.
func twinValue(a *Attr, column int) (v any, ok bool) {
	if column == property.TS {
		if !a.HasTS {
			return nil, false
		}
		return a.TS, true
	}
	if column >= len(a.Values) || a.Values[column].IsNull() {
		return nil, false
	}
	return a.Values[column].String(), true
}

// valuesFit tells whether an update's values may be accepted.
func (w *twin) valuesFit(u *Update) bool {
	for column := range u.Attr.Values {
		v := u.Attr.Values[column]
		if v.IsNull() {
			continue
		}
		if !w.declares || column >= twinColumns || !twinDeclared(u.Label, column) ||
			v.Type() != [...]property.Type{{Kind: property.Int64}, twinMoney, {Kind: property.Bool},
				{Kind: property.String}}[column] {
			return false
		}
	}
	return true
}

// differ returns the declared values of an edge that differ.
func (w *twin) differ(label string, a, b *Attr) (columns []int) {
	if !w.declares {
		return nil
	}
	for column := property.TS; column < twinColumns; column++ {
		if !twinDeclared(label, column) {
			continue
		}
		x, has := twinValue(a, column)
		y, had := twinValue(b, column)
		if has != had || x != y {
			columns = append(columns, column)
		}
	}
	return columns
}

// attrs gives the edges' attributes by identity.
func (w *twin) attrs() map[identity]Attr {
	m := map[identity]Attr{}
	for e, a := range w.edges {
		m[w.identity(e)] = a
	}
	return m
}

func (a *Attr) equal(b *Attr) bool {
	return a.ID == b.ID && a.HasTS == b.HasTS && (!a.HasTS || a.TS == b.TS) && bytes.Equal(a.Props, b.Props) &&
		equalValues(a.Values, b.Values)
}

// equalValues compares values by column, whatever nulls they end with.
func equalValues(a, b []property.Value) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if !slices.Equal(a, b[:len(a)]) {
		return false
	}
	for _, v := range b[len(a):] {
		if !v.IsNull() {
			return false
		}
	}
	return true
}
