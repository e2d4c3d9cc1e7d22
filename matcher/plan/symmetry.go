package plan

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

// symmetry fills in the plan's automorphisms and the constraints that single out one representative per orbit.
//
// The representative of an orbit has the smallest vertex ids in pattern order (DESIGN S4). With vertices fixed one
// after the other in pattern order, that is: vertex i gets the smallest id among the orbit of i under the automorphisms
// that fix 0..i-1 (a stabiliser chain with base 0, 1, 2, ...; Grochow and Kellis, RECOMB 2007, section 3.2). The
// group's order is the product of these orbits' sizes. The plan's Automorphisms are 1 before.
func symmetry(p *matcher.Plan) {
	if toldApart(p) {
		return
	}
	if p.Query.Between() || p.Query.ReadsVertices() || len(p.Query.Negations) > 0 {
		symmetryBetween(p)
		return
	}
	m, n := newMapper(p, p.Query.Conditions), len(p.Query.Vertices)
	all := m.coloursApart(nil)
	if distinct(all) == n && !m.parallel {
		return
	}
	a := newAutomorphisms(p.Query, m)
	a.all = all
	for i := 0; i < n; i++ {
		orbit := uint64(1)
		for j := i + 1; j < n; j++ {
			if a.exists(i, j) {
				orbit++
				p.VertexLess = append(p.VertexLess, [2]int{i, j})
			}
		}
		p.Automorphisms = p.Automorphisms.Mul(matcher.CountOf(orbit))
	}
	// Parallel pattern edges of the same kind are interchangeable while all vertices are fixed.
	for i := range p.Query.Edges {
		same := uint64(1)
		for j := i - 1; j >= 0; j-- {
			if a.kind(i) == a.kind(j) {
				if same == 1 {
					p.EdgeLess = append(p.EdgeLess, [2]int{j, i})
				}
				same++
			}
		}
		p.Automorphisms = p.Automorphisms.Mul(matcher.CountOf(same))
	}
}

// toldApart reports whether labels alone, of vertices and of what they are joined to, tell all vertices of the pattern
// apart, and no two edges join the same ones: the identity is the only automorphism then. So it is with most patterns
// of many labels.
func toldApart(p *matcher.Plan) bool {
	q := p.Query
	if hasParallel(q.Edges) {
		return false
	}
	var room, next [matcher.MaxVertices]uint64
	colours, before := room[:len(q.Vertices)], 0
	for v, l := range p.VertexLabels {
		colours[v] = mix(uint64(l))
	}
	for {
		now := distinctOf(colours)
		if now == len(colours) || now == before {
			return now == len(colours)
		}
		before = now
		for v := range colours {
			next[v] = mix(colours[v])
		}
		for i := range q.Edges {
			e := &q.Edges[i]
			there, back := mix(uint64(p.EdgeLabels[i])<<2), mix(uint64(p.EdgeLabels[i])<<2|1)
			if e.Either || !p.Directed {
				back = there
			}
			next[e.From] += mix(colours[e.To] ^ there)
			next[e.To] += mix(colours[e.From] ^ back)
		}
		copy(colours, next[:])
	}
}

// distinctOf returns how many colours there are, of few.
func distinctOf(colours []uint64) (n int) {
	for i, c := range colours {
		if !slices.Contains(colours[:i], c) {
			n++
		}
	}
	return n
}

// edgeKind tells pattern edges between the same vertices apart, or not.
type edgeKind struct {
	from, to int    // sorted when the edge matches in either direction
	labels   string // condition.Labels.Key
	either   bool
	mark     string // the conditions on it
}

// automorphisms searches label-preserving automorphisms of a pattern.
type automorphisms struct {
	q      *matcher.Query
	edges  map[edgeKind]int // multiplicity
	marks  []string         // of edges: the conditions on them
	labels []string         // of edges
	adj    []uint32         // neighbour sets
	image  []int
	taken  uint32
	// Colours of vertices and of what they are mapped to: where they differ, no automorphism does that. Without them,
	// an ordered tournament of 32 vertices would be searched for 2^31 increasing maps.
	mapper      *mapper
	colour, its []uint64
	all         []uint64 // colours that no vertex is fixed for
}

func newAutomorphisms(q *matcher.Query, m *mapper) *automorphisms {
	a := &automorphisms{q: q, mapper: m, edges: map[edgeKind]int{}, marks: marks(q, q.Conditions),
		adj: make([]uint32, len(q.Vertices)), image: make([]int, len(q.Vertices))}
	for _, e := range q.Edges {
		a.labels = append(a.labels, e.Labels().Key())
	}
	for i, e := range q.Edges {
		a.edges[a.kind(i)]++
		a.adj[e.From] |= 1 << e.To
		a.adj[e.To] |= 1 << e.From
	}
	return a
}

func (a *automorphisms) kind(e int) edgeKind {
	qe := a.q.Edges[e]
	k := edgeKind{qe.From, qe.To, a.labels[e], qe.Either, a.marks[e]}
	if k.either && k.from > k.to {
		k.from, k.to = k.to, k.from
	}
	return k
}

// exists reports whether an automorphism fixes 0..i-1 and maps i to j.
func (a *automorphisms) exists(i, j int) bool {
	if a.all[i] != a.all[j] {
		return false
	}
	a.taken = 0
	fixed := make([]int, i+1)
	for v := range i {
		a.image[v], fixed[v] = v, v
		a.taken |= 1 << v
	}
	fixed[i] = i
	a.colour = a.mapper.coloursApart(fixed)
	fixed[i] = j
	a.its = a.mapper.coloursApart(fixed)
	if !a.fits(i, j) {
		return false
	}
	a.image[i] = j
	a.taken |= 1 << j
	return a.extend(i + 1)
}

// extend maps vertices v.. of the pattern.
func (a *automorphisms) extend(v int) bool {
	if v == len(a.q.Vertices) {
		return true
	}
	for w := range a.q.Vertices {
		if a.taken&(1<<w) != 0 || !a.fits(v, w) {
			continue
		}
		a.image[v] = w
		a.taken |= 1 << w
		if a.extend(v + 1) {
			return true
		}
		a.taken &^= 1 << w
	}
	return false
}

// fits reports whether v can be mapped to w beside what 0..v-1 are mapped to.
func (a *automorphisms) fits(v, w int) bool {
	if a.colour[v] != a.its[w] || a.mapper.vertexKinds[v] != a.mapper.vertexKinds[w] ||
		bits.OnesCount32(a.adj[v]) != bits.OnesCount32(a.adj[w]) {
		return false
	}
	for i, e := range a.q.Edges {
		if e.From != v && e.To != v || e.From > v || e.To > v {
			continue
		}
		k := a.kind(i)
		image := k
		image.from, image.to = a.at(k.from, v, w), a.at(k.to, v, w)
		if image.either && image.from > image.to {
			image.from, image.to = image.to, image.from
		}
		if a.edges[k] != a.edges[image] {
			return false
		}
	}
	// Injectivity and equal degrees leave the count of edges among mapped vertices to compare.
	return bits.OnesCount32(a.adj[v]&(1<<v-1)) == bits.OnesCount32(a.adj[w]&(a.taken))
}

func (a *automorphisms) at(x, v, w int) int {
	if x == v {
		return w
	}
	return a.image[x]
}
