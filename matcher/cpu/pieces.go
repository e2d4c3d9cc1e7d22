package cpu

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// shape is a pattern made ready for counting: its vertices as bits, its edges numbered so that the edges of a connected
// part tend to be consecutive, and the pieces that it falls into, found as counting needs them.
//
// Counting does not need the order of anchors (DESIGN A2), so it tells the matches of a batch apart in another
// way, under which the same sub-problem means the same for all anchors: a match belongs to the first of its pattern
// edges, by rank, whose data edge the batch changes. Anchored at the edge of rank j, edges of lower rank see only what
// both graphs have, those of higher rank the whole graph of the phase (delta rule of a join, one term a relation).
type shape struct {
	plan  *matcher.Plan
	rank  []int // of each pattern edge
	adj   []uint32
	clash []uint32 // vertices whose images could coincide: their labels do not tell them apart
	at    []target // by pattern vertex
	edges [][]edgeTo
}

// target is a pattern vertex as the end of a step: the class that filters it.
type target = step

// edgeTo leads from an earlier vertex to a target.
type edgeTo struct {
	from int // pattern vertex
	rank int
	back back
}

// newShape returns nil when the pattern has edges that may have several images between two vertices: such patterns are
// counted by enumeration.
func newShape(p *matcher.Plan, f *plan.Filter, columns map[column]int) *shape {
	q := p.Query
	n := len(q.Vertices)
	s := &shape{plan: p, rank: make([]int, len(q.Edges)), adj: make([]uint32, n), clash: make([]uint32, n),
		at: make([]target, n), edges: make([][]edgeTo, n)}
	for i, e := range q.Edges {
		if p.EdgeLabels[i] == matcher.AnyLabel || p.Directed && e.Either {
			return nil
		}
		if s.adj[e.From]&(1<<e.To) != 0 {
			return nil
		}
		s.adj[e.From] |= 1 << e.To
		s.adj[e.To] |= 1 << e.From
	}
	s.number(q)
	for v := range n {
		class := f.Class(p, v)
		s.at[v] = target{vertex: v, word: class >> 6, mask: 1 << (class & 63)}
		for w := range n {
			x, y := p.VertexLabels[v], p.VertexLabels[w]
			if v != w && (x == y || x == matcher.AnyLabel || y == matcher.AnyLabel) {
				s.clash[v] |= 1 << w
			}
		}
		for i, e := range q.Edges {
			if e.From != v && e.To != v {
				continue
			}
			b := back{edge: i, label: p.EdgeLabels[i]}
			if p.Directed && e.From == v { // the earlier vertex is the target of the edge
				b.dir = dyngraph.In
			}
			key := column{b.dir, b.label, class}
			if _, ok := columns[key]; !ok {
				columns[key] = len(columns)
			}
			b.column = columns[key]
			s.edges[v] = append(s.edges[v], edgeTo{from: e.From + e.To - v, rank: s.rank[i], back: b})
		}
	}
	return s
}

// number ranks the edges in the order in which a depth-first walk of the pattern meets them.
func (s *shape) number(q *matcher.Query) {
	next := 0
	done := make([]bool, len(q.Edges))
	var walk func(v int)
	walk = func(v int) {
		for i, e := range q.Edges {
			if !done[i] && (e.From == v || e.To == v) {
				done[i] = true
				s.rank[i] = next
				next++
				walk(e.From + e.To - v)
			}
		}
	}
	walk(0)
}

// piece is a set of pattern vertices that are counted together, given the images of its boundary.
type piece struct {
	id       int
	mask     uint32
	boundary uint32 // the vertices outside that it is joined to
	clash    uint32 // the vertices outside that its vertices' images might coincide with
	lo, hi   int    // ranks of the edges at its vertices

	// A piece of one vertex, or of several leaves, is counted at once; a larger one by mapping next first.
	leaves []int
	next   int
	from   []edgeTo // from the boundary to next, or to the one leaf
	rest   []*piece // what remains without next
}

// pieces makes the pieces of one shape; each worker has its own.
type pieces struct {
	s    *shape
	all  map[uint32]*piece
	list map[uint32][]*piece
}

func newPieces(s *shape) *pieces {
	return &pieces{s: s, all: map[uint32]*piece{}, list: map[uint32][]*piece{}}
}

// split divides a set of unmapped vertices into pieces: connected parts, and parts that might share an image together.
// Counts of different pieces multiply.
func (ps *pieces) split(mask uint32) []*piece {
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
				grown |= (ps.s.adj[v] | ps.s.clash[v]) & mask
			}
			if grown == part {
				break
			}
			part = grown
		}
		l = append(l, ps.piece(part))
		left &^= part
	}
	ps.list[mask] = l
	return l
}

func (ps *pieces) piece(mask uint32) *piece {
	if p, ok := ps.all[mask]; ok {
		return p
	}
	s := ps.s
	p := &piece{id: len(ps.all), mask: mask, lo: len(s.rank), hi: -1, next: -1}
	ps.all[mask] = p
	leaves := true
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		p.boundary |= s.adj[v] &^ mask
		p.clash |= s.clash[v] &^ mask
		for _, e := range s.edges[v] {
			p.lo, p.hi = min(p.lo, e.rank), max(p.hi, e.rank)
		}
		leaves = leaves && bits.OnesCount32(s.adj[v]) == 1 && s.adj[v]&mask == 0
	}
	if leaves || mask&(mask-1) == 0 {
		for m := mask; m != 0; m &= m - 1 {
			p.leaves = append(p.leaves, bits.TrailingZeros32(m))
		}
		if len(p.leaves) == 1 {
			p.from = s.edges[p.leaves[0]]
		}
		return p
	}
	// Parts that might meet are taken apart by enumerating the cheapest; the others are then pieces of their own. Inside
	// a part, the vertex with the most edges to the boundary is mapped first, then the one with the most edges.
	part := s.cheapestPart(mask)
	best := [3]int{-1}
	for m := part; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		back := bits.OnesCount32(s.adj[v] &^ mask)
		if back == 0 || bits.OnesCount32(s.adj[v]) == 1 && part&(part-1) != 0 {
			continue
		}
		if score := [3]int{back, bits.OnesCount32(s.adj[v]), -v}; better(score, best) {
			best, p.next = score, v
		}
	}
	for _, e := range s.edges[p.next] {
		if mask&(1<<e.from) == 0 {
			p.from = append(p.from, e)
		}
	}
	p.rest = ps.split(mask &^ (1 << p.next))
	return p
}

// cheapestPart returns the connected part of a set that promises the fewest mappings: each vertex multiplies them, each
// edge beyond the one that leads to a vertex divides them by far more.
func (s *shape) cheapestPart(mask uint32) uint32 {
	best, least := mask, 0
	for left := mask; left != 0; {
		part := left & -left
		for {
			grown := part
			for m := part; m != 0; m &= m - 1 {
				grown |= s.adj[bits.TrailingZeros32(m)] & mask
			}
			if grown == part {
				break
			}
			part = grown
		}
		inside, out := 0, 0
		for m := part; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			inside += bits.OnesCount32(s.adj[v] & part)
			out += bits.OnesCount32(s.adj[v] &^ mask)
		}
		vertices := bits.OnesCount32(part)
		if cost := vertices - 4*(inside/2+out-vertices); left == mask || cost < least {
			best, least = part, cost
		}
		left &^= part
	}
	return best
}

func better(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}
