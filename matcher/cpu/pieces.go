package cpu

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"motifd/dyngraph"
)

// piece is a set of blocks that are counted together, given the images of its boundary.
type piece struct {
	name     *pieceName
	mask     uint32
	bound    []int  // the boundary: a pattern vertex of each block outside that it is joined to
	boundary uint32 // as bits
	clash    uint32 // the blocks outside that its images must be kept apart from
	ranks    []int  // of the edges at its blocks, ascending

	// A piece of one block, or of several leaves, is counted at once; a chain from both of its ends, a joint along all its
	// chains; any other, and a chain when a number leaves 64 bits, by mapping next first.
	leaves  []int
	chain   *chain
	joint   *joint
	next    int
	members uint32   // of next
	to      *target  // of next
	from    []edgeTo // from the boundary to next
	rest    []*piece // what remains without next
	leaf    *piece   // rest, if it is one leaf and nothing must be kept apart
}

// pieces makes the pieces of one shape; each worker has its own. Quotients share a piece that is the same in them.
type pieces struct {
	g          *dyngraph.Graph
	s          *shape
	byKey      map[string]*piece
	names      *pieceNames
	parts      []*quotientPieces
	apart      *quotientPieces
	strategies []strategy // by anchor edge, after the one for whole graphs
}

// quotientPieces are the pieces of one quotient.
type quotientPieces struct {
	ps   *pieces
	q    *quotient
	all  map[uint32]*piece
	list map[uint32][]*piece
	tops [][]*piece // by anchor edge: what remains when it is mapped
}

func newPieces(g *dyngraph.Graph, s *shape, names *pieceNames) *pieces {
	ps := &pieces{g: g, s: s, names: names, byKey: map[string]*piece{}, strategies: make([]strategy, len(s.rank)+1)}
	of := func(q *quotient) *quotientPieces {
		return &quotientPieces{ps: ps, q: q, all: map[uint32]*piece{}, list: map[uint32][]*piece{}, tops: make([][]*piece, len(s.rank))}
	}
	for _, q := range s.parts {
		ps.parts = append(ps.parts, of(q))
	}
	if s.apart != nil {
		ps.apart = of(s.apart)
	}
	return ps
}

// strategy is how matches are counted from an anchor.
type strategy uint8

const (
	auto strategy = iota // the better one
	byQuotients
	keptApart
)

// isApart reports whether to count with the vertices kept apart from an anchor edge, or (-1) in a whole graph.
func (c *counter) isApart(anchor int) bool {
	switch {
	case c.strategy == byQuotients && c.shape.parts != nil:
		return false
	case c.strategy == keptApart && c.shape.apart != nil:
		return true
	}
	return c.ps.strategy(anchor) == keptApart
}

// strategy returns the better strategy. To keep the vertices apart is better where only leaves remain and, by a factor
// of about two, for patterns with several cycles, as long as no two parts must be enumerated together only because they
// might meet, where it can be worse by any factor.
func (ps *pieces) strategy(anchor int) strategy {
	w := &ps.strategies[anchor+1]
	if *w == auto {
		*w = byQuotients
		q := ps.s.apart
		switch {
		case q == nil:
		case ps.s.parts == nil:
			*w = keptApart
		case anchor >= 0:
			*w = keptApart
			cycles := 1 - len(q.of)
			for v := range q.adj {
				cycles += bits.OnesCount32(q.adj[v] >> v)
			}
			for _, p := range ps.apart.anchored(anchor) {
				if p.leaves == nil && (cycles < 2 || !q.connected(p.mask)) {
					*w = byQuotients
				}
			}
		}
	}
	return *w
}

// anchored returns the pieces of all but the blocks of a pattern edge.
func (ps *quotientPieces) anchored(edge int) []*piece {
	if ps.tops[edge] == nil {
		e := ps.ps.s.plan.Query.Edges[edge]
		ps.tops[edge] = append([]*piece{}, ps.split(ps.q.all&^(1<<ps.q.of[e.From]|1<<ps.q.of[e.To]))...)
	}
	return ps.tops[edge]
}

