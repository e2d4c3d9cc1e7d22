// Package plan makes plans: one matching order per oriented pattern edge, a static order, the symmetry of the pattern
// and what a data vertex must satisfy to be a candidate of each pattern vertex. Planning happens offline, when a
// query is registered or label statistics change, never inside a search (GAMMA section IV-C).
package plan

import (
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Planner implements matcher.Planner. Plans depend on the query and the graph alone; what is kept between them saves
// reading the graph's statistics again.
type Planner struct {
	mu sync.Mutex
	st *statistics // of the last plan
}

// New returns a Planner.
func New() *Planner { return &Planner{} }

// Plan resolves the query's labels and conditions against the graph and orders its vertices for every anchor. It fails
// on a query that is not valid (matcher.Query.Validate), or that reads what the graph does not declare.
func (pl *Planner) Plan(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	return pl.plan(q, g, true)
}

// Static is Plan for searches of a whole graph: the plan has Static alone of the orders. Those for batches are as many
// as the pattern has edges, and to find what they have in common takes longer than most such searches.
func (pl *Planner) Static(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	return pl.plan(q, g, false)
}

// plan makes a plan, with orders for batches or without.
func (pl *Planner) plan(q *matcher.Query, g *dyngraph.Graph, batches bool) (*matcher.Plan, error) {
	if err := q.Validate(g.Directed()); err != nil {
		return nil, err
	}
	if q.HasPaths() {
		return pl.paths(q, g, batches)
	}
	p := &matcher.Plan{Query: q, Directed: g.Directed()}
	if q.Groups != nil {
		var err error
		if p.Groups, err = matcher.PlanGroups(q, g); err != nil {
			return nil, err
		}
		p.Text = func() string { return explainGroups(p) }
		return p, planGroupVariants(p, g)
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.st = pl.st.of(g)
	st := pl.st
	p.VertexLabels = make([]dyngraph.LabelID, len(q.Vertices))
	for i, v := range q.Vertices {
		p.VertexLabels[i] = matcher.ResolveLabel(g, v.Label, v.AnyOf)
	}
	p.EdgeLabels = make([]dyngraph.LabelID, len(q.Edges))
	for i, e := range q.Edges {
		l := matcher.ResolveLabel(g, e.Label, e.AnyOf)
		if matcher.SeveralLabels(l) {
			l = st.narrow(l, p.VertexLabels[e.From], p.VertexLabels[e.To], e.Either)
		}
		p.EdgeLabels[i] = l
	}

	p.Several = make([]bool, len(q.Edges))
	for i, l := range p.EdgeLabels {
		p.Several[i] = matcher.HasParallel(g, l)
	}

	p.MustDiffer, p.EdgesMustDiffer = mustDiffer(q.MatchMode, p.VertexLabels), edgesMustDiffer(p)
	var err error
	if p.Conditions, err = q.Resolve(g); err != nil {
		return nil, err
	}
	if p.Absent, err = matcher.AbsentOf(q, g); err != nil {
		return nil, err
	}
	p.Own, p.OwnVertex = own(p)
	p.Asked = asked(p)

	orders := sync.OnceValue(func() *orderer { return newOrderer(p, st) })
	p.Static = sync.OnceValue(func() *matcher.Order {
		o := orders().static()
		return &o
	})
	if batches {
		orders().batches()
		p.Static()
	}
	if p.Automorphisms = matcher.CountOf(1); q.MatchMode == matcher.Isomorphism {
		symmetry(p)
	}
	if batches {
		orders().coalesce()
	}
	p.Text = func() string { return explain(p) }
	return p, nil
}
