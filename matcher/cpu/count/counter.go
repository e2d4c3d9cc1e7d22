package count

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/work"
)

// counter counts the matches of a shape without enumerating them.
//
// What remains of a quotient, once some blocks are mapped, falls apart into pieces whose counts multiply. The count
// of a piece depends on the images of its boundary, and is kept for the next time the same images come up.
//
// The other way is to count the pattern itself with its vertices kept apart. That others mapped before must not be hit
// again is then put right afterwards, by inclusion and exclusion over which vertices of the piece would hit them; this
// is exact, and mostly nothing, as few vertices are joined to the right neighbours.
type Counter struct {
	worker   *work.Worker
	Strategy Strategy    // tests: forces one, as far as a pattern can be counted so
	step     func() bool // counts a step; false once the worker is stopped
	g        *dyngraph.Graph
	orders   []uint32 // batch order of each edge, by edge index
	bits     []uint64 // candidate bits, words of them by vertex
	words    int

	index *labeladj.Index
	plan  *Plan
	comps *components
	cache map[*Plan]*components // of this worker
	keys  componentKeys         // of all of them
	kinds []uint32              // of the adjacency, as the shape numbers them

	binding
	sums []openSum // the outermost first, if they are shared
	// rest is not nil when some of the quotients are counted elsewhere, without regard to candidate bits. Then these do not
	// matter for the others either: terms would not cancel out.
	terms   []Term
	Touched uint64 // what was read ahead comes together here, so that it is read

	memo      memo
	intersect neighbors.Intersecter
	common    [matcher.MaxVertices + 1][]dyngraph.VertexID // by depth
	ways      [matcher.MaxVertices + 1][]matcher.Count     // beside them
	depth     int
	injective injectiveCounter
	classes   classCounter

	assigning assignment
	gathered  weighted
	paths     pathCounter
}

// attach makes the counter read a graph with its candidate bits. The worker is the counter's from then on.
func (c *Counter) Attach(w *work.Worker, g *dyngraph.Graph, f *candidates.Filter) {
	if c.worker != w {
		c.worker, c.step = w, func() bool { return !w.Stopped && w.Step() }
	}
	c.g, c.orders, c.bits, c.words = g, g.OrderTable(), f.Bits(), f.Words()
	c.memo.reset()
}

// detach drops what the next search may not have any more.
func (c *Counter) Detach() { c.index, c.terms = nil, nil }

// start makes the counter ready for anchored or rooted counts over s.
func (c *Counter) Start(s *Plan, adj *labeladj.Index, rest []Term) {
	if c.cache == nil || c.keys.next > maxComponentKeys {
		c.cache, c.keys = map[*Plan]*components{}, componentKeys{}
		c.memo.reset()
	}
	c.plan, c.index, c.terms = s, adj, rest
	c.comps = c.cache[s]
	if c.comps == nil {
		c.comps = newComponents(c.g, s, &c.keys)
		c.cache[s] = c.comps
	}
	c.kinds = c.kinds[:0]
	for _, key := range s.kinds {
		c.kinds = append(c.kinds, adj.KindOf(key))
	}
}

// term is what becomes of a quotient when some quotients are counted elsewhere.
type Term struct {
	Weight
	Elsewhere bool // there is nothing to count from net edges one by one
}

// isJoined reports whether an edge that is not wide joins data vertex w to the image of the edge's other end.
func (c *Counter) isJoined(e *Edge, w dyngraph.VertexID) bool {
	nbr, ent, staged := c.neighbors(c.image[e.From], e)
	at := neighbors.Seek(nbr, 0, w)
	return at < len(nbr) && nbr[at] == w && (!staged || c.isVisible(ent[at], e.rank))
}

// put maps the members of a block.
func (c *Counter) bind(members uint32, w dyngraph.VertexID) {
	for m := members; m != 0; m &= m - 1 {
		c.image[bits.TrailingZeros32(m)] = w
	}
}

// passes reports whether a data vertex fits a block.
func (c *Counter) passes(t *filter, w dyngraph.VertexID) bool {
	return c.terms != nil || t.passes(c.bits, c.words, w)
}

// implied tells that every vertex that is reached along a block's only edge fits it.
func (c *Counter) implied(t *filter) bool { return t.implied || c.terms != nil }

// around returns the neighbours of a data vertex along an edge, ascending, and whether some might be staged. Not all
// need fit the target.
func (c *Counter) neighbors(v dyngraph.VertexID, e *Edge) ([]dyngraph.VertexID, []dyngraph.Entry, bool) {
	return c.index.Of(v, c.kinds[e.kind])
}

