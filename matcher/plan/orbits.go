package plan

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// mapper finds automorphisms of a pattern less some of its vertices that take one oriented edge to another (GAMMA
// section V-B: k-degenerated automorphic subgraphs).
type mapper struct {
	p           *matcher.Plan
	n           int
	rel         []int     // by pair of vertices: how the first sees its edges to the second; 0 is none
	nbrs        []uint32  // by vertex: its neighbours
	marks       []string  // by pattern edge: the conditions on it
	vertexKinds []string  // by vertex: the key of its labels, and the conditions on it
	edgeLabels  []string  // by pattern edge: likewise
	edge        [][]sided // by pair of vertices: the edges between them as the first sees them, in one order
	seed        []uint64  // by vertex: its kind
	walk        []int     // scratch: the vertices in the order in which they are mapped
	from        []int     // by vertex: an earlier one of walk that it is joined to
	taken       uint32
	image       []int
}

// sided is an edge as one of its ends sees it.
type sided struct {
	kind string // label, direction and conditions
	edge int
}

// newMapper returns a mapper that tells elements apart by some of the conditions on them.
func newMapper(p *matcher.Plan, conditions []*condition.Condition) *mapper {
	n := len(p.Query.Vertices)
	m := &mapper{p: p, n: n, rel: make([]int, n*n), nbrs: make([]uint32, n), edge: make([][]sided, n*n),
		seed: make([]uint64, n), marks: marks(p.Query, conditions),
		from: make([]int, n), image: make([]int, n)}
	for i, e := range p.Query.Edges {
		there, back := "out ", "in "
		if e.Either {
			there, back = "either ", "either "
		}
		at, to := e.From*n+e.To, e.To*n+e.From
		label := e.Labels().Key()
		m.edgeLabels = append(m.edgeLabels, label)
		if m.marks[i] != "" {
			label = fmt.Sprintf("%d %s %s", len(label), label, m.marks[i])
		}
		m.edge[at], m.edge[to] = append(m.edge[at], sided{there + label, i}),
			append(m.edge[to], sided{back + label, i})
		m.nbrs[e.From] |= 1 << e.To
		m.nbrs[e.To] |= 1 << e.From
	}
	names := map[string]int{"": 0}
	number := func(s string) int {
		n, ok := names[s]
		if !ok {
			n = len(names)
			names[s] = n
		}
		return n
	}
	for i, es := range m.edge {
		if es == nil {
			continue
		}
		slices.SortStableFunc(es, func(a, b sided) int { return strings.Compare(a.kind, b.kind) })
		name := ""
		for _, e := range es {
			name += strconv.Itoa(len(e.kind)) + " " + e.kind + ";"
		}
		m.rel[i] = number(name)
	}
	for v := range m.seed {
		label := p.Query.Vertices[v].Labels().Key()
		m.vertexKinds = append(m.vertexKinds, strconv.Itoa(len(label))+" "+label+" "+
			mark(conditions, condition.Ref{Index: v}))
		m.seed[v] = mix(uint64(number("vertex " + m.vertexKinds[v])))
	}
	return m
}

// hasParallel reports whether the pattern has edges between the same vertices.
func (m *mapper) hasParallel() bool {
	return slices.ContainsFunc(m.edge, func(es []sided) bool { return len(es) > 1 })
}

// mix scatters a number (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// colours tells vertices of a set apart that no automorphism of it maps to one another, mostly: by their labels, then
// by what they are joined to, and so on. Those that one maps to one another have one colour.
func (m *mapper) colours(set uint32) []uint64 { return m.refine(slices.Clone(m.seed), set, 4) }

// coloursApart is colours of all vertices where those of fixed are told apart, by their places in it, too: as far as
// refinement goes.
func (m *mapper) coloursApart(fixed []int) []uint64 {
	seed := slices.Clone(m.seed)
	for i, v := range fixed {
		seed[v] = mix(seed[v] ^ uint64(i+1)<<32)
	}
	all := uint32(1)<<(m.n-1)<<1 - 1
	for now := distinct(seed); ; {
		seed = m.refine(seed, all, 1)
		before := now
		if now = distinct(seed); now == before {
			return seed
		}
	}
}

// distinct returns how many colours there are.
func distinct(colours []uint64) int {
	sorted := slices.Sorted(slices.Values(colours))
	return len(slices.Compact(sorted))
}

