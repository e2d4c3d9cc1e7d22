package space

import (
	"cmp"
	"math/bits"

	"motifd/dyngraph"
)

// Around returns the space of the matches of s in which pattern vertex u is mapped to v: what is reached from there
// along the pattern, narrowed by semi-joins. Where a search has mapped a vertex, candidates are consistent with that
// (maintained arc consistency: Sabin and Freuder, 1994). Pattern vertices that must differ from u are not mapped to v.
// s has bits of its own. Around returns nil when stop is true, and how many entries of the graph it has read.
func (s *Space) Around(u int, v dyngraph.VertexID, stop func() bool) (around *Space, read int) {
	of := s.maker
	m := newMaker(of.g, s.Filter, s.plan, of.kinds, Limits{Reads: of.reads, Neighbors: of.neighborsKept.most}, stop)
	m.begin(len(s.bits))
	m.reach(s, u, v)
	m.Round = m.round()
	most := cmp.Or(m.reads, leastReads+rounds*m.Round)
	m.left = most
	m.neighborsKept.keep(len(m.bits))
	done := !m.stop() && m.join()
	read = m.Round + most - m.left
	if !done || !m.sum() {
		return nil, read
	}
	return m.Space, read
}

// reach sets the bits of the candidates of s that are reached from v, a candidate of u, along a tree of the pattern.
func (m *maker) reach(s *Space, u int, v dyngraph.VertexID) {
	n := len(m.plan.Query.Vertices)
	for len(m.lists) < n {
		m.lists = append(m.lists, nil)
	}
	enter := func(w dyngraph.VertexID, x int) {
		if m.mark(w) {
			m.vertices = append(m.vertices, w)
		}
		m.bits[w] |= 1 << x
		m.lists[x] = append(m.lists[x], w)
	}
	joins, reached := joinsOf(m.plan), uint64(1)<<u
	m.lists[u] = m.lists[u][:0]
	enter(v, u)
	for queue := []int{u}; len(queue) > 0; queue = queue[1:] {
		y := queue[0]
		for r := joins[y] &^ reached; r != 0; r &= r - 1 {
			x := bits.TrailingZeros64(r)
			m.lists[x] = m.lists[x][:0]
			for i := range m.kinds {
				k := &m.kinds[i]
				if k.others[y]>>x&1 == 0 {
					continue
				}
				for _, c := range m.lists[y] {
					k.each(m, c, func(nbrs []dyngraph.VertexID) {
						for _, w := range nbrs {
							if s.bits[w]>>x&1 != 0 && m.bits[w]>>x&1 == 0 &&
								(w != v || m.plan.MustDiffer[u]>>x&1 == 0) {
								enter(w, x)
							}
						}
					})
				}
				break // the other kinds of edges between the two are the semi-joins'
			}
			queue = append(queue, x)
		}
		reached |= joins[y]
	}
	m.dirty = append(m.dirty, m.vertices...)
}
