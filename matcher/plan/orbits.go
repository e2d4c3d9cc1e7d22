package plan

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// mapper finds automorphisms of a pattern less some of its vertices that take one oriented edge to another (GAMMA
// section V-B: k-degenerated automorphic subgraphs).
type mapper struct {
	p           *matcher.Plan
	n           int
	rel         []int    // by pair of vertices: how the first sees its edges to the second; 0 is none
	nbrs        []uint32 // by vertex: its neighbours
	vertexKinds []int    // by vertex: its labels, and the conditions on it
	edgeKinds   []int    // by pattern edge: likewise, and whether it matches in either direction
	sided       []sided  // once sorted, by pair of vertices, then kind
	sorted      bool
	parallel    bool     // there are several edges between two vertices
	seed        []uint64 // by vertex: its kind
	walk        []int    // scratch: the vertices in the order in which they are mapped
	from        []int    // by vertex: an earlier one of walk that it is joined to
	taken       uint32
	image       []int
}

// sided is an edge as one of its ends sees it.
type sided struct {
	pair int // this end, times the number of vertices, and the other one
	kind int
	edge int
}

// kind describes an element of a pattern: its form, labels and conditions. Equal kinds have equal numbers, from 1 on.
type kind struct {
	of     byte   // 'v': vertex; 'a': of alternatives; 'o', 'i', 'e': edge out, in, either way; 'p': parallel edges
	labels string // matcher's key of labels; the label of a vertex; of parallel edges the numbers of their kinds
	mark   string // the conditions on it
}

// newMapper returns a mapper that tells elements apart by some of the conditions on them.
func newMapper(p *matcher.Plan, conditions []*condition.Condition) *mapper {
	q, n := p.Query, len(p.Query.Vertices)
	m := &mapper{p: p, n: n, rel: make([]int, n*n), nbrs: make([]uint32, n), vertexKinds: make([]int, n),
		edgeKinds: make([]int, len(q.Edges)), sided: make([]sided, 0, 2*len(q.Edges)), seed: make([]uint64, n),
		from: make([]int, n), image: make([]int, n)}
	kinds := make([]kind, 0, n)
	number := func(k kind) int {
		i := slices.Index(kinds, k)
		if i < 0 {
			i, kinds = len(kinds), append(kinds, k)
		}
		return i + 1
	}
	add := func(from, to, edge int, k kind) int {
		pair, i := from*n+to, number(k)
		m.parallel = m.parallel || m.rel[pair] != 0
		m.rel[pair] = i
		m.sided = append(m.sided, sided{pair, i, edge})
		m.nbrs[from] |= 1 << to
		return i
	}
	for i := range q.Edges {
		e := &q.Edges[i]
		there := kind{'o', e.Labels().Key(), mark(conditions, condition.Ref{Edge: true, Index: i})}
		back := there
		if back.of = 'i'; e.Either {
			there.of, back.of = 'e', 'e'
		}
		m.edgeKinds[i] = add(e.From, e.To, i, there)
		add(e.To, e.From, i, back)
	}
	if m.parallel {
		m.sort()
	}
	for rest := m.sided; m.parallel && len(rest) > 0; {
		es := m.between(rest[0].pair)
		rest = rest[len(es):]
		if len(es) > 1 {
			var kinds []byte
			for _, e := range es {
				kinds = fmt.Append(kinds, e.kind, " ")
			}
			m.rel[es[0].pair] = number(kind{of: 'p', labels: string(kinds)})
		}
	}
	for v := range m.seed {
		k := kind{'v', q.Vertices[v].Label, mark(conditions, condition.Ref{Index: v})}
		if q.Vertices[v].AnyOf != nil {
			k.of, k.labels = 'a', q.Vertices[v].Labels().Key()
		}
		m.vertexKinds[v] = number(k)
		m.seed[v] = mix(uint64(m.vertexKinds[v]))
	}
	return m
}

// sort sorts the edges for between.
func (m *mapper) sort() {
	if m.sorted {
		return
	}
	m.sorted = true
	slices.SortStableFunc(m.sided, func(a, b sided) int {
		return cmp.Or(cmp.Compare(a.pair, b.pair), cmp.Compare(a.kind, b.kind))
	})
}

// between returns the edges of a pair of vertices as the first sees them, in one order. The edges are sorted.
func (m *mapper) between(pair int) []sided {
	i, _ := slices.BinarySearchFunc(m.sided, pair, func(s sided, pair int) int { return cmp.Compare(s.pair, pair) })
	j := i
	for j < len(m.sided) && m.sided[j].pair == pair {
		j++
	}
	return m.sided[i:j]
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
func (m *mapper) colours(set uint32) []uint64 {
	now, next := slices.Clone(m.seed), make([]uint64, m.n)
	for range 4 {
		m.refine(now, next, set)
		now, next = next, now
	}
	return now
}

// apart is colours of all vertices, as far as refinement goes, from colours that are known. Those of fixed are told
// apart, by their places in it, too.
func (m *mapper) apart(known []uint64, fixed ...int) []uint64 {
	now, next := slices.Clone(known), make([]uint64, m.n)
	for i, v := range fixed {
		now[v] = mix(now[v] ^ uint64(i+1)<<32)
	}
	for all, few := uint32(1)<<(m.n-1)<<1-1, distinct(now); ; {
		m.refine(now, next, all)
		now, next = next, now
		before := few
		if few = distinct(now); few == before {
			return now
		}
	}
}

// refine makes the colours of vertices finer by those of their neighbours: it reaches one edge further.
func (m *mapper) refine(now, next []uint64, set uint32) {
	for s := set; s != 0; s &= s - 1 {
		v := bits.TrailingZeros32(s)
		next[v] = mix(now[v])
		for t := m.nbrs[v] & set; t != 0; t &= t - 1 {
			w := bits.TrailingZeros32(t)
			next[v] += mix(now[w] ^ mix(uint64(m.rel[v*m.n+w])))
		}
	}
}

// isImage reports whether an edge f is of the kind of e and joins the images of the ends of e as e does these.
func (m *mapper) isImage(e, f, from, to int) bool {
	x := &m.p.Query.Edges[f]
	return m.edgeKinds[e] == m.edgeKinds[f] &&
		(x.From == from && x.To == to || x.Either && x.From == to && x.To == from)
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
	if m.edgeKinds[from.Edge] != m.edgeKinds[to.Edge] {
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
	m.sort()
	all := make([]int, len(m.p.Query.Edges))
	for i, e := range m.p.Query.Edges {
		all[i] = -1
		if image[e.From] < 0 || image[e.To] < 0 {
			continue
		}
		for k, s := range m.between(e.From*m.n + e.To) {
			if s.edge == i {
				all[i] = m.between(image[e.From]*m.n + image[e.To])[k].edge
			}
		}
	}
	if all[x] != y { // both are of one kind: exchange them
		all[slices.Index(all, y)], all[x] = all[x], y
	}
	return all
}
