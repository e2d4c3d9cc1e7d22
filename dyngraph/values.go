package dyngraph

import (
	"slices"

	"motifd/dyngraph/property"
)

// valueColumn holds the values of one declared property by edge index. It takes no memory before its first use.
type valueColumn struct {
	kind  property.Type
	set   []uint64 // bitmap; what is not set is null
	bits  []uint64 // of every type but strings
	texts []string

	spares struct {
		bits  spare[uint64]
		texts spare[string]
	}
}

func newColumns(declared []property.Column) []valueColumn {
	if len(declared) == 0 {
		return nil
	}
	columns := make([]valueColumn, len(declared))
	for i := range columns {
		columns[i].kind = declared[i].Type
	}
	return columns
}

func (c *valueColumn) get(e EdgeIndex) property.Value {
	if w := int(e >> 6); w >= len(c.set) || c.set[w]>>(e&63)&1 == 0 {
		return property.Value{}
	}
	if c.kind.Kind == property.String {
		return property.Text(c.texts[e])
	}
	return property.Stored(c.kind, c.bits[e])
}

// put stores a value, which is of the column's type or null.
func (c *valueColumn) put(bg background, e EdgeIndex, v property.Value) {
	w, bit := int(e>>6), uint64(1)<<(e&63)
	if v.IsNull() {
		if w < len(c.set) && c.set[w]&bit != 0 {
			c.set[w] &^= bit
			if int(e) < len(c.texts) {
				c.texts[e] = "" // lets it go
			}
		}
		return
	}
	c.set = grown(c.set, w+1)
	c.set[w] |= bit
	if c.kind.Kind == property.String {
		c.texts = c.spares.texts.grown(bg, c.texts, int(e)+1)
		c.texts[e] = v.Str()
		return
	}
	c.bits = c.spares.bits.grown(bg, c.bits, int(e)+1)
	c.bits[e] = v.Bits()
}

// values returns an edge's values, nil when all are null.
func (a *attrs) values(e EdgeIndex) []property.Value {
	var values []property.Value
	for i := len(a.columns) - 1; i >= 0; i-- {
		if v := a.columns[i].get(e); !v.IsNull() {
			if values == nil {
				values = make([]property.Value, i+1)
			}
			values[i] = v
		}
	}
	return values
}

// value returns one value; property.TS stands for the time.
func (a *attrs) value(e EdgeIndex, column int) property.Value {
	if column == property.TS {
		if int(e) < len(a.ts) && a.hasTS[e>>6]>>(e&63)&1 != 0 {
			return property.Time(a.ts[e])
		}
		return property.Value{}
	}
	return a.columns[column].get(e)
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

// checkValues refuses values that are not of their columns' types, or that the label does not declare.
func (g *Graph) checkValues(label string, values []property.Value) error {
	if err := g.columns.Check(label, values); err != nil {
		return refuse(ReasonProperty, "the edge has %v", err)
	}
	return nil
}
