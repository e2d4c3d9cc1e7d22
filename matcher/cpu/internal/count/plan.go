package count

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// Plan is a pattern compiled for counting: the ranks of its edges, and the quotients whose homomorphisms are counted.
//
// Matches are injective, homomorphisms need not be, so components of the pattern that nothing joins are then
// independent. By Moebius inversion the matches are a signed sum of the homomorphisms of the quotients. Labels and
// edges keep most vertices apart, so there are few terms. The other strategy counts the pattern itself and keeps its
// vertices apart; conflicts then lists which could coincide.
//
// Counting does not need the order of anchors (DESIGN A2). It assigns a match of a batch to the first of its pattern
// edges, by rank, whose data edge the batch changes, so that a component means the same for all anchors. Anchored at
// the edge of rank j, edges of lower rank see only what both graphs have, those of higher rank the whole graph of the
// phase (delta rule of a join, one term per relation).
type Plan struct {
	Pattern   *matcher.Plan
	rank      []int               // by pattern edge
	Quotients []*Quotient         // from fine to coarse, the first is the pattern itself; nil if there are too many
	injective *Quotient           // the pattern itself with conflicts; nil if no two vertices can coincide
	tests     [][]*truths.Test    // by pattern edge: its own test, or none
	kinds     []edgeKind          // of all Edges
	Wildcards []labeladj.Wildcard // those of the keys that are wildcards

	// Images are the numbers of candidates by pattern vertex where a candidate space was made; nil otherwise. logImages
	// are their binary logarithms, logJoined those of the part of the pairs of candidates that each pattern edge joins.
	Images               []int
	logImages, logJoined []float64

	sets       [][]int  // of competing pattern edges; see MultiEdge
	setOf      []int    // by pattern edge: its set, or -1
	multiKinds []string // descriptions of what sets ask for
}

// Know tells the numbers of candidates by pattern vertex, and of pairs of them that edges join by pattern edge. The
// order in which blocks are mapped depends on them.
func (s *Plan) Know(images, pairs []int) {
	s.Images = images
	for _, n := range images {
		s.logImages = append(s.logImages, math.Log2(float64(n)))
	}
	for i, e := range s.Pattern.Query.Edges {
		s.logJoined = append(s.logJoined, math.Log2(float64(pairs[i]))-s.logImages[e.From]-s.logImages[e.To])
	}
}

// edgeKind is a labeladj key, and the tests of those edges that take only some of its entries.
type edgeKind struct {
	key   uint64
	tests string // keys
}

// Weight is the signed factor of a quotient's homomorphisms in the number of matches.
type Weight struct {
	Factor   matcher.Count
	Negative bool
}

// Quotient is a pattern some of whose vertices are identified: its vertices are blocks, named by their lowest member.
type Quotient struct {
	index int
	Weight
	Finer     QuotientSet      // quotients that refine this one: when one of them counts 0, so does this one
	isFirst   []bool           // by pattern edge: the quotient identifies it with no edge of a lower rank
	tests     [][]*truths.Test // by pattern edge that isFirst: those of all edges identified with it
	Members   []uint32         // by block: its pattern vertices
	BlockOf   []int            // by pattern vertex: its block
	Blocks    uint32           // the blocks
	Adj       []uint32         // by block: the blocks joined to it
	conflicts []uint32         // by block: blocks whose images could coincide with its own but must not
	filters   []filter         // by block
	Edges     [][]Edge         // by block
}

// filter tests whether a data vertex fits a block: it passes the tests of all members.
type filter struct {
	test      candidates.Test // of the lowest member
	moreTests []candidates.Test
	// implied tells that each data vertex at the end of the block's only edge fits it; see Counter.unlessImplied.
	implied bool
	// label is the block's label where a member has alternatives: an anchor's end fits the member and need not fit the
	// block. Otherwise it is AnyLabel.
	label dyngraph.LabelID
}

// Edge leads from another block to a block. Pattern edges that the quotient identifies are one Edge, of their lowest
// rank.
type Edge struct {
	From         int    // a pattern vertex of the other block
	fromAll      uint32 // all pattern vertices of the other block that have such an edge
	rank         int
	patternEdges edgeSet        // the pattern edges
	kind         int            // index into Plan.kinds
	tests        []*truths.Test // of the pattern edges, each once; nil for a multi-edge, whose members have them
	Dir          dyngraph.Dir   // as the other block sees it
	Label        dyngraph.LabelID
	Multi        *MultiEdge // nil if the edge has one image between two data vertices at most
}

// edgeSet is a set of the pattern edges of a Plan, or of their ranks.
type edgeSet [(maxEdges + 63) / 64]uint64

