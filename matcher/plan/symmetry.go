package plan

import (
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
	a := &automorphisms{mapper: m, image: make([]int, n)}
	// The colours are those that automorphisms keep which fix 0..i-1.
	for i, colours := 0, m.apart(m.seed); i < n && distinct(colours) < n; i++ {
		if !slices.Contains(colours[i+1:], colours[i]) {
			continue
		}
		orbit, of := uint64(1), colours
		colours = m.apart(of, i)
		for j := i + 1; j < n; j++ {
			if of[j] == of[i] && a.exists(i, j, colours, m.apart(of, j)) {
				orbit++
				p.VertexLess = append(p.VertexLess, [2]int{i, j})
			}
		}
		p.Automorphisms = p.Automorphisms.Mul(matcher.CountOf(orbit))
	}
	if !m.parallel {
		return
	}
	// Parallel pattern edges of the same kind are interchangeable while all vertices are fixed.
	for i := range p.Query.Edges {
		e, same := &p.Query.Edges[i], uint64(1)
		for j := i - 1; j >= 0; j-- {
			if m.isImage(i, j, e.From, e.To) {
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
		now := distinct(colours)
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

// distinct returns how many colours there are, of few.
func distinct(colours []uint64) (n int) {
	for i, c := range colours {
		if !slices.Contains(colours[:i], c) {
			n++
		}
	}
	return n
}

// automorphisms searches label-preserving automorphisms of a pattern.
type automorphisms struct {
	*mapper
	image []int
	taken uint32
	// Colours of vertices and of what they are mapped to: where they differ, no automorphism does that. Without them,
	// an ordered tournament of 32 vertices would be searched for 2^31 increasing maps.
	colour, its []uint64
}

// exists reports whether an automorphism fixes 0..i-1 and maps i to j. The colours are those of vertices where i is
// told apart, too, and those of their images where j is.
func (a *automorphisms) exists(i, j int, colour, its []uint64) bool {
	a.taken, a.colour, a.its = 1<<i-1, colour, its
	for v := range i {
		a.image[v] = v
	}
	return a.put(i, j) && a.extend(i+1)
}

// put maps v to w, if it can be.
func (a *automorphisms) put(v, w int) bool {
	if !a.fits(v, w) {
		return false
	}
	a.image[v] = w
	a.taken |= 1 << w
	return true
}

// extend maps vertices v.. of the pattern.
func (a *automorphisms) extend(v int) bool {
	if v == a.n {
		return true
	}
	for w := range a.n {
		if a.taken>>w&1 == 0 && a.put(v, w) {
			if a.extend(v + 1) {
				return true
			}
			a.taken &^= 1 << w
		}
	}
	return false
}

// fits reports whether v can be mapped to w beside what 0..v-1 are mapped to.
func (a *automorphisms) fits(v, w int) bool {
	if a.colour[v] != a.its[w] || a.vertexKinds[v] != a.vertexKinds[w] {
		return false
	}
	for u, image := range a.image[:v] {
		if a.rel[u*a.n+v] != a.rel[image*a.n+w] {
			return false
		}
	}
	return true
}
