package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// circle is a quotient that is a ring and nothing else.
type cycleSum struct {
	termSum
	cycle *cycle
}

// round is a net edge from a to b as a link of a ring: where the walks from its ends lead first, ahead from b and back from a.
type closure struct {
	a, b        dyngraph.VertexID
	ahead, back labeladj.Slots
}

// A closed walk that a phase makes or breaks belongs to the first link of the ring whose edge the phase changes.

// follow calls through with the net edges of a phase as each link of the ring that they can be: with the courses that begin at a, and some
// rounds of each. It answers false if it has been stopped.
func (r *cycle) follow(k *Maintainer, phase uint64, through func(c *traversal, rounds []closure)) bool {
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
			rounds := k.findRounds(&c, l, some)
			through(&c, rounds)
		}
	}
	return !k.stopped()
}

// findRounds makes rounds of net edges, in either direction that they can have as a link of a ring, with which the course begins.
func (k *Maintainer) findRounds(c *traversal, l *cycleEdge, pairs []program.NetPair) []closure {
	next, _ := c.at(1)
	last, _ := c.at(len(c.edges) - 1)
	k.rounds, k.wanted = k.rounds[:0], k.wanted[:0]
	add := func(a, b dyngraph.VertexID) {
		k.rounds = append(k.rounds, closure{a: a, b: b})
		k.wanted = append(k.wanted, labeladj.Lookup{Vertex: b, Kind: next.kindAhead}, labeladj.Lookup{Vertex: a, Kind: last.kindBack})
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
	for i := range k.rounds {
		k.rounds[i].ahead, k.rounds[i].back = k.ranges[2*i], k.ranges[2*i+1]
	}
	return k.rounds
}

// change returns by how much a phase changes the number of closed walks; false if it has been stopped, or if a number left
// 64 bits.
func (r *cycle) change(k *Maintainer, phase uint64) (sum matcher.Count, done bool) {
	done = r.follow(k, phase, func(c *traversal, rounds []closure) {
		for i := range rounds {
			var carry uint64
			sum.Lo, carry = bits.Add64(sum.Lo, k.once(c, &rounds[i]), 0)
			sum.Hi += carry
		}
	})
	return sum, done && !k.Overflow
}

// once returns the number of closed walks of a round.
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

// first puts one of the walks where it leads first.
func (k *Maintainer) first(side int, to labeladj.Slots, s visibility) {
	out := k.frontiers[side][:0]
	for at := to.From; at < to.To; at++ {
		if !to.Staged || k.sees(k.index.Ent[at], s) {
			out = append(out, count.Reached{Vertex: k.index.Nbr[at], Ways: 1})
		}
	}
	k.frontiers[side] = out
}

// followRing is apply for a ring.
func (br *treeView) followCycle(k *Maintainer, phase uint64) bool {
	inserted := phase&1 != 0
	done := br.cycle.follow(k, phase, func(c *traversal, rounds []closure) {
		for i := range rounds {
			r := &rounds[i]
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

// within adds the closed walks of a round that touches place 0 of the ring at neither end. Both walks lead to that place, walks[0] from b
// ahead and walks[1] from a back; the one that has the longer way stops a link before it.
func (br *treeView) within(k *Maintainer, c *traversal, r *closure, inserted bool) {
	n := len(c.edges)
	forth, back := n-1-c.from, c.from // links to place 0
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
	// What is left is the link that leads from place 0, or the one that leads to it.
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
