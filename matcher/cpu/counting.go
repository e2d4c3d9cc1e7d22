package cpu

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// counter counts the matches of a shape without enumerating them.
//
// What remains of the pattern, once some vertices are mapped, falls apart into pieces whose counts multiply. The count
// of a piece depends on the images of its boundary, and is kept for the next time the same images come up. That other
// vertices mapped before must not be hit again is put right afterwards, by inclusion and exclusion over which vertices of the
// piece would hit them; this is exact, and mostly nothing, as few vertices are joined to the right neighbours.
type counter struct {
	se     *search
	step   func() bool // se.step
	shape  *shape
	pieces *pieces
	cache  map[*shape]*pieces // of this worker

	rank   int           // of the anchor's edge; -1 for a whole graph
	sign   dyngraph.Sign // of the phase: Deleted sees the old graph, Inserted the new one
	image  [matcher.MaxVertices]dyngraph.VertexID
	mapped uint32

	memo  memo
	joins [matcher.MaxVertices + 1][]join
	depth int
	leaf  leafCounter
}

// start makes the counter ready for anchored or rooted counts over s.
func (c *counter) start(se *search, s *shape) {
	if c.cache == nil {
		c.se, c.step, c.cache = se, se.step, map[*shape]*pieces{}
	}
	c.shape = s
	c.pieces = c.cache[s]
	if c.pieces == nil {
		c.pieces = newPieces(s)
		c.cache[s] = c.pieces
	}
	c.memo.reset()
}

// fromAnchor counts the matches whose first changed edge, by rank, is the image n of the order's edge.
func (c *counter) fromAnchor(o *order, n *dyngraph.NetEdge) matcher.Count {
	c.rank, c.sign = c.shape.rank[o.anchor], n.Sign
	u, v := o.steps[0].vertex, o.steps[1].vertex
	if !c.se.candidate(&o.steps[0], n.From) || !c.se.candidate(&o.steps[1], n.To) || !c.se.step() {
		return matcher.Count{}
	}
	c.image[u], c.image[v] = n.From, n.To
	c.mapped = 1<<u | 1<<v
	return c.extensions()
}

// fromRoot counts the matches in a view whose vertex u is mapped to v.
func (c *counter) fromRoot(which dyngraph.Which, u int, v dyngraph.VertexID) matcher.Count {
	c.rank, c.sign = -1, dyngraph.Inserted
	if which == dyngraph.Old {
		c.sign = dyngraph.Deleted
	}
	if !c.se.candidate(&c.shape.at[u], v) || !c.se.step() {
		return matcher.Count{}
	}
	c.image[u], c.mapped = v, 1<<u
	return c.extensions()
}

func (c *counter) extensions() matcher.Count {
	c.depth = 0
	all := uint32(1)<<len(c.shape.at) - 1
	if len(c.shape.at) == matcher.MaxVertices {
		all = ^uint32(0)
	}
	return c.product(c.pieces.split(all &^ c.mapped))
}

// sees reports whether an edge of the given rank may have a staged data edge as its image.
func (c *counter) sees(e dyngraph.Entry, rank int) bool {
	if !e.Staged() {
		return true
	}
	if rank < c.rank {
		return false
	}
	return (c.se.orders[e.Index()]>>31 != 0) == (c.sign == dyngraph.Deleted)
}

func (c *counter) product(ps []*piece) matcher.Count {
	total := matcher.CountOf(1)
	for _, p := range ps {
		n := c.count(p)
		if n.IsZero() {
			return n
		}
		total = total.Mul(n)
	}
	return total
}

// maxOthers bounds the vertices whose images are kept apart by inclusion and exclusion; with more, the piece is enumerated.
const maxOthers = 2

// count returns the number of ways to map a piece, injectively and apart from all that is mapped.
func (c *counter) count(p *piece) matcher.Count {
	if p.leaves != nil {
		return c.countLeaves(p)
	}
	if bits.OnesCount32(p.boundary) > 2 || p.boundary == c.mapped {
		return c.enumerate(p)
	}
	others := p.clash & c.mapped &^ p.boundary
	if bits.OnesCount32(others) > maxOthers {
		return c.enumerate(p)
	}
	total := c.remember(p)
	if others == 0 || total.IsZero() {
		return total
	}
	mapped := c.mapped
	c.mapped = p.boundary
	less := c.hits(p, others, 0)
	c.mapped = mapped
	return total.Sub(less)
}

// remember returns the count of a piece apart from its boundary only.
func (c *counter) remember(p *piece) matcher.Count {
	var key memoKey
	key.piece = uint32(p.id)<<8 | c.version(p)
	b := p.boundary
	key.a = c.image[bits.TrailingZeros32(b)]
	key.b = dyngraph.NoVertex
	if b &= b - 1; b != 0 {
		key.b = c.image[bits.TrailingZeros32(b)]
	}
	if n, ok := c.memo.get(key); ok {
		return n
	}
	mapped := c.mapped
	c.mapped = p.boundary
	n := c.enumerate(p)
	c.mapped = mapped
	if !c.se.stopped {
		c.memo.put(key, n)
	}
	return n
}

