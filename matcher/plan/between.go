package plan

import (
	"motifd/matcher"
	"motifd/matcher/condition"
)

// symmetryBetween is symmetry for a pattern with conditions on vertices or between elements, or with negations: an
// automorphism maps the set of conditions onto itself (DESIGN S17), and that of negations. That joins elements that may
// lie anywhere in the pattern, so vertices and edges are mapped one after the other, and each condition and negation is
// looked up once its last element is mapped.
//
// The representative of an orbit is singled out by a stabiliser chain over the vertices, as in symmetry, and then one
// over the edges, by the automorphisms that fix all vertices.
func symmetryBetween(p *matcher.Plan) {
	s := newBijections(p)
	p.Automorphisms = matcher.CountOf(1)
	n, edges := len(p.Query.Vertices), len(p.Query.Edges)
	for i := range n {
		orbit := uint64(1)
		for j := i + 1; j < n; j++ {
			if s.exists(i, j, 0, 0) {
				orbit++
				p.VertexLess = append(p.VertexLess, [2]int{i, j})
			}
		}
		p.Automorphisms = p.Automorphisms.Mul(matcher.CountOf(orbit))
	}
	for i := range edges {
		orbit := uint64(1)
		for j := i + 1; j < edges; j++ {
			if s.isImage(i, j, p.Query.Edges[i].From, p.Query.Edges[i].To) && s.exists(n, 0, i, j) {
				orbit++
				p.EdgeLess = append(p.EdgeLess, [2]int{i, j})
			}
		}
		p.Automorphisms = p.Automorphisms.Mul(matcher.CountOf(orbit))
	}
}

// bijections searches automorphisms of a pattern's vertices and edges that preserve its conditions.
type bijections struct {
	*automorphisms
	q     *matcher.Query
	items []item
	keys  map[string]bool // of the conditions, and of the negations
	// Of the search at hand: the first vertices, and edges, are fixed, the next one is mapped to an image given.
	vertices, vertex int
	fixed, toEdge    int
	edgeImage        []int
	taken            []bool // edges
}

// item is a vertex or an edge of the pattern, in the order in which a bijection maps them: an edge comes after its two
// ends. closes are the keys of conditions and negations that can be tested once the item is mapped, because it is the
// last of their elements.
type item struct {
	edge   bool
	index  int
	closes []keyOf
}

// keyOf returns the key of a condition or a negation whose elements are replaced by their images.
type keyOf func(image func(condition.Ref) condition.Ref) string

func newBijections(p *matcher.Plan) *bijections {
	q := p.Query
	s := &bijections{q: q, keys: make(map[string]bool), edgeImage: make([]int, len(q.Edges)),
		taken:         make([]bool, len(q.Edges)),
		automorphisms: &automorphisms{mapper: newMapper(p, q.Conditions), image: make([]int, len(q.Vertices))}}
	at, vertexAt := make([]int, len(q.Edges)), make([]int, len(q.Vertices))
	for v := range q.Vertices {
		vertexAt[v] = len(s.items)
		s.items = append(s.items, item{index: v})
		for i, e := range q.Edges {
			if max(e.From, e.To) == v {
				at[i] = len(s.items)
				s.items = append(s.items, item{edge: true, index: i})
			}
		}
	}
	add := func(elements []condition.Ref, key keyOf) {
		last := 0
		for _, r := range elements {
			if r.Edge {
				last = max(last, at[r.Index])
			} else {
				last = max(last, vertexAt[r.Index])
			}
		}
		s.keys[key(func(r condition.Ref) condition.Ref { return r })] = true
		s.items[last].closes = append(s.items[last].closes, key)
	}
	for _, c := range q.Conditions {
		add(c.Elements, c.Key)
	}
	for i := range q.Negations {
		n := &q.Negations[i]
		add(q.NegationElements(n), func(image func(condition.Ref) condition.Ref) string {
			return "not " + q.NegationKey(n, image)
		})
	}
	return s
}

// exists reports whether an automorphism fixes the first vertices and edges, and maps the next vertex, if there is one,
// to vertex, and otherwise the next edge to toEdge.
func (s *bijections) exists(vertices, vertex, fixed, toEdge int) bool {
	s.vertices, s.vertex, s.fixed, s.toEdge = vertices, vertex, fixed, toEdge
	s.automorphisms.taken = 0
	clear(s.taken)
	var from, to []int
	for v := range min(vertices+1, len(s.q.Vertices)) {
		from, to = append(from, v), append(to, v)
	}
	if vertices < len(to) {
		to[vertices] = vertex
	}
	s.colour, s.its = s.apart(s.seed, from...), s.apart(s.seed, to...)
	return s.extend(0)
}

// extend maps the items from one on.
func (s *bijections) extend(at int) bool {
	if at == len(s.items) {
		return true
	}
	x := &s.items[at]
	if x.edge {
		return s.extendEdge(at, x)
	}
	v := x.index
	for w := range s.q.Vertices {
		if s.automorphisms.taken>>w&1 != 0 || v < s.vertices && w != v || v == s.vertices && w != s.vertex ||
			!s.fits(v, w) {
			continue
		}
		s.image[v] = w
		s.automorphisms.taken |= 1 << w
		if s.preserves(x.closes) && s.extend(at+1) {
			return true
		}
		s.automorphisms.taken &^= 1 << w
	}
	return false
}

func (s *bijections) extendEdge(at int, x *item) bool {
	e := x.index
	from, to := s.image[s.q.Edges[e].From], s.image[s.q.Edges[e].To]
	last := s.vertices == len(s.q.Vertices)
	for f := range s.q.Edges {
		if s.taken[f] || last && (e < s.fixed && f != e || e == s.fixed && f != s.toEdge) ||
			!s.isImage(e, f, from, to) {
			continue
		}
		s.edgeImage[e], s.taken[f] = f, true
		if s.preserves(x.closes) && s.extend(at+1) {
			return true
		}
		s.taken[f] = false
	}
	return false
}

// imageOf returns what an element is mapped to.
func (s *bijections) imageOf(r condition.Ref) condition.Ref {
	if r.Edge {
		r.Index = s.edgeImage[r.Index]
	} else {
		r.Index = s.image[r.Index]
	}
	return r
}

// preserves reports whether the images of conditions and negations are such.
func (s *bijections) preserves(closes []keyOf) bool {
	for _, key := range closes {
		if !s.keys[key(s.imageOf)] {
			return false
		}
	}
	return true
}
