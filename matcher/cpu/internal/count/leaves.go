package count

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// countLeaves counts a component of one block, or of leaves that may meet.
func (c *Counter) countLeaves(p *component) matcher.Count {
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
		e := &p.from[0]
		l := c.list(c.image[e.From], e)
		switch {
		case c.isLong(&l, p.to):
			return c.apart(c.memoized(p), p.to, e, p.conflicts&c.mapped&^p.separatorSet)
		case e.Multi == nil:
			return matcher.CountOf(c.countIn(&l, p.next, p.to))
		}
		return c.countLeaf(p.next, p.to, e)
	}
	first := p.leaves[0]
	alike := true
	for _, u := range p.leaves {
		alike = alike && len(c.q.Edges[u]) == 1 && c.q.Edges[u][0].Multi == nil && c.sameLeaf(first, u)
	}
	if alike {
		return c.countAlike(p.leaves)
	}
	return c.countClasses(p.leaves)
}

// leafKeys are the memo keys that stand not for a component but for a kind of edge, and for whether only edges of both
// graphs are visible.
const leafKeys = maxComponentKeys

// long is the number of candidates above which their count is memoized.
const long = 64

// isLong reports whether the candidates of a leaf must be counted one by one, and are many.
func (c *Counter) isLong(l *edgeList, to *filter) bool {
	return len(l.nbr) >= long && (l.check || c.unlessImplied(to) != nil)
}

// sameLeaf reports whether two leaves have the same candidates, apart from the visibility that the ranks of their edges
// decide. Each leaf has one edge, which is not a multi-edge.
func (c *Counter) sameLeaf(u, v int) bool {
	a, b := &c.q.Edges[u][0], &c.q.Edges[v][0]
	return a.From == b.From && a.kind == b.kind && c.q.filters[u].same(&c.q.filters[v])
}

// countAlike counts leaves of one kind. Leaves whose edges see only edges of both graphs choose from a subset of the
// other leaves' candidates. They choose first; each choice removes one candidate for all later leaves.
func (c *Counter) countAlike(leaves []int) matcher.Count {
	total, taken := matcher.CountOf(1), uint64(0)
	for _, narrow := range []bool{true, false} {
		n := uint64(0)
		for _, u := range leaves {
			e := &c.q.Edges[u][0]
			if c.isNarrow(e.rank) != narrow {
				continue
			}
			if n == 0 {
				if n = c.countPlain(u, &c.q.filters[u], e); n == 0 {
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

// countLeaf counts the candidates of a leaf that are not images yet, each with the multiplicity of its edge.
func (c *Counter) countLeaf(u int, to *filter, e *Edge) matcher.Count {
	if e.Multi == nil {
		return matcher.CountOf(c.countPlain(u, to, e))
	}
	if !c.worker.Step() {
		return matcher.Count{}
	}
	return c.apart(c.sumWays(c.image[e.From], to, e), to, e, c.q.conflicts[u]&c.mapped)
}

// apart returns n, the number of candidates of a leaf, without the images of some mapped vertices.
func (c *Counter) apart(n matcher.Count, to *filter, e *Edge, conflicts uint32) matcher.Count {
	for m := conflicts; m != 0 && !n.IsZero(); m &= m - 1 {
		w := c.image[bits.TrailingZeros32(m)]
		switch {
		case !c.fits(to, w):
		case e.Multi != nil:
			n = n.Sub(c.edgeWays(e, w))
		case c.isJoined(e, w):
			n = n.Sub(matcher.CountOf(1))
		}
	}
	return n
}

// countPlain is countLeaf for an edge that is not a multi-edge.
func (c *Counter) countPlain(u int, to *filter, e *Edge) uint64 {
	l := c.list(c.image[e.From], e)
	return c.countIn(&l, u, to)
}

// countIn is countPlain with the list of neighbours along the edge.
func (c *Counter) countIn(l *edgeList, u int, to *filter) uint64 {
	if !c.worker.Step() {
		return 0
	}
	n := c.leavesIn(l, c.image[l.along.From], to)
	if n == 0 {
		return 0
	}
	for m := c.q.conflicts[u] & c.mapped; m != 0; m &= m - 1 {
		if w := c.image[bits.TrailingZeros32(m)]; c.fits(to, w) && c.isIn(l, w) {
			n--
		}
	}
	return n
}

// leavesOf counts the candidates of a leaf that are joined to data vertex v. It takes constant time if the batch
// changes no edge of v and the edge implies the filter. The changes of a batch at a hub are counted once, not for each
// anchor.
func (c *Counter) leavesOf(v dyngraph.VertexID, to *filter, e *Edge) uint64 {
	l := c.list(v, e)
	return c.leavesIn(&l, v, to)
}

// leavesIn is leavesOf with the list of v's neighbours along the edge.
func (c *Counter) leavesIn(l *edgeList, v dyngraph.VertexID, to *filter) uint64 {
	e, a := l.along, admission{to: c.unlessImplied(to)}
	if !l.check && a.isEmpty() {
		return uint64(len(l.nbr))
	}
	keeps := a.isEmpty() && len(l.nbr) >= long
	key := memoKey{component: leafKeys | c.leafKinds[e.kind]<<1, a: v, b: dyngraph.NoVertex}
	if keeps {
		if c.isNarrow(e.rank) {
			key.component++
		}
		if n, ok := c.memo.get(key); ok {
			return n.Lo
		}
	}
	c.worker.StepBy(len(l.nbr))
	n := uint64(len(c.candidates(&c.leaves, l, a)))
	if keeps && !c.worker.Stopped {
		c.memo.put(key, matcher.CountOf(n))
	}
	return n
}
