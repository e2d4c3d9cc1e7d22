package property

import (
	"fmt"
	"maps"
	"slices"
)

// Any is the label under which properties of every label are declared, and of elements without a label.
const Any = "*"

// Declarations are the declared properties of one side of the schema: label -> property -> type. The label Any holds
// for all.
type Declarations map[string]map[string]Type

// Schema is the declaration `graph.properties`. `ts` of an edge is declared like a property, as a timestamp.
type Schema struct {
	Vertices Declarations `json:"vertices,omitempty"`
	Edges    Declarations `json:"edges,omitempty"`
	// VertexOrder and EdgeOrder are the columns in the order in which their values are stored, once declarations have
	// changed (Redeclared): columns of properties that were declared before stay among them. nil: by name, then type.
	VertexOrder []Column `json:"vertex_order,omitempty"`
	EdgeOrder   []Column `json:"edge_order,omitempty"`
	// SeveralLabels lets a vertex have several labels, which come and go (DESIGN S16): `graph.vertex_labels: several`.
	// Then the labels of a vertex are one of its values (VertexColumns), and a property that is declared under one
	// vertex label is declared for all vertices. It never changes.
	SeveralLabels bool `json:"several_labels,omitempty"`
}

// Several reports whether a vertex may have several labels; with a schema that is nil it has one at most.
func (s *Schema) Several() bool { return s != nil && s.SeveralLabels }

// EdgeDeclarations returns the declared properties of edges; a schema that is nil declares none.
func (s *Schema) EdgeDeclarations() Declarations {
	if s == nil {
		return nil
	}
	return s.Edges
}

// VertexDeclarations returns the declared properties of vertices; a schema that is nil declares none. Where a vertex
// may have several labels, all are declared under Any.
func (s *Schema) VertexDeclarations() Declarations {
	if s == nil {
		return nil
	}
	if !s.SeveralLabels || len(s.Vertices) == 0 {
		return s.Vertices
	}
	all := make(map[string]Type)
	for _, props := range s.Vertices {
		maps.Copy(all, props) // Validate: a name has one type
	}
	return Declarations{Any: all}
}

// EdgeColumns returns the columns of the values of edges.
func (s *Schema) EdgeColumns() *Columns {
	if s == nil {
		return Declarations(nil).Columns()
	}
	return s.Edges.in(s.EdgeOrder)
}

// VertexColumns returns the columns of the values of vertices: first that of the labels where a vertex may have
// several, then those of declared properties.
func (s *Schema) VertexColumns() *Columns {
	if s == nil {
		return Declarations(nil).Columns()
	}
	d := s.VertexDeclarations()
	if !s.SeveralLabels {
		return d.in(s.VertexOrder)
	}
	order := s.VertexOrder
	if order == nil {
		order = d.sorted()
	}
	return newColumns(d, append([]Column{labelsColumn}, order...), s.VertexOrder != nil)
}

func (d Declarations) in(order []Column) *Columns {
	if order == nil {
		return d.Columns()
	}
	return newColumns(d, order, true)
}

// Redeclared returns the declarations of next. Its columns are those of s, in their places, so that stored values can
// be read, and the new ones behind them. It is s where both declare the same.
func (s *Schema) Redeclared(next *Schema) *Schema {
	if len(s.Differences(next)) == 0 {
		return s
	}
	r := &Schema{Edges: next.EdgeDeclarations(), Vertices: next.VertexDeclarations(), SeveralLabels: next.Several()}
	r.EdgeOrder = extended(s.EdgeColumns().Declared(), r.Edges)
	r.VertexOrder = extended(s.VertexColumns().Declared(), r.Vertices)
	return r
}

// extended returns columns with those behind them that the declarations need and that are not among them.
func extended(columns []Column, d Declarations) []Column {
	all := slices.Clone(columns)
	for _, c := range d.sorted() {
		if !slices.Contains(columns, c) {
			all = append(all, c)
		}
	}
	return all
}

// With returns the declarations of both; of a property that both declare with different types, that of other. It has
// the columns that Redeclared gives it. ok is false where the two do not go together: a property would be declared for
// every label and, with another type, for one.
func (s *Schema) With(other *Schema) (both *Schema, ok bool) {
	both = &Schema{Edges: s.EdgeDeclarations().with(other.EdgeDeclarations()),
		Vertices: s.VertexDeclarations().with(other.VertexDeclarations()), SeveralLabels: other.Several()}
	if both.Validate() != nil {
		return nil, false
	}
	return s.Redeclared(both), true
}

func (d Declarations) with(other Declarations) Declarations {
	both := make(Declarations)
	for _, side := range [2]Declarations{d, other} {
		for label, props := range side {
			if both[label] == nil {
				both[label] = make(map[string]Type)
			}
			maps.Copy(both[label], props)
		}
	}
	if len(both) == 0 {
		return nil
	}
	return both
}