func (s *edgeSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *edgeSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// below returns how many members are less than i.
func (s *edgeSet) below(i int) (n int) {
	for k := 0; k < len(s) && 64*k < i; k++ {
		if w := s[k]; i >= 64*(k+1) {
			n += bits.OnesCount64(w)
		} else {
			n += bits.OnesCount64(w & (1<<(i-64*k) - 1))
		}
	}
	return n
}

// size returns the number of members.
func (s *edgeSet) size() int { return s.below(64 * len(s)) }

func (s *edgeSet) join(t *edgeSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

// maxEdges bounds the edges of patterns that are counted without enumeration. Larger ones are dense: little factorises,
// while enumeration finds one match of each orbit of a symmetry.
const maxEdges = 64

// NewPlan returns nil for a pattern that is counted by enumeration: it has more than maxEdges edges, or parallel edges
// beyond maxAssignments, or it has edges that a trail must keep apart: where its vertices share images, so would these.
// With apart the vertices of the pattern are always kept apart, and no quotients are made.
func NewPlan(p *matcher.Plan, f candidates.Source, apart bool) *Plan {
	q := p.Query
	n := len(q.Vertices)
	if len(q.Edges) > maxEdges || q.IsVertex() || q.MatchMode == matcher.Trail && p.ComparesEdges() {
		return nil
	}
	s := &Plan{Pattern: p, rank: make([]int, len(q.Edges)), tests: make([][]*truths.Test, len(q.Edges))}
	for i := range s.tests {
		if test := f.EdgeTest(p, i); test != nil {
			s.tests[i] = []*truths.Test{test}
		}
	}
	s.rankEdges(q)
	if !s.groupMultiEdges() {
		return nil
	}
	together := togetherOf(p)
	free := make([]uint32, n)
	var parts []partition
	if !apart || !slices.ContainsFunc(together, func(of uint32) bool { return of != 0 }) {
		parts = partitions(together)
	}
	for i, part := range parts {
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

// togetherOf returns, by pattern vertex, those that may share an image if nothing keeps vertices apart.
func togetherOf(p *matcher.Plan) []uint32 {
	together := slices.Clone(p.MustDiffer)
	for _, e := range p.Query.Edges { // no edge leads from a vertex to itself
		together[e.From] &^= 1 << e.To
		together[e.To] &^= 1 << e.From
	}
	return together
}

// Effort returns how many edges the quotients of a pattern have, about, which NewPlan makes.
func Effort(p *matcher.Plan) int {
	n := eachPartition(togetherOf(p), func(partition) {})
	if n > maxQuotients { // there is one then, the pattern itself
		n = 1
	}
	return n * len(p.Query.Edges)
}

// identity returns the pattern itself.
func (s *Plan) identity() *Quotient {
	if s.Quotients == nil {
		return s.injective
	}
	return s.Quotients[0]
}

// rankEdges ranks the edges in the order in which a depth-first traversal meets them, so that the edges of a component
// tend to be consecutive.
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

// quotient makes the quotient of a partition. Blocks of one vertex whose neighbours are such blocks have the filters
// and edges of the pattern itself, the first quotient.
func (s *Plan) quotient(index int, b *partition, conflicts []uint32, f candidates.Source) *Quotient {
	p := s.Pattern
	n := len(b.blockOf)
	q := &Quotient{
		index:     index,
		Members:   b.members,
		BlockOf:   b.blockOf,
		Adj:       make([]uint32, n),
		conflicts: conflicts,
		Edges:     make([][]Edge, n),
	}
	q.Factor, q.Negative = b.coefficient()
	own := ^uint32(0) // the blocks that have edges of their own
	if len(s.Quotients) > 0 && s.sets == nil {
		self := s.Quotients[0]
		own = 0
		for v, x := range b.blockOf {
			if b.members[x] != 1<<v {
				own |= 1 << x
				for m := self.Adj[v]; m != 0; m &= m - 1 {
					own |= 1 << b.blockOf[bits.TrailingZeros32(m)]
				}
			}
		}
		q.isFirst, q.tests, q.filters = slices.Clone(self.isFirst), slices.Clone(self.tests), slices.Clone(self.filters)
		copy(q.Edges, self.Edges)
	} else {
		q.isFirst, q.tests, q.filters = make([]bool, len(s.rank)), slices.Clone(s.tests), make([]filter, n)
	}
	for v, m := range b.members {
		switch {
		case m == 0:
			q.filters[v], q.Edges[v] = filter{}, nil
			continue
		case own == ^uint32(0) || m&(m-1) != 0:
			q.filters[v] = s.filterOf(m, f)
		}
		q.Blocks |= 1 << v
	}
	same, most, all := s.sameEdges(b, own), make([]int, n), 0
	for i, e := range p.Query.Edges {
		x, y := b.blockOf[e.From], b.blockOf[e.To]
		q.Adj[x] |= 1 << y
		q.Adj[y] |= 1 << x
		if (own>>x|own>>y)&1 == 0 {
			continue
		}
		q.isFirst[i] = !slices.ContainsFunc(same[i], func(k int) bool { return s.rank[k] < s.rank[i] })
		for _, z := range [2]int{x, y} {
			if q.isFirst[i] && own>>z&1 != 0 {
				most[z]++
				all++
			}
		}
	}
	room := make([]Edge, all)
	for x, n := range most {
		if n > 0 {
			q.Edges[x], room = room[:0:n], room[n:]
		}
	}
	for i, e := range p.Query.Edges {
		if !q.isFirst[i] || s.setOf[i] >= 0 {
			continue
		}
		for _, v := range [2]int{e.From, e.To} {
			x, other := b.blockOf[v], e.From+e.To-v
			if own>>x&1 == 0 {
				continue
			}
			to := Edge{From: other, rank: s.rank[i], Label: p.EdgeLabels[i]}
			if p.Directed && e.From == v { // the earlier vertex is the target of the edge
				to.Dir = dyngraph.In
			}
			for _, k := range same[i] {
				d := &p.Query.Edges[k]
				to.patternEdges.add(k)
				to.tests = union(to.tests, s.tests[k])
				for _, w := range [2]int{d.From, d.To} {
					if b.blockOf[w] == b.blockOf[other] {
						to.fromAll |= 1 << w
					}
				}
			}
			to.From = bits.TrailingZeros32(to.fromAll)
			if l := s.Label(b.members[x]); !matcher.SeveralLabels(l) {
				to.kind = s.kind(labeladj.Key(to.Dir, to.Label, l), to.tests)
			} else {
				to.kind = s.wildcard(labeladj.Wildcard{Dirs: 1 << to.Dir, Edge: to.Label, Nbr: l}, to.tests)
			}
			q.tests[i] = to.tests
			q.Edges[x] = append(q.Edges[x], to)
		}
	}
	s.addMultiEdges(q, b)
	return q
}

// union returns tests without repetition, sorted by key. It changes neither set.
func union(a, b []*truths.Test) []*truths.Test {
	if b == nil {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y *truths.Test) int { return strings.Compare(x.Key(), y.Key()) })
	return slices.Compact(all)
}

// testsKey returns the keys of tests; it is empty without any.
func testsKey(tests []*truths.Test) (key string) {
	for _, t := range tests {
		key += t.Key() + ";"
	}
	return key
}

// kind returns the index of a labeladj key and tests, which it adds if need be.
func (s *Plan) kind(key uint64, tests []*truths.Test) int {
	k := edgeKind{key, testsKey(tests)}
	at := slices.Index(s.kinds, k)
	if at < 0 {
		at = len(s.kinds)
		s.kinds = append(s.kinds, k)
	}
	return at
}

// wildcard is kind for a wildcard.
func (s *Plan) wildcard(w labeladj.Wildcard, tests []*truths.Test) int {
	if !slices.Contains(s.Wildcards, w) {
		s.Wildcards = append(s.Wildcards, w)
	}
	return s.kind(w.Key(), tests)
}

// sameEdges returns, by pattern edge at some blocks, the pattern edges that the quotient identifies with it, itself
// among them, in their order; none for edges of sets.
func (s *Plan) sameEdges(b *partition, at uint32) [][]int {
	p := s.Pattern
	type ends [3]uint32 // blocks and label
	keys, sorted := make([]ends, len(s.rank)), make([]int, 0, len(s.rank))
	for i := range keys {
		if s.setOf[i] >= 0 {
			continue
		}
		e := &p.Query.Edges[i]
		from, to := b.blockOf[e.From], b.blockOf[e.To]
		if (at>>from|at>>to)&1 == 0 {
			continue
		}
		if !p.Directed && from > to {
			from, to = to, from
		}
		keys[i], sorted = ends{uint32(from), uint32(to), uint32(p.EdgeLabels[i])}, append(sorted, i)
	}
	slices.SortStableFunc(sorted, func(i, k int) int { return slices.Compare(keys[i][:], keys[k][:]) })
	same := make([][]int, len(s.rank))
	for from, to := 0, 0; from < len(sorted); from = to {
		for to < len(sorted) && keys[sorted[to]] == keys[sorted[from]] {
			to++
		}
		for _, i := range sorted[from:to] {
			same[i] = sorted[from:to]
		}
	}
	return same
}

// Label returns the resolved label of the data vertices that fit all members of a block.
func (s *Plan) Label(members uint32) dyngraph.LabelID {
	common := matcher.AnyLabel
	for m := members; m != 0; m &= m - 1 {
		common = matcher.CommonLabels(common, s.Pattern.VertexLabels[bits.TrailingZeros32(m)])
	}
	return common
}

// filterOf returns the filter of a block with these members.
func (s *Plan) filterOf(members uint32, f candidates.Source) filter {
	t := filter{implied: true, label: matcher.AnyLabel}
	for m := members; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		if matcher.Alternatives(s.Pattern.VertexLabels[u]) != nil {
			t.label = s.Label(members)
		}
		edges := 0
		for _, e := range s.Pattern.Query.Edges {
			if e.From == u || e.To == u {
				edges++
			}
		}
		t.implied = t.implied && edges == 1 && f.VertexTest(s.Pattern, u) == nil
		if test := f.Test(s.Pattern, u); m == members {
			t.test = test
		} else if t.test != test {
			t.moreTests = append(t.moreTests, test)
		}
	}
	return t
}
