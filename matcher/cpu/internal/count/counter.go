package count

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// Counter counts the matches of plans without enumerating them. Each worker has one.
//
// Once some blocks of a quotient are mapped, the rest falls apart into components whose counts multiply. The count of a
// component depends on the images of its separator, and is memoized by them.
//
// When the vertices of the pattern are kept apart instead, the count of a component is corrected by inclusion and
// exclusion over the ways in which its vertices meet vertices mapped before. Mostly there are none, since few mapped
// vertices have the neighbours that a vertex of the component needs.
type Counter struct {
	worker   *work.Worker
	Strategy Strategy    // for tests: Auto, or a strategy that is used wherever it can be
	step     func() bool // counts a step; false once the worker is stopped
	g        *dyngraph.Graph
	orders   []uint32 // batch order of each edge, by edge index
	source   candidates.Source
	bits     []uint64 // its candidate bits, words for each vertex
	words    int
	truths   *truths.Table

	index *labeladj.Index
	plan  *Plan
	comps *components
	cache map[*Plan]*components // of all plans
	keys  componentKeys         // of all components
	// kinds are, by Plan.kinds, those of the index; leafKinds number the kinds with their tests.
	kinds, leafKinds []uint32
	tested           map[testedKind]uint32 // numbers of kinds with tests, from 0 on

	binding
	level [matcher.MaxVertices]int // by pattern vertex: the depth at which it was mapped last
	round uint64                   // of Start
	sums  []openSum                // under way and shared, the outermost first
	// elsewhere is nil or tells which quotients are counted elsewhere; see Start.
	elsewhere []bool

	memo      memo
	intersect neighbors.Intersecter
	lists     []edgeList                                   // scratch
	common    [matcher.MaxVertices + 1][]dyngraph.VertexID // by depth
	leaves    []dyngraph.VertexID
	spare     []dyngraph.VertexID                      // of intersectWith
	ways      [matcher.MaxVertices + 1][]matcher.Count // parallel to common
	depth     int
	failed    uint32 // why the last count of a component was 0; see failing.go
	classes   classCounter

	assigning assignment
	paths     pathCounter
}

// Attach makes the counter read a graph with its candidate bits, on behalf of a worker.
func (c *Counter) Attach(w *work.Worker, g *dyngraph.Graph, f candidates.Source) {
	if c.worker != w {
		c.worker, c.step = w, func() bool { return !w.Stopped && w.Step() }
	}
	c.g, c.orders, c.source = g, g.OrderTable(), nil
	c.Read(f)
}

// Read makes the counter read other candidate bits of the same graph. Its memo is valid for one Source alone.
func (c *Counter) Read(f candidates.Source) {
	if c.source == f {
		return
	}
	c.source, c.bits, c.words, c.truths = f, f.Bits(), f.Words(), f.Truths()
	c.memo.reset()
	clear(c.tested)
}

// Detach drops references that may not outlive the search.
func (c *Counter) Detach() { c.index, c.elsewhere, c.source = nil, nil, nil }

// Start makes the counter ready to count a plan with an index that has the plan's wildcards. elsewhere is nil,
// or tells by quotient whether it is counted elsewhere, without regard to candidate bits; these are then ignored in all
// quotients, which would not cancel out otherwise.
func (c *Counter) Start(s *Plan, adj *labeladj.Index, elsewhere []bool) {
	if c.cache == nil || c.keys.next > maxComponentKeys {
		c.cache, c.keys = map[*Plan]*components{}, componentKeys{}
		c.memo.reset()
	}
	c.plan, c.index, c.elsewhere = s, adj, elsewhere
	c.round++
	c.comps = c.cache[s]
	if c.comps == nil {
		c.comps = newComponents(s, &c.keys)
		c.cache[s] = c.comps
	}
	c.kinds, c.leafKinds = c.kinds[:0], c.leafKinds[:0]
	for _, k := range s.kinds {
		kind := adj.KindOf(k.key)
		c.kinds, c.leafKinds = append(c.kinds, kind), append(c.leafKinds, c.leafKind(kind, k.tests))
	}
}

