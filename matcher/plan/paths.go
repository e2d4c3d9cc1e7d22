package plan

import (
	"fmt"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
)

// paths plans a query with paths: each of its variants by itself.
func (pl *Planner) paths(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	p := &matcher.Plan{Query: q, Directed: g.Directed()}
	for _, v := range q.Variants() {
		part, err := pl.Plan(v, g)
		if err != nil {
			return nil, err
		}
		p.Variants = append(p.Variants, part)
	}
	p.Text = func() string { return explainPaths(p) }
	return p, nil
}

// planGroupVariants plans the variants of a query with WITH that has paths.
func planGroupVariants(p *matcher.Plan, g *dyngraph.Graph) error {
	if !p.Query.Groups.HasPaths() {
		return nil
	}
	for _, v := range p.Query.GroupVariants() {
		of, err := matcher.PlanGroups(v, g)
		if err != nil {
			return err
		}
		p.Variants = append(p.Variants, &matcher.Plan{Query: v, Directed: p.Directed, Groups: of})
	}
	return nil
}

// explainPaths shows the plans of all variants, each under its lengths.
func explainPaths(p *matcher.Plan) string {
	q := p.Query
	var b strings.Builder
	fmt.Fprintf(&b, "query %s version %d: %d combinations of lengths, each searched as a pattern of its own\n", q.Name,
		q.Version, len(p.Variants))
	for _, e := range q.Paths() {
		h := q.Edges[e].Hops
		fmt.Fprintf(&b, "path %s: %d to %d edges\n", q.Edges[e].Name, h.Least, h.Most)
	}
	for _, v := range p.Variants {
		for i, e := range q.Paths() {
			sep := ", "
			if i == 0 {
				sep = "\nlengths "
			}
			fmt.Fprintf(&b, "%s%s %d", sep, q.Edges[e].Name, v.Query.Lengths()[i])
		}
		b.WriteString("\n" + v.Text())
	}
	return b.String()
}
