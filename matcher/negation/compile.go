package negation

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
	"motifd/matcher/internal/rowsort"
)

// query is the kept state of a plan with negations.
type query struct {
	plan *matcher.Plan // the caller's
	core *matcher.Plan // the inner backend's
	at   int           // among the plans of Prepare

	vertices, edges int // of the core
	pattern         *residual.Pattern
	negations       []negation
	// fromVertex and fromEdge are orders of the core from one element.
	fromVertex, fromEdge []*residual.Order
	layout               *rowsort.Layout
	// revised tells that the staged batch revises a vertex that matters for the core or for a negation's core elements.
	revised bool
}

// negation is a negation of a query, with orders of the core that begin where its leads end.
type negation struct {
	*residual.Negation
	core map[*residual.Lead]*residual.Order
}

// compile makes a query ready.
func compile(g *dyngraph.Graph, p *matcher.Plan) (*query, error) {
	q := p.Query
	plain := *q
	plain.Negations, plain.Emit = nil, matcher.EmitDeltas
	core := *p
	core.Query = &plain
	x := &query{plan: p, core: &core, vertices: len(q.Vertices), edges: len(q.Edges),
		layout: rowsort.NewLayout(g.View(dyngraph.New), &core)}
	x.pattern = &residual.Pattern{Vertices: p.VertexLabels, Conditions: p.Conditions, Within: q.Within,
		VertexDiffers: othersOf(len(q.Vertices)), EdgeDiffers: othersOf(len(q.Edges))}
	for i, e := range q.Edges {
		x.pattern.Edges = append(x.pattern.Edges, residual.Edge{From: e.From, To: e.To, Label: p.EdgeLabels[i],
			Either: e.Either})
	}
	all := refs(0, len(q.Vertices), 0, len(q.Edges))
	for v := range q.Vertices {
		x.fromVertex = append(x.fromVertex, x.pattern.From([]condition.Ref{{Index: v}}, all))
	}
	for e := range q.Edges {
		x.fromEdge = append(x.fromEdge, x.pattern.From([]condition.Ref{{Edge: true, Index: e}}, all))
	}
	for i := range q.Negations {
		n, err := x.negation(g, &q.Negations[i])
		if err != nil {
			return nil, err
		}
		x.negations = append(x.negations, n)
	}
	x.resolve(g)
	return x, nil
}

// refs lists vertices and edges.
func refs(fromVertex, vertices, fromEdge, edges int) (all []condition.Ref) {
	for v := fromVertex; v < vertices; v++ {
		all = append(all, condition.Ref{Index: v})
	}
	for e := fromEdge; e < edges; e++ {
		all = append(all, condition.Ref{Edge: true, Index: e})
	}
	return all
}

// othersOf lists, for each of n elements, the others.
func othersOf(n int) (all [][]int) {
	for i := range n {
		var others []int
		for j := range n {
			if j != i {
				others = append(others, j)
			}
		}
		all = append(all, others)
	}
	return all
}

func (x *query) negation(g *dyngraph.Graph, of *matcher.Negation) (negation, error) {
	n := negation{core: make(map[*residual.Lead]*residual.Order)}
	conditions, err := x.plan.Query.ResolveNegation(g, of)
	if err != nil {
		return n, err
	}
	n.Negation = residual.NewNegation(x.pattern, of, conditions)
	for _, leads := range [][]residual.Lead{n.FromEdge, n.FromVertex} {
		for i := range leads {
			l := &leads[i]
			var given []condition.Ref
			for _, v := range l.Named {
				given = append(given, condition.Ref{Index: v})
			}
			n.core[l] = x.pattern.From(given, refs(0, x.vertices, 0, x.edges))
		}
	}
	return n, nil
}

// resolve looks up the labels of the negations' own elements, which a batch may have brought.
func (x *query) resolve(g *dyngraph.Graph) {
	for i := range x.negations {
		x.negations[i].Resolve(g)
	}
}

// isRevised reports whether the batch revises a vertex that matters for the query's own changes.
func (x *query) isRevised(g *dyngraph.Graph, d *dyngraph.Delta) bool {
	for i := range d.Revised {
		v := d.Revised[i].Vertex
		for u := range x.vertices {
			if matcher.LabelFits(x.core.VertexLabels[u], g.View(dyngraph.New).Label(v)) && x.matters(g, u, v) {
				return true
			}
		}
	}
	return false
}

// matters reports whether the revision of a vertex matters at a vertex of the core (DESIGN S16): for the core, or for a
// negation that reads it.
func (x *query) matters(g *dyngraph.Graph, u int, v dyngraph.VertexID) bool {
	if x.core.Asked[u].Matters(g, v, nil) {
		return true
	}
	for i := range x.negations {
		if x.negations[i].Matters(g, u, v) {
			return true
		}
	}
	return false
}