// Forget drops what the counter keeps of a plan that was removed.
func (c *Counter) Forget(s *Plan) { delete(c.cache, s) }

// testedKind is a kind of the index with the tests of those edges that take only some of its entries.
type testedKind struct {
	kind  uint32
	tests string
}

// leafKind numbers the kinds of edges by which leaves are remembered in one search: without tests as the index does.
func (c *Counter) leafKind(kind uint32, tests string) uint32 {
	if tests == "" {
		return kind
	}
	k := testedKind{kind, tests}
	at, ok := c.tested[k]
	if !ok {
		if c.tested == nil {
			c.tested = map[testedKind]uint32{}
		}
		at = uint32(len(c.tested))
		c.tested[k] = at
	}
	return uint32(c.index.Kinds()) + at
}

// bind maps the members of a block.
func (c *Counter) bind(members uint32, w dyngraph.VertexID) {
	for m := members; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		c.image[u], c.level[u] = w, c.depth
	}
}

// product multiplies the counts of components.
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

// maxConflicts bounds the mapped vertices that a component is kept apart from by inclusion and exclusion. With more it
// is eliminated.
const maxConflicts = 2

// maxHits bounds the vertices of a component that may meet one of those.
const maxHits = 12

// manyHits reports whether inclusion and exclusion over the conflicts of a component takes very many counts.
func (c *Counter) manyHits(p *component, others uint32) bool {
	n := 0
	for m := others; m != 0; m &= m - 1 {
		n += bits.OnesCount32(p.mask & c.q.conflicts[bits.TrailingZeros32(m)])
	}
	return n > maxHits
}

