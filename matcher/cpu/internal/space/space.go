package space

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// Space is the candidate space of one plan in one graph, or of a Kept one. It implements candidates.Source for that
// plan, and for Narrowed.
type Space struct {
	*candidates.Filter
	plan *matcher.Plan
	bits []uint64
	// vertices had some candidate bit at first.
	vertices []dyngraph.VertexID
	same     []int // by pattern vertex: the first one with the same candidates
	// common has, by pattern vertex, those that some data vertex is a candidate of with it.
	common []uint64
	kept   *Kept             // has the bits, or nil
	tests  []candidates.Test // of signatures, by pattern vertex, or nil
	orders *orderer

	// Bare tells that it has no bits: signatures tell its candidates.
	Bare bool
	// Rough tells that semi-joins are not made yet: Refine makes them. Round is how many entries of the graph one round
	// of them reads at most.
	Rough bool
	Round int
	maker *maker

	// Candidates are the numbers of data vertices by pattern vertex. Pairs are by pattern edge the numbers of pairs of
	// candidates that data edges join which the pattern edge admits alone; nil in a rough one.
	Candidates, Pairs []int
	// Narrowed is the plan, in which only pattern vertices that have common candidates must differ.
	Narrowed *matcher.Plan
}

// Bits implements candidates.Source.
func (s *Space) Bits() []uint64 {
	if s.kept != nil {
		return s.kept.bits
	}
	return s.bits
}

// Words implements candidates.Source.
func (s *Space) Words() int {
	if s.kept != nil {
		return keptWords
	}
	return 1
}

// Class implements candidates.Source.
func (s *Space) Class(_ *matcher.Plan, v int) int { return s.same[v] }

// Test implements candidates.Source.
func (s *Space) Test(_ *matcher.Plan, v int) candidates.Test {
	if s.tests != nil {
		return s.tests[v]
	}
	bit := uint64(1) << s.same[v]
	if s.kept != nil {
		bit <<= KeptRounds % 2 * perRound
		return candidates.Test{Word: KeptRounds / 2, Mask: bit, Want: bit}
	}
	return candidates.Test{Mask: bit, Want: bit}
}

// VertexTest implements candidates.Source.
func (s *Space) VertexTest(_ *matcher.Plan, v int) *truths.Test {
	return s.Filter.VertexTest(s.plan, v)
}

// EdgeTest implements candidates.Source.
func (s *Space) EdgeTest(_ *matcher.Plan, e int) *truths.Test { return s.Filter.EdgeTest(s.plan, e) }

// Roots returns the candidates of a pattern vertex.
func (s *Space) Roots(u int) []dyngraph.VertexID {
	roots := make([]dyngraph.VertexID, 0, s.Candidates[u])
	if s.tests != nil {
		s.Filter.Each(s.plan, u, func(v dyngraph.VertexID) {
			if s.tests[u].Of(s.bits[v:]) {
				roots = append(roots, v)
			}
		})
		return roots
	}
	for _, v := range s.vertices {
		if s.bits[v]>>u&1 != 0 {
			roots = append(roots, v)
		}
	}
	return roots
}

// IsEmpty reports whether some pattern vertex has no candidate: there are no matches then.
func (s *Space) IsEmpty() bool { return slices.Contains(s.Candidates, 0) }

// makers has *makers that are not in use. Most spaces take less time than it takes to make their memory: of those that
// are released all but this memory is zero.
var makers sync.Pool

// maker makes a space.
type maker struct {
	*Space
	g             *dyngraph.Graph
	room          []uint64              // of bits
	list          []dyngraph.VertexID   // room of vertices
	lists         [][]dyngraph.VertexID // room of generator.of
	found         []candidate           // by the generator, at the data vertex at hand
	maybe         []dyngraph.VertexID   // neighbours whose labels fit, of the data vertex at hand
	kinds         []kind
	dirty         []dyngraph.VertexID // their semi-joins are to be made again
	isDirty       []uint64            // the same, by data vertex, 64 to a word
	neighborsKept keptNeighbors
	here          []end               // of the data vertex at hand
	passed        []dyngraph.VertexID // neighbours to which edges lead that pass a test
	reads         int                 // Limits.Reads
	left          int                 // entries that semi-joins may still read
	stop          func() bool
}

