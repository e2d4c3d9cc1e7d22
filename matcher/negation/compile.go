package negation

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
	"motifd/matcher/internal/rowsort"
)

// query is what is kept for a plan with negations.
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

// negation is one of a query. Its pattern has the elements of the core and then its own.
type negation struct {
	of      *matcher.Negation
	pattern *residual.Pattern
	test    *residual.Order // maps its own elements from the whole core
	// fromEdge and fromVertex lead to the core from one of its own elements.
	fromEdge, fromVertex []lead
	// asked is what its conditions ask about vertices, those of the core included.
	asked []matcher.Asked
}

// lead is how a change of one own element of a negation leads to the core.
type lead struct {
	// order maps what the negation's edges join to the element: its own elements, and the core vertices named, of which
	// there is one at least.
	order *residual.Order
	named []int
	core  *residual.Order // maps the core from these
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
	q := x.plan.Query
	n := negation{of: of}
	conditions, err := q.ResolveNegation(g, of)
	if err != nil {
		return n, err
	}
	vertices, edges := x.vertices+len(of.Vertices), x.edges+len(of.Edges)
	p := &residual.Pattern{Vertices: make([]dyngraph.LabelID, vertices), Conditions: conditions,
		Edges: slices.Clone(x.pattern.Edges), VertexDiffers: make([][]int, vertices), EdgeDiffers: make([][]int, edges)}
	copy(p.Vertices, x.pattern.Vertices)
	for _, e := range of.Edges {
		p.Edges = append(p.Edges, residual.Edge{From: e.From, To: e.To, Either: e.Either})
	}
	// Own vertices differ from each other and from the named ones, own edges from each other.
	own := q.Named(of)
	for v := x.vertices; v < vertices; v++ {
		own = append(own, v)
	}
	for _, v := range own {
		for _, w := range own {
			if v != w {
				p.VertexDiffers[v] = append(p.VertexDiffers[v], w)
			}
		}
	}
	for e := x.edges; e < edges; e++ {
		for f := x.edges; f < edges; f++ {
			if e != f {
				p.EdgeDiffers[e] = append(p.EdgeDiffers[e], f)
			}
		}
	}
	n.pattern = p
	mine := refs(x.vertices, vertices, x.edges, edges)
	n.test = p.From(refs(0, x.vertices, 0, x.edges), mine)
	for e := x.edges; e < edges; e++ {
		n.fromEdge = append(n.fromEdge, x.lead(p, condition.Ref{Edge: true, Index: e}))
	}
	for v := x.vertices; v < vertices; v++ {
		n.fromVertex = append(n.fromVertex, x.lead(p, condition.Ref{Index: v}))
	}
	n.asked = asked(vertices, conditions)
	return n, nil
}

// lead returns how an own element of a negation's pattern leads to the core: through the part of the negation that its
// edges join to the element. Of another part, joined through the core alone, the rows are found from the core.
func (x *query) lead(p *residual.Pattern, from condition.Ref) lead {
	reached := make([]bool, len(p.Vertices))
	if from.Edge {
		reached[p.Edges[from.Index].From] = true
	} else {
		reached[from.Index] = true
	}
	for grown := true; grown; {
		grown = false
		for _, e := range p.Edges[x.edges:] {
			if reached[e.From] != reached[e.To] {
				reached[e.From], reached[e.To], grown = true, true, true
			}
		}
	}
	var l lead
	var wanted, given []condition.Ref
	for i, e := range p.Edges[x.edges:] {
		if reached[e.From] {
			wanted = append(wanted, condition.Ref{Edge: true, Index: x.edges + i})
		}
	}
	for v := range x.vertices {
		if reached[v] {
			l.named, given = append(l.named, v), append(given, condition.Ref{Index: v})
		}
	}
	l.order = p.From([]condition.Ref{from}, wanted)
	l.core = x.pattern.From(given, refs(0, x.vertices, 0, x.edges))
	return l
}

// asked returns what conditions ask about each vertex, as plan.Planner does for a query.
func asked(vertices int, conditions []matcher.Condition) []matcher.Asked {
	all := make([]matcher.Asked, vertices)
	for i := range conditions {
		c := &conditions[i]
		for _, r := range c.Reads {
			if r.Element.Edge {
				continue
			}
			a := &all[r.Element.Index]
			if c.Own() {
				a.Own = append(a.Own, c)
				break
			}
			a.Columns = append(a.Columns, r.Column)
		}
	}
	return all
}

// resolve looks up the labels of the negations' own elements, which a batch may have brought.
func (x *query) resolve(g *dyngraph.Graph) {
	for i := range x.negations {
		n := &x.negations[i]
		for v := range n.of.Vertices {
			n.pattern.Vertices[x.vertices+v] = matcher.ResolveLabel(g, n.of.Vertices[v].Label, n.of.Vertices[v].AnyOf)
		}
		for e := range n.of.Edges {
			n.pattern.Edges[x.edges+e].Label = matcher.ResolveLabel(g, n.of.Edges[e].Label, n.of.Edges[e].AnyOf)
		}
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
		if a := &x.negations[i].asked[u]; !a.Nothing() && a.Matters(g, v, nil) {
			return true
		}
	}
	return false
}