// sees reports whether an edge of the given rank may have a staged data edge as its image.
func (c *Counter) isVisible(e dyngraph.Entry, rank int) bool {
	if !e.Staged() {
		return true
	}
	if rank < c.rank {
		return false
	}
	return (c.orders[e.Index()]>>31 != 0) == (c.sign == dyngraph.Deleted)
}

func (c *Counter) product(ps []*component) matcher.Count {
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

// maxOthers bounds the vertices whose images are kept apart by inclusion and exclusion; with more, the piece is
// enumerated.
const maxConflicts = 2

// maxHits bounds the ways for one vertex of a piece to hit one of the others.
const maxHits = 12

// manyHits reports whether it takes very many counts of parts of a piece to tell which mappings hit one of the others.
func (c *Counter) manyHits(p *component, others uint32) bool {
	n := 0
	for m := others; m != 0; m &= m - 1 {
		n += bits.OnesCount32(p.mask & c.q.conflicts[bits.TrailingZeros32(m)])
	}
	return n > maxHits
}

// count returns the number of ways to map a piece, apart from all that it must be kept apart from.
func (c *Counter) count(p *component) matcher.Count {
	if c.worker.Stopped { // whatever is under way comes to its end at once
		return matcher.Count{}
	}
	if p.leaves != nil {
		return c.countLeaves(p)
	}
	if len(p.separator) > 2 {
		return c.compute(p)
	}
	// Between the ends of an anchor, only other quotients and other patterns can ask again.
	if len(p.separator) == 2 && !p.key.shared && bits.OnesCount32(c.mapped) == 2 && c.origin.anchor >= 0 {
		return c.compute(p)
	}
	if p.conflicts == 0 {
		return c.memoized(p)
	}
	others := p.conflicts & c.mapped &^ p.separatorSet
	if bits.OnesCount32(others) > maxConflicts || c.manyHits(p, others) {
		return c.compute(p)
	}
	total := c.memoized(p)
	if others == 0 || total.IsZero() {
		return total
	}
	mapped := c.mapped
	c.mapped = p.separatorSet
	less := c.countHits(p, others, 0)
	c.mapped = mapped
	return total.Sub(less)
}

// remember returns the count of a piece apart from its boundary only.
func (c *Counter) memoized(p *component) matcher.Count {
	key := memoKey{component: p.key.first + c.version(p), a: c.image[p.separator[0]], b: dyngraph.NoVertex}
	if len(p.separator) > 1 {
		key.b = c.image[p.separator[1]]
	}
	if n, ok := c.memo.get(key); ok {
		return n
	}
	mapped := c.mapped
	c.mapped = p.separatorSet
	n := c.compute(p)
	c.mapped = mapped
	if !c.worker.Stopped {
		c.memo.put(key, n)
	}
	return n
}

// anew counts a piece apart from all that is mapped.
func (c *Counter) compute(p *component) matcher.Count {
	switch {
	case p.leaves != nil:
		return c.countLeaf(p.next, p.to, &p.from[0])
	case p.path != nil:
		if n, ok := c.countPath(p.path); ok {
			return n
		}
	case p.spider != nil:
		if n, ok := c.countSpider(p.spider); ok {
			return n
		}
	}
	return c.eliminate(p)
}

// version tells apart what a piece's edges see: those of a lower rank than the anchor's only what both graphs have, the
// others all. Where branches are counted, candidate bits do not matter.
func (c *Counter) version(p *component) uint32 {
	n := 0
	for n < len(p.ranks) && p.ranks[n] < c.rank {
		n++
	}
	if c.terms != nil {
		n += 1 + len(p.ranks)
	}
	return uint32(n)
}

// hits counts the mappings of a piece, apart from its boundary, that use the image of at least one of the others: the
// sum over the ways S to let vertices of the piece hit some of them of (-1)^(|S|+1) times the mappings that contain S.
func (c *Counter) countHits(p *component, others uint32, taken uint32) matcher.Count {
	if others == 0 {
		return matcher.Count{}
	}
	x := bits.TrailingZeros32(others)
	others &= others - 1
	total := c.countHits(p, others, taken) // x is not hit
	mapped := c.mapped
	for m := p.mask &^ taken & c.q.conflicts[x]; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		often := c.waysToFit(u, c.image[x])
		if often.IsZero() {
			continue
		}
		c.image[u], c.mapped = c.image[x], mapped|1<<u
		// Mappings with u on x: those that hit nothing more of the others, and those that do.
		n := c.product(c.part.split(p.mask &^ taken &^ (1 << u)))
		total = total.Add(often.Mul(n.Sub(c.countHits(p, others, taken|1<<u))))
		c.mapped = mapped
	}
	return total
}

