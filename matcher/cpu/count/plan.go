package count

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
type Plan struct {
	Query     *matcher.Plan
	rank      []int               // of each pattern edge
	Quotients []*Quotient         // from fine to coarse, the first is the pattern itself; nil if there are too many
	injective *Quotient           // the pattern itself with its vertices kept apart; nil if nothing else keeps them together
	kinds     []uint64            // keys of the adjacency
	Wildcards []labeladj.Wildcard // those of them that are of wide edges

	sets       [][]int  // of wide edges: see bundle
	setOf      []int    // by pattern edge: the set that it belongs to; -1 for an edge that is not wide
	multiKinds []string // what sets ask for
}

// quotient is a pattern some of whose vertices are one: its vertices are blocks, named by their lowest member.
type Quotient struct {
	index     int
	factor    matcher.Count
	negative  bool
	Finer     QuotientSet // when one of them counts nothing, nor does this
	isFirst   []bool      // by pattern edge: no edge of a lower rank is the same edge of the quotient
	Members   []uint32    // by block
	BlockOf   []int       // block by pattern vertex
	Blocks    uint32      // the blocks
	Adj       []uint32    // blocks joined to a block
	conflicts []uint32    // blocks whose images could coincide with a block's but must not
	filters   []filter    // by block
	Edges     [][]Edge    // by block
}

// target is a block as the end of an edge: a data vertex fits it if it passes the filters of all its members.
type filter struct {
	test      candidates.Test // of the lowest member
	moreTests []candidates.Test
	// implied tells that every vertex that is reached along the block's only edge fits it; see counter.implied.
	implied bool
}

// passes reports whether a data vertex fits the block.
func (t *filter) passes(cand []uint64, words int, w dyngraph.VertexID) bool {
	at := int(w) * words
	if cand[at+t.test.Word]&t.test.Mask != t.test.Want {
		return false
	}
	for i := range t.moreTests {
		if !t.moreTests[i].Of(cand[at:]) {
			return false
		}
	}
	return true
}

