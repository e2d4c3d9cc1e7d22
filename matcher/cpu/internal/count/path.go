package count

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// path is a component between two mapped vertices, or a cycle through one, without branches but pendants. It is counted
// from both ends at once: the images of a block are found level by level with the number of ways to each, and where the
// ends meet the numbers multiply. That takes the square root of the steps of enumeration.
type path struct {
	ends  [2]int // the separator: pattern vertices
	steps []pathStep
}

// pathStep is a block of a path.
type pathStep struct {
	at       int // the block
	members  uint32
	to       *filter
	from     [2]*Edge     // from the block before and from the one after; each data edge counts for one
	pendants []*component // components that hang from the block
}

// asPath returns the component as a path, nil if it is none.
func (ps *quotientComponents) asPath(p *component) *path {
	q := ps.q
	if len(p.separator) > 2 || q.conflictsWithin(p.mask) {
		return nil
	}
	core := q.core(p.mask)
	c := &path{ends: [2]int{p.separator[0], p.separator[len(p.separator)-1]}}
	first, last := q.BlockOf[c.ends[0]], q.BlockOf[c.ends[1]]
	if bits.OnesCount32(core) < 2 || bits.OnesCount32(q.Adj[first]&p.mask)+bits.OnesCount32(q.Adj[last]&p.mask) !=
		map[bool]int{true: 4, false: 2}[first == last] {
		return nil
	}
	before, at := first, bits.TrailingZeros32(q.Adj[first]&p.mask)
	for seen := uint32(0); ; {
		seen |= 1 << at
		after := q.Adj[at] & (core | 1<<first | 1<<last) &^ (1 << before)
		if core&(1<<at) == 0 || bits.OnesCount32(after) != 1 {
			return nil
		}
		next := bits.TrailingZeros32(after)
		l := ps.step(at)
		for i := range q.Edges[at] {
			e := &q.Edges[at][i]
			for k, x := range [2]int{before, next} {
				if q.BlockOf[e.From] == x {
					if l.from[k] != nil || e.Multi != nil && !e.Multi.IsSimple() {
						return nil // two edges between two blocks
					}
					l.from[k] = e
				}
			}
		}
		l.pendants = ps.pendants(at, p.mask, core)
		c.steps = append(c.steps, l)
		if next == last {
			if seen != core {
				return nil
			}
			return c
		}
		if core&(1<<next) == 0 || seen&(1<<next) != 0 {
			return nil
		}
		before, at = at, next
	}
}

// step returns a block as a step.
func (ps *quotientComponents) step(at int) pathStep {
	return pathStep{at: at, members: ps.q.Members[at], to: &ps.q.filters[at]}
}

// conflictsWithin reports whether blocks of a set conflict with each other.
func (q *Quotient) conflictsWithin(set uint32) bool {
	for m := set; m != 0; m &= m - 1 {
		if q.conflicts[bits.TrailingZeros32(m)]&set != 0 {
			return true
		}
	}
	return false
}

// core returns a set without the pendants of its blocks.
func (q *Quotient) core(set uint32) uint32 {
	core := set
	for again := true; again; {
		again = false
		for m := core; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			if bits.OnesCount32(q.Adj[v]&(core|^set)) == 1 && q.Adj[v]&core != 0 {
				core &^= 1 << v
				again = true
			}
		}
	}
	return core
}

// Reached is a data vertex with the number of ways to it.
type Reached struct {
	Vertex dyngraph.VertexID
	Ways   uint64
}

// pathCounter is scratch memory for counting paths and spiders.
type pathCounter struct {
	ways     []uint64 // by vertex, 0 between uses
	frontier [2][]Reached
	other    []Reached
	images   []dyngraph.VertexID // of one list
	arms     []armSize           // of spiders
	sums     []uint64
	busy     bool // with a path or spider, whose pendants may not use it meanwhile
	overflow bool // a number exceeded 64 bits
	loaded   int  // sum of what readAhead loaded, so that the compiler keeps the loads
}

// ready makes room for the ways to n vertices.
func (x *pathCounter) ready(n int) {
	if n > len(x.ways) {
		x.ways = make([]uint64, n)
	}
}

// readAhead loads where the blocks of some vertices begin, before they are looked up one after the other: the batch has
// evicted most of the index, and these cache misses overlap. Without it trees take 1.03 to 1.2 times as long to count.
func (c *Counter) readAhead(of []Reached) {
	sum := 0
	for i := range of {
		sum += c.index.Start(of[i].Vertex)
	}
	for i := range of {
		if at := c.index.Start(of[i].Vertex); at < len(c.index.Nbr) {
			sum += int(c.index.Nbr[at])
		}
	}
	c.paths.loaded += sum
}

// begin takes the scratch memory, with room for the ways to n vertices. It reports false when it is in use.
func (x *pathCounter) begin(n int) bool {
	if x.busy {
		return false
	}
	x.ready(n)
	x.busy, x.overflow = true, false
	return true
}

// countPath counts a path. It reports false when a number exceeds 64 bits, and for pendants of a path or spider, as
// their scratch memory is in use.
func (c *Counter) countPath(ch *path) (matcher.Count, bool) {
	if !c.paths.begin(c.index.Vertices()) {
		return matcher.Count{}, false
	}
	n, ok := c.fromBothEnds(ch)
	c.paths.busy = false
	return n, ok
}

