package property

import (
	"fmt"
	"maps"
	"slices"
)

// Any is the label under which properties of every label are declared, and of what has no label.
const Any = "*"

// Declarations are the declared properties of one side of the schema: label -> property -> type. The label Any holds
// for all.
type Declarations map[string]map[string]Type

// Schema is the declaration `graph.properties`. `ts` of an edge is declared like a property, as a timestamp.
type Schema struct {
	Vertices Declarations `json:"vertices,omitempty"`
	Edges    Declarations `json:"edges,omitempty"`
}

// Validate checks that every declaration can be meant.
func (s *Schema) Validate() error {
	if err := s.Vertices.validate("vertex"); err != nil {
		return err
	}
	for label, props := range s.Edges {
		if t, ok := props["ts"]; ok && t.Kind != Timestamp {
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
	return append(ds, differences("vertices.", s.Vertices, other.Vertices)...)
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
