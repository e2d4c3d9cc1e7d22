package plan

import (
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// own returns Plan.Own.
func own(p *matcher.Plan) [][]int {
	if len(p.Conditions) == 0 {
		return nil
	}
	own := make([][]int, len(p.Query.Edges))
	for i := range p.Conditions {
		if c := &p.Conditions[i]; c.Own() {
			e := c.Elements[0].Index
			own[e] = append(own[e], i)
		}
	}
	return own
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
