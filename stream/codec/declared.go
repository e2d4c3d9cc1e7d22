package codec

import (
	"bytes"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

// declaredReader takes the declared properties out of those that an update brings, and gives them their types (DESIGN
// S13). The others ride along in Attr.Props.
type declaredReader struct {
	columns *property.Columns
	s       scanner
	rest    []byte           // scratch: the object of the others
	skipped []byte           // scratch
	values  []property.Value // scratch
}

// newDeclaredReader returns nil where no property of edges is declared.
func newDeclaredReader(schema *property.Schema) *declaredReader {
	if schema == nil {
		return nil
	}
	columns := schema.Edges.Columns()
	if len(columns.All()) == 0 {
		return nil
	}
	return &declaredReader{columns: columns, s: scanner{maxDepth: maxDepth}}
}

// column returns the column of a name under a label, which has the columns under.
func (d *declaredReader) column(under []int, name []byte) (int, bool) {
	for _, column := range under {
		if d.columns.All()[column].Name == string(name) {
			return column, true
		}
	}
	return 0, false
}

func (d *declaredReader) put(column int, v property.Value) {
	if v.IsNull() {
		return
	}
	for len(d.values) <= column {
		d.values = append(d.values, property.Value{})
	}
	d.values[column] = v
}

// take returns the values that were put.
func (d *declaredReader) take() []property.Value {
	if len(d.values) == 0 {
		return nil
	}
	values := append([]property.Value(nil), d.values...)
	d.values = d.values[:0]
	return values
}

// fromJSON moves the declared members of an edge's props, a compact object that has been read, to its values.
func (d *declaredReader) fromJSON(u *dyngraph.Update) *stream.DecodeError {
	if d == nil || len(u.Attr.Props) == 0 {
		return nil
	}
	under := d.columns.Under(u.Label)
	if len(under) == 0 {
		return nil
	}
	s := &d.s
	s.reset(u.Attr.Props)
	s.i++
	d.rest, d.values = append(d.rest[:0], '{'), d.values[:0]
	found := false
	for first := true; ; first = false {
		name, at, more, err := s.member(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		column, ok := d.column(under, name)
		start := s.i
		if d.skipped, err = s.value(d.skipped[:0], 1); err != nil {
			return err
		}
		if !ok {
			if len(d.rest) > 1 {
				d.rest = append(d.rest, ',')
			}
			d.rest = append(d.rest, u.Attr.Props[at:s.i]...)
			continue
		}
		found = true
		v, bad := property.FromJSON(d.columns.All()[column].Type, u.Attr.Props[start:s.i])
		if bad != nil {
			return d.refuse(u.Label, column, bad)
		}
		d.put(column, v)
	}
	u.Attr.Values = d.take()
	if len(d.rest) == 1 && found {
		u.Attr.Props = nil
	} else if found {
		u.Attr.Props = append(bytes.Clone(d.rest), '}')
	}
	return nil
}

// fromText takes one value of a row. An empty cell is null. It reports whether the property is declared.
func (d *declaredReader) fromText(label, name, text string) (bool, *stream.DecodeError) {
	if d == nil {
		return false, nil
	}
	column, ok := d.column(d.columns.Under(label), []byte(name))
	if !ok || text == "" {
		return ok, nil
	}
	t := d.columns.All()[column].Type
	if t.Kind == property.String {
		text = strings.Clone(text) // the value keeps it
	}
	v, err := property.FromText(t, text)
	if err != nil {
		return true, d.refuse(label, column, err)
	}
	d.put(column, v)
	return true, nil
}

func (d *declaredReader) refuse(label string, column int, err error) *stream.DecodeError {
	of := "of the edge label " + show(label)
	if label == "" {
		of = "of an edge without label"
	}
	return refuse(ReasonProperty, "the property %s %s: %s", show(d.columns.All()[column].Name), of,
		strings.TrimPrefix(err.Error(), property.ErrValue.Error()+": "))
}
