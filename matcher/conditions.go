package matcher

import (
	"fmt"
	"slices"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Conditioned reports whether a match needs more of its elements than their labels and ends: conditions, or a window.
func (q *Query) Conditioned() bool { return len(q.Conditions) > 0 || q.Within > 0 }

// Between reports whether some condition compares several elements.
func (q *Query) Between() bool {
	return slices.ContainsFunc(q.Conditions, func(c *condition.Condition) bool { return !c.Own() })
}

// OwnOnly reports whether all that a match needs beside labels and ends is about one element each. Then it can be
// decided element by element.
func (q *Query) OwnOnly() bool { return q.Within == 0 && !q.Between() }

// ElementName returns the name of an element of the pattern.
func (q *Query) ElementName(r condition.Ref) string {
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
		if err := q.checkElements(c.Elements, c.Slots); err != nil {
			return err
		}
	}
	for _, f := range q.Fields {
		elements := []condition.Ref{f.Element}
		var slots []condition.Slot
		if f.Formula != nil {
			elements, slots = f.Formula.Elements, f.Formula.Slots
		}
		if err := q.checkElements(elements, slots); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return nil
}

func (q *Query) checkElements(elements []condition.Ref, slots []condition.Slot) error {
	for _, r := range elements {
		if n := len(q.Vertices); !r.Edge && (r.Index < 0 || r.Index >= n) {
			return fmt.Errorf("it reads vertex %d; the pattern has %d", r.Index, n)
		}
		if n := len(q.Edges); r.Edge && (r.Index < 0 || r.Index >= n) {
			return fmt.Errorf("it reads edge %d; the pattern has %d", r.Index, n)
		}
	}
	for _, s := range slots {
		if !s.Element.Edge {
			return fmt.Errorf("it reads %s.%s, and properties of vertices are not supported yet",
				q.ElementName(s.Element), condition.QuoteProperty(s.Property))
		}
	}
	return nil
}

// Resolve finds the columns that the query's conditions read. What they read, and the ts that a window reads, must be
// declared.
func (q *Query) Resolve(columns *property.Columns) ([]Condition, error) {
	if q.Within > 0 {
		for i := range q.Edges {
			if _, ok := columns.Of(q.Edges[i].Label, "ts"); !ok {
				return nil, fmt.Errorf("%w %q: within reads the ts of edge %q, which graph.properties does not "+
					"declare; declare ts: timestamp for its label", ErrQuery, q.Name, q.Edges[i].Name)
			}
		}
	}
	var all []Condition
	for _, c := range q.Conditions {
		reads := make([]Read, len(c.Slots))
		for k, s := range c.Slots {
			column, ok := columns.Of(q.Edges[s.Element.Index].Label, s.Property)
			typ := property.Type{Kind: property.Timestamp}
			if ok && column != property.TS {
				typ = columns.All()[column].Type
			}
			if !ok || typ != s.Type {
				return nil, fmt.Errorf("%w %q: it reads %s.%s as %v, which graph.properties does not declare", ErrQuery,
					q.Name, q.ElementName(s.Element), condition.QuoteProperty(s.Property), s.Type)
			}
			reads[k] = Read{Edge: s.Element.Index, Column: column}
		}
		all = append(all, Condition{Condition: c, Reads: reads})
	}
	return all, nil
}

// sameConditions reports whether two queries of equal patterns ask the same of a match, and return the same fields.
func sameConditions(a, b *Query) bool {
	if a.Within != b.Within || len(a.Conditions) != len(b.Conditions) || len(a.Fields) != len(b.Fields) {
		return false
	}
	keys := func(q *Query) (keys []string) {
		for _, c := range q.Conditions {
			keys = append(keys, c.Key(nil))
		}
		slices.Sort(keys)
		return keys
	}
	return slices.Equal(keys(a), keys(b)) && slices.EqualFunc(a.Fields, b.Fields, sameField)
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
