package plan

import (
	"fmt"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// resolveConditions finds the columns that the query's conditions read.
func resolveConditions(p *matcher.Plan, g *dyngraph.Graph) error {
	q, columns := p.Query, g.Columns()
	if q.Within > 0 {
		for i := range q.Edges {
			if _, ok := columns.Of(q.Edges[i].Label, "ts"); !ok {
				return fmt.Errorf("%w %q: within reads the ts of edge %q, which graph.properties does not declare; "+
					"declare ts: timestamp for its label", matcher.ErrQuery, q.Name, q.Edges[i].Name)
			}
		}
	}
	if len(q.Conditions) == 0 {
		return nil
	}
	p.Own = make([][]int, len(q.Edges))
	for i, c := range q.Conditions {
		reads := make([]matcher.Read, len(c.Slots))
		for k, s := range c.Slots {
			column, ok := columns.Of(q.Edges[s.Element.Index].Label, s.Property)
			typ := property.Type{Kind: property.Timestamp}
			if ok && column != property.TS {
				typ = columns.All()[column].Type
			}
			ok = ok && typ == s.Type
			if !ok {
				return fmt.Errorf("%w %q: it reads %s.%s as %v, which graph.properties does not declare",
					matcher.ErrQuery, q.Name, q.ElementName(s.Element), condition.QuoteProperty(s.Property), s.Type)
			}
			reads[k] = matcher.Read{Edge: s.Element.Index, Column: column}
		}
		p.Conditions = append(p.Conditions, matcher.Condition{Condition: c, Reads: reads})
		if c.Own() {
			e := c.Elements[0].Index
			p.Own[e] = append(p.Own[e], i)
		}
	}
	return nil
}

// marks tell pattern edges apart by the conditions on them: no automorphism maps edges of different marks to one
// another.
func marks(q *matcher.Query) []string {
	marks := make([]string, len(q.Edges))
	for e := range q.Edges {
		this := condition.Ref{Edge: true, Index: e}
		var keys []string
		for _, c := range q.Conditions {
			if slices.Contains(c.Elements, this) {
				keys = append(keys, c.Key(func(r condition.Ref) condition.Ref {
					if r == this {
						return condition.Ref{Edge: true, Index: 1}
					}
					return condition.Ref{Edge: r.Edge}
				}))
			}
		}
		slices.Sort(keys)
		marks[e] = strings.Join(keys, " AND ")
	}
	return marks
}