// fits returns how often data vertex w can be the image of u beside what is mapped.
func (c *Counter) waysToFit(u int, w dyngraph.VertexID) matcher.Count {
	if !c.worker.Step() || !c.passes(&c.q.filters[u], w) {
		return matcher.Count{}
	}
	n := matcher.CountOf(1)
	for i := range c.q.Edges[u] {
		e := &c.q.Edges[u][i]
		if c.mapped&(1<<e.From) == 0 {
			continue
		}
		if e.Multi != nil {
			n = n.Mul(c.edgeWays(e, w))
		} else if !c.isJoined(e, w) {
			return matcher.Count{}
		}
	}
	return n
}

// enumerate maps the piece's next block in every way, apart from all that is mapped, and counts what remains.
func (c *Counter) eliminate(p *component) matcher.Count {
	var total matcher.Count
	if p.spider != nil {
		if n, ok := c.eachImage(p); ok {
			return n
		}
	}
	if p.rest == nil {
		c.part.chooseNext(p)
	}
	if len(p.from) == 1 && p.from[0].Multi == nil {
		e := &p.from[0]
		nbr, ent, staged := c.neighbors(c.image[e.From], e)
		if p.leaf != nil {
			return c.eliminateBeforeLeaf(p, nbr, ent, staged)
		}
		if c.shares() {
			images := c.images(p, nbr, ent, staged)
			c.depth++
			total = c.addUp(c.sumOver(p, images, nil), p.rest)
			c.depth--
			return total
		}
		for i, w := range nbr {
			if !c.worker.Step() {
				return matcher.Count{}
			}
			if (c.implied(p.to) || c.passes(p.to, w)) && (!staged || c.isVisible(ent[i], e.rank)) && c.isInjective(p.next, w) {
				total = total.Add(c.countWith(p, w))
			}
		}
		return total
	}
	found, ways := c.inCommon(p)
	c.depth++
	if c.shares() {
		total = c.addUp(c.sumOver(p, found, ways), p.rest)
		found = nil
	}
	for i, w := range found {
		if !c.worker.Step() {
			break
		}
		n := c.countWith(p, w)
		if ways != nil {
			n = n.Mul(ways[i])
		}
		total = total.Add(n)
	}
	c.depth--
	return total
}

// images returns which of the neighbours along a piece's only edge are images of its next block. Those that are not are
// counted as search steps.
func (c *Counter) images(p *component, nbr []dyngraph.VertexID, ent []dyngraph.Entry, staged bool) []dyngraph.VertexID {
	images, rank := c.common[c.depth][:0], p.from[0].rank
	for i, w := range nbr {
		if (c.implied(p.to) || c.passes(p.to, w)) && (!staged || c.isVisible(ent[i], rank)) && c.isInjective(p.next, w) {
			images = append(images, w)
		}
	}
	c.common[c.depth] = images
	c.worker.StepBy(len(nbr) - len(images))
	return images
}

// with counts what remains of a piece when its next block is mapped to w.
func (c *Counter) countWith(p *component, w dyngraph.VertexID) matcher.Count {
	mapped := c.mapped
	c.bind(p.members, w)
	c.mapped = mapped | 1<<p.next
	n := c.product(p.rest)
	c.mapped = mapped
	return n
}

// withLeaf counts a piece of a block with one leaf and no other edges, neither to be kept apart from anything.
func (c *Counter) eliminateBeforeLeaf(p *component, nbr []dyngraph.VertexID, ent []dyngraph.Entry, staged bool) matcher.Count {
	var total matcher.Count
	if !c.worker.StepBy(len(nbr)) {
		return total
	}
	rank, n := p.from[0].rank, uint64(0)
	for i, w := range nbr {
		if c.passes(p.to, w) && (!staged || c.isVisible(ent[i], rank)) {
			n += c.leavesOf(w, p.leaf.to, &p.leaf.from[0])
		}
	}
	return matcher.CountOf(n)
}

// free reports whether no mapped vertex that u must be kept apart from has the image w.
func (c *Counter) isInjective(u int, w dyngraph.VertexID) bool {
	for m := c.q.conflicts[u] & c.mapped; m != 0; m &= m - 1 {
		if c.image[bits.TrailingZeros32(m)] == w {
			return false
		}
	}
	return true
}
