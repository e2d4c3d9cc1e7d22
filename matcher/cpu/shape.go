package cpu

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/labeladj"
)

// shape is a pattern made ready for counting: its edges ranked so that the edges of a connected part tend to be
// consecutive, and the quotients whose homomorphisms are counted.
//
// Matches map vertices to different images. It is simpler to count homomorphisms, which need not, since parts of the
// pattern that are joined by nothing are then independent. The matches are the homomorphisms less those that are
// constant on some blocks of vertices, by Möbius inversion: one signed term for each quotient of the pattern. Few
// vertices can coincide, as labels and edges keep them apart, so there are few terms. The other way is to count the
// pattern itself and to keep its vertices apart, for which clash tells those that could coincide.
//
// Counting does not need the order of anchors (DESIGN A2), so it tells the matches of a batch apart in another
// way, under which the same sub-problem means the same for all anchors: a match belongs to the first of its pattern
// edges, by rank, whose data edge the batch changes. Anchored at the edge of rank j, edges of lower rank see only what
// both graphs have, those of higher rank the whole graph of the phase (delta rule of a join, one term a relation).
type shape struct {
	plan  *matcher.Plan
	rank  []int               // of each pattern edge
	parts []*quotient         // from fine to coarse, the first is the pattern itself; nil if there are too many
	apart *quotient           // the pattern itself with its vertices kept apart; nil if nothing else keeps them together
	kinds []uint64            // keys of the adjacency
	wide  []labeladj.Wildcard // those of them that are of wide edges

	sets        [][]int  // of wide edges: see bundle
	setOf       []int    // by pattern edge: the set that it belongs to; -1 for an edge that is not wide
	bundleKinds []string // what sets ask for
}

// quotient is a pattern some of whose vertices are one: its vertices are blocks, named by their lowest member.
type quotient struct {
	index    int
	factor   matcher.Count
	negative bool
	finer    quotientSet // when one of them counts nothing, nor does this
	first    []bool      // by pattern edge: no edge of a lower rank is the same edge of the quotient
	members  []uint32    // by block
	of       []int       // block by pattern vertex
	all      uint32      // the blocks
	adj      []uint32    // blocks joined to a block
	clash    []uint32    // blocks whose images could coincide with a block's but must not
	at       []target    // by block
	edges    [][]edgeTo  // by block
}

// target is a block as the end of an edge: a data vertex fits it if it passes the filters of all its members.
type target struct {
	test candidates.Test // of the lowest member
	more []candidates.Test
	// implied tells that every vertex that is reached along the block's only edge fits it; see counter.implied.
	implied bool
}

// passes reports whether a data vertex fits the block.
func (t *target) passes(cand []uint64, words int, w dyngraph.VertexID) bool {
	at := int(w) * words
	if cand[at+t.test.Word]&t.test.Mask != t.test.Want {
		return false
	}
	for i := range t.more {
		if !t.more[i].Of(cand[at:]) {
			return false
		}
	}
	return true
}

// edgeTo leads from another block to a target. Pattern edges that are one edge of the quotient are one edgeTo, of the
// lowest rank among them.
type edgeTo struct {
	from  int    // a pattern vertex of the other block
	touch uint32 // all of them that have such an edge
	rank  int
	edges edgeSet      // the pattern edges
	kind  int          // index into the shape's kinds
	dir   dyngraph.Dir // as the other block sees it
	label dyngraph.LabelID
	wide  *bundle // of a wide edge; nil for one that has one image between two data vertices at most
}

// edgeSet is a set of pattern edges.
type edgeSet [(matcher.MaxEdges + 63) / 64]uint64