// count returns the number of ways to map a component, apart from all conflicting vertices that are mapped.
func (c *Counter) count(p *component) matcher.Count {
	if c.worker.Stopped { // all that is under way ends at once
		return matcher.Count{}
	}
	if p.leaves != nil {
		c.failed = 0
		n := c.countLeaves(p)
		if n.IsZero() && c.failed == 0 {
			c.failed = c.whyNoLeaves(p.leaves)
		}
		return n
	}
	if len(p.separator) > 2 {
		return c.compute(p)
	}
	// The count between the ends of an anchor comes up again only in other quotients and patterns.
	if len(p.separator) == 2 && !c.sharesKey(p) && bits.OnesCount32(c.mapped) == 2 && c.origin.anchor >= 0 {
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
	c.failed = p.separatorSet | others
	return total.Sub(less)
}

// keyOf returns the key of a component in the memo.
func (c *Counter) keyOf(p *component) *componentKey {
	if p.key == nil {
		p.key = c.keys.of(c.part, p)
	}
	return p.key
}

// sharesKey reports whether another component, or another quotient, may ask for the count of a component.
func (c *Counter) sharesKey(p *component) bool { return p.shared || c.keyOf(p).shared }

// memoized returns the count of a component apart from its separator only.
func (c *Counter) memoized(p *component) matcher.Count {
	key := memoKey{component: c.keyOf(p).first + c.version(p), a: c.image[p.separator[0]], b: dyngraph.NoVertex}
	if len(p.separator) > 1 {
		key.b = c.image[p.separator[1]]
	}
	if n, ok := c.memo.get(key); ok {
		c.failed = p.separatorSet
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

// compute counts a component apart from all that is mapped.
func (c *Counter) compute(p *component) matcher.Count {
	if p.method != nil {
		if n, ok := p.method.count(c, p); ok {
			c.failed = p.separatorSet | p.conflicts&c.mapped
			return n
		}
	}
	return c.eliminate(p)
}

// version numbers the sets of data edges that the edges of a component see: edges of a lower rank than the anchor's see
// only those of both graphs, the others see all. Counts that ignore candidate bits have versions of their own.
func (c *Counter) version(p *component) uint32 {
	n := p.ranks.below(c.rank)
	if c.elsewhere != nil {
		n += 1 + p.ranks.size()
	}
	return uint32(n)
}

// countHits counts the mappings of a component, apart from its separator, that use the image of at least one of the
// others: the sum, over the sets S of its vertices that meet others, of (-1)^(|S|+1) times the mappings that contain S.
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
		// Mappings with u on x: those that hit no other one of the others, and those that do.
		n := c.product(c.part.split(p.mask &^ taken &^ (1 << u)))
		total = total.Add(often.Mul(n.Sub(c.countHits(p, others, taken|1<<u))))
		c.mapped = mapped
	}
	return total
}

// waysToFit returns the number of ways in which data vertex w can be the image of u, given the mapped vertices.
func (c *Counter) waysToFit(u int, w dyngraph.VertexID) matcher.Count {
	if !c.worker.Step() || !c.fits(&c.q.filters[u], w) {
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

// eliminate maps the component's next block in every way, apart from all that is mapped, and counts what remains.
func (c *Counter) eliminate(p *component) matcher.Count {
	var total matcher.Count
	if s, ok := p.method.(*spider); ok {
		if n, ok := c.eachImage(p, s); ok {
			c.failed = p.separatorSet | p.conflicts&c.mapped
			return n
		}
	}
	if p.next < 0 {
		c.part.chooseNext(p)
	}
	var found []dyngraph.VertexID
	var ways []matcher.Count // how often each counts; nil if once
	if e := &p.from[0]; len(p.from) == 1 && e.Multi == nil {
		if p.leaf != nil {
			c.failed = p.separatorSet
			return c.eliminateBeforeLeaf(p)
		}
		l := c.list(c.image[e.From], e)
		found = c.candidates(&c.common[c.depth], &l, c.admission(p.next, p.to))
		c.worker.StepBy(len(l.nbr) - len(found))
	} else {
		found, ways = c.inCommon(p)
	}
	if len(found) == 0 {
		c.failed = c.whyNone(p.next, p.to, p.from)
		return total
	}
	rest := c.part.restOf(p)
	c.depth++
	if c.shares() {
		total = c.addUp(c.sumOver(p, found, ways), rest)
		c.depth--
		c.failed = everything
		return total
	}
	failed := uint32(0)
	for i, w := range found {
		if !c.worker.Step() {
			break
		}
		n := c.countWith(p, w)
		if n.IsZero() {
			if c.failed&p.members == 0 { // so it is with any other image
				c.depth--
				return n
			}
			failed |= c.failed
			continue
		}
		if ways != nil {
			n = n.Mul(ways[i])
		}
		total = total.Add(n)
	}
	c.depth--
	if total.IsZero() {
		c.failed = failed&^p.members | c.whyNone(p.next, p.to, p.from)
	}
	return total
}

// countWith counts what remains of a component when its next block is mapped to w.
func (c *Counter) countWith(p *component, w dyngraph.VertexID) matcher.Count {
	mapped := c.mapped
	c.bind(p.members, w)
	c.mapped = mapped | 1<<p.next
	n := c.product(p.rest)
	c.mapped = mapped
	return n
}

// eliminateBeforeLeaf counts a component of a block with one leaf and no conflicts.
func (c *Counter) eliminateBeforeLeaf(p *component) matcher.Count {
	e := &p.from[0]
	l := c.list(c.image[e.From], e)
	if !c.worker.StepBy(len(l.nbr)) {
		return matcher.Count{}
	}
	n := uint64(0)
	for _, w := range c.candidates(&c.common[c.depth], &l, c.admission(p.next, p.to)) {
		n += c.leavesOf(w, p.leaf.to, &p.leaf.from[0])
	}
	return matcher.CountOf(n)
}
