package count

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/truths"
)

// Anchor is an oriented pattern edge: vertex From is mapped to the first end of a net edge, To to the second.
type Anchor struct{ Edge, From, To int }

// FromAnchor counts the matches whose first changed edge, by rank, is the anchor's, mapped to the net edge n of a sign
// with a label. order is n's in its batch; it is read where pattern edges have tests. edge is its data edge if the
// label has parallel edges, otherwise NoEdge. The count is more minus less.
func (c *Counter) FromAnchor(
	a Anchor,
	sign dyngraph.Sign,
	n program.NetPair,
	label dyngraph.LabelID,
	order uint32,
	edge dyngraph.EdgeIndex,
) (more, less matcher.Count) {
	c.rank, c.sign = c.plan.rank[a.Edge], sign
	self := c.plan.identity()
	if !c.worker.Step() || !c.fits(&self.filters[a.From], n.From) || !c.fits(&self.filters[a.To], n.To) {
		return more, less
	}
	c.origin = origin{a.Edge, a.From, a.To, n.From, n.To, label, order, edge}
	return c.countFromAnchor(c.elsewhere == nil && c.countsInjectively(a.Edge))
}

// FromRoot counts the matches in a view of the graph in which pattern vertex u is mapped to v.
func (c *Counter) FromRoot(which dyngraph.Which, u int, v dyngraph.VertexID) matcher.Count {
	c.rank, c.sign = -1, dyngraph.Inserted
	if which == dyngraph.Old {
		c.sign = dyngraph.Deleted
	}
	if !c.fits(&c.plan.identity().filters[u], v) || !c.worker.Step() {
		return matcher.Count{}
	}
	c.origin = origin{anchor: -1, u: u, from: v}
	more, less := c.countFromAnchor(c.countsInjectively(-1))
	return more.Sub(less)
}

// origin is the first thing that is mapped: the ends of an anchor, or a root.
type origin struct {
	anchor   int // pattern edge, or -1
	u, v     int
	from, to dyngraph.VertexID
	label    dyngraph.LabelID   // of the net edge
	order    uint32             // likewise, in its batch
	edge     dyngraph.EdgeIndex // it, where its label does not tell it from others between its ends
}

// countQuotient counts a quotient from the origin. known is false when the quotient identifies the anchor with an edge
// of a lower rank.
func (c *Counter) countQuotient(q *Quotient, parts *quotientComponents) (n matcher.Count, known bool) {
	c.q, c.part, c.depth = q, parts, 0
	b := &c.origin
	if b.anchor < 0 {
		r := q.BlockOf[b.u]
		if !c.fits(&q.filters[r], b.from) {
			return n, true
		}
		c.bind(q.Members[r], b.from)
		c.mapped = 1 << r
		return c.product(parts.split(q.Blocks &^ (1 << r))), true
	}
	if !q.isFirst[b.anchor] {
		return n, false
	}
	if tests := q.tests[b.anchor]; tests != nil && !truths.All(tests, c.truths.OfNet(b.order)) {
		return n, true
	}
	u, v := q.BlockOf[b.u], q.BlockOf[b.v]
	if q.index > 0 && (!c.fits(&q.filters[u], b.from) || !c.fits(&q.filters[v], b.to)) {
		return n, true
	}
	c.bind(q.Members[u], b.from)
	c.bind(q.Members[v], b.to)
	c.mapped = 1<<u | 1<<v
	beside := c.besideAnchorOf(q, b.anchor, u, v, b.to)
	if beside.IsZero() {
		return n, true
	}
	if n = c.product(parts.anchored(b.anchor)); beside != matcher.CountOf(1) {
		n = n.Mul(beside)
	}
	return n, true
}

// countFromAnchor counts the pattern from the origin: with its vertices kept apart, or as the signed sum of its
// quotients, without those that are counted elsewhere.
func (c *Counter) countFromAnchor(apart bool) (more, less matcher.Count) {
	if apart {
		more, _ = c.countQuotient(c.plan.injective, c.comps.injective)
		return more, less
	}
	var none QuotientSet
	for i, q := range c.plan.Quotients {
		if c.elsewhere != nil && c.elsewhere[i] {
			continue
		}
		if i > 0 && q.Finer.meets(&none) {
			none.add(i)
			continue
		}
		n, known := c.countQuotient(q, c.comps.quotients[i])
		switch {
		case !known:
		case n.IsZero():
			if i == 0 {
				return more, less
			}
			none.add(i)
		case q.Negative:
			less = less.Add(n.Mul(q.Factor))
		default:
			more = more.Add(n.Mul(q.Factor))
		}
		if c.worker.Stopped {
			break
		}
	}
	return more, less
}

// besideAnchorOf returns how often the edges of a quotient between the ends of its anchor, without the anchor, can be
// mapped.
func (c *Counter) besideAnchorOf(q *Quotient, anchor, u, v int, w dyngraph.VertexID) matcher.Count {
	n := matcher.CountOf(1)
	for i := range q.Edges[v] {
		e := &q.Edges[v][i]
		switch {
		case q.BlockOf[e.From] != u:
		case e.Multi == nil:
			if !e.patternEdges.has(anchor) && !c.isJoined(e, w) {
				return matcher.Count{}
			}
		case e.patternEdges.has(anchor):
			n = n.Mul(c.besideAnchor(e, w, anchor))
		default:
			n = n.Mul(c.edgeWays(e, w))
		}
	}
	return n
}
