package cpu

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// countLeaves counts a piece of one vertex, or of leaves that may meet.
func (c *counter) countLeaves(p *piece) matcher.Count {
	if len(p.leaves) == 1 {
		if len(p.from) > 1 {
			images, ways := c.inCommon(p)
			if ways == nil {
				return matcher.CountOf(uint64(len(images)))
			}
			var total matcher.Count
			for _, n := range ways {
				total = total.Add(n)
			}
			return total
		}
		if e := &p.from[0]; p.clash == 0 && c.isLong(c.image[e.from], e, p.to) {
			return c.remember(p)
		}
		return c.countLeaf(p.next, p.to, &p.from[0])
	}
	first := p.leaves[0]
	alike, plain := true, true
	for _, u := range p.leaves {
		plain = plain && !slices.ContainsFunc(c.q.edges[u], func(e edgeTo) bool { return e.wide != nil })
		alike = alike && plain && len(c.q.edges[u]) == 1 && c.sameLeaf(first, u)
	}
	if alike {
		return c.countAlike(p.leaves)
	}
	if !plain || len(p.leaves) > maxTogether {
		return c.countClasses(p.leaves)
	}
	sets := make([][]dyngraph.VertexID, len(p.leaves))
	for k, u := range p.leaves {
		if len(c.q.edges[u]) == 1 {
			c.leaf.sets[u] = c.leafSet(u, c.leaf.sets[u][:0])
		} else {
			c.gather(&c.gathered, u, &c.q.at[u], c.q.edges[u])
			c.leaf.sets[u] = append(c.leaf.sets[u][:0], c.gathered.nbr...)
		}
		sets[k] = c.leaf.sets[u]
		if len(sets[k]) == 0 {
			return matcher.Count{}
		}
	}
	return c.leaf.injective(sets, c.step)
}

// long is the number of candidates from which on their count is remembered.
const long = 64

// isLong reports whether the candidates of a leaf must be counted one by one, and are many.
func (c *counter) isLong(v dyngraph.VertexID, e *edgeTo, to *target) bool {
	nbr, _, staged := c.around(v, e)
	return len(nbr) >= long && (staged || !c.implied(to))
}

// sameLeaf reports whether two leaves, of one edge that is not wide, have the same candidates, but for what the ranks
// of their edges let them see.
func (c *counter) sameLeaf(u, v int) bool {
	a, b := &c.q.edges[u][0], &c.q.edges[v][0]
	return a.from == b.from && a.kind == b.kind && c.q.at[u].same(&c.q.at[v])
}

// countAlike counts leaves of one kind. Those whose edges see only what both graphs have choose from a subset of what
// the others choose from: each choice, the narrow ones first, takes one candidate from all that follow.
func (c *counter) countAlike(leaves []int) matcher.Count {
	total, taken := matcher.CountOf(1), uint64(0)
	for _, narrow := range []bool{true, false} {
		n := uint64(0)
		for _, u := range leaves {
			e := &c.q.edges[u][0]
			if (e.rank < c.rank) != narrow {
				continue
			}
			if n == 0 {
				if n = c.countPlain(u, &c.q.at[u], e); n == 0 {
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

// countLeaf counts the candidates of a leaf apart from what is mapped, each as often as its edge joins it.
func (c *counter) countLeaf(u int, to *target, e *edgeTo) matcher.Count {
	if e.wide == nil {
		return matcher.CountOf(c.countPlain(u, to, e))
	}
	if !c.worker.Step() {
		return matcher.Count{}
	}
	n := c.sumOf(c.image[e.from], to, e)
	if n.IsZero() {
		return n
	}
	for m := c.q.clash[u] & c.mapped; m != 0; m &= m - 1 {
		if w := c.image[bits.TrailingZeros32(m)]; c.passes(to, w) {
			n = n.Sub(c.joins(e, w))
		}
	}
	return n
}

// countPlain is countLeaf for an edge that is not wide.
func (c *counter) countPlain(u int, to *target, e *edgeTo) uint64 {
	if !c.worker.Step() {
		return 0
	}
	n := c.leavesOf(c.image[e.from], to, e)
	if n == 0 {
		return 0
	}
	for m := c.q.clash[u] & c.mapped; m != 0; m &= m - 1 {
		if w := c.image[bits.TrailingZeros32(m)]; c.passes(to, w) && c.isJoined(e, w) {
			n--
		}
	}
	return n
}

// leavesOf counts the candidates of a leaf that are joined to data vertex v; at once, where neither the batch changes
// edges of v nor the filter tells more than the edge does.
func (c *counter) leavesOf(v dyngraph.VertexID, to *target, e *edgeTo) uint64 {
	nbr, ent, staged := c.around(v, e)
	if !staged && c.implied(to) {
		return uint64(len(nbr))
	}
	c.worker.StepBy(len(nbr))
	n := uint64(0)
	for i, w := range nbr {
		if (!staged || c.sees(ent[i], e.rank)) && (c.implied(to) || c.passes(to, w)) {
			n++
		}
	}
	return n
}

// leafSet appends a leaf's candidates apart from what is mapped, ascending.
func (c *counter) leafSet(u int, dst []dyngraph.VertexID) []dyngraph.VertexID {
	e := &c.q.edges[u][0]
	nbr, ent, staged := c.around(c.image[e.from], e)
	c.worker.StepBy(len(nbr))
	for i, w := range nbr {
		if (!staged || c.sees(ent[i], e.rank)) && c.passes(&c.q.at[u], w) && c.free(u, w) {
			dst = append(dst, w)
		}
	}
	return dst
}