// split divides a set of unmapped blocks into pieces: connected parts, and parts that must be kept apart together.
// Counts of different pieces multiply; the simplest come first.
func (ps *quotientPieces) split(mask uint32) []*piece {
	if l, ok := ps.list[mask]; ok {
		return l
	}
	var l []*piece
	for left := mask; left != 0; {
		part := left & -left
		for {
			grown := part
			for m := part; m != 0; m &= m - 1 {
				v := bits.TrailingZeros32(m)
				grown |= (ps.q.adj[v] | ps.q.clash[v]) & mask
			}
			if grown == part {
				break
			}
			part = grown
		}
		l = append(l, ps.piece(part))
		left &^= part
	}
	slices.SortStableFunc(l, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(bits.OnesCount32(a.mask), bits.OnesCount32(b.mask)), cmp.Compare(len(a.from), len(b.from)))
	})
	ps.list[mask] = l
	return l
}

func (ps *quotientPieces) piece(mask uint32) *piece {
	if p, ok := ps.all[mask]; ok {
		return p
	}
	q := ps.q
	p := &piece{mask: mask, next: -1}
	groups := map[int]uint32{} // pattern vertices outside, by block
	leaves, single := true, true
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		p.clash |= q.clash[v] &^ mask
		for _, e := range q.edges[v] {
			p.ranks = e.appendRanks(p.ranks)
			if x := q.of[e.from]; mask&(1<<x) == 0 {
				groups[x] |= e.touch
			}
		}
		leaves, single = leaves && q.adj[v]&mask == 0, single && len(q.edges[v]) == 1
	}
	for _, touch := range groups {
		p.bound = append(p.bound, bits.TrailingZeros32(touch))
	}
	slices.Sort(p.bound)
	slices.Sort(p.ranks)
	p.ranks = slices.Compact(p.ranks)
	for _, v := range p.bound {
		p.boundary |= 1 << v
	}
	key := ps.key(mask, groups)
	if same, ok := ps.ps.byKey[key]; ok {
		same.name.shared = true
		ps.all[mask] = same
		return same
	}
	p.name = ps.ps.names.of(ps, p)
	ps.ps.byKey[key] = p
	ps.all[mask] = p
	if leaves && (single || bits.OnesCount32(mask) > 2) || mask&(mask-1) == 0 {
		for m := mask; m != 0; m &= m - 1 {
			p.leaves = append(p.leaves, bits.TrailingZeros32(m))
		}
		p.next = p.leaves[0]
		p.members, p.to, p.from = q.members[p.next], &q.at[p.next], q.edges[p.next]
		return p
	}
	if p.chain = ps.asChain(p); p.chain == nil {
		p.joint = ps.asJoint(p)
	}
	if p.chain == nil && p.joint == nil {
		ps.choose(p)
	}
	return p
}

// appendRanks appends the ranks of the edge's pattern edges, but of those that are one edge of a quotient only the
// lowest.
func (e *edgeTo) appendRanks(to []int) []int {
	if e.wide == nil {
		return append(to, e.rank)
	}
	for _, set := range e.wide.sets {
		for i := range set {
			to = append(to, set[i].rank)
		}
	}
	return to
}

