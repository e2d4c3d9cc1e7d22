package space

import (
	"math/bits"
	"slices"

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
	same []int // by pattern vertex: the first one with the same candidates
	// common has, by pattern vertex, those that some data vertex is a candidate of with it.
	common []uint64
	kept   *Kept // has the bits, or nil

	// Candidates are the numbers of data vertices by pattern vertex. Pairs are by pattern edge the numbers of pairs of
	// candidates that data edges join which the pattern edge admits alone.
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

// IsEmpty reports whether some pattern vertex has no candidate: there are no matches then.
func (s *Space) IsEmpty() bool { return slices.Contains(s.Candidates, 0) }

// maker makes a space.
type maker struct {
	*Space
	g     *dyngraph.Graph
	kinds []kind
	dirty []uint64 // by data vertex, 64 to a word: its semi-joins are to be made again
	left  int      // entries that may still be read
	stop  func() bool
}

// rounds bounds what semi-joins read, as a multiple of what one round of them reads at most; they may read leastReads
// in any case. Mostly the fixed point comes much sooner, since later rounds read around what the round before has
// changed.
const (
	rounds     = 8
	leastReads = 1 << 16
)

// pollEvery is how many data vertices are looked at between two looks at the stop flag.
const pollEvery = 1 << 12

// Make makes the space of a plan that the filter serves. It returns nil when stop, which is asked now and then, is
// true, and when the fixed point is far: before it, vertices that an automorphism maps to one another may differ.
func Make(g *dyngraph.Graph, f *candidates.Filter, p *matcher.Plan, stop func() bool) *Space {
	m := &maker{Space: &Space{Filter: f, plan: p}, g: g, kinds: kindsOf(p, f), stop: stop}
	if !m.begin() || !m.join() || !m.sum() {
		return nil
	}
	return m.Space
}

// begin copies the filter's bits of the pattern's vertices.
func (m *maker) begin() bool {
	n := int(m.g.IDBound())
	m.left = leastReads
	m.bits, m.dirty = make([]uint64, n), make([]uint64, (n+63)/64)
	for u := range m.plan.Query.Vertices {
		if m.stop() {
			return false
		}
		m.Filter.Each(m.plan, u, func(v dyngraph.VertexID) { m.bits[v] |= 1 << u })
	}
	for v, x := range m.bits {
		if v%pollEvery == 0 && m.stop() {
			return false
		}
		if x == 0 {
			continue
		}
		m.dirty[v/64] |= 1 << (v % 64)
		for i := range m.kinds {
			if k := &m.kinds[i]; k.wants&x != 0 {
				for _, d := range k.dirs {
					m.left += rounds * m.g.Degree(dyngraph.VertexID(v), d)
				}
			}
		}
	}
	return true
}

// each calls f with the neighbours of a vertex along edges of a kind that have some candidate bit, and these bits.
func (m *maker) each(k *kind, v dyngraph.VertexID, f func(bits uint64)) {
	for _, d := range k.dirs {
		for i := range k.runs() {
			r := k.run(m.g, v, d, i)
			for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
				m.left -= len(nbrs)
				for at, w := range nbrs {
					if x := m.bits[w]; x != 0 && (k.test == nil || m.Truths().Either(k.test, ents[at])) {
						f(x)
					}
				}
			}
		}
	}
}

// join makes semi-joins until nothing changes: a candidate of a pattern vertex has, along each pattern edge, a
// neighbour that is a candidate of the edge's other end.
func (m *maker) join() bool {
	for again := true; again && m.left > 0; {
		again = false
		for i := range m.dirty {
			if i%(pollEvery/64) == 0 && m.stop() {
				return false
			}
			for m.dirty[i] != 0 && m.left > 0 {
				at := bits.TrailingZeros64(m.dirty[i])
				m.dirty[i] &^= 1 << at
				v := dyngraph.VertexID(i*64 + at)
				if kept := m.supported(v); kept != m.bits[v] {
					m.change(v, kept)
					again = true
				}
			}
		}
	}
	return m.left > 0
}

// supported returns those candidate bits of a vertex that its neighbours support.
func (m *maker) supported(v dyngraph.VertexID) uint64 {
	x := m.bits[v]
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.wants&x == 0 {
			continue
		}
		seen := uint64(0)
		m.each(k, v, func(of uint64) { seen |= of })
		x = k.keep(x, seen)
	}
	return x
}

// change sets the bits of a vertex, and marks the neighbours that have lost support.
func (m *maker) change(v dyngraph.VertexID, kept uint64) {
	lost := m.bits[v] &^ kept
	m.bits[v] = kept
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.wants&lost == 0 {
			continue
		}
		of := k.joined(lost)
		for _, d := range k.dirs {
			for n := range k.runs() {
				r := k.run(m.g, v, d, n)
				for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
					m.left -= len(nbrs)
					for _, w := range nbrs {
						if m.bits[w]&of != 0 {
							m.dirty[w/64] |= 1 << (w % 64)
						}
					}
				}
			}
		}
	}
}

// sum counts candidates and pairs, and finds out which pattern vertices have candidates in common.
func (m *maker) sum() bool {
	n := len(m.plan.Query.Vertices)
	m.Candidates, m.Pairs = make([]int, n), make([]int, len(m.plan.Query.Edges))
	same := make([]uint64, n)
	m.common = make([]uint64, n)
	for u := range same {
		same[u] = ^uint64(0)
	}
	var from []end // of the kind, at pattern vertices that the data vertex is a candidate of
	for v, x := range m.bits {
		if v%pollEvery == 0 && m.stop() {
			return false
		}
		if x == 0 {
			continue
		}
		for u := range same {
			if x>>u&1 != 0 {
				same[u] &= x
			} else {
				same[u] &^= x
			}
		}
		for r := x; r != 0; r &= r - 1 {
			u := bits.TrailingZeros64(r)
			m.Candidates[u]++
			m.common[u] |= x
		}
		for i := range m.kinds {
			k := &m.kinds[i]
			if k.wants&x == 0 {
				continue
			}
			from = from[:0]
			for _, e := range k.ends {
				if x>>e.of&1 != 0 && m.plan.Query.Edges[e.edge].From == e.of {
					from = append(from, e)
				}
			}
			m.each(k, dyngraph.VertexID(v), func(of uint64) {
				for _, e := range from {
					m.Pairs[e.edge] += int(of >> e.other & 1)
				}
			})
		}
	}
	for u := range same {
		m.same = append(m.same, bits.TrailingZeros64(same[u]))
	}
	narrowed := *m.plan
	narrowed.MustDiffer = slices.Clone(m.plan.MustDiffer)
	for u := range narrowed.MustDiffer {
		narrowed.MustDiffer[u] &= uint32(m.common[u])
	}
	m.Narrowed = &narrowed
	return true
}
