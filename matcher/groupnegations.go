package matcher

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Negations returns how many negations the stages have.
func (g *Groups) Negations() (n int) {
	for s := range g.Stages {
		n += len(g.Stages[s].Negations)
	}
	return n
}

// OfStage returns the elements of all stages as those of a query with the conditions and the negations of one. It is
// none to register.
func (q *Query) OfStage(stage int) *Query {
	of := q.Groups.ofStage(&q.Groups.Stages[stage])
	of.Name, of.Version = q.Name, q.Version
	return of
}

// denying returns the queries that have the negations of this one: itself or, with WITH, its stages.
func (q *Query) denying() (all []*Query) {
	if q.Groups == nil {
		return []*Query{q}
	}
	for s := range q.Groups.Stages {
		all = append(all, q.OfStage(s))
	}
	return all
}

// coreEdges returns the edges that a match has or, with WITH, a row of a stage.
func (q *Query) coreEdges(stage int) (all []QueryEdge) {
	if q.Groups == nil {
		return q.Edges
	}
	for e, of := range q.Groups.Edges {
		if q.Groups.Stages[stage].binds(condition.Ref{Edge: true, Index: e}) {
			all = append(all, of)
		}
	}
	return all
}

// binds reports whether a row of the stage has an image of an element.
func (s *Stage) binds(r condition.Ref) bool {
	bound := append(slices.Clone(s.Matches), MatchClause{s.Vertices, s.Edges})
	return slices.ContainsFunc(bound, func(m MatchClause) bool {
		if r.Edge {
			return slices.Contains(m.Edges, r.Index)
		}
		return slices.Contains(m.Vertices, r.Index)
	})
}

// checkNegations checks the negations of a stage; core has them.
func (s *Stage) checkNegations(core *Query, directed bool) error {
	if err := core.CheckNegations(directed); err != nil {
		return err
	}
	for i := range core.Negations {
		for _, r := range core.NegationElements(&core.Negations[i]) {
			if !s.binds(r) {
				return fmt.Errorf("has a negation of %q, which its rows do not have", core.ElementName(r))
			}
		}
	}
	return nil
}

// NegationPlan has the labels and conditions that a negation of a stage reads.
type NegationPlan struct {
	VertexLabels []dyngraph.LabelID // of Negation.Vertices, as in Plan
	EdgeLabels   []dyngraph.LabelID // of Negation.Edges
	Conditions   []Condition        // elements are those of Query.Subquery
}

// resolveNegations resolves the negations of a stage.
func (q *Query) resolveNegations(stage int, d declaration, resolve func(string, []string) dyngraph.LabelID) (
	all []NegationPlan, err error) {
	core := q.OfStage(stage)
	for i := range core.Negations {
		n, of := &core.Negations[i], NegationPlan{}
		for _, v := range n.Vertices {
			of.VertexLabels = append(of.VertexLabels, resolve(v.Label, v.AnyOf))
		}
		for _, e := range n.Edges {
			of.EdgeLabels = append(of.EdgeLabels, resolve(e.Label, e.AnyOf))
		}
		whole := core.Subquery(n)
		for _, c := range n.Conditions {
			reads, err := whole.columns(d, c.Slots)
			if err != nil {
				return nil, err
			}
			of.Conditions = append(of.Conditions, Condition{Condition: c, Reads: reads})
		}
		all = append(all, of)
	}
	return all, nil
}

// misled reports whether some label would be resolved to another one.
func (p *NegationPlan) misled(n *Negation, g *dyngraph.Graph) bool {
	for i, v := range n.Vertices {
		if p.VertexLabels[i] != ResolveLabel(g, v.Label, v.AnyOf) {
			return true
		}
	}
	for i, e := range n.Edges {
		if p.EdgeLabels[i] != ResolveLabel(g, e.Label, e.AnyOf) {
			return true
		}
	}
	return false
}