// version tells apart what a piece's edges see: only common edges, the whole graph, or some of either.
func (c *counter) version(p *piece) uint32 {
	switch {
	case p.hi < c.rank:
		return 0
	case p.lo > c.rank:
		return 1
	}
	return 2 + uint32(c.rank)
}

// hits counts the mappings of a piece, apart from its boundary, that use the image of at least one of the others:
// the sum over the ways S to let vertices of the piece hit some of them of (-1)^(|S|+1) times the mappings that contain S.
func (c *counter) hits(p *piece, others uint32, taken uint32) matcher.Count {
	if others == 0 {
		return matcher.Count{}
	}
	x := bits.TrailingZeros32(others)
	others &= others - 1
	total := c.hits(p, others, taken) // x is not hit
	mapped := c.mapped
	for m := p.mask &^ taken & c.shape.clash[x]; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		if !c.fits(u, c.image[x]) {
			continue
		}
		c.image[u], c.mapped = c.image[x], mapped|1<<u
		// Mappings with u on x: those that hit nothing more of the others, and those that do.
		n := c.product(c.pieces.split(p.mask &^ taken &^ (1 << u)))
		total = total.Add(n.Sub(c.hits(p, others, taken|1<<u)))
		c.mapped = mapped
	}
	return total
}

// fits reports whether data vertex w can be the image of u beside what is mapped.
func (c *counter) fits(u int, w dyngraph.VertexID) bool {
	if !c.se.step() || !c.se.candidate(&c.shape.at[u], w) {
		return false
	}
	for i := range c.shape.edges[u] {
		e := &c.shape.edges[u][i]
		if c.mapped&(1<<e.from) == 0 {
			continue
		}
		r := c.se.g.Range(c.image[e.from], e.back.dir, e.back.label)
		if x, ok := r.Find(w); !ok || !c.sees(x, e.rank) {
			return false
		}
	}
	return true
}

// enumerate maps the piece's next vertex in every way, apart from all that is mapped, and counts what remains.
func (c *counter) enumerate(p *piece) matcher.Count {
	var total matcher.Count
	if len(p.from) == 1 {
		e := &p.from[0]
		l := c.se.lists.neighbours(c.image[e.from], &e.back, &c.shape.at[p.next])
		for i, w := range l.nbr {
			if !c.se.step() {
				return matcher.Count{}
			}
			if c.sees(l.ent[i], e.rank) && c.free(p.next, w) {
				total = total.Add(c.with(p, w))
			}
		}
		return total
	}
	c.depth++
	defer func() { c.depth-- }()
	js, best := c.joinLists(p.from, &c.shape.at[p.next])
	if best < 0 {
		return total
	}
	read := &js[best]
	for i, w := range read.list.nbr {
		if !c.se.step() {
			return matcher.Count{}
		}
		if !c.sees(read.list.ent[i], p.from[best].rank) || !c.free(p.next, w) {
			continue
		}
		switch c.joined(js, best, p.from, w) {
		case 1:
			total = total.Add(c.with(p, w))
		case -1:
			return total
		}
	}
	return total
}

// with counts what remains of a piece when its next vertex is mapped to w.
func (c *counter) with(p *piece, w dyngraph.VertexID) matcher.Count {
	mapped := c.mapped
	c.image[p.next], c.mapped = w, mapped|1<<p.next
	n := c.product(p.rest)
	c.mapped = mapped
	return n
}

// free reports whether no mapped vertex that u could coincide with has the image w.
func (c *counter) free(u int, w dyngraph.VertexID) bool {
	for m := c.shape.clash[u] & c.mapped; m != 0; m &= m - 1 {
		if c.image[bits.TrailingZeros32(m)] == w {
			return false
		}
	}
	return true
}

// joinLists returns the lists, or ranges, of the edges to a target and the index of the shortest, which is a list; -1
// when one is empty.
func (c *counter) joinLists(from []edgeTo, to *target) ([]join, int) {
	js := c.joins[c.depth][:0]
	best, size := -1, 0
	for k := range from {
		e := &from[k]
		l, r, built := c.se.lists.peek(c.image[e.from], &e.back, to)
		n := len(l.nbr)
		if !built {
			n = r.AtMost()
		}
		js = append(js, join{list: l, r: r, built: built})
		if n == 0 {
			c.joins[c.depth] = js
			return js, -1
		}
		if best < 0 || n < size {
			best, size = k, n
		}
	}
	c.joins[c.depth] = js
	if !js[best].built {
		e := &from[best]
		js[best].list = c.se.lists.neighbours(c.image[e.from], &e.back, to)
	}
	return js, best
}

// joined searches w in all lists but the one that is read: 1 when it is in all, 0 when not, -1 when no later vertex
// can be.
func (c *counter) joined(js []join, read int, from []edgeTo, w dyngraph.VertexID) int {
	for k := range js {
		if k == read {
			continue
		}
		j := &js[k]
		var e dyngraph.Entry
		if j.built {
			j.at = seek(j.list.nbr, j.at, w)
			if j.at == len(j.list.nbr) {
				return -1
			}
			if j.list.nbr[j.at] != w {
				return 0
			}
			e = j.list.ent[j.at]
		} else {
			var ok bool
			if e, ok = j.r.Find(w); !ok {
				return 0
			}
		}
		if !c.sees(e, from[k].rank) {
			return 0
		}
	}
	return 1
}
