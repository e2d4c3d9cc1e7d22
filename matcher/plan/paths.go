package plan

import (
	"fmt"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
)

// paths plans a query with paths: each of its variants by itself, and their orders together.
func (pl *Planner) paths(q *matcher.Query, g *dyngraph.Graph, batches bool) (*matcher.Plan, error) {
	p := &matcher.Plan{Query: q, Directed: g.Directed()}
	for _, v := range q.Variants() {
		part, err := pl.plan(v, g, batches)
		if err != nil {
			return nil, err
		}
		p.Variants = append(p.Variants, part)
	}
	steps, common := 0, 0
	if batches && mayJoin(p) {
		pl.mu.Lock()
		defer pl.mu.Unlock()
		pl.st = pl.st.of(g)
		steps, common = together(p.Variants, pl.st)
	}
	p.Text = func() string { return explainPaths(p, steps, common) }
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

// mayJoin reports whether the variants of a query are worth a search of all at once. Those without conditions between
// elements are not: their symmetries, and the memo of their last steps, save more. With symmetry constraints a step is
// rarely one of several lengths, and whether there is any match the shortest tells.
func mayJoin(p *matcher.Plan) bool {
	n := len(p.Variants)
	return n > 1 && p.Query.Unit == matcher.Embeddings && p.Query.Emit != matcher.EmitExists &&
		!p.Variants[n-1].Query.OwnOnly()
}

// explainPaths shows the plans of all variants, each under its lengths. steps is the number of steps of their orders
// for a search of all at once, common the number of these that another order shares (see together).
func explainPaths(p *matcher.Plan, steps, common int) string {
	q := p.Query
	var b strings.Builder
	if n := len(p.Variants); n > 1 {
		fmt.Fprintf(&b, "query %s: %d combinations of lengths, each a pattern of its own\n", named(q), n)
	} else {
		fmt.Fprintf(&b, "query %s: one combination of lengths\n", named(q))
	}
	if common > 0 {
		of := "updates"
		if q.MaxMatches > 0 {
			of = "deletions"
		}
		fmt.Fprintf(&b, "on the CPU the searches of %s share the steps that they begin with: up to %d of %d\n", of,
			common, steps)
	}
	for _, e := range q.Paths() {
		h := q.Edges[e].Hops
		fmt.Fprintf(&b, "path %s: ", q.Edges[e].Name)
		if h.Least < h.Most {
			fmt.Fprintf(&b, "%d to ", h.Least)
		}
		fmt.Fprintf(&b, "%s\n", several(h.Most, "edge", "edges"))
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
