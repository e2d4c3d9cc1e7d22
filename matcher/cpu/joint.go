package cpu

import (
	"cmp"
	"math/bits"
	"slices"

	"motifd/matcher"
)

// joint is a piece of one block that three or more chains lead to, each from a mapped vertex. Given an image of the
// block the chains depend on each other no more: the piece's count is the sum, over those images, of the product of the
// numbers of ways along each chain. These are found for all images at once, chain by chain: the first tells what images
// there are, and how many ways lead to each, the others multiply what is left of them, and the longest is counted from
// both ends as a chain between two mapped vertices is. To map the block first would mean to look at each of its images
// for itself, or at each pair of an image and a neighbour that it shares with a mapped vertex, of which hubs have very
// many.
type joint struct {
	link       // the block
	legs []leg // the shortest first: only that may be an edge
}

// leg is a chain from a mapped vertex to the block of a joint, which is its last link. What hangs from the block is not
// in it.
type leg struct {
	chain
	ahead, back float64 // mean numbers of neighbours: along the edge into the joint, and back
}

// asJoint returns the piece as a joint, nil if it is none.
func (ps *quotientPieces) asJoint(p *piece) *joint {
	q := ps.q
	if q.meets(p.mask) {
		return nil
	}
	core := q.core(p.mask)
	at := -1
	for m := core; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if bits.OnesCount32(q.adj[v]&(core|^p.mask)) > 2 {
			if at >= 0 {
				return nil
			}
			at = v
		}
	}
	if at < 0 {
		return nil
	}
	j := &joint{link: ps.link(at)}
	j.hangs = ps.hangs(at, p.mask, core)
	f := fans{ps.ps.g, ps.ps.s, q}
	seen, direct := uint32(1)<<at, 0
	for m := q.adj[at] & (core | ^p.mask); m != 0; m &= m - 1 {
		next := bits.TrailingZeros32(m)
		l, passed := ps.leg(p.mask, core, at, next)
		if l == nil || seen&passed != 0 {
			return nil
		}
		if passed == 0 {
			direct++
		}
		seen |= passed
		l.ahead, l.back = f.fan(next, at), f.fan(at, next)
		j.legs = append(j.legs, *l)
	}
	if seen != core || direct > 1 {
		return nil
	}
	slices.SortStableFunc(j.legs, func(a, b leg) int { return cmp.Compare(len(a.links), len(b.links)) })
	return j
}

// hangs returns the pieces that hang from a block of the core of a set.
func (ps *quotientPieces) hangs(at int, set, core uint32) []*piece {
	if hang := ps.q.part(ps.q.adj[at]&set&^core, set&^core); hang != 0 {
		return ps.split(hang)
	}
	return nil
}

// leg returns the chain that leads from a mapped vertex to block to, whose last block before is next, and the blocks
// between; nil if there is none. The core of a set is what is left of it without what hangs.
func (ps *quotientPieces) leg(set, core uint32, to, next int) (l *leg, passed uint32) {
	q := ps.q
	l = &leg{}
	last := ps.link(to)
	if last.from[0] = q.only(next, to); last.from[0] == nil {
		return nil, 0
	}
	l.links = append(l.links, last)
	before, at := to, next
	for core&(1<<at) != 0 {
		around := q.adj[at] & (core | ^set) &^ (1 << before)
		if passed&(1<<at) != 0 || at == to || bits.OnesCount32(around) != 1 {
			return nil, 0
		}
		passed |= 1 << at
		after := bits.TrailingZeros32(around)
		k := ps.link(at)
		k.hangs = ps.hangs(at, set, core)
		k.from[0], k.from[1] = q.only(after, at), q.only(before, at)
		if k.from[0] == nil || k.from[1] == nil {
			return nil, 0
		}
		l.links = append(l.links, k)
		before, at = at, after
	}
	slices.Reverse(l.links)
	l.ends[0] = l.links[0].from[0].from
	return l, passed
}

// only returns the edge from block u to block v if there is exactly one, of which each data edge counts for one.
func (q *quotient) only(u, v int) (only *edgeTo) {
	for i := range q.edges[v] {
		if e := &q.edges[v][i]; q.of[e.from] == u {
			if only != nil || e.wide != nil && !e.wide.simple() {
				return nil
			}
			only = e
		}
	}
	return only
}

// countJoint counts a joint. It answers false when countChain would.
func (c *counter) countJoint(j *joint) (matcher.Count, bool) {
	if !c.chains.begin(c.adj.Vertices()) {
		return matcher.Count{}, false
	}
	n, ok := c.alongLegs(j)
	c.chains.busy = false
	return n, ok
}

