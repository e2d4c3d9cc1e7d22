package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/truths"
)

// revisedOrder is an order that begins with a pattern vertex that conditions read, for vertices that a batch revises
// (DESIGN S16, A14).
type revisedOrder struct {
	test        *truths.Test // of the first step's vertex alone; nil for none
	columns     []int        // that conditions on it and other elements read
	rows, count *program.Order
}

// revisedAt is an order of a plan in the index by the label of its first vertex.
type revisedAt struct {
	c  *compiled
	at int // in compiled.revised
}

// compileRevised compiles the plan's orders for revised vertices.
func (b *Backend) compileRevised(c *compiled, keys *program.ListKeys) {
	p := c.plan
	for i := range p.Revised {
		o := &p.Revised[i]
		v := o.Steps[0].Vertex
		c.revised = append(c.revised, revisedOrder{test: b.filter.VertexTest(p, v), columns: p.Asked[v].Columns,
			rows:  program.Compile(p, o, b.filter, keys, p.Query.Unit == matcher.Subgraphs),
			count: program.Compile(p, o, b.filter, keys, c.countPlan == nil)})
	}
}

// matters reports whether the revision of a vertex matters at the order's first vertex.
func (b *Backend) matters(o *revisedOrder, v dyngraph.VertexID) bool {
	return program.Matters(b.g, b.filter.Truths(), o.test, o.columns, v)
}

// eachRevised calls f for each order that a vertex of the net elements can be the anchor of: it is a candidate, it
// meets the conditions on the first vertex alone, and if it is revised that matters there.
func (b *Backend) eachRevised(n *dyngraph.NetEdge, f func(c *compiled, at int)) {
	bits := b.filter.Bits()[int(n.From)*b.filter.Words():]
	which := dyngraph.New
	if n.Sign == dyngraph.Deleted {
		which = dyngraph.Old
	}
	for x := range b.revised.Of(b.g.View(dyngraph.New).Label(n.From), n.Revised) {
		o := &x.c.revised[x.at]
		if *x.c.missing == 0 && o.rows.Steps[0].Passes(bits) &&
			(o.test == nil || o.test.Passes(b.filter.Truths().OfVertexIn(which, n.From))) &&
			(!n.Revised || b.matters(o, n.From)) {
			f(x.c, x.at)
		}
	}
}

// noteRevised notes the plans for which the staged batch revises vertices that matter.
func (b *Backend) noteRevised() {
	for i := range b.delta.Revised {
		v := b.delta.Revised[i].Vertex
		for x := range b.revised.Of(b.g.View(dyngraph.New).Label(v), true) {
			if x.c.revisedIn != b.phase && b.matters(&x.c.revised[x.at], v) {
				x.c.revisedIn = b.phase
			}
		}
	}
}

// isRevised reports whether the staged batch revises vertices that matter for a plan. Candidate bits do not tell then
// what holds in which view, so that the plan's matches are counted one by one.
func (b *Backend) isRevised(c *compiled) bool { return b.delta != nil && c.revisedIn == b.phase }
