package plan

import (
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// own returns Plan.Own and Plan.OwnVertex.
func own(p *matcher.Plan) (edges, vertices [][]int) {
	if len(p.Conditions) == 0 {
		return nil, nil
	}
	edges, vertices = make([][]int, len(p.Query.Edges)), make([][]int, len(p.Query.Vertices))
	for i := range p.Conditions {
		if c := &p.Conditions[i]; c.Own() {
			of := vertices
			if c.Elements[0].Edge {
				of = edges
			}
			at := c.Elements[0].Index
			of[at] = append(of[at], i)
		}
	}
	return edges, vertices
}

// asked returns Plan.Asked.
func asked(p *matcher.Plan) []matcher.Asked {
	all := make([]matcher.Asked, len(p.Query.Vertices))
	for i := range p.Conditions {
		switch c := &p.Conditions[i]; {
		case !c.Own():
			for _, r := range c.Reads {
				if !r.Element.Edge {
					a := &all[r.Element.Index]
					a.Columns = append(a.Columns, r.Column)
				}
			}
		case !c.Elements[0].Edge:
			a := &all[c.Elements[0].Index]
			a.Own = append(a.Own, c)
		}
	}
	for v := range all {
		slices.Sort(all[v].Columns)
		all[v].Columns = slices.Compact(all[v].Columns)
	}
	return all
}

// mark tells elements of a pattern apart by the conditions on them: no automorphism maps elements of different marks to
// one another.
func mark(conditions []*condition.Condition, this condition.Ref) string {
	if len(conditions) == 0 {
		return ""
	}
	var keys []string
	for _, c := range conditions {
		if slices.Contains(c.Elements, this) {
			keys = append(keys, c.Key(func(r condition.Ref) condition.Ref {
				if r == this {
					return condition.Ref{Edge: this.Edge, Index: 1}
				}
				return condition.Ref{Edge: r.Edge}
			}))
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, " AND ")
}

// ownConditions are those of a query that are on one element alone.
func ownConditions(q *matcher.Query) (own []*condition.Condition) {
	for _, c := range q.Conditions {
		if c.Own() {
			own = append(own, c)
		}
	}
	return own
}

// marks are those of the pattern's edges.
func marks(q *matcher.Query, conditions []*condition.Condition) []string {
	marks := make([]string, len(q.Edges))
	for e := range q.Edges {
		marks[e] = mark(conditions, condition.Ref{Edge: true, Index: e})
	}
	return marks
}
