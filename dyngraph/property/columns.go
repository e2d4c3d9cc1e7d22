package property

import (
	"cmp"
	"fmt"
	"slices"
)

// TS stands for the time of an edge where a column is named: `ts` is declared like a property and is no column.
const TS = -1

// TimeName is the name of the time of an edge, which is declared like a property.
const TimeName = "ts"

// Column is a declared property of some labels: those that declare the name with the same type share it. That of the
// labels of a vertex has no name and the type Labels.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// Columns are the columns in which the values of one side of the schema are stored. They are immutable.
type Columns struct {
	declared Declarations
	all      []Column                 // labels, then the others; checkpoints store values in this order
	at       map[Column]int           // index in all
	labels   map[string]*LabelColumns // of the labels that declare something
	changed  bool                     // since a change, values may be of properties that are not declared now
}

// LabelColumns are the columns of the properties that exist under a label. They are immutable.
type LabelColumns struct {
	all  []int  // by name
	has  []bool // by column
	time bool   // ts is declared
}

// Columns returns the columns of the declarations, which must not change any more: by name, then type. Equal
// declarations have equal columns.
func (d Declarations) Columns() *Columns { return newColumns(d, d.sorted(), false) }

// sorted returns the columns that the declarations need, by name, then type.
func (d Declarations) sorted() (all []Column) {
	for _, props := range d {
		for name, t := range props {
			if name != TimeName {
				all = append(all, Column{name, t})
			}
		}
	}
	slices.SortFunc(all, compareColumns)
	return slices.Compact(all)
}

// newColumns returns the columns all, in which those of the declarations are.
func newColumns(d Declarations, all []Column, changed bool) *Columns {
	c := &Columns{declared: d, all: all, at: make(map[Column]int, len(all)), changed: changed}
	for i, column := range all {
		c.at[column] = i
	}
	c.labels = map[string]*LabelColumns{Any: c.compile(Any)}
	for label := range d {
		c.labels[label] = c.compile(label)
	}
	return c
}

func (c *Columns) compile(label string) *LabelColumns {
	l := &LabelColumns{has: make([]bool, len(c.all))}
	for _, name := range c.declared.Names(label) {
		if column, ok := c.Of(label, name); column == TS {
			l.time = true
		} else if ok {
			l.all, l.has[column] = append(l.all, column), true
		}
	}
	return l
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
	if name == TimeName {
		return TS, true
	}
	return c.Find(name, t)
}

// Find returns the column of a name and a type.
func (c *Columns) Find(name string, t Type) (column int, ok bool) {
	column, ok = c.at[Column{name, t}]
	return column, ok
}

// labelsColumn is that of the labels of a vertex that may have several. It is the first one, whatever is declared.
var labelsColumn = Column{Type: Type{Kind: Labels}}

// Labels returns the column of the labels of a vertex, false where a vertex has one label at most.
func (c *Columns) Labels() (column int, ok bool) {
	return 0, len(c.all) > 0 && c.all[0] == labelsColumn
}

// Declared returns the columns of properties, without that of labels.
func (c *Columns) Declared() []Column {
	if _, ok := c.Labels(); ok {
		return c.all[1:]
	}
	return c.all
}

// Under returns the columns of the properties that exist under a label, "" for no label.
func (c *Columns) Under(label string) *LabelColumns {
	if l, ok := c.labels[label]; ok && label != "" {
		return l
	}
	return c.labels[Any]
}

// All returns the columns in the order of their names. A declared ts is not among them. The slice must not be written.
func (l *LabelColumns) All() []int { return l.all }

// Has reports whether a column, or TS, is that of a property that exists under the label.
func (l *LabelColumns) Has(column int) bool {
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
	l := c.Under(label)
	for i, v := range values {
		if err := c.checkType(i, v); err != nil {
			return err
		}
		if !v.IsNull() && v.kind != Labels && !l.has[i] {
			return fmt.Errorf("a value of the property %q, which the label %q does not declare as %v",
				cut(c.all[i].Name), cut(label), c.all[i].Type)
		}
	}
	return nil
}

// CheckStored is Check for values of a checkpoint: those of a property that was declared when they were stored may be
// among them.
func (c *Columns) CheckStored(label string, values []Value) error {
	if c.changed {
		return c.CheckTypes(values)
	}
	return c.Check(label, values)
}

// CheckTypes refuses values, given by column, that are not of their columns' types, whatever the label. The error says
// what the vertex has.
func (c *Columns) CheckTypes(values []Value) error {
	for i, v := range values {
		if err := c.checkType(i, v); err != nil {
			return err
		}
	}
	return nil
}

func (c *Columns) checkType(column int, v Value) error {
	switch {
	case v.IsNull():
	case column >= len(c.all):
		return fmt.Errorf("a value in column %d; there are %d columns of declared properties", column, len(c.all))
	case v.kind == Labels && v.Type() == c.all[column].Type && !canonical(v.text):
		return fmt.Errorf("the labels %q, which are not in order, or not different", cut(v.text))
	case v.Type() != c.all[column].Type:
		return fmt.Errorf("a value of type %v of the property %q; the declared type is %v", v.Type(),
			cut(c.all[column].Name), c.all[column].Type)
	}
	return nil
}

// Named returns the columns of a name that is declared, one for each type that it is declared with, by type.
func (c *Columns) Named(name string) (columns []int) {
	for _, column := range c.declared.sorted() {
		if column.Name == name {
			columns = append(columns, c.at[column])
		}
	}
	return columns
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
