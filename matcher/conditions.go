package matcher

import (
	"fmt"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Conditioned reports whether a match needs more of its elements than their labels and ends: conditions, or a window.
func (q *Query) Conditioned() bool {
	return len(q.Conditions) > 0 || q.Within > 0 || len(q.Rises)+len(q.Spans) > 0
}

// Between reports whether some condition compares several elements.
func (q *Query) Between() bool {
	return len(q.Rises)+len(q.Spans) > 0 ||
		slices.ContainsFunc(q.Conditions, func(c *condition.Condition) bool { return !c.Own() })
}

// OwnOnly reports whether all that a match needs beside labels and ends is about one edge or vertex each. Then it can
// be decided element by element.
func (q *Query) OwnOnly() bool { return q.Within == 0 && !q.Between() }

// ReadsVertices reports whether some condition reads a property of a vertex.
func (q *Query) ReadsVertices() bool {
	return slices.ContainsFunc(q.Conditions, func(c *condition.Condition) bool { return !c.Elements[0].Edge })
}

// dependsOnVertices reports whether a match can end by what becomes of its vertices, while its edges stay.
func (q *Query) dependsOnVertices() bool { return q.IsVertex() || q.ReadsVertices() }

// ElementName returns the name of an element of the pattern.
func (q *Query) ElementName(r condition.Ref) string {
	if r.Aggregate {
		return q.Groups.Aggregate(r.Index).Name
	}
	if r.Edge {
		return q.Edges[r.Index].Name
	}
	return q.Vertices[r.Index].Name
}

// checkConditions checks that conditions and fields are about elements of the pattern which can be asked about.
func (q *Query) checkConditions() error {
	if q.Within < 0 {
		return fmt.Errorf("within is %d ms; it is a duration of 1 ms at least, or absent", q.Within)
	}
	for _, c := range q.Conditions {
		if err := q.checkElements(c.Elements); err != nil {
			return err
		}
	}
	return q.checkFields()
}

func (q *Query) checkFields() error {
	for _, f := range q.Fields {
		elements := []condition.Ref{f.Element}
		if f.Formula != nil {
			elements = f.Formula.Elements
		}
		if err := q.checkElements(elements); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return q.checkRead()
}

func (q *Query) checkElements(elements []condition.Ref) error {
	for _, r := range elements {
		if r.Aggregate {
			if q.Groups == nil || r.Index < 0 || r.Index >= len(q.Groups.Aggregates()) {
				return fmt.Errorf("it reads aggregate %d, which there is not", r.Index)
			}
			continue
		}
		if n := len(q.Vertices); !r.Edge && (r.Index < 0 || r.Index >= n) {
			return fmt.Errorf("it reads vertex %d; the pattern has %d", r.Index, n)
		}
		if n := len(q.Edges); r.Edge && (r.Index < 0 || r.Index >= n) {
			return fmt.Errorf("it reads edge %d; the pattern has %d", r.Index, n)
		}
	}
	return nil
}

// Resolve finds the columns of the graph that the query's conditions read. What they read, and the ts that a window
// reads, must be declared. Of a query with paths, the conditions are those of its longest variant.
func (q *Query) Resolve(g *dyngraph.Graph) ([]Condition, error) {
	return q.resolve(declaration{g.Options().Schema, g.Columns(), g.VertexColumns()})
}

// declaration has the properties that a graph declares, with their columns.
type declaration struct {
	schema          *property.Schema
	edges, vertices *property.Columns
}

func (q *Query) resolve(d declaration) ([]Condition, error) {
	if q.HasPaths() {
		q = q.longest()
	}
	if err := q.Timed(d.schema.EdgeDeclarations()); err != nil {
		return nil, err
	}
	if q.Groups != nil {
		if q.Groups.HasPaths() {
			q = q.groupVariant(q.Groups.ofStage(&Stage{}).longest().Lengths())
		}
		_, err := q.resolveGroups(d, func(string, []string) dyngraph.LabelID { return UnknownLabel })
		return nil, err
	}
	var all []Condition
	for _, c := range q.Conditions {
		reads, err := q.columns(d, c.Slots)
		if err != nil {
			return nil, err
		}
		all = append(all, Condition{Condition: c, Reads: reads})
	}
	return all, nil
}

// read returns the column that a slot of the query reads.
func (q *Query) read(d declaration, s condition.Slot) (column int, err error) {
	columns, label, anyOf := d.vertices, "", []string(nil)
	if s.Type.Kind == property.Labels {
		if column, ok := columns.Labels(); ok {
			return column, nil
		}
		return 0, fmt.Errorf("%w %q: it asks %s for several labels, and the graph's vertices have one "+
			"(graph.vertex_labels)", ErrQuery, q.Name, q.ElementName(s.Element))
	}
	if at := s.Element.Index; s.Element.Edge {
		columns, label, anyOf = d.edges, q.Edges[at].Label, q.Edges[at].AnyOf
	} else {
		label, anyOf = q.Vertices[at].Label, q.Vertices[at].AnyOf
	}
	column, ok := columnOf(columns, label, anyOf, s.Property)
	typ := property.Type{Kind: property.Timestamp}
	if ok && column != property.TS {
		typ = columns.All()[column].Type
	}
	if ok && typ == s.Type {
		return column, nil
	}
	declares := "does not declare"
	if ok {
		declares = "declares as " + typ.String()
	}
	return 0, fmt.Errorf("%w %q: it reads %s.%s as %v, which graph.properties %s", ErrQuery, q.Name,
		q.ElementName(s.Element), condition.QuoteProperty(s.Property), s.Type, declares)
}

// reads checks that all that the query reads is declared: by conditions, its window and its fields.
func (q *Query) reads(d declaration) error {
	if _, err := q.resolve(d); err != nil {
		return err
	}
	for _, f := range q.Fields {
		if f.Formula == nil {
			continue
		}
		if _, err := q.columns(d, f.Formula.Slots); err != nil {
			return err
		}
	}
	return nil
}

// Timed checks that within can be decided: each edge of the pattern has a label that declares ts.
func (q *Query) Timed(edges property.Declarations) error {
	if q.Within == 0 {
		return nil
	}
	for _, e := range q.Edges {
		labels := e.AnyOf
		if labels == nil {
			labels = []string{e.Label}
		}
		at := slices.IndexFunc(labels, func(l string) bool { _, ok := edges.Lookup(l, property.TimeName); return !ok })
		if at < 0 {
			continue
		}
		label, hint := labels[at], ""
		if label == "" {
			label = property.Any
			if has := edges.Labels(property.TimeName); len(has) > 0 {
				hint = ", or give the edge a label that declares it: " + strings.Join(has, ", ")
			}
		}
		return fmt.Errorf("%w %q: within reads the ts of edge %q, which is not declared for the label %q; declare it: "+
			"graph.properties.edges: {%q: {ts: timestamp}}%s", ErrQuery, q.Name, e.Name, label, label, hint)
	}
	return nil
}

// columnOf returns where the values of a property of the images of an edge or a vertex are. Under all alternatives of
// its labels the property is declared with the same type; columns are by name and type.
func columnOf(columns *property.Columns, label string, anyOf []string, name string) (column int, ok bool) {
	column, ok = columns.Of(label, name)
	for i, label := range anyOf {
		other, declared := columns.Of(label, name)
		if !declared || i > 0 && other != column {
			return 0, false
		}
		column, ok = other, true
	}
	return column, ok
}

// sameConditions reports whether two queries of equal patterns ask the same of a match, and return the same fields.
func sameConditions(a, b *Query) bool {
	return a.Within == b.Within && sameKeys(a.Conditions, b.Conditions) &&
		slices.EqualFunc(a.Fields, b.Fields, sameField) &&
		slices.EqualFunc(a.Rises, b.Rises, func(x, y Rise) bool { return slices.Equal(x.Edges, y.Edges) }) &&
		slices.EqualFunc(a.Spans, b.Spans, func(x, y Span) bool {
			return x.Most == y.Most && slices.Equal(x.Edges, y.Edges)
		})
}

// sameKeys reports whether conditions say the same together.
func sameKeys(a, b []*condition.Condition) bool {
	keys := func(all []*condition.Condition) (keys []string) {
		for _, c := range all {
			keys = append(keys, c.Key(nil))
		}
		slices.Sort(keys)
		return keys
	}
	return slices.Equal(keys(a), keys(b))
}

// sameField compares fields by what is stored of them, without the places in the source.
func sameField(a, b Field) bool {
	if a.Name != b.Name || (a.Formula == nil) != (b.Formula == nil) {
		return false
	}
	if a.Formula == nil {
		return a.Element == b.Element
	}
	return a.Formula.Key() == b.Formula.Key()
}