// refine makes the colours of vertices finer by those of their neighbours. Each round reaches one edge further.
func (m *mapper) refine(now []uint64, set uint32, rounds int) []uint64 {
	next := make([]uint64, m.n)
	for range rounds {
		for s := set; s != 0; s &= s - 1 {
			v := bits.TrailingZeros32(s)
			next[v] = mix(now[v])
			for t := m.nbrs[v] & set; t != 0; t &= t - 1 {
				w := bits.TrailingZeros32(t)
				next[v] += mix(now[w] ^ mix(uint64(m.rel[v*m.n+w])))
			}
		}
		now, next = next, now
	}
	return now
}

// connected tells whether the vertices of a set are.
func (m *mapper) connected(set uint32) bool {
	reached := set & -set
	for last := uint32(0); last != reached; {
		last = reached
		for s := reached; s != 0; s &= s - 1 {
			reached |= m.nbrs[bits.TrailingZeros32(s)] & set
		}
	}
	return reached == set
}

// find returns an automorphism of the pattern's vertices in a connected set, edges between them included, that takes
// the oriented anchor of one order to that of another: by vertex, -1 outside the set. nil: there is none.
func (m *mapper) find(set uint32, colour []uint64, from, to *matcher.Order) []int {
	x, y := &m.p.Query.Edges[from.Edge], &m.p.Query.Edges[to.Edge]
	if m.edgeLabels[from.Edge] != m.edgeLabels[to.Edge] || x.Either != y.Either ||
		m.marks[from.Edge] != m.marks[to.Edge] {
		return nil
	}
	a, b := from.Steps[0].Vertex, from.Steps[1].Vertex
	c, d := to.Steps[0].Vertex, to.Steps[1].Vertex
	if colour[a] != colour[c] || colour[b] != colour[d] { // as it is for most pairs of a large pattern
		return nil
	}
	m.walk = append(m.walk[:0], a, b)
	m.from[b] = a
	for i, in := 0, uint32(1)<<a|1<<b; i < len(m.walk); i++ {
		for t := m.nbrs[m.walk[i]] & set &^ in; t != 0; t &= t - 1 {
			v := bits.TrailingZeros32(t)
			in |= 1 << v
			m.from[v] = m.walk[i]
			m.walk = append(m.walk, v)
		}
	}
	for v := range m.image {
		m.image[v] = -1
	}
	m.taken = 0
	if !m.fits(0, c, colour) {
		return nil
	}
	m.put(0, c)
	if !m.fits(1, d, colour) {
		return nil
	}
	m.put(1, d)
	if !m.extend(2, set, colour) {
		return nil
	}
	return slices.Clone(m.image)
}

func (m *mapper) put(i, w int) {
	m.image[m.walk[i]] = w
	m.taken |= 1 << w
}

// fits tells whether the i-th vertex of the walk can be mapped to w beside those before it.
func (m *mapper) fits(i, w int, colour []uint64) bool {
	v := m.walk[i]
	if m.taken>>w&1 != 0 || colour[v] != colour[w] {
		return false
	}
	for _, u := range m.walk[:i] {
		if m.rel[u*m.n+v] != m.rel[m.image[u]*m.n+w] {
			return false
		}
	}
	return true
}

func (m *mapper) extend(i int, set uint32, colour []uint64) bool {
	if i == len(m.walk) {
		return true
	}
	for t := m.nbrs[m.image[m.from[m.walk[i]]]] & set; t != 0; t &= t - 1 {
		w := bits.TrailingZeros32(t)
		if !m.fits(i, w, colour) {
			continue
		}
		m.put(i, w)
		if m.extend(i+1, set, colour) {
			return true
		}
		m.taken &^= 1 << w
	}
	return false
}

// edges maps the pattern's edges as an automorphism maps its vertices: x to y, parallel edges of a kind in their order,
// and those that are not among the vertices mapped to -1.
func (m *mapper) edges(image []int, x, y int) []int {
	all := make([]int, len(m.p.Query.Edges))
	for i, e := range m.p.Query.Edges {
		all[i] = -1
		if image[e.From] < 0 || image[e.To] < 0 {
			continue
		}
		for k, s := range m.edge[e.From*m.n+e.To] {
			if s.edge == i {
				all[i] = m.edge[image[e.From]*m.n+image[e.To]][k].edge
			}
		}
	}
	if all[x] != y { // both are of one kind: exchange them
		all[slices.Index(all, y)], all[x] = all[x], y
	}
	return all
}
