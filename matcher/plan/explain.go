package plan

import (
	"fmt"
	"strings"

	"motifd/matcher"
)

// explain renders a plan for people: the text is golden in tests.
func explain(p *matcher.Plan) string {
	q := p.Query
	var b strings.Builder
	graph := "undirected"
	if p.Directed {
		graph = "directed"
	}
	fmt.Fprintf(&b, "query %s version %d: %d vertices, %d edges, %s graph, unit %s, emit %s\n",
		q.Name, q.Version, len(q.Vertices), len(q.Edges), graph, q.Unit, q.Emit)
	fmt.Fprintf(&b, "automorphisms: %s\n", p.Automorphisms)
	if q.Unit == matcher.Subgraphs && len(p.VertexLess)+len(p.EdgeLess) > 0 {
		b.WriteString("representative:")
		for _, l := range p.VertexLess {
			fmt.Fprintf(&b, " %s<%s", q.Vertices[l[0]].Name, q.Vertices[l[1]].Name)
		}
		for _, l := range p.EdgeLess {
			fmt.Fprintf(&b, " %s<%s", q.Edges[l[0]].Name, q.Edges[l[1]].Name)
		}
		b.WriteByte('\n')
	}
	b.WriteString("filter:\n")
	for v := range q.Vertices {
		fmt.Fprintf(&b, "  %s%s", vertexText(p, v), unresolved(p.VertexLabels[v] == matcher.UnknownLabel))
		for _, n := range Requirement(p, v).Needs {
			fmt.Fprintf(&b, " %s", n.text(p, v))
		}
		b.WriteByte('\n')
	}
	for i := range p.Anchored {
		o := &p.Anchored[i]
		e := q.Edges[o.Edge]
		first, second := o.Steps[0].Vertex, o.Steps[1].Vertex
		fmt.Fprintf(&b, "anchor %s (%s)%s(%s)%s\n", e.Name, q.Vertices[first].Name, edgeText(p, o.Edge, first),
			q.Vertices[second].Name, unresolved(p.EdgeLabels[o.Edge] == matcher.UnknownLabel))
		stepsText(&b, p, o, 1)
	}
	fmt.Fprintf(&b, "static\n")
	stepsText(&b, p, &p.Static, 0)
	return b.String()
}

func stepsText(b *strings.Builder, p *matcher.Plan, o *matcher.Order, from int) {
	q := p.Query
	for i := from; i < len(o.Steps); i++ {
		s := &o.Steps[i]
		if o.Edge >= 0 && i == 1 && len(s.Back) == 0 {
			continue
		}
		fmt.Fprintf(b, "  %d %s", i, vertexText(p, s.Vertex))
		for k, back := range s.Back {
			sep := " and"
			if k == 0 {
				sep = " joined to"
			}
			earlier := o.Steps[back.Step].Vertex
			fmt.Fprintf(b, "%s %s%s", sep, q.Vertices[earlier].Name, edgeText(p, back.Edge, earlier))
		}
		b.WriteByte('\n')
	}
}

func vertexText(p *matcher.Plan, v int) string {
	qv := p.Query.Vertices[v]
	if qv.Label == "" {
		return "(" + qv.Name + ")"
	}
	return "(" + qv.Name + ":" + qv.Label + ")"
}

// edgeText draws pattern edge e as seen from its end at.
func edgeText(p *matcher.Plan, e, at int) string {
	qe := p.Query.Edges[e]
	label := ""
	if qe.Label != "" {
		label = ":" + qe.Label
	}
	switch {
	case qe.Either:
		return "-[" + label + "]-"
	case at == qe.From:
		return "-[" + label + "]->"
	}
	return "<-[" + label + "]-"
}

func unresolved(u bool) string {
	if u {
		return " (label not seen in the graph yet)"
	}
	return ""
}
