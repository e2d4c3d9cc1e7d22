package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// Absent is a negation of one edge that a backend may test while it searches for rows of the core (DESIGN S25, A20): a
// row for which the searched view has such an edge is blocked. Its conditions read edges alone.
type Absent struct {
	Negation int // index in Query.Negations
	// From and To are the pattern vertices that the edge joins; one of them may be Free, which stands for a vertex of
	// the negation's own, of the label Own.
	From, To int
	Own      dyngraph.LabelID
	Label    dyngraph.LabelID // resolved, of the edge
	Either   bool
	// Conditions must be true of the edge. The index of its element is the number of the query's edges.
	Conditions []Condition
}

// Free is the end of an Absent that is no vertex of the core.
const Free = -1

// Ends returns the vertex of the core that the edge is looked up from, and the one at its other end, or Free; out tells
// that the edge leads from the first to the second.
func (a *Absent) Ends() (from, to int, out bool) {
	if a.From == Free {
		return a.To, Free, false
	}
	return a.From, a.To, true
}

// AbsentOf returns those negations of a query that are one edge, between vertices of the core or to one of the
// negation's own with one label at most, and whose conditions read and compute whole numbers of edges.
func AbsentOf(q *Query, g *dyngraph.Graph) (all []Absent, err error) {
	for i := range q.Negations {
		n := &q.Negations[i]
		a := Absent{Negation: i, Own: AnyLabel}
		if len(n.Edges) != 1 || len(n.Vertices) > 1 {
			continue
		}
		e := n.Edges[0]
		a.From, a.To, a.Either, a.Label = e.From, e.To, e.Either, ResolveLabel(g, e.Label, e.AnyOf)
		if len(n.Vertices) == 1 {
			a.Own = ResolveLabel(g, n.Vertices[0].Label, n.Vertices[0].AnyOf)
			if Alternatives(a.Own) != nil {
				continue
			}
			if a.From == len(q.Vertices) {
				a.From = Free
			} else {
				a.To = Free
			}
		}
		if a.Conditions, err = q.ResolveNegation(g, n); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(a.Conditions, func(c Condition) bool { return !c.ofEdges() }) {
			all = append(all, a)
		}
	}
	return all, nil
}

// ofEdges reports whether a condition reads and computes whole numbers of edges alone.
func (c *Condition) ofEdges() bool {
	for _, r := range c.Elements {
		if !r.Edge {
			return false
		}
	}
	_, ok := c.Stack()
	return ok
}

// misledAbsent reports whether some label of a plan's Absent would be resolved to another one.
func misledAbsent(p *Plan, g *dyngraph.Graph) bool {
	for i := range p.Absent {
		a := &p.Absent[i]
		n := &p.Query.Negations[a.Negation]
		if a.Label != ResolveLabel(g, n.Edges[0].Label, n.Edges[0].AnyOf) ||
			len(n.Vertices) == 1 && a.Own != ResolveLabel(g, n.Vertices[0].Label, n.Vertices[0].AnyOf) {
			return true
		}
	}
	return false
}
