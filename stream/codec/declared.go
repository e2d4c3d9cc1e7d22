package codec

import (
	"bytes"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

// declaredReader takes the declared properties out of those that an update brings, and gives them their types (DESIGN
// S13). The others of an edge ride along in Attr.Props; those of a vertex are left out.
type declaredReader struct {
	columns  *property.Columns // of edges
	vertices *property.Columns
	several  bool // a vertex may have several labels: what is declared for vertices is so for all
	s        scanner
	rest     []byte           // scratch: the object of the others
	skipped  []byte           // scratch
	values   []property.Value // scratch
}

// newDeclaredReader returns nil where no property is declared.
func newDeclaredReader(schema *property.Schema) *declaredReader {
	d := &declaredReader{columns: schema.EdgeColumns(), vertices: schema.VertexColumns(), several: schema.Several(),
		s: scanner{maxDepth: maxDepth}}
	if len(d.columns.All())+len(d.vertices.Declared()) == 0 {
		return nil
	}
	return d
}

// ofVertices reports whether a property of vertices is declared.
func (d *declaredReader) ofVertices() bool { return d != nil && len(d.vertices.Declared()) > 0 }

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

// fromJSON moves the declared members of props, a compact object that has been read, to the update's values.
func (d *declaredReader) fromJSON(u *dyngraph.Update) *stream.DecodeError {
	if d == nil || len(u.Attr.Props) == 0 {
		return nil
	}
	if u.Op.OfVertex() {
		return d.vertexFromJSON(u)
	}
	under := d.columns.Under(u.Label).All()
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
	column, ok := d.column(d.columns.Under(label).All(), []byte(name))
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

// vertexFromJSON moves the declared members of a vertex's props to its values.
func (d *declaredReader) vertexFromJSON(u *dyngraph.Update) *stream.DecodeError {
	props := u.Attr.Props
	u.Attr.Props = nil
	s := &d.s
	s.reset(props)
	s.i++
	d.values = d.values[:0]
	for first := true; ; first = false {
		name, _, more, err := s.member(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		column, ok, err := d.vertexColumn(d.labelOf(u), string(name))
		if err != nil {
			return err
		}
		start := s.i
		if d.skipped, err = s.value(d.skipped[:0], 1); err != nil {
			return err
		}
		if !ok {
			continue
		}
		v, bad := property.FromJSON(d.vertices.All()[column].Type, props[start:s.i])
		if bad != nil {
			return d.refuseVertex(d.labelOf(u), column, bad)
		}
		d.putVertex(u, column, v)
	}
	d.takeVertex(u)
	return nil
}

// vertexFromText takes one value of a row of a vertex. An empty cell is null.
func (d *declaredReader) vertexFromText(u *dyngraph.Update, name, text string) *stream.DecodeError {
	column, ok, err := d.vertexColumn(d.labelOf(u), name)
	if err != nil || !ok {
		return err
	}
	var v property.Value
	if text != "" {
		var bad error
		if v, bad = property.FromText(d.vertices.All()[column].Type, strings.Clone(text)); bad != nil {
			return d.refuseVertex(d.labelOf(u), column, bad)
		}
	}
	d.putVertex(u, column, v)
	return nil
}

// labelOf returns the label of the vertex in an update, "" where it may have several.
func (d *declaredReader) labelOf(u *dyngraph.Update) string {
	if d.several {
		return ""
	}
	return u.Label
}

// vertexColumn returns the column of a vertex's property. An update without a label is about a vertex of any label, so
// that the name must have one type then.
func (d *declaredReader) vertexColumn(label, name string) (column int, ok bool, err *stream.DecodeError) {
	if label != "" {
		column, ok = d.vertices.Of(label, name)
		return column, ok, nil
	}
	columns := d.vertices.Named(name)
	switch len(columns) {
	case 0:
		return 0, false, nil
	case 1:
		return columns[0], true, nil
	}
	all := d.vertices.All()
	return 0, false, refuse(ReasonProperty, "the property %s is declared as %v for some labels of vertices and as %v "+
		"for others; give the vertex's label", show(name), all[columns[0]].Type, all[columns[1]].Type)
}

// putVertex notes a value of a vertex, and that it is named.
func (d *declaredReader) putVertex(u *dyngraph.Update, column int, v property.Value) {
	d.put(column, v)
	if u.Op == dyngraph.ReviseVertex {
		u.Named = append(u.Named, column)
	}
}

// takeVertex gives the update the values that were put.
func (d *declaredReader) takeVertex(u *dyngraph.Update) {
	u.Attr.Values = d.take()
	slices.Sort(u.Named)
	if u.Op == dyngraph.DeleteVertex {
		u.Attr.Values = nil // checked, and of no use
	}
}

func (d *declaredReader) refuseVertex(label string, column int, err error) *stream.DecodeError {
	of := "of a vertex"
	if label != "" {
		of = "of the vertex label " + show(label)
	}
	return refuseValue(d.vertices.All()[column].Name, of, err)
}

func (d *declaredReader) refuse(label string, column int, err error) *stream.DecodeError {
	of := "of the edge label " + show(label)
	if label == "" {
		of = "of an edge without label"
	}
	return refuseValue(d.columns.All()[column].Name, of, err)
}

func refuseValue(name, of string, err error) *stream.DecodeError {
	return refuse(ReasonProperty, "the property %s %s: %s", show(name), of,
		strings.TrimPrefix(err.Error(), property.ErrValue.Error()+": "))
}
