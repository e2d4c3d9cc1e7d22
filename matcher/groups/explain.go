package groups

import (
	"fmt"
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// Explain tells how the groups of a query with WITH are found and counted: it follows the plan's text in `explain`.
func Explain(p *matcher.Plan, opt Options) string {
	opt.EnsureDefaults()
	x := newProgram(p, opt.HubDegree)
	var b strings.Builder
	if len(x.others) > 0 {
		b.WriteString("shown for the shortest paths; the others have orders of their own\n")
	}
	b.WriteString("groups that a change concerns, from what is changed\n")
	for e, of := range x.g.Edges {
		fmt.Fprintf(&b, "  %s: %s\n", of.Name, x.steps(x.fromEdge[e], "it has the keys"))
	}
	for v, of := range x.g.Vertices {
		if x.reads(v) {
			fmt.Fprintf(&b, "  %s, if a value changes that is read: %s\n", of.Name, x.steps(x.fromVertex[v],
				"it has the keys"))
		}
	}
	for i := range x.denied {
		x.explainDenial(&b, &x.denied[i])
	}
	if len(x.counts) == 0 {
		fmt.Fprintf(&b, "counted from the keys: %s\n", x.steps(x.fromKeys, "nothing more"))
		b.WriteString(x.kept())
		return b.String()
	}
	for i, c := range x.counts {
		fmt.Fprintf(&b, "stage %d counted from the keys: %s\n", i+1, c.steps(c.fromKeys, "nothing more"))
	}
	b.WriteString("nothing is kept of hubs, since there are several stages: each such group is counted anew, as it " +
		"was before the batch and as it is behind it\n")
	return b.String()
}

// explainDenial shows how a changed edge of a blocker leads to groups.
func (x *program) explainDenial(b *strings.Builder, d *denial) {
	for i, e := range d.Of.Edges {
		lead := &d.FromEdge[i]
		var named []string
		for _, v := range lead.Named {
			named = append(named, x.g.Vertices[v].Name)
		}
		fmt.Fprintf(b, "  %s behind NOT, over %s: %s\n", e.Name, strings.Join(named, ", "),
			x.steps(d.way[lead].Order, "it has the keys"))
	}
}

// steps draws an order; none is said of one without steps.
func (x *program) steps(o *residual.Order, none string) string {
	var all []string
	for vertex, edges := range o.Steps() {
		var names []string
		for _, e := range edges {
			names = append(names, x.g.Edges[e].Name)
		}
		text := strings.Join(names, " and ")
		if vertex >= 0 {
			text = x.g.Vertices[vertex].Name + " by " + text
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return none
	}
	return strings.Join(all, ", then ")
}

// kept tells of which vertices state is kept, and what for.
func (x *program) kept() string {
	h := x.shape
	if h == nil {
		return "nothing is kept of hubs, since " + x.shapeless() + ": each such group is counted anew, as it was " +
			"before the batch and as it is behind it\n"
	}
	hub, member := x.g.Vertices[h.member.hub].Name, x.g.Edges[h.member.edge].Name
	if h.pivot == nil {
		what := "its aggregates"
		if slices.ContainsFunc(x.stage.Aggregates, func(a matcher.Aggregate) bool {
			return a.Function == matcher.Collect
		}) {
			what += ", and its " + member + " by ts"
		}
		return fmt.Sprintf("kept of each %s with %d edges or more: %s; a changed %s is added or taken off\n", hub,
			h.degree, what, member)
	}
	pivot := x.g.Edges[h.pivot.edge].Name
	text := fmt.Sprintf("kept of each %s with %d edges or more: its %s and %s by ts; a window slides over the %s that "+
		"a change concerns\n", hub, h.degree, pivot, member, pivot)
	if h.monotone {
		text += fmt.Sprintf("each %s for which enough %s are left is passed over: further ones never make the "+
			"condition false\n", pivot, member)
	}
	return text
}

// shapeless says why no state is kept; see shapeOf.
func (x *program) shapeless() string {
	several := slices.ContainsFunc(x.stage.Matches, func(m matcher.MatchClause) bool {
		return len(m.Edges) != 1 || len(m.Vertices) != 2
	})
	switch {
	case len(x.others) > 0:
		return "there are paths of several lengths"
	case len(x.denied) > 0:
		return "a pattern behind NOT blocks rows"
	case !x.directed || slices.ContainsFunc(x.g.Edges, func(e matcher.QueryEdge) bool { return e.Either }):
		return "an edge may lead either way"
	case several:
		return "a MATCH has more than one edge"
	case len(x.stage.Matches) > 2:
		return "there are more than two MATCH clauses"
	case len(x.stage.Matches) == 2 && len(x.stage.Edges) != 1:
		return "no payment of one MATCH is the key that the other's window is relative to"
	case len(x.stage.Matches) == 1:
		return "the key is not one end of the edge"
	case slices.ContainsFunc(x.between, func(c *matcher.Condition) bool {
		edges := 0
		for _, r := range c.Elements {
			edges += count(r)
		}
		_, ok := c.Linears()
		return edges > 1 && !ok
	}):
		return "a condition between the two edges is no window of ts"
	}
	return "the keys, the window or an aggregate are of another kind than a sum or count over one vertex's edges"
}

func count(r condition.Ref) int {
	if r.Edge {
		return 1
	}
	return 0
}