// Extends checks that s has all columns of before in their places, so that values which are stored by these can be read
// by its own.
func (s *Schema) Extends(before *Schema) error {
	for _, side := range []struct {
		what     string
		old, now *Columns
	}{{"edges", before.EdgeColumns(), s.EdgeColumns()}, {"vertices", before.VertexColumns(), s.VertexColumns()}} {
		if n := len(side.old.all); len(side.now.all) < n || !slices.Equal(side.old.all, side.now.all[:n]) {
			return fmt.Errorf("the columns of %s are %v; they have to begin with those that are there, %v", side.what,
				side.now.all, side.old.all)
		}
		for _, c := range side.now.declared.sorted() {
			if _, ok := side.now.at[c]; !ok {
				return fmt.Errorf("the declared property %q of %s has no column", c.Name, side.what)
			}
		}
	}
	return nil
}

// Validate checks names and types of the declarations, and that no two contradict each other.
func (s *Schema) Validate() error {
	if err := s.Vertices.validate("vertex"); err != nil {
		return err
	}
	if labels := s.Vertices.Labels(TimeName); len(labels) > 0 {
		return fmt.Errorf("property %q of the vertex label %q: ts is the time of edges; give the property another name",
			TimeName, labels[0])
	}
	if s.SeveralLabels {
		if err := s.Vertices.checkOneType(); err != nil {
			return err
		}
	}
	for label, props := range s.Edges {
		if t, ok := props[TimeName]; ok && t.Kind != Timestamp {
			return fmt.Errorf("ts of the edge label %q is declared %v; it is a timestamp", label, t)
		}
	}
	return s.Edges.validate("edge")
}

func (d Declarations) validate(what string) error {
	for _, label := range slices.Sorted(maps.Keys(d)) {
		for _, name := range slices.Sorted(maps.Keys(d[label])) {
			t := d[label][name]
			if name == "" {
				return fmt.Errorf("a property of the %s label %q has an empty name", what, label)
			}
			if t.Kind == Null || t.Kind > Timestamp || t.Scale > MaxScale || t.Scale > 0 && t.Kind != Decimal {
				return fmt.Errorf("property %q of the %s label %q has no type", name, what, label)
			}
			if all, ok := d[Any][name]; ok && all != t {
				return fmt.Errorf("property %q of the %s label %q is declared %v, and %v for every label (%q); "+
					"declare it once, or with one type", name, what, label, t, all, Any)
			}
		}
	}
	return nil
}

// checkOneType checks that no name has two types under different labels: a vertex may have both labels.
func (d Declarations) checkOneType() error {
	first := make(map[string]string) // by name, the label that declares it
	for _, label := range slices.Sorted(maps.Keys(d)) {
		for _, name := range slices.Sorted(maps.Keys(d[label])) {
			other, ok := first[name]
			if !ok {
				first[name] = label
				continue
			}
			if a, b := d[other][name], d[label][name]; a != b {
				return fmt.Errorf("property %q is declared %v for the vertex label %q and %v for %q; a vertex may "+
					"have both labels (graph.vertex_labels: several): give it one type, or two names", name, a, other,
					b, label)
			}
		}
	}
	return nil
}

// Lookup returns the type of a property under a label; "" is no label.
func (d Declarations) Lookup(label, name string) (Type, bool) {
	if t, ok := d[label][name]; ok && label != "" {
		return t, true
	}
	t, ok := d[Any][name]
	return t, ok
}

// Labels returns the labels that declare the property, in order.
func (d Declarations) Labels(name string) []string {
	var labels []string
	for _, label := range slices.Sorted(maps.Keys(d)) {
		if _, ok := d[label][name]; ok {
			labels = append(labels, label)
		}
	}
	return labels
}

// Names returns the properties that exist under a label, in order.
func (d Declarations) Names(label string) []string {
	seen := maps.Clone(d[Any])
	if seen == nil {
		seen = make(map[string]Type)
	}
	maps.Copy(seen, d[label])
	return slices.Sorted(maps.Keys(seen))
}

// Difference is a declaration in which two schemas differ.
type Difference struct {
	Path string // edges.TRANSFER.amount
	A, B string // the type, or that it is not declared
}

// Differences lists in which declarations two schemas differ, in the order of their paths. nil declares nothing.
func (s *Schema) Differences(other *Schema) []Difference {
	if s == nil {
		s = &Schema{}
	}
	if other == nil {
		other = &Schema{}
	}
	ds := differences("edges.", s.Edges, other.Edges)
	return append(ds, differences("vertices.", s.VertexDeclarations(), other.VertexDeclarations())...)
}

func differences(path string, a, b Declarations) (ds []Difference) {
	text := func(d Declarations, label, name string) string {
		if t, ok := d[label][name]; ok {
			return t.String()
		}
		return "not declared"
	}
	labels := make(map[string]map[string]bool)
	for _, d := range [2]Declarations{a, b} {
		for label, props := range d {
			for name := range props {
				if labels[label] == nil {
					labels[label] = make(map[string]bool)
				}
				labels[label][name] = true
			}
		}
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		for _, name := range slices.Sorted(maps.Keys(labels[label])) {
			if x, y := text(a, label, name), text(b, label, name); x != y {
				ds = append(ds, Difference{path + label + "." + name, x, y})
			}
		}
	}
	return ds
}
