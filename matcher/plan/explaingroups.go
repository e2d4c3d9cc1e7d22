package plan

import (
	"fmt"
	"strings"

	"motifd/matcher"
)

// explainGroups renders the plan of a query with WITH.
func explainGroups(p *matcher.Plan) string {
	q, g := p.Query, p.Query.Groups
	var b strings.Builder
	graph := "undirected"
	if p.Directed {
		graph = "directed"
	}
	fmt.Fprintf(&b, "query %s: groups, %s graph, emit %s\n", named(q), graph, q.Emit)
	for _, why := range p.NotOnGPU() {
		fmt.Fprintf(&b, "searched on the CPU: %s\n", why)
	}
	union := &matcher.Plan{Query: &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}}
	for i := range g.Stages {
		s := &g.Stages[i]
		for _, m := range s.Matches {
			b.WriteString("match")
			for k, e := range m.Edges {
				of := g.Edges[e]
				sep := " "
				if k > 0 {
					sep = ", "
				}
				fmt.Fprintf(&b, "%s%s%s %s%s%s%s", sep, of.Name, lengthsText(of.Hops), vertexText(union, of.From),
					edgeText(union, e, of.From), vertexText(union, of.To),
					unresolved(p.Groups.EdgeLabels[e] == matcher.UnknownLabel))
			}
			b.WriteByte('\n')
		}
		for _, c := range s.Conditions {
			fmt.Fprintf(&b, "where %s\n", c.Format(union.Query.ElementName))
		}
		name := func(e int) string { return g.Edges[e].Name }
		for _, r := range s.Rises {
			fmt.Fprintf(&b, "where %s\n", r.Format(name))
		}
		for _, of := range s.Spans {
			fmt.Fprintf(&b, "where %s\n", of.Format(name))
		}
		core := q.OfStage(i)
		for k := range core.Negations {
			fmt.Fprintf(&b, "where %s\n", core.FormatNegation(&core.Negations[k]))
		}
		b.WriteString("group by")
		for _, v := range s.Vertices {
			fmt.Fprintf(&b, " %s", g.Vertices[v].Name)
		}
		for _, e := range s.Edges {
			fmt.Fprintf(&b, " %s", g.Edges[e].Name)
		}
		b.WriteByte('\n')
		for _, a := range s.Aggregates {
			fmt.Fprintf(&b, "  %s = %s\n", a.Name, aggregateText(union.Query, &a))
		}
		for _, c := range s.Having {
			fmt.Fprintf(&b, "having %s\n", c.Format(q.ElementName))
		}
	}
	if n := len(p.Variants); n > 0 {
		fmt.Fprintf(&b, "%d combinations of lengths, each searched as a pattern of its own\n", n)
	}
	return b.String()
}

// lengthsText returns the range of a path's lengths, as text; "" for an edge.
func lengthsText(h *matcher.Hops) string {
	if h == nil {
		return ""
	}
	return fmt.Sprintf("*%d..%d", h.Least, h.Most)
}

func aggregateText(union *matcher.Query, a *matcher.Aggregate) string {
	switch a.Function {
	case matcher.CountDistinct:
		return "count(DISTINCT " + union.ElementName(*a.Of) + ")"
	case matcher.Collect:
		of := union.ElementName(*a.Of)
		if a.Formula != nil {
			of = a.Formula.Format(union.ElementName)
		}
		if a.Distinct {
			of = "DISTINCT " + of
		}
		return fmt.Sprintf("collect(%s)[..%d]", of, a.Most)
	case matcher.Sum:
		return "sum(" + a.Formula.Format(union.ElementName) + ")"
	}
	return "count(*)"
}