func (s *edgeSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *edgeSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s *edgeSet) join(t *edgeSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

// mostCounted bounds the edges of patterns that are counted without enumeration. Larger ones are dense: there is little
// to multiply, while enumeration takes one match of those that a symmetry makes alike.
const mostCounted = 64

// newShape returns nil for a pattern that is counted by enumeration: it has more edges than mostCounted, or more
// parallel edges of different kinds than maxAssignments lets it have.
func newShape(p *matcher.Plan, f *candidates.Filter) *shape {
	q := p.Query
	n := len(q.Vertices)
	if len(q.Edges) > mostCounted {
		return nil
	}
	s := &shape{plan: p, rank: make([]int, len(q.Edges))}
	adj, clash := make([]uint32, n), make([]uint32, n)
	for _, e := range q.Edges {
		adj[e.From] |= 1 << e.To
		adj[e.To] |= 1 << e.From
	}
	for v := range n {
		for w := range n {
			x, y := p.VertexLabels[v], p.VertexLabels[w]
			if v != w && (x == y || x == matcher.AnyLabel || y == matcher.AnyLabel) {
				clash[v] |= 1 << w
			}
		}
	}
	s.number(q)
	if !s.bundleEdges() {
		return nil
	}
	together := make([]uint32, n)
	for v := range together {
		together[v] = clash[v] &^ adj[v] // no edge leads from a vertex to itself
	}
	free := make([]uint32, n)
	for i, part := range partitions(together) {
		s.parts = append(s.parts, s.quotient(i, &part, free, f))
		for k, q := range s.parts[:i] {
			if q.refines(&part) {
				s.parts[i].finer.add(k)
			}
		}
	}
	if len(s.parts) != 1 { // some vertices could coincide
		self := partition{of: make([]int, n), members: make([]uint32, n)}
		for v := range n {
			self.of[v], self.members[v] = v, 1<<v
		}
		s.apart = s.quotient(0, &self, clash, f)
	}
	return s
}

// self returns the pattern itself.
func (s *shape) self() *quotient {
	if s.parts == nil {
		return s.apart
	}
	return s.parts[0]
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

// quotient makes the quotient of a partition.
func (s *shape) quotient(index int, b *partition, clash []uint32, f *candidates.Filter) *quotient {
	p := s.plan
	n := len(b.of)
	q := &quotient{index: index, first: make([]bool, len(s.rank)), members: b.members, of: b.of, adj: make([]uint32, n),
		clash: clash, at: make([]target, n), edges: make([][]edgeTo, n)}
	q.factor, q.negative = b.coefficient()
	for v, m := range b.members {
		if m != 0 {
			q.all |= 1 << v
			q.at[v] = s.target(m, f)
		}
	}
	for i, e := range p.Query.Edges {
		q.first[i] = true
		for k, d := range p.Query.Edges {
			if s.setOf[i] < 0 && s.setOf[k] < 0 && s.rank[k] < s.rank[i] && s.same(b, i, k, e, d) {
				q.first[i] = false
			}
		}
		q.adj[b.of[e.From]] |= 1 << b.of[e.To]
		q.adj[b.of[e.To]] |= 1 << b.of[e.From]
	}
	for i, e := range p.Query.Edges {
		if !q.first[i] || s.setOf[i] >= 0 {
			continue
		}
		for _, v := range [2]int{e.From, e.To} {
			x, other := b.of[v], e.From+e.To-v
			to := edgeTo{from: other, rank: s.rank[i], label: p.EdgeLabels[i]}
			if p.Directed && e.From == v { // the earlier vertex is the target of the edge
				to.dir = dyngraph.In
			}
			for k, d := range p.Query.Edges {
				if k != i && (s.setOf[k] >= 0 || !s.same(b, i, k, e, d)) {
					continue
				}
				to.edges.add(k)
				for _, w := range [2]int{d.From, d.To} {
					if b.of[w] == b.of[other] {
						to.touch |= 1 << w
					}
				}
			}
			to.from = bits.TrailingZeros32(to.touch)
			if l := s.label(b.members[x]); l != matcher.AnyLabel {
				to.kind = s.kind(labeladj.Key(to.dir, to.label, l))
			} else {
				to.kind = s.wildcard(labeladj.Wildcard{Dirs: 1 << to.dir, Edge: to.label, Nbr: l})
			}
			q.edges[x] = append(q.edges[x], to)
		}
	}
	s.addBundles(q, b)
	return q
}

// kind returns the index of a key, which it adds if need be.
func (s *shape) kind(key uint64) int {
	at := slices.Index(s.kinds, key)
	if at < 0 {
		at = len(s.kinds)
		s.kinds = append(s.kinds, key)
	}
	return at
}

// wildcard returns the index of the key of a wildcard, which it adds if need be.
func (s *shape) wildcard(w labeladj.Wildcard) int {
	if !slices.Contains(s.wide, w) {
		s.wide = append(s.wide, w)
	}
	return s.kind(w.Key())
}

// same reports whether two pattern edges are one edge of the quotient.
func (s *shape) same(b *partition, i, k int, e, d matcher.QueryEdge) bool {
	if s.plan.EdgeLabels[i] != s.plan.EdgeLabels[k] {
		return false
	}
	if b.of[e.From] == b.of[d.From] && b.of[e.To] == b.of[d.To] {
		return true
	}
	return !s.plan.Directed && b.of[e.From] == b.of[d.To] && b.of[e.To] == b.of[d.From]
}

// label returns the label of the vertices that fit all members of a block, AnyLabel if none has one.
func (s *shape) label(members uint32) dyngraph.LabelID {
	for m := members; m != 0; m &= m - 1 {
		if l := s.plan.VertexLabels[bits.TrailingZeros32(m)]; l != matcher.AnyLabel {
			return l
		}
	}
	return matcher.AnyLabel
}

func (s *shape) target(members uint32, f *candidates.Filter) target {
	t := target{implied: true}
	for m := members; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		edges := 0
		for _, e := range s.plan.Query.Edges {
			if e.From == u || e.To == u {
				edges++
			}
		}
		t.implied = t.implied && edges == 1
		if test := f.Test(s.plan, u); m == members {
			t.test = test
		} else if t.test != test {
			t.more = append(t.more, test)
		}
	}
	return t
}