// rounds bounds what semi-joins read, as a multiple of what one round of them reads at most; they may read leastReads
// in any case. Mostly the fixed point comes much sooner, since later rounds read around what the round before has
// changed.
const (
	rounds     = 8
	leastReads = 1 << 16
)

// pollEvery is the number of data vertices that are tested between two polls of the stop flag.
const pollEvery = 1 << 12

// Limits bound the work for a space.
type Limits struct {
	// Round is the most that a round of semi-joins may read: where it is more, the space is rough. 0 is no limit.
	Round int
	// Reads is the most that semi-joins read: the fixed point may be far. 0 is a multiple of a round.
	Reads int
	// Neighbors is the number of neighbours that are kept for later rounds. 0 is a million.
	Neighbors int
}

// Make makes the space of a plan that the filter serves. It returns nil when stop, which is asked now and then, is
// true.
func Make(g *dyngraph.Graph, f *candidates.Filter, p *matcher.Plan, of *Signatures, limits Limits,
	stop func() bool) *Space {
	m := newMaker(g, f, p, kindsOf(p, f), limits, stop)
	if !m.generate(of) {
		return nil
	}
	if m.Rough = limits.Round > 0 && m.Round > limits.Round; !m.Rough {
		return m.refine()
	}
	if !m.count() {
		return nil
	}
	return m.Space
}

// newMaker returns a maker of a space, with memory of an earlier one.
func newMaker(g *dyngraph.Graph, f *candidates.Filter, p *matcher.Plan, kinds []kind, limits Limits,
	stop func() bool) *maker {
	m, _ := makers.Get().(*maker)
	if m == nil {
		m = new(maker)
	}
	m.Space = &Space{Filter: f, plan: p, maker: m, vertices: m.list}
	m.g, m.kinds, m.reads, m.stop = g, kinds, limits.Reads, stop
	m.neighborsKept.most = cmp.Or(limits.Neighbors, mostKept)
	return m
}

// Release keeps the memory of a space, which must not be used afterwards.
func (s *Space) Release() {
	m := s.maker
	m.clear()
	m.list, m.dirty = m.vertices[:0], m.dirty[:0]
	m.Space, m.g, m.kinds, m.stop, m.left = nil, nil, nil, nil, 0
	makers.Put(m)
}

// clear clears the memory: most spaces have few of the data vertices.
func (m *maker) clear() {
	n := &m.neighborsKept
	if fewOf*len(m.vertices) > len(m.room) {
		clear(m.room)
		clear(m.isDirty)
		clear(n.at)
		return
	}
	for _, v := range m.vertices {
		m.room[v] = 0
		m.unmark(v)
		if n.at != nil {
			n.at[v] = 0
		}
	}
}

// fewOf is the least factor by which a space has fewer data vertices than the graph for them to be cleared one by one.
const fewOf = 16

// Refine makes a space of a rough one, which must not be used afterwards. It returns nil when stop is true.
func (s *Space) Refine(stop func() bool) *Space {
	m := s.maker
	m.stop, m.Space = stop, &Space{Filter: s.Filter, plan: s.plan, bits: s.bits, vertices: s.vertices, Round: s.Round,
		maker: m}
	return m.refine()
}

// begin makes room for the bits of data vertices with ids below a bound.
func (m *maker) begin(bound int) {
	if len(m.room) < bound {
		m.room, m.isDirty = make([]uint64, bound), make([]uint64, (bound+63)/64)
	}
	m.bits = m.room[:bound]
}

// round returns how many entries of the graph a round of semi-joins reads at most.
func (m *maker) round() (n int) {
	for _, v := range m.vertices {
		for i := range m.kinds {
			if k := &m.kinds[i]; k.wants&m.bits[v] != 0 {
				for _, d := range k.dirs {
					n += m.g.Degree(v, d)
				}
			}
		}
	}
	return n
}

// refine makes semi-joins.
func (m *maker) refine() *Space {
	m.left = cmp.Or(m.reads, leastReads+rounds*m.Round)
	m.neighborsKept.keep(len(m.bits))
	if !m.join() || !m.sum() {
		return nil
	}
	return m.Space
}

// join makes semi-joins until nothing changes: a candidate of a pattern vertex has, along each pattern edge, a
// neighbour that is a candidate of the edge's other end. Where images must differ, it has as many such neighbours as
// the pattern vertex has along edges of a kind.
func (m *maker) join() bool {
	var now []dyngraph.VertexID
	for i := 0; len(m.dirty) > 0 && m.left > 0; {
		now, m.dirty = m.dirty, now[:0]
		for _, v := range now {
			if i++; i%pollEvery == 0 && m.stop() {
				return false
			}
			m.unmark(v)
			if kept := m.supported(v); kept != m.bits[v] {
				m.change(v, kept)
			}
		}
	}
	return true
}

