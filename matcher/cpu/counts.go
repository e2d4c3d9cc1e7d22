package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
)

// anchor is an oriented pattern edge: its first vertex is mapped to the first end of a net edge.
type anchor struct{ edge, from, to int }

// fromAnchor counts the matches whose first changed edge, by rank, is the image of the anchor: the net edge of a sign
// between two data vertices, of a label. The count is what there is more than less.
func (c *counter) fromAnchor(
	a anchor,
	sign dyngraph.Sign,
	n program.NetPair,
	label dyngraph.LabelID,
) (more, less matcher.Count) {
	c.rank, c.sign = c.shape.rank[a.edge], sign
	self := c.shape.self()
	if !c.worker.Step() || !c.passes(&self.at[a.from], n.From) || !c.passes(&self.at[a.to], n.To) {
		return more, less
	}
	c.begin = beginning{a.edge, a.from, a.to, n.From, n.To, label}
	return c.either(c.rest == nil && c.isApart(a.edge))
}

// fromRoot counts the matches in a view whose vertex u is mapped to v.
func (c *counter) fromRoot(which dyngraph.Which, u int, v dyngraph.VertexID) matcher.Count {
	c.rank, c.sign = -1, dyngraph.Inserted
	if which == dyngraph.Old {
		c.sign = dyngraph.Deleted
	}
	if !c.passes(&c.shape.self().at[u], v) || !c.worker.Step() {
		return matcher.Count{}
	}
	c.begin = beginning{anchor: -1, u: u, from: v}
	more, less := c.either(c.isApart(-1))
	return more.Sub(less)
}

// beginning is what is mapped first: the ends of an anchor, or a root.
type beginning struct {
	anchor   int // pattern edge, or -1
	u, v     int
	from, to dyngraph.VertexID
	label    dyngraph.LabelID // of the net edge
}

// one counts a quotient from the beginning. It answers false if nothing is known of it: when the anchor is the same
// edge as one of a lower rank.
func (c *counter) one(q *quotient, parts *quotientPieces) (n matcher.Count, known bool) {
	c.q, c.parts, c.depth = q, parts, 0
	b := &c.begin
	if b.anchor < 0 {
		r := q.of[b.u]
		if !c.passes(&q.at[r], b.from) {
			return n, true
		}
		c.put(q.members[r], b.from)
		c.mapped = 1 << r
		return c.product(parts.split(q.all &^ (1 << r))), true
	}
	if !q.first[b.anchor] {
		return n, false
	}
	u, v := q.of[b.u], q.of[b.v]
	if q.index > 0 && (!c.passes(&q.at[u], b.from) || !c.passes(&q.at[v], b.to)) {
		return n, true
	}
	c.put(q.members[u], b.from)
	c.put(q.members[v], b.to)
	c.mapped = 1<<u | 1<<v
	beside := c.others(q, b.anchor, u, v, b.to)
	if beside.IsZero() {
		return n, true
	}
	if n = c.product(parts.anchored(b.anchor)); beside != matcher.CountOf(1) {
		n = n.Mul(beside)
	}
	return n, true
}

// either counts the pattern with its vertices kept apart, or sums the counts of its quotients by their signs, but for
// those that a forest has.
func (c *counter) either(apart bool) (more, less matcher.Count) {
	if apart {
		more, _ = c.one(c.shape.apart, c.ps.apart)
		return more, less
	}
	var none quotientSet
	for i, q := range c.shape.parts {
		if c.rest != nil && c.rest[i].elsewhere {
			continue
		}
		if i > 0 && q.finer.meets(&none) {
			none.add(i)
			continue
		}
		w := weight{q.factor, q.negative}
		if c.rest != nil {
			w = c.rest[i].weight
		}
		n, known := c.one(q, c.ps.parts[i])
		switch {
		case !known:
		case n.IsZero():
			if i == 0 {
				return more, less
			}
			none.add(i)
		case w.negative:
			less = less.Add(n.Mul(w.factor))
		default:
			more = more.Add(n.Mul(w.factor))
		}
		if c.worker.Stopped {
			break
		}
	}
	return more, less
}

// others returns how often the edges of a quotient between the blocks of its anchor, but for the anchor, can be mapped.
func (c *counter) others(q *quotient, anchor, u, v int, w dyngraph.VertexID) matcher.Count {
	n := matcher.CountOf(1)
	for i := range q.edges[v] {
		e := &q.edges[v][i]
		switch {
		case q.of[e.from] != u:
		case e.wide == nil:
			if !e.edges.has(anchor) && !c.isJoined(e, w) {
				return matcher.Count{}
			}
		case e.edges.has(anchor):
			n = n.Mul(c.besideAnchor(e, w, anchor))
		default:
			n = n.Mul(c.joins(e, w))
		}
	}
	return n
}
