package dyngraph

import "motifd/dyngraph/property"

// The schema of histories with declared properties: two types of one name, a string, one of every label, and a time
// that only one label declares.
var (
	twinMoney  = property.Type{Kind: property.Decimal, Scale: 2}
	twinSchema = &property.Schema{Edges: property.Declarations{
		"A":          {"amount": twinMoney, "ts": {Kind: property.Timestamp}},
		"B":          {"amount": {Kind: property.Int64}, "note": {Kind: property.String}},
		property.Any: {"flag": {Kind: property.Bool}},
	}}
)

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
		m[identity{end{e.from, w.verts[e.from].label}, end{e.to, w.verts[e.to].label}, e.label}] = a
	}
	return m
}
