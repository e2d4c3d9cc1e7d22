package property

import (
	"cmp"
	"fmt"
	"slices"
)

// TS stands for the time of an edge where a column is named: `ts` is declared like a property and is no column.
const TS = -1

// timeName is the name under which the time of an edge is declared.
const timeName = "ts"

// Column is a declared property of some labels: those that declare the name with the same type share it.
type Column struct {
	Name string
	Type Type
}

// Columns are the columns in which the values of one side of the schema are stored. They are immutable.
type Columns struct {
	declared Declarations
	all      []Column                // by name, then type; checkpoints store values in this order
	labels   map[string]labelColumns // of the labels that declare something
}

// labelColumns are the properties that exist under a label.
type labelColumns struct {
	under []int  // by name
	has   []bool // by column
	time  bool   // ts is declared
}

// Columns returns the columns of the declarations, which must not change any more. Equal declarations have equal
// columns.
func (d Declarations) Columns() *Columns {
	c := &Columns{declared: d}
	for _, props := range d {
		for name, t := range props {
			if name != timeName {
				c.all = append(c.all, Column{name, t})
			}
		}
	}
	slices.SortFunc(c.all, compareColumns)
	c.all = slices.Compact(c.all)
	c.labels = map[string]labelColumns{Any: c.compile(Any)}
	for label := range d {
		c.labels[label] = c.compile(label)
	}
	return c
}

func (c *Columns) compile(label string) labelColumns {
	l := labelColumns{has: make([]bool, len(c.all))}
	for _, name := range c.declared.Names(label) {
		if column, ok := c.Of(label, name); column == TS {
			l.time = true
		} else if ok {
			l.under, l.has[column] = append(l.under, column), true
		}
	}
	return l
}

func (c *Columns) of(label string) labelColumns {
	if l, ok := c.labels[label]; ok && label != "" {
		return l
	}
	return c.labels[Any]
}

func compareColumns(a, b Column) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type.Kind, b.Type.Kind),
		cmp.Compare(a.Type.Scale, b.Type.Scale))
}

// All returns the columns; a column's number is its index. The slice must not be written.
func (c *Columns) All() []Column { return c.all }

// Of returns the column of a property under a label, "" for no label: the one that the label declares, or that is
// declared for every label. It is TS for a declared ts.
func (c *Columns) Of(label, name string) (column int, ok bool) {
	t, ok := c.declared.Lookup(label, name)
	if !ok {
		return 0, false
	}
	if name == timeName {
		return TS, true
	}
	return c.Find(name, t)
}

// Find returns the column of a name and a type.
func (c *Columns) Find(name string, t Type) (column int, ok bool) {
	return slices.BinarySearchFunc(c.all, Column{name, t}, compareColumns)
}

// Under returns the columns of the properties that exist under a label, in the order of their names. A declared ts is
// not among them. The slice must not be written.
func (c *Columns) Under(label string) []int { return c.of(label).under }

// Declares reports whether a column, or TS, is that of a property that exists under a label.
func (c *Columns) Declares(label string, column int) bool {
	l := c.of(label)
	if column == TS {
		return l.time
	}
	return column >= 0 && column < len(l.has) && l.has[column]
}

// Check refuses values, given by column, that are not of their columns' types, or that the label does not declare. The
// error says what the edge or vertex has.
func (c *Columns) Check(label string, values []Value) error {
	if len(values) == 0 {
		return nil
	}
	l := c.of(label)
	for i, v := range values {
		switch {
		case v.IsNull():
		case i >= len(c.all):
			return fmt.Errorf("a value in column %d; there are %d columns of declared properties", i, len(c.all))
		case !l.has[i]:
			return fmt.Errorf("a value of the property %q, which the label %q does not declare as %v",
				cut(c.all[i].Name), cut(label), c.all[i].Type)
		case v.Type() != c.all[i].Type:
			return fmt.Errorf("a value of type %v of the property %q; the declared type is %v", v.Type(),
				cut(c.all[i].Name), c.all[i].Type)
		}
	}
	return nil
}

// WithoutNulls takes the nulls off the end of values by column, so that equal values are equal slices; nil for none.
func WithoutNulls(values []Value) []Value {
	for len(values) > 0 && values[len(values)-1].IsNull() {
		values = values[:len(values)-1]
	}
	if len(values) == 0 {
		return nil
	}
	return values
}
