package dyngraph

import "motifd/dyngraph/property"

// valueColumn holds the values of one declared property by edge index, or by vertex id. It takes no memory before its
// first use.
type valueColumn struct {
	kind  property.Type
	set   []uint64 // bitmap; what is not set is null
	bits  []uint64 // of every type but strings; of labels the number of the set in sets
	texts []string
	sets  labelSets

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

func (c *valueColumn) has(at uint32) bool {
	w := int(at >> 6)
	return w < len(c.set) && c.set[w]>>(at&63)&1 != 0
}

func (c *valueColumn) get(at uint32) property.Value {
	if !c.has(at) {
		return property.Value{}
	}
	switch c.kind.Kind {
	case property.String:
		return property.Text(c.texts[at])
	case property.Labels:
		return c.sets.all[c.bits[at]].value
	}
	return property.Stored(c.kind, c.bits[at])
}

// put stores a value, which is of the column's type or null.
func (c *valueColumn) put(bg background, at uint32, v property.Value) {
	w, bit := int(at>>6), uint64(1)<<(at&63)
	labels := c.kind.Kind == property.Labels
	if labels && c.has(at) {
		c.sets.drop(c.bits[at])
	}
	if v.IsNull() {
		if w < len(c.set) && c.set[w]&bit != 0 {
			c.set[w] &^= bit
			if int(at) < len(c.texts) {
				c.texts[at] = "" // lets it go
			}
		}
		return
	}
	c.set = grown(c.set, w+1)
	c.set[w] |= bit
	if c.kind.Kind == property.String {
		c.texts = c.spares.texts.grown(bg, c.texts, int(at)+1)
		c.texts[at] = v.Str()
		return
	}
	c.bits = c.spares.bits.grown(bg, c.bits, int(at)+1)
	if c.bits[at] = v.Bits(); labels {
		c.bits[at] = c.sets.add(v)
	}
}

// valuesAt returns the values of an edge or a vertex by column, nil when all are null.
func valuesAt(columns []valueColumn, at uint32) []property.Value {
	var values []property.Value
	for i := len(columns) - 1; i >= 0; i-- {
		if v := columns[i].get(at); !v.IsNull() {
			if values == nil {
				values = make([]property.Value, i+1)
			}
			values[i] = v
		}
	}
	return values
}

// anyValue tells whether an edge or a vertex has a declared value that is not null; labels are none.
func anyValue(columns []valueColumn, at uint32) bool {
	for i := range columns {
		if columns[i].has(at) && columns[i].kind.Kind != property.Labels {
			return true
		}
	}
	return false
}

// value returns one value; property.TS stands for the time.
func (a *attrs) value(e EdgeIndex, column int) property.Value {
	if column == property.TS {
		if ts, ok := a.time(e); ok {
			return property.Time(ts)
		}
		return property.Value{}
	}
	return a.columns[column].get(uint32(e))
}

// checkValues refuses values that are not of their columns' types, or that the label does not declare.
func (g *Graph) checkValues(label string, values []property.Value) error {
	if err := g.columns.Check(label, values); err != nil {
		return refuse(ReasonProperty, "the edge has %v", err)
	}
	return nil
}

// Wholes is a column of whole numbers: of an int64, decimal or timestamp property, or of the times. It holds the values
// of the graph before the staged batch, and those of the edges that the batch inserts. It is valid until the next Stage
// or Commit.
type Wholes struct {
	set   []uint64
	bits  []uint64
	times []int64
}

// Wholes returns a column; property.TS stands for the times.
func (g *Graph) Wholes(column int) Wholes {
	if column == property.TS {
		return Wholes{set: g.attr.hasTS, times: g.attr.ts}
	}
	c := &g.attr.columns[column]
	return Wholes{set: c.set, bits: c.bits}
}

// Of returns the value of an edge, false where it has none.
func (c *Wholes) Of(e EdgeIndex) (int64, bool) {
	if w := int(e >> 6); w >= len(c.set) || c.set[w]>>(e&63)&1 == 0 {
		return 0, false
	}
	if c.times != nil {
		return c.times[e], true
	}
	return int64(c.bits[e]), true
}