// edgeTo leads from another block to a target. Pattern edges that are one edge of the quotient are one edgeTo, of the
// lowest rank among them.
type Edge struct {
	From         int    // a pattern vertex of the other block
	fromAll      uint32 // all of them that have such an edge
	rank         int
	patternEdges edgeSet      // the pattern edges
	kind         int          // index into the shape's kinds
	Dir          dyngraph.Dir // as the other block sees it
	Label        dyngraph.LabelID
	Multi        *MultiEdge // of a wide edge; nil for one that has one image between two data vertices at most
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
const maxEdges = 64

// newShape returns nil for a pattern that is counted by enumeration: it has more edges than mostCounted, or more
// parallel edges of different kinds than maxAssignments lets it have.
func NewPlan(p *matcher.Plan, f *candidates.Filter) *Plan {
	q := p.Query
	n := len(q.Vertices)
	if len(q.Edges) > maxEdges {
		return nil
	}
	s := &Plan{Query: p, rank: make([]int, len(q.Edges))}
	adj := make([]uint32, n)
	for _, e := range q.Edges {
		adj[e.From] |= 1 << e.To
		adj[e.To] |= 1 << e.From
	}
	s.rankEdges(q)
	if !s.groupMultiEdges() {
		return nil
	}
	together := make([]uint32, n)
	for v := range together {
		together[v] = p.MustDiffer[v] &^ adj[v] // no edge leads from a vertex to itself
	}
	free := make([]uint32, n)
	for i, part := range partitions(together) {
		s.Quotients = append(s.Quotients, s.quotient(i, &part, free, f))
		for k, q := range s.Quotients[:i] {
			if q.refines(&part) {
				s.Quotients[i].Finer.add(k)
			}
		}
	}
	if len(s.Quotients) != 1 { // some vertices could coincide
		self := partition{blockOf: make([]int, n), members: make([]uint32, n)}
		for v := range n {
			self.blockOf[v], self.members[v] = v, 1<<v
		}
		s.injective = s.quotient(0, &self, p.MustDiffer, f)
	}
	return s
}

// self returns the pattern itself.
func (s *Plan) identity() *Quotient {
	if s.Quotients == nil {
		return s.injective
	}
	return s.Quotients[0]
}

// number ranks the edges in the order in which a depth-first walk of the pattern meets them.
func (s *Plan) rankEdges(q *matcher.Query) {
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
func (s *Plan) quotient(index int, b *partition, clash []uint32, f *candidates.Filter) *Quotient {
	p := s.Query
	n := len(b.blockOf)
	q := &Quotient{index: index, isFirst: make([]bool, len(s.rank)), Members: b.members, BlockOf: b.blockOf, Adj: make([]uint32, n),
		conflicts: clash, filters: make([]filter, n), Edges: make([][]Edge, n)}
	q.factor, q.negative = b.coefficient()
	for v, m := range b.members {
		if m != 0 {
			q.Blocks |= 1 << v
			q.filters[v] = s.filterOf(m, f)
		}
	}
	for i, e := range p.Query.Edges {
		q.isFirst[i] = true
		for k, d := range p.Query.Edges {
			if s.setOf[i] < 0 && s.setOf[k] < 0 && s.rank[k] < s.rank[i] && s.isSameEdge(b, i, k, e, d) {
				q.isFirst[i] = false
			}
		}
		q.Adj[b.blockOf[e.From]] |= 1 << b.blockOf[e.To]
		q.Adj[b.blockOf[e.To]] |= 1 << b.blockOf[e.From]
	}
	for i, e := range p.Query.Edges {
		if !q.isFirst[i] || s.setOf[i] >= 0 {
			continue
		}
		for _, v := range [2]int{e.From, e.To} {
			x, other := b.blockOf[v], e.From+e.To-v
			to := Edge{From: other, rank: s.rank[i], Label: p.EdgeLabels[i]}
			if p.Directed && e.From == v { // the earlier vertex is the target of the edge
				to.Dir = dyngraph.In
			}
			for k, d := range p.Query.Edges {
				if k != i && (s.setOf[k] >= 0 || !s.isSameEdge(b, i, k, e, d)) {
					continue
				}
				to.patternEdges.add(k)
				for _, w := range [2]int{d.From, d.To} {
					if b.blockOf[w] == b.blockOf[other] {
						to.fromAll |= 1 << w
					}
				}
			}
			to.From = bits.TrailingZeros32(to.fromAll)
			if l := s.Label(b.members[x]); l != matcher.AnyLabel {
				to.kind = s.kind(labeladj.Key(to.Dir, to.Label, l))
			} else {
				to.kind = s.wildcard(labeladj.Wildcard{Dirs: 1 << to.Dir, Edge: to.Label, Nbr: l})
			}
			q.Edges[x] = append(q.Edges[x], to)
		}
	}
	s.addMultiEdges(q, b)
	return q
}

// kind returns the index of a key, which it adds if need be.
func (s *Plan) kind(key uint64) int {
	at := slices.Index(s.kinds, key)
	if at < 0 {
		at = len(s.kinds)
		s.kinds = append(s.kinds, key)
	}
	return at
}

// wildcard returns the index of the key of a wildcard, which it adds if need be.
func (s *Plan) wildcard(w labeladj.Wildcard) int {
	if !slices.Contains(s.Wildcards, w) {
		s.Wildcards = append(s.Wildcards, w)
	}
	return s.kind(w.Key())
}

// same reports whether two pattern edges are one edge of the quotient.
func (s *Plan) isSameEdge(b *partition, i, k int, e, d matcher.QueryEdge) bool {
	if s.Query.EdgeLabels[i] != s.Query.EdgeLabels[k] {
		return false
	}
	if b.blockOf[e.From] == b.blockOf[d.From] && b.blockOf[e.To] == b.blockOf[d.To] {
		return true
	}
	return !s.Query.Directed && b.blockOf[e.From] == b.blockOf[d.To] && b.blockOf[e.To] == b.blockOf[d.From]
}

// label returns the label of the vertices that fit all members of a block, AnyLabel if none has one.
func (s *Plan) Label(members uint32) dyngraph.LabelID {
	for m := members; m != 0; m &= m - 1 {
		if l := s.Query.VertexLabels[bits.TrailingZeros32(m)]; l != matcher.AnyLabel {
			return l
		}
	}
	return matcher.AnyLabel
}

func (s *Plan) filterOf(members uint32, f *candidates.Filter) filter {
	t := filter{implied: true}
	for m := members; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		edges := 0
		for _, e := range s.Query.Query.Edges {
			if e.From == u || e.To == u {
				edges++
			}
		}
		t.implied = t.implied && edges == 1
		if test := f.Test(s.Query, u); m == members {
			t.test = test
		} else if t.test != test {
			t.moreTests = append(t.moreTests, test)
		}
	}
	return t
}
