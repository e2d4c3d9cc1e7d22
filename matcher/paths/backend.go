package paths

import (
	"context"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Backend implements matcher.Backend around another one.
type Backend struct {
	matcher.Backend
	g   *dyngraph.Graph
	any bool  // some prepared plan has variants
	of  []int // by index of a part among those that the inner backend was given: the index of its plan
}

var _ matcher.Backend = (*Backend)(nil)

// New wraps a backend; Close closes it.
func New(inner matcher.Backend) *Backend { return &Backend{Backend: inner} }

// Load implements matcher.Backend.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.g = g
	return b.Backend.Load(g)
}

// Prepare implements matcher.Backend.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	b.any, b.of = false, b.of[:0]
	var parts []*matcher.Plan
	for i, p := range plans {
		b.any = b.any || len(p.Variants) > 0
		for _, part := range p.Parts() {
			parts, b.of = append(parts, part), append(b.of, i)
		}
	}
	return b.Backend.Prepare(parts)
}

// Capabilities implements matcher.Backend: those of the inner one, with plans in place of their parts.
func (b *Backend) Capabilities() matcher.Capabilities {
	can := b.Backend.Capabilities()
	if concern := can.Concern; concern != nil {
		can.Concern = func(note func(plan int, sign dyngraph.Sign)) {
			if !b.any {
				concern(note)
				return
			}
			concern(func(part int, sign dyngraph.Sign) { note(b.of[part], sign) })
		}
	}
	if rehearse := can.Rehearse; rehearse != nil {
		can.Rehearse = func(ctx context.Context, reqs []matcher.Request) (bool, error) {
			parts, _ := expand(reqs)
			return rehearse(ctx, parts)
		}
	}
	if unblocked := can.Unblocked; unblocked != nil {
		can.Unblocked = func(ctx context.Context, p *matcher.Plan, row []uint32, budget *matcher.Budget) (bool, error) {
			return unblocked(ctx, b.partOf(p, row), row, budget)
		}
	}
	return can
}

// partOf returns the part of a plan of which a row of the new graph is a match. The edges of a path lead from its one
// end to the other, and inner vertices are none of its ends: so the row tells the lengths.
func (b *Backend) partOf(p *matcher.Plan, row []uint32) *matcher.Plan {
	parts := p.Parts()
	i := slices.IndexFunc(parts, func(part *matcher.Plan) bool { return b.isOf(part, row) })
	return parts[max(i, 0)]
}

// isOf reports whether the edges of a row join the vertices that the edges of a plan's query join.
func (b *Backend) isOf(p *matcher.Plan, row []uint32) bool {
	q, view := p.Query, b.g.View(dyngraph.New)
	n := len(q.Vertices)
	if len(row) != n+len(q.Edges) {
		return false
	}
	for i, e := range q.Edges {
		from, to, _ := view.Edge(dyngraph.EdgeIndex(row[n+i]))
		a, z := dyngraph.VertexID(row[e.From]), dyngraph.VertexID(row[e.To])
		if (from != a || to != z) && (!e.Either || from != z || to != a) {
			return false
		}
	}
	return true
}

// expand returns the requests with one for each variant in place of those with paths, and the index of the request that
// each is for.
func expand(reqs []matcher.Request) (parts []matcher.Request, of []int) {
	for i := range reqs {
		for _, p := range reqs[i].Plan.Parts() {
			part := reqs[i]
			part.Plan = p
			parts, of = append(parts, part), append(of, i)
		}
	}
	return parts, of
}

// hasPaths reports whether some request is for a query with paths.
func hasPaths(reqs []matcher.Request) bool {
	for i := range reqs {
		if len(reqs[i].Plan.Variants) > 0 {
			return true
		}
	}
	return false
}