// fromBothEnds counts a path from both its ends.
func (c *Counter) fromBothEnds(ch *path) (matcher.Count, bool) {
	x := &c.paths
	lo, hi := 0, len(ch.steps)-1
	c.expand(&ch.steps[lo], 0, []Reached{{c.image[ch.ends[0]], 1}}, 0)
	if len(x.frontier[0]) == 0 {
		return matcher.Count{}, !x.overflow
	}
	c.expand(&ch.steps[hi], 1, []Reached{{c.image[ch.ends[1]], 1}}, 1)
	return c.between(ch, lo, hi)
}

// between counts what is between the two frontiers of a path, which are at steps lo and hi.
func (c *Counter) between(ch *path, lo, hi int) (matcher.Count, bool) {
	x := &c.paths
	for hi-lo > 1 && len(x.frontier[0]) > 0 && len(x.frontier[1]) > 0 {
		k := 0
		if len(x.frontier[1]) < len(x.frontier[0]) {
			k = 1
			hi--
		} else {
			lo++
		}
		x.other, x.frontier[k] = x.frontier[k], x.other
		c.expand(&ch.steps[[2]int{lo, hi}[k]], k, x.other, k)
	}
	if len(x.frontier[0]) == 0 || len(x.frontier[1]) == 0 || x.overflow || c.worker.Stopped {
		return matcher.Count{}, !x.overflow
	}
	return c.joinFrontiers(ch, lo, hi)
}

// expand sets a frontier to the images of a step that are joined to some vertices, from the step before (0) or after
// (1).
func (c *Counter) expand(l *pathStep, from int, of []Reached, side int) {
	x := &c.paths
	out := x.frontier[side][:0]
	e := l.from[from]
	a := c.admission(l.at, l.to)
	if len(of) == 1 && e.Multi == nil { // no image is reached twice
		from := c.list(of[0].Vertex, e)
		c.worker.StepBy(len(from.nbr))
		for _, w := range c.candidates(&x.images, &from, a) {
			out = append(out, Reached{w, of[0].Ways})
		}
		x.frontier[side] = c.weigh(l, out)
		return
	}
	every := a.isEmpty()
	c.readAhead(of)
	for _, r := range of {
		nbr, ent, check := c.neighbors(r.Vertex, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for i, w := range nbr {
			if check && !c.admitsEdge(ent[i], e.rank, e.tests) {
				continue
			}
			if x.ways[w] == 0 {
				if !every && !c.admits(a, w) {
					continue
				}
				out = append(out, Reached{Vertex: w})
			}
			sum, carry := bits.Add64(x.ways[w], r.Ways, 0)
			if carry != 0 {
				x.overflow = true
				continue
			}
			x.ways[w] = sum
		}
	}
	for i := range out {
		r := &out[i]
		r.Ways = x.ways[r.Vertex]
		x.ways[r.Vertex] = 0
	}
	x.frontier[side] = c.weigh(l, out)
}

// weigh multiplies the ways to each image of a step by those to map its pendants, and drops images without any.
func (c *Counter) weigh(l *pathStep, images []Reached) []Reached {
	if len(l.pendants) == 0 {
		return images
	}
	mapped, kept := c.mapped, images[:0]
	c.mapped |= 1 << l.at
	c.readAhead(images)
	for _, r := range images {
		c.bind(l.members, r.Vertex)
		n, fits := c.product(l.pendants).Uint64()
		over, product := bits.Mul64(n, r.Ways)
		if !fits || over != 0 {
			c.paths.overflow = true
			product = r.Ways // any number but 0, since it is an image
		}
		if product != 0 {
			kept = append(kept, Reached{r.Vertex, product})
		}
	}
	c.mapped = mapped
	return kept
}

// joinFrontiers sums the products over the edges between the two frontiers, which are at steps lo and hi.
func (c *Counter) joinFrontiers(ch *path, lo, hi int) (matcher.Count, bool) {
	x := &c.paths
	few, many := 0, 1 // few is expanded into many
	e := ch.steps[hi].from[0]
	if len(x.frontier[1]) < len(x.frontier[0]) {
		few, many = 1, 0
		e = ch.steps[lo].from[1]
	}
	for _, r := range x.frontier[many] {
		x.ways[r.Vertex] = r.Ways
	}
	var total matcher.Count
	var sumHi, sumLo uint64
	c.readAhead(x.frontier[few])
	for _, r := range x.frontier[few] {
		nbr, ent, check := c.neighbors(r.Vertex, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for i, w := range nbr {
			n := x.ways[w]
			if n == 0 || check && !c.admitsEdge(ent[i], e.rank, e.tests) {
				continue
			}
			h, l := bits.Mul64(n, r.Ways)
			var carry uint64
			sumLo, carry = bits.Add64(sumLo, l, 0)
			sumHi, carry = bits.Add64(sumHi, h, carry)
			if carry != 0 {
				x.overflow = true
			}
		}
	}
	for _, r := range x.frontier[many] {
		x.ways[r.Vertex] = 0
	}
	total.Hi, total.Lo = sumHi, sumLo
	return total, !x.overflow
}
