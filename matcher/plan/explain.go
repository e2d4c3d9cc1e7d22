package plan

import (
	"fmt"
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// named is the name of a query, with the version that it has once it is registered.
func named(q *matcher.Query) string {
	if q.Version == 0 {
		return q.Name
	}
	return fmt.Sprintf("%s version %d", q.Name, q.Version)
}

// several writes a number with its noun.
func several(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// explain renders a plan for people: the text is golden in tests.
func explain(p *matcher.Plan) string {
	q := p.Query
	var b strings.Builder
	graph := "undirected"
	if p.Directed {
		graph = "directed"
	}
	fmt.Fprintf(&b, "query %s: %s, %s, %s graph, unit %s, emit %s\n", named(q),
		several(len(q.Vertices), "vertex", "vertices"), several(len(q.Edges), "edge", "edges"), graph, q.Unit, q.Emit)
	switch q.MatchMode {
	case matcher.Homomorphism:
		b.WriteString("match mode homomorphism: two vertices may have one image, and two edges\n")
	case matcher.Trail:
		b.WriteString("match mode trail: edges differ, two vertices may have one image\n")
	}
	for _, why := range p.NotOnGPU() {
		fmt.Fprintf(&b, "searched on the CPU: %s\n", why)
	}
	conditionsText(&b, p)
	optionsText(&b, p)
	negationsText(&b, p)
	if q.MatchMode == matcher.Isomorphism {
		fmt.Fprintf(&b, "automorphisms: %s\n", p.Automorphisms)
	}
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
		for _, n := range RequirementOf(p, v).Needs {
			fmt.Fprintf(&b, " %s", n.text(p, v))
		}
		b.WriteByte('\n')
	}
	for i := range p.Anchored {
		o := &p.Anchored[i]
		fmt.Fprintf(&b, "anchor %s%s%s\n", anchorText(p, o), unresolved(p.EdgeLabels[o.Edge] == matcher.UnknownLabel),
			where(p, ofAnchor(p, o)))
		stepsText(&b, p, o, 1, "  ")
	}
	for i := range p.Revised {
		o := &p.Revised[i]
		v := o.Steps[0].Vertex
		what := "revised"
		if q.IsVertex() {
			what = "inserted, deleted or revised"
		}
		fmt.Fprintf(&b, "%s %s%s\n", what, vertexText(p, v), where(p, ownOfVertex(p, v)))
		stepsText(&b, p, o, 1, "  ")
	}
	for i := range p.Classes {
		classText(&b, p, &p.Classes[i])
	}
	for i := range p.Alike {
		if m := &p.Alike[i]; len(m.Images) > 0 {
			fmt.Fprintf(&b, "together on the CPU %s, each with its conditions\n", anchorText(p, &m.Order))
			imagesText(&b, p, m, "  ")
		}
	}
	fmt.Fprintf(&b, "static\n")
	stepsText(&b, p, p.Static(), 0, "  ")
	return b.String()
}

// classText shows a class of more than one order: the shared steps, then the members' own ones and images.
func classText(b *strings.Builder, p *matcher.Plan, c *matcher.Class) {
	first := &c.Members[0]
	if len(c.Members) == 1 {
		if len(first.Images) > 0 {
			fmt.Fprintf(b, "together %s\n", anchorText(p, &first.Order))
			imagesText(b, p, first, "  ")
		}
		return
	}
	fmt.Fprintf(b, "together %s, %d of %d steps\n", anchorText(p, &first.Order), c.Shared, len(first.Order.Steps))
	shared := first.Order
	shared.Steps = shared.Steps[:c.Shared]
	stepsText(b, p, &shared, 1, "  ")
	for i := range c.Members {
		m := &c.Members[i]
		fmt.Fprintf(b, "  as %s:", anchorText(p, &m.Order))
		for _, s := range m.Order.Steps[:c.Shared] {
			fmt.Fprintf(b, " %s", p.Query.Vertices[s.Vertex].Name)
		}
		b.WriteByte('\n')
		stepsText(b, p, &m.Order, c.Shared, "    ")
		imagesText(b, p, m, "    ")
	}
}

func imagesText(b *strings.Builder, p *matcher.Plan, m *matcher.Member, indent string) {
	for _, image := range m.Images {
		fmt.Fprintf(b, "%salso %s\n", indent, anchorText(p, &p.Anchored[image.Anchor]))
	}
}

// anchorText draws an order's anchor as the update sees it.
func anchorText(p *matcher.Plan, o *matcher.Order) string {
	q := p.Query
	first, second := o.Steps[0].Vertex, o.Steps[1].Vertex
	return fmt.Sprintf("%s (%s)%s(%s)", q.Edges[o.Edge].Name, q.Vertices[first].Name, edgeText(p, o.Edge, first),
		q.Vertices[second].Name)
}

func stepsText(b *strings.Builder, p *matcher.Plan, o *matcher.Order, from int, indent string) {
	q := p.Query
	between := p.Between(o)
	for i := from; i < len(o.Steps); i++ {
		s := &o.Steps[i]
		if o.Edge >= 0 && i == 1 && len(s.Back) == 0 {
			continue
		}
		tested := ownOfVertex(p, s.Vertex)
		var edges []int
		fmt.Fprintf(b, "%s%d %s", indent, i, vertexText(p, s.Vertex))
		for k, back := range s.Back {
			sep := " and"
			if k == 0 {
				sep = " joined to"
			}
			earlier := o.Steps[back.Step].Vertex
			fmt.Fprintf(b, "%s %s%s", sep, q.Vertices[earlier].Name, edgeText(p, back.Edge, earlier))
			tested, edges = append(tested, ownOf(p, back.Edge)...), append(edges, back.Edge)
		}
		b.WriteString(where(p, append(tested, between[i]...)))
		if from := o.Edge >= 0 || i > 1; from { // something is mapped before it
			b.WriteString(narrowing(p, edges, between[i]))
		}
		b.WriteByte('\n')
	}
}

func vertexText(p *matcher.Plan, v int) string {
	qv := p.Query.Vertices[v]
	return "(" + qv.Name + labelsText(qv.Labels()) + ")"
}

// labelsText draws what an element demands of labels; nothing for no demand.
func labelsText(labels condition.Labels) string {
	if labels == nil {
		return ""
	}
	return ":" + labels.Format(func(label string) string { return label })
}

// edgeText draws pattern edge e as seen from its end at.
func edgeText(p *matcher.Plan, e, at int) string {
	qe := p.Query.Edges[e]
	label := labelsText(qe.Labels())
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

// conditionsText shows what a match needs beside labels and ends, and what of the search that changes.
func conditionsText(b *strings.Builder, p *matcher.Plan) {
	q := p.Query
	if !q.Conditioned() {
		return
	}
	if q.Within > 0 {
		fmt.Fprintf(b, "within %s\n", condition.FormatSpan(q.Within))
	}
	for i := range p.Conditions {
		fmt.Fprintf(b, "where %s\n", p.Conditions[i].Format(q.ElementName))
	}
	if q.Emit == matcher.EmitCounts && !q.OwnOnly() {
		b.WriteString("counted one by one: conditions between elements keep parts of the pattern from being " +
			"multiplied\n")
	}
}

// optionsText shows what the query's options change of a search.
func optionsText(b *strings.Builder, p *matcher.Plan) {
	q := p.Query
	switch {
	case q.Emit != matcher.EmitCounts || !q.OwnOnly() || len(q.Negations) > 0:
	case q.MatchMode == matcher.Trail && p.ComparesEdges():
		b.WriteString("counted one by one: edges that must differ keep parts of the pattern from being multiplied\n")
	default:
		b.WriteString("counted without listing matches: parts of the pattern that some vertices separate are " +
			"multiplied\n")
	}
	if o := q.Once; o != nil {
		var names []string
		for _, r := range o.Per {
			names = append(names, q.ElementName(r))
		}
		fmt.Fprintf(b, "once per %s in %s: further matches of a key that appear are dropped, ends are not told\n",
			strings.Join(names, ", "), condition.FormatSpan(o.For))
	}
}

// narrowing shows the values of edges that a step maps which earlier edges confine, by comparisons, differences, sums
// and the window (DESIGN A16): a long list is read in the order of such a value. Nothing for none.
func narrowing(p *matcher.Plan, edges, conditions []int) string {
	q := p.Query
	var values []string
	note := func(r condition.Ref, property string) {
		name := q.ElementName(r) + "." + property
		if r.Edge && slices.Contains(edges, r.Index) && !slices.Contains(values, name) {
			values = append(values, name)
		}
	}
	if q.Within > 0 {
		for _, e := range edges {
			note(condition.Ref{Edge: true, Index: e}, "ts")
		}
	}
	for _, i := range conditions {
		c := &p.Conditions[i]
		if slices.ContainsFunc(c.Elements, func(r condition.Ref) bool { return !r.Edge }) {
			continue
		}
		if _, ok := c.Linears(); ok {
			for _, s := range c.Slots {
				note(s.Element, s.Property)
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	return ", by intervals of " + strings.Join(values, ", ")
}

// ofAnchor returns the conditions that the anchor's edge and its ends decide; those of a second step with further edges
// are shown with it.
func ofAnchor(p *matcher.Plan, o *matcher.Order) []int {
	tested := append(slices.Clone(ownOf(p, o.Edge)), ownOfVertex(p, o.Steps[0].Vertex)...)
	if len(o.Steps[1].Back) > 0 {
		return tested
	}
	return append(append(tested, ownOfVertex(p, o.Steps[1].Vertex)...), p.Between(o)[1]...)
}

// ownOf returns the conditions on a pattern edge alone.
func ownOf(p *matcher.Plan, edge int) []int {
	if p.Own == nil {
		return nil
	}
	return p.Own[edge]
}

// ownOfVertex returns the conditions on a pattern vertex alone.
func ownOfVertex(p *matcher.Plan, vertex int) []int {
	if p.OwnVertex == nil {
		return nil
	}
	return slices.Clone(p.OwnVertex[vertex])
}

// where shows conditions that are tested at a place of an order; nothing for none.
func where(p *matcher.Plan, conditions []int) string {
	text := ""
	for k, i := range conditions {
		sep := " and "
		if k == 0 {
			sep = " where "
		}
		c := p.Conditions[i].Format(p.Query.ElementName)
		if len(conditions) > 1 {
			c = p.Conditions[i].Operand(p.Query.ElementName)
		}
		text += sep + c
	}
	return text
}