// choose decides which block of a piece is mapped first.
//
// Parts that might meet are taken apart by enumerating the cheapest; the others are then pieces of their own. Inside a
// part, the block with the most edges to the boundary is mapped first, then the one that leaves pieces with the
// smallest boundaries, since counts by one or two images come up again, then the one with the most edges.
func (ps *quotientPieces) choose(p *piece) {
	q, mask := ps.q, p.mask
	part := q.cheapestPart(mask)
	best := [4]int{-1}
	for m := part; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		back := bits.OnesCount32(q.adj[v] &^ mask)
		if back == 0 || bits.OnesCount32(q.adj[v]) == 1 && part&(part-1) != 0 {
			continue
		}
		score := [4]int{back, -max(2, q.widest(mask&^(1<<v))), bits.OnesCount32(q.adj[v]), -v}
		if better(score, best) {
			best, p.next = score, v
		}
	}
	p.members, p.to = q.members[p.next], &q.at[p.next]
	for _, e := range q.edges[p.next] {
		if mask&(1<<q.of[e.from]) == 0 {
			p.from = append(p.from, e)
		}
	}
	p.rest = ps.split(mask &^ (1 << p.next))
	if r := p.rest[0]; len(p.rest) == 1 && len(r.leaves) == 1 && len(r.from) == 1 &&
		q.clash[p.next]|q.clash[r.next] == 0 &&
		p.from[0].wide == nil &&
		r.from[0].wide == nil {
		p.leaf = r
	}
}

// key tells whether pieces of different quotients are the same: the same blocks with the same edges, which end in the
// same vertices outside.
func (ps *quotientPieces) key(mask uint32, groups map[int]uint32) string {
	var b strings.Builder
	var edges edgeSet
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		fmt.Fprintf(&b, "%x,", ps.q.members[v])
		for _, e := range ps.q.edges[v] {
			edges.join(&e.edges)
		}
	}
	touch := make([]uint32, 0, len(groups))
	for _, t := range groups {
		touch = append(touch, t)
	}
	slices.Sort(touch)
	fmt.Fprintf(&b, "%x %x %t", edges, touch, ps.q == ps.ps.s.apart)
	return b.String()
}

// part returns what is connected with some blocks within a set.
func (q *quotient) part(of, set uint32) uint32 {
	for {
		grown := of
		for m := of; m != 0; m &= m - 1 {
			grown |= q.adj[bits.TrailingZeros32(m)] & set
		}
		if grown == of {
			return of
		}
		of = grown
	}
}

// widest returns the size of the largest boundary that a connected part of a set has.
func (q *quotient) widest(set uint32) int {
	most := 0
	for set != 0 {
		part, around := q.part(set&-set, set), uint32(0)
		for m := part; m != 0; m &= m - 1 {
			around |= q.adj[bits.TrailingZeros32(m)]
		}
		most = max(most, bits.OnesCount32(around&^part))
		set &^= part
	}
	return most
}

func (q *quotient) connected(set uint32) bool { return q.part(set&-set, set) == set }

// cheapestPart returns the connected part of a set that promises the fewest mappings: each block multiplies them, each
// edge beyond the one that leads to a block divides them by far more. Single blocks that may meet each other come last:
// all that are left are counted together. One that may only meet larger parts is not kept back: most often it is the
// cheapest.
func (q *quotient) cheapestPart(mask uint32) uint32 {
	best, least := mask, 0
	if others := mask &^ q.meeting(q.alone(mask)); others != 0 {
		mask = others
	}
	for left := mask; left != 0; {
		part := q.part(left&-left, mask)
		inside, out := 0, 0
		for m := part; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			inside += bits.OnesCount32(q.adj[v] & part)
			out += bits.OnesCount32(q.adj[v] &^ mask)
		}
		vertices := bits.OnesCount32(part)
		if cost := vertices - 4*(inside/2+out-vertices); left == mask || cost < least {
			best, least = part, cost
		}
		left &^= part
	}
	return best
}

// alone returns the blocks of a set that are joined to no other of it.
func (q *quotient) alone(set uint32) (blocks uint32) {
	for m := set; m != 0; m &= m - 1 {
		if v := bits.TrailingZeros32(m); q.adj[v]&set == 0 {
			blocks |= 1 << v
		}
	}
	return blocks
}

// meeting returns the blocks of a set that may have the same image as another of it.
func (q *quotient) meeting(set uint32) (blocks uint32) {
	for m := set; m != 0; m &= m - 1 {
		if v := bits.TrailingZeros32(m); q.clash[v]&set != 0 {
			blocks |= 1 << v
		}
	}
	return blocks
}

func better(a, b [4]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}
