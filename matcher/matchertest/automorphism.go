package matchertest

import (
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Automorphism is a permutation of a pattern's vertices and one of its edges that preserve labels, ends and
// direction, and the set of conditions (DESIGN S4, S17).
type Automorphism struct {
	Vertices, Edges []int
}

// Automorphisms returns all of them, by trying every permutation that no earlier choice rules out. It is meant for
// the small patterns of tests.
func Automorphisms(q *matcher.Query) []Automorphism {
	var all []Automorphism
	a := Automorphism{make([]int, len(q.Vertices)), make([]int, len(q.Edges))}
	usedV, usedE := make([]bool, len(q.Vertices)), make([]bool, len(q.Edges))
	var vertex, edge func(i int)
	vertex = func(i int) {
		if i == len(q.Vertices) {
			edge(0)
			return
		}
		for j := range q.Vertices {
			if usedV[j] || q.Vertices[i].Labels().Key() != q.Vertices[j].Labels().Key() {
				continue
			}
			usedV[j], a.Vertices[i] = true, j
			if degreesAgree(q, a.Vertices[:i+1]) {
				vertex(i + 1)
			}
			usedV[j] = false
		}
	}
	edge = func(i int) {
		if i == len(q.Edges) {
			if a.preserves(q.Conditions) {
				all = append(all, Automorphism{append([]int(nil), a.Vertices...), append([]int(nil), a.Edges...)})
			}
			return
		}
		for j := range q.Edges {
			if usedE[j] || !takes(q, a.Vertices, i, j) {
				continue
			}
			usedE[j], a.Edges[i] = true, j
			edge(i + 1)
			usedE[j] = false
		}
	}
	vertex(0)
	return all
}

// degreesAgree prunes: the newest vertex must be joined to the earlier ones by as many edges as its image is to theirs.
func degreesAgree(q *matcher.Query, image []int) bool {
	last := len(image) - 1
	for i := range last {
		if edgesBetween(q, last, i) != edgesBetween(q, image[last], image[i]) {
			return false
		}
	}
	return true
}

func edgesBetween(q *matcher.Query, u, v int) (n int) {
	for _, e := range q.Edges {
		if e.From == u && e.To == v || e.From == v && e.To == u {
			n++
		}
	}
	return n
}

// takes tells whether the vertex permutation takes edge i onto edge j.
func takes(q *matcher.Query, image []int, i, j int) bool {
	a, b := q.Edges[i], q.Edges[j]
	if a.Labels().Key() != b.Labels().Key() || a.Either != b.Either {
		return false
	}
	from, to := image[a.From], image[a.To]
	return from == b.From && to == b.To || a.Either && from == b.To && to == b.From
}

func (a Automorphism) preserves(conditions []*condition.Condition) bool {
	return condition.Preserved(conditions, func(r condition.Ref) condition.Ref {
		of := a.Vertices
		if r.Edge {
			of = a.Edges
		}
		r.Index = of[r.Index]
		return r
	})
}

// Apply returns the match that maps each pattern vertex and edge to where m maps its image under a.
func (a Automorphism) Apply(m Match) Match {
	n := Match{make([]Vertex, len(m.Vertices)), make([]Edge, len(m.Edges))}
	for i, j := range a.Vertices {
		n.Vertices[i] = m.Vertices[j]
	}
	for i, j := range a.Edges {
		n.Edges[i] = m.Edges[j]
	}
	return n
}

// Orbit names the orbit of the match: the smallest name among its images.
func Orbit(group []Automorphism, m Match) string {
	least := m.String()
	for _, a := range group {
		least = min(least, a.Apply(m).String())
	}
	return least
}
