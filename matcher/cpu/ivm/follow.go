package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// cycleSum is a quotient that is a single cycle.
type cycleSum struct {
	termSum
	cycle *cycle
}

// closure is a net edge from a to b as an edge of a cycle, with the neighbours by which walks go on from b and arrive
// at a.
type closure struct {
	a, b        dyngraph.VertexID
	ahead, back labeladj.Slots
}

// follow calls through with the net edges of a phase, as each edge of the cycle that they fit: a traversal that starts
// with that edge, and some closures of it. A closed walk that a phase makes or breaks belongs to the first edge of the
// cycle whose image the phase changes. It reports false if it was stopped.
func (r *cycle) follow(k *Maintainer, phase uint64, through func(c *traversal, closings []closure)) bool {
	r.find(k.index)
	k.Overflow = false
	c := traversal{cycle: r, larger: whole(phase)}
	for j := range r.edges {
		l := &r.edges[j]
		c.from, c.edge = j, j
		for pairs := l.edges.In(phase); len(pairs) > 0; {
			if k.stopped() {
				return false
			}
			some := pairs[:min(prefetched/2, len(pairs))]
			pairs = pairs[len(some):]
			closings := k.closures(&c, l, some)
			through(&c, closings)
		}
	}
	return !k.stopped()
}

// closures makes closures of net edges, in each direction in which they fit an edge of a cycle.
func (k *Maintainer) closures(c *traversal, l *cycleEdge, pairs []program.NetPair) []closure {
	next, _ := c.at(1)
	last, _ := c.at(len(c.edges) - 1)
	k.closings, k.wanted = k.closings[:0], k.wanted[:0]
	add := func(a, b dyngraph.VertexID) {
		k.closings = append(k.closings, closure{a: a, b: b})
		k.wanted = append(k.wanted,
			labeladj.Lookup{Vertex: b, Kind: next.kindAhead},
			labeladj.Lookup{Vertex: a, Kind: last.kindBack})
	}
	for _, p := range pairs {
		if l.along {
			add(p.From, p.To)
		}
		if l.against {
			add(p.To, p.From)
		}
	}
	k.ranges = k.findAll(k.ranges, k.wanted)
	for i := range k.closings {
		k.closings[i].ahead, k.closings[i].back = k.ranges[2*i], k.ranges[2*i+1]
	}
	return k.closings
}

// change returns how much a phase changes the number of closed walks. It reports false if it was stopped or a number
// exceeded 64 bits.
func (r *cycle) change(k *Maintainer, phase uint64) (sum matcher.Count, done bool) {
	done = r.follow(k, phase, func(c *traversal, closings []closure) {
		for i := range closings {
			var carry uint64
			sum.Lo, carry = bits.Add64(sum.Lo, k.once(c, &closings[i]), 0)
			sum.Hi += carry
		}
	})
	return sum, done && !k.Overflow
}

// once returns the number of closed walks through a closure.
func (k *Maintainer) once(c *traversal, r *closure) uint64 {
	lo, hi := 2, len(c.edges)
	_, s := c.at(1)
	k.first(0, r.ahead, s)
	k.frontiers[1] = append(k.frontiers[1][:0], count.Reached{Vertex: r.a, Ways: 1})
	if hi > 3 {
		hi--
		_, s = c.at(hi)
		k.first(1, r.back, s)
	}
	return k.join(c, lo, hi)
}

// first sets a frontier to the visible neighbours of a range.
func (k *Maintainer) first(side int, to labeladj.Slots, s visibility) {
	out := k.frontiers[side][:0]
	for at := to.From; at < to.To; at++ {
		if !to.Staged || k.sees(k.index.Ent[at], s) {
			out = append(out, count.Reached{Vertex: k.index.Nbr[at], Ways: 1})
		}
	}
	k.frontiers[side] = out
}

// followCycle is apply for a cycle view.
func (br *treeView) followCycle(k *Maintainer, phase uint64) bool {
	inserted := phase&1 != 0
	done := br.cycle.follow(k, phase, func(c *traversal, closings []closure) {
		for i := range closings {
			r := &closings[i]
			switch c.from {
			case 0:
				br.add(r.a, k.once(c, r), inserted)
			case len(c.edges) - 1:
				br.add(r.b, k.once(c, r), inserted)
			default:
				br.within(k, c, r, inserted)
			}
		}
	})
	br.overflow = br.overflow || k.Overflow
	return done && !br.overflow
}

// within adds the closed walks of a closure that touches position 0 of the cycle at neither end. Both frontiers move to
// that position, 0 ahead from b and 1 back from a; the one with the longer way stops one edge before it.
func (br *treeView) within(k *Maintainer, c *traversal, r *closure, inserted bool) {
	n := len(c.edges)
	forth, back := n-1-c.from, c.from // edges to position 0
	whole := 0
	if forth > back {
		whole = 1
		forth--
	} else {
		back--
	}
	k.begin(r.b, r.a)
	for i := 1; i <= forth; i++ {
		l, s := c.at(i)
		if i == 1 {
			k.first(0, r.ahead, s)
		} else {
			k.walk(0, l.kindAhead, s)
		}
		if len(k.frontiers[0]) == 0 {
			return
		}
	}
	for i := n - 1; i >= n-back; i-- {
		l, s := c.at(i)
		if i == n-1 {
			k.first(1, r.back, s)
		} else {
			k.walk(1, l.kindBack, s)
		}
		if len(k.frontiers[1]) == 0 {
			return
		}
	}
	// What is left is the edge from position 0, or the edge to it.
	l, s := c.at(n - c.from)
	kind := l.kindAhead
	if whole == 1 {
		l, s = c.at(n - c.from - 1)
		kind = l.kindBack
	}
	k.joinFrontiers(whole, kind, s, func(v dyngraph.VertexID, ways uint64) {
		br.add(v, ways, inserted)
	})
}