// alongLegs counts a joint leg by leg.
func (c *counter) alongLegs(j *joint) (matcher.Count, bool) {
	x := &c.chains
	x.legs = x.legs[:0]
	for i := range j.legs {
		l := &j.legs[i]
		first := &l.links[0]
		nbr, _, _ := c.around(c.image[l.ends[0]], first.from[0])
		if len(nbr) == 0 {
			return matcher.Count{}, true
		}
		x.legs = append(x.legs, legSize{l, len(nbr)})
		for k := i; k > 0 && x.legs[k].less(&x.legs[k-1]); k-- {
			x.legs[k], x.legs[k-1] = x.legs[k-1], x.legs[k]
		}
	}
	longest := len(x.legs) - 1
	for i := range x.legs[:longest] {
		l := x.legs[i].leg
		last := c.approach(l)
		if i == 0 {
			c.expand(&l.links[last], 0, x.side[0], 1)
		} else {
			c.narrow(l)
		}
		if len(x.side[1]) == 0 || x.over || c.worker.Stopped {
			return matcher.Count{}, !x.over
		}
	}
	x.side[1] = c.weigh(&j.link, x.side[1])
	l := x.legs[longest].leg
	c.expand(&l.links[0], 0, []reached{{c.image[l.ends[0]], 1}}, 0)
	return c.between(&l.chain, 0, len(l.links)-1)
}

// legSize is a leg and how many neighbours its mapped vertex has along it.
type legSize struct {
	leg *leg
	n   int
}

func (a *legSize) less(b *legSize) bool {
	if len(a.leg.links) != len(b.leg.links) {
		return len(a.leg.links) < len(b.leg.links)
	}
	return a.n < b.n
}

// approach fills side 0 with the images of the link before the last one of a leg, and returns the last one's index.
func (c *counter) approach(l *leg) (last int) {
	x := &c.chains
	last = len(l.links) - 1
	x.side[0] = append(x.side[0][:0], reached{c.image[l.ends[0]], 1})
	for i := range last {
		x.other, x.side[0] = x.side[0], x.other
		c.expand(&l.links[i], 0, x.other, 0)
	}
	return last
}

// narrow multiplies the ways to the images of a joint on side 1 by those along one more leg, where side 0 stands before
// the joint, and drops those with none.
func (c *counter) narrow(l *leg) {
	x := &c.chains
	few, many := x.side[1], x.side[0]
	x.sums = append(x.sums[:0], make([]uint64, len(few))...)
	if last := len(l.links) - 1; last > 0 && float64(len(few))*l.back < float64(len(many))*l.ahead {
		c.pull(&l.links[last-1], few, many)
	} else {
		c.push(&l.links[last], few, many)
	}
	kept := few[:0]
	for i, r := range few {
		over, n := bits.Mul64(r.n, x.sums[i])
		x.over = x.over || over != 0
		if n != 0 {
			kept = append(kept, reached{r.v, n})
		}
	}
	x.side[1] = kept
}

// pull sums, for each image of a joint, the ways to its neighbours among the images of the link before.
func (c *counter) pull(before *link, of, images []reached) {
	x := &c.chains
	for _, r := range images {
		x.ways[r.v] = r.n
	}
	x.read += prefetchBlocks(c.adj, of)
	e := before.from[1]
	for i, r := range of {
		nbr, ent, staged := c.around(r.v, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		sum, over := uint64(0), uint64(0)
		for k, w := range nbr {
			n := x.ways[w]
			if n == 0 || staged && !c.sees(ent[k], e.rank) {
				continue
			}
			var carry uint64
			sum, carry = bits.Add64(sum, n, 0)
			over |= carry
		}
		x.sums[i], x.over = sum, x.over || over != 0
	}
	for _, r := range images {
		x.ways[r.v] = 0
	}
}

// push adds the ways to each image of the link before a joint to the sums of those of its neighbours that are images of
// the joint.
func (c *counter) push(last *link, to, images []reached) {
	x := &c.chains
	for i, r := range to {
		x.ways[r.v] = uint64(i) + 1
	}
	x.read += prefetchBlocks(c.adj, images)
	e := last.from[0]
	for _, r := range images {
		nbr, ent, staged := c.around(r.v, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for k, w := range nbr {
			i := x.ways[w]
			if i == 0 || staged && !c.sees(ent[k], e.rank) {
				continue
			}
			sum, carry := bits.Add64(x.sums[i-1], r.n, 0)
			x.sums[i-1], x.over = sum, x.over || carry != 0
		}
	}
	for _, r := range to {
		x.ways[r.v] = 0
	}
}

// eachImage counts a joint image by image, for numbers that leave 64 bits. It answers false when the scratch is taken.
func (c *counter) eachImage(p *piece) (total matcher.Count, ok bool) {
	x, l := &c.chains, &p.joint.legs[0]
	if !x.begin(c.adj.Vertices()) {
		return total, false
	}
	last := c.approach(l)
	c.expand(&l.links[last], 0, x.side[0], 1) // what the legs' numbers are does not matter here, but for an edge's
	images := slices.Clone(x.side[1])
	x.busy = false
	mapped, rest := c.mapped, c.parts.split(p.mask&^(1<<p.joint.at))
	for _, r := range images {
		if !c.worker.Step() {
			break
		}
		c.put(p.joint.members, r.v)
		c.mapped = mapped | 1<<p.joint.at
		n := c.product(rest)
		if last == 0 { // nothing of the leg is left: it is an edge
			n = n.Mul(matcher.CountOf(r.n))
		}
		total = total.Add(n)
	}
	c.mapped = mapped
	return total, true
}
