package cpu

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// countLeaves counts a piece of one vertex, or of leaves that may meet.
func (c *counter) countLeaves(p *piece) matcher.Count {
	if len(p.leaves) == 1 && len(p.from) > 1 {
		return matcher.CountOf(c.countJoined(p))
	}
	first := p.leaves[0]
	alike := true
	for _, u := range p.leaves[1:] {
		alike = alike && c.sameLeaf(first, u)
	}
	if alike {
		return c.countAlike(p.leaves)
	}
	sets := make([][]dyngraph.VertexID, len(p.leaves))
	for k, u := range p.leaves {
		c.leaf.sets[u] = c.leafSet(u, c.leaf.sets[u][:0])
		sets[k] = c.leaf.sets[u]
		if len(sets[k]) == 0 {
			return matcher.Count{}
		}
	}
	return c.leaf.injective(sets, c.step)
}

// sameLeaf reports whether two leaves have the same candidates, but for what the ranks of their edges let them see.
func (c *counter) sameLeaf(u, v int) bool {
	a, b := &c.shape.edges[u][0], &c.shape.edges[v][0]
	return a.from == b.from && a.back.column == b.back.column
}

// countAlike counts leaves of one kind. Those whose edges see only what both graphs have choose from a subset of what
// the others choose from: each choice, the narrow ones first, takes one candidate from all that follow.
func (c *counter) countAlike(leaves []int) matcher.Count {
	total, taken := matcher.CountOf(1), uint64(0)
	for _, narrow := range []bool{true, false} {
		n := uint64(0)
		for k, u := range leaves {
			if e := &c.shape.edges[u][0]; (e.rank < c.rank) != narrow {
				continue
			}
			if n == 0 {
				if n = c.countLeaf(leaves[k]); n == 0 {
					return matcher.Count{}
				}
			}
			if n <= taken {
				return matcher.Count{}
			}
			total = total.Mul(matcher.CountOf(n - taken))
			taken++
		}
	}
	return total
}

// countLeaf counts the candidates of a leaf apart from what is mapped, in O(log degree) unless the batch changes
// edges of its neighbour.
func (c *counter) countLeaf(u int) uint64 {
	e := &c.shape.edges[u][0]
	to := &c.shape.at[u]
	l := c.se.lists.neighbours(c.image[e.from], &e.back, to)
	if !c.se.step() {
		return 0
	}
	n := len(l.nbr)
	if l.staged > 0 {
		c.se.steps += uint64(len(l.ent))
		for _, x := range l.ent {
			if !c.sees(x, e.rank) {
				n--
			}
		}
	}
	for m := c.shape.clash[u] & c.mapped; m != 0; m &= m - 1 {
		w := c.image[bits.TrailingZeros32(m)]
		if !c.se.candidate(to, w) {
			continue
		}
		if at := seek(l.nbr, 0, w); at < len(l.nbr) && l.nbr[at] == w && c.sees(l.ent[at], e.rank) {
			n--
		}
	}
	return uint64(n)
}

// countJoined counts the candidates of a single vertex with several neighbours, apart from what is mapped.
func (c *counter) countJoined(p *piece) uint64 {
	u := p.leaves[0]
	c.depth++
	defer func() { c.depth-- }()
	js, best := c.joinLists(p.from, &c.shape.at[u])
	if best < 0 {
		return 0
	}
	n := uint64(0)
	read := &js[best]
	for i, w := range read.list.nbr {
		if !c.se.step() {
			return 0
		}
		if !c.sees(read.list.ent[i], p.from[best].rank) {
			continue
		}
		switch c.joined(js, best, p.from, w) {
		case 1:
			if c.free(u, w) {
				n++
			}
		case -1:
			return n
		}
	}
	return n
}

// leafSet appends a leaf's candidates apart from what is mapped, ascending.
func (c *counter) leafSet(u int, dst []dyngraph.VertexID) []dyngraph.VertexID {
	e := &c.shape.edges[u][0]
	l := c.se.lists.neighbours(c.image[e.from], &e.back, &c.shape.at[u])
	c.se.steps += uint64(len(l.nbr))
	for i, w := range l.nbr {
		if c.sees(l.ent[i], e.rank) && c.free(u, w) {
			dst = append(dst, w)
		}
	}
	c.se.step()
	return dst
}
