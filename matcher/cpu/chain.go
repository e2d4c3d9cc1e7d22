package cpu

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/labeladj"
)

// chain is a piece between two mapped vertices, or a ring from one back to it, without branches but such as hang from
// one of its blocks. It is counted from both ends at once: the images of a block are found level by level with the
// number of ways to each, and where the two ends meet the numbers multiply. That takes the square root of what there is
// to enumerate.
type chain struct {
	ends  [2]int // the boundary: pattern vertices
	links []link
}

// link is a block of a chain.
type link struct {
	at      int    // the block
	clash   uint32 // the blocks outside that its images must be kept apart from
	members uint32
	to      *target
	from    [2]*edgeTo // from the block before and from the one after; where they are wide, each data edge counts for one
	hangs   []*piece   // what hangs from the block
}

// asChain returns the piece as a chain, nil if it is none.
func (ps *quotientPieces) asChain(p *piece) *chain {
	q := ps.q
	if len(p.bound) > 2 || q.meets(p.mask) {
		return nil
	}
	core := q.core(p.mask)
	c := &chain{ends: [2]int{p.bound[0], p.bound[len(p.bound)-1]}}
	first, last := q.of[c.ends[0]], q.of[c.ends[1]]
	if bits.OnesCount32(core) < 2 || bits.OnesCount32(q.adj[first]&p.mask)+bits.OnesCount32(q.adj[last]&p.mask) !=
		map[bool]int{true: 4, false: 2}[first == last] {
		return nil
	}
	before, at := first, bits.TrailingZeros32(q.adj[first]&p.mask)
	for seen := uint32(0); ; {
		seen |= 1 << at
		after := q.adj[at] & (core | 1<<first | 1<<last) &^ (1 << before)
		if core&(1<<at) == 0 || bits.OnesCount32(after) != 1 {
			return nil
		}
		next := bits.TrailingZeros32(after)
		l := ps.link(at)
		for i := range q.edges[at] {
			e := &q.edges[at][i]
			for k, x := range [2]int{before, next} {
				if q.of[e.from] == x {
					if l.from[k] != nil || e.wide != nil && !e.wide.simple() {
						return nil // two edges between two blocks
					}
					l.from[k] = e
				}
			}
		}
		l.hangs = ps.hangs(at, p.mask, core)
		c.links = append(c.links, l)
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

// link returns a block as a link.
func (ps *quotientPieces) link(at int) link {
	return link{at: at, clash: ps.q.clash[at], members: ps.q.members[at], to: &ps.q.at[at]}
}

// meets reports whether blocks of a set must be kept apart from each other.
func (q *quotient) meets(set uint32) bool {
	for m := set; m != 0; m &= m - 1 {
		if q.clash[bits.TrailingZeros32(m)]&set != 0 {
			return true
		}
	}
	return false
}

// core returns a set without what hangs from one of its blocks.
func (q *quotient) core(set uint32) uint32 {
	core := set
	for again := true; again; {
		again = false
		for m := core; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			if bits.OnesCount32(q.adj[v]&(core|^set)) == 1 && q.adj[v]&core != 0 {
				core &^= 1 << v
				again = true
			}
		}
	}
	return core
}

// reached is a vertex with the number of ways to it.
type reached struct {
	v dyngraph.VertexID
	n uint64
}

// chainCounter is scratch for counting chains.
type chainCounter struct {
	ways  []uint64 // by vertex, 0 between uses
	side  [2][]reached
	other []reached
	legs  []legSize // of joints
	sums  []uint64
	busy  bool   // with a chain or a joint: what hangs from it may not use this scratch meanwhile
	over  bool   // a number left 64 bits
	read  uint64 // what was read ahead comes together here, so that it is read
}

// ready makes room for the ways to n vertices.
func (x *chainCounter) ready(n int) {
	if n > len(x.ways) {
		x.ways = make([]uint64, n)
	}
}

// prefetchBlocks reads where the blocks of some vertices begin, likewise.
func prefetchBlocks(a *labeladj.Index, of []reached) (read uint64) {
	for i := range of {
		read += a.TouchHead(of[i].v)
	}
	for i := range of {
		read += a.TouchStart(of[i].v)
	}
	return read
}

// begin takes the scratch, with room for the ways to n vertices. It answers false when it is taken.
func (x *chainCounter) begin(n int) bool {
	if x.busy {
		return false
	}
	x.ready(n)
	x.busy, x.over = true, false
	return true
}

// countChain counts a chain. It answers false when a number leaves 64 bits, and for what hangs from a chain or a joint:
// where it clashes with what is mapped, a part of it may lie between two mapped vertices.
func (c *counter) countChain(ch *chain) (matcher.Count, bool) {
	if !c.chains.begin(c.adj.Vertices()) {
		return matcher.Count{}, false
	}
	n, ok := c.alongChain(ch)
	c.chains.busy = false
	return n, ok
}

// alongChain counts a chain from both its ends.
func (c *counter) alongChain(ch *chain) (matcher.Count, bool) {
	x := &c.chains
	lo, hi := 0, len(ch.links)-1
	c.expand(&ch.links[lo], 0, []reached{{c.image[ch.ends[0]], 1}}, 0)
	if len(x.side[0]) == 0 {
		return matcher.Count{}, !x.over
	}
	c.expand(&ch.links[hi], 1, []reached{{c.image[ch.ends[1]], 1}}, 1)
	return c.between(ch, lo, hi)
}

// between counts what is between the two sides of a chain, which stand on links lo and hi.
func (c *counter) between(ch *chain, lo, hi int) (matcher.Count, bool) {
	x := &c.chains
	for hi-lo > 1 && len(x.side[0]) > 0 && len(x.side[1]) > 0 {
		k := 0
		if len(x.side[1]) < len(x.side[0]) {
			k = 1
			hi--
		} else {
			lo++
		}
		x.other, x.side[k] = x.side[k], x.other
		c.expand(&ch.links[[2]int{lo, hi}[k]], k, x.other, k)
	}
	if len(x.side[0]) == 0 || len(x.side[1]) == 0 || x.over || c.worker.Stopped {
		return matcher.Count{}, !x.over
	}
	return c.meet(ch, lo, hi)
}

// expand fills a side with the images of a link that are joined to some vertices, from the link before (0) or after
// (1).
func (c *counter) expand(l *link, from int, of []reached, side int) {
	x := &c.chains
	out := x.side[side][:0]
	e := l.from[from]
	kept := l.clash&c.mapped != 0      // apart from something
	if len(of) == 1 && e.wide == nil { // no image is reached twice
		nbr, ent, staged := c.around(of[0].v, e)
		c.worker.StepBy(len(nbr))
		for i, w := range nbr {
			if (!staged || c.sees(ent[i], e.rank)) && (c.implied(l.to) || c.passes(l.to, w)) && (!kept || c.free(l.at, w)) {
				out = append(out, reached{w, of[0].n})
			}
		}
		x.side[side] = c.weigh(l, out)
		return
	}
	x.read += prefetchBlocks(c.adj, of)
	for _, r := range of {
		nbr, ent, staged := c.around(r.v, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for i, w := range nbr {
			if staged && !c.sees(ent[i], e.rank) {
				continue
			}
			if x.ways[w] == 0 {
				if !c.implied(l.to) && !c.passes(l.to, w) || kept && !c.free(l.at, w) {
					continue
				}
				out = append(out, reached{v: w})
			}
			sum, carry := bits.Add64(x.ways[w], r.n, 0)
			if carry != 0 {
				x.over = true
				continue
			}
			x.ways[w] = sum
		}
	}
	for i := range out {
		r := &out[i]
		r.n = x.ways[r.v]
		x.ways[r.v] = 0
	}
	x.side[side] = c.weigh(l, out)
}

// weigh multiplies the ways to each image of a link by those to map what hangs from it, and drops those with none.
func (c *counter) weigh(l *link, images []reached) []reached {
	if len(l.hangs) == 0 {
		return images
	}
	mapped, kept := c.mapped, images[:0]
	c.mapped |= 1 << l.at
	for _, r := range images {
		c.put(l.members, r.v)
		n, fits := c.product(l.hangs).Uint64()
		over, product := bits.Mul64(n, r.n)
		if !fits || over != 0 {
			c.chains.over = true
			product = r.n // any number but 0: it is an image
		}
		if product != 0 {
			kept = append(kept, reached{r.v, product})
		}
	}
	c.mapped = mapped
	return kept
}

// meet sums the products over the edges between the two sides, which stand on links lo and hi.
func (c *counter) meet(ch *chain, lo, hi int) (matcher.Count, bool) {
	x := &c.chains
	few, many := 0, 1 // few is expanded into many
	e := ch.links[hi].from[0]
	if len(x.side[1]) < len(x.side[0]) {
		few, many = 1, 0
		e = ch.links[lo].from[1]
	}
	for _, r := range x.side[many] {
		x.ways[r.v] = r.n
	}
	x.read += prefetchBlocks(c.adj, x.side[few])
	var total matcher.Count
	var sumHi, sumLo uint64
	for _, r := range x.side[few] {
		nbr, ent, staged := c.around(r.v, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for i, w := range nbr {
			n := x.ways[w]
			if n == 0 || staged && !c.sees(ent[i], e.rank) {
				continue
			}
			h, l := bits.Mul64(n, r.n)
			var carry uint64
			sumLo, carry = bits.Add64(sumLo, l, 0)
			sumHi, carry = bits.Add64(sumHi, h, carry)
			if carry != 0 {
				x.over = true
			}
		}
	}
	for _, r := range x.side[many] {
		x.ways[r.v] = 0
	}
	total.Hi, total.Lo = sumHi, sumLo
	return total, !x.over
}