// mark marks a data vertex as dirty. It reports false if it was before.
func (m *maker) mark(v dyngraph.VertexID) bool {
	word, bit := &m.isDirty[v/64], uint64(1)<<(v%64)
	was := *word&bit != 0
	*word |= bit
	return !was
}

func (m *maker) unmark(v dyngraph.VertexID) { m.isDirty[v/64] &^= 1 << (v % 64) }

// supported returns those candidate bits of a vertex that its neighbours support.
func (m *maker) supported(v dyngraph.VertexID) uint64 {
	x := m.bits[v]
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.wants&x == 0 {
			continue
		}
		seen, nbrs := uint64(0), m.neighbors(v, i)
		for _, w := range nbrs {
			seen |= m.bits[w]
		}
		x = k.keep(x, seen)
		if m.plan.Query.MatchMode == matcher.Isomorphism {
			x = m.keepMany(k, x, nbrs)
		}
	}
	return x
}

// change sets the bits of a vertex, and marks the neighbours that have lost support.
func (m *maker) change(v dyngraph.VertexID, kept uint64) {
	lost := m.bits[v] &^ kept
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.wants&lost == 0 {
			continue
		}
		of := k.joined(lost)
		nbrs, n := m.neighbors(v, i), len(m.dirty)
		to := slices.Grow(m.dirty, len(nbrs))[:n+len(nbrs)]
		for _, w := range nbrs {
			to[n] = w
			word, set := &m.isDirty[w/64], uint64(oneOf(m.bits[w]&of))<<(w%64)
			n += oneOf(set &^ *word)
			*word |= set
		}
		m.dirty = to[:n]
	}
	m.bits[v] = kept
}

// sum counts candidates and pairs.
func (m *maker) sum() bool { return m.count() && m.countPairs() }

// count counts candidates, and finds out which pattern vertices have candidates in common.
func (m *maker) count() bool {
	n := len(m.plan.Query.Vertices)
	m.Candidates = make([]int, n)
	within := make([]uint64, n) // by pattern vertex: those that have all of its candidates
	m.common, m.same = make([]uint64, n), make([]int, 0, n)
	for u := range within {
		within[u] = ^uint64(0)
	}
	for i, v := range m.vertices {
		if i%pollEvery == 0 && m.stop() {
			return false
		}
		x := m.bits[v]
		for r := x; r != 0; r &= r - 1 {
			u := bits.TrailingZeros64(r)
			m.Candidates[u]++
			m.common[u] |= x
			within[u] &= x
		}
	}
	for u := range within {
		m.same = append(m.same, slices.IndexFunc(within, func(of uint64) bool {
			return of == within[u]
		}))
	}
	narrowed := *m.plan
	narrowed.MustDiffer = slices.Clone(m.plan.MustDiffer)
	for u := range narrowed.MustDiffer {
		narrowed.MustDiffer[u] &= uint32(m.common[u])
	}
	m.Narrowed = &narrowed
	return true
}

// countPairs counts the pairs of candidates by pattern edge, at the edge's end with fewer candidates.
func (m *maker) countPairs() bool {
	m.Pairs = make([]int, len(m.plan.Query.Edges))
	here := m.here
	for n, v := range m.vertices {
		if n%pollEvery == 0 && m.stop() {
			return false
		}
		x := m.bits[v]
		for i := range m.kinds {
			k := &m.kinds[i]
			here = here[:0]
			for r := x & k.wants; r != 0; r &= r - 1 {
				u := bits.TrailingZeros64(r)
				for at := k.first[u]; at > 0; at = k.ends[at-1].next {
					e := k.ends[at-1]
					if few := m.Candidates[u] - m.Candidates[e.other]; few < 0 || few == 0 && u < int(e.other) {
						here = append(here, e)
					}
				}
			}
			if len(here) == 0 {
				continue
			}
			for _, w := range m.neighbors(v, i) {
				of := m.bits[w]
				for _, e := range here {
					m.Pairs[e.edge] += int(of >> (e.other & 63) & 1)
				}
			}
		}
	}
	m.here = here
	return true
}
