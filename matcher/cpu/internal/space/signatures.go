package space

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
)

// Signatures have a word for each data vertex, its signature: its label, and its numbers of edges in unary. A test of
// this word tells whether the vertex fits a pattern vertex by label and degree. They are of a graph and its staged
// batch. The zero value makes them when they are first asked for.
type Signatures struct {
	words  []uint64
	around []uint64 // by data vertex: aroundOf; 0 where it was not asked for
}

// counted is the number of edges in a direction up to which signatures count.
const counted = 16

// signatureOf returns the signature of a vertex. Edges of the staged batch count, too.
func signatureOf(g *dyngraph.Graph, v dyngraph.VertexID) uint64 {
	s := signature(uint32(g.View(dyngraph.New).Label(v)), g.Degree(v, dyngraph.Out), 0)
	if g.Directed() {
		s |= signature(0, 0, g.Degree(v, dyngraph.In))
	}
	return s
}

// signature returns the signature of a label and numbers of edges.
func signature(label uint32, out, in int) uint64 {
	return uint64(label) | (1<<min(out, counted)-1)<<32 | (1<<min(in, counted)-1)<<(32+counted)
}

// The numbers of a vertex's edges by the labels of their other ends are in a word, too: labels are numbered modulo
// labelsAround, and each number is in unary, up to countedAround.
const labelsAround, countedAround = 21, 3

// addAround adds an edge to a vertex of a label to such numbers.
func addAround(to uint64, label uint32) uint64 {
	at, all := label%labelsAround*countedAround, uint64(1)<<countedAround-1
	return to | (to>>at&all<<1|1)&all<<at
}

// aroundOf returns these numbers of a vertex. Most are asked for again and again while the graph stays.
func (s *Signatures) aroundOf(g *dyngraph.Graph, v dyngraph.VertexID) uint64 {
	a := s.around[v]
	if a != 0 {
		return a
	}
	for d := dyngraph.Out; d == dyngraph.Out || d == dyngraph.In && g.Directed(); d++ {
		r := g.RangeAll(v, d)
		for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
			for _, w := range nbrs {
				a = addAround(a, uint32(s.words[w]))
			}
		}
	}
	s.around[v] = a
	return a
}

// aroundsOf returns what the numbers of an image of each pattern vertex have at least.
func aroundsOf(p *matcher.Plan) []uint64 {
	of := make([]uint64, len(p.Query.Vertices))
	for _, e := range p.Query.Edges {
		for _, v := range [2]int{e.From, e.To} {
			l := p.VertexLabels[e.From+e.To-v]
			if l == matcher.AnyLabel || matcher.SeveralLabels(l) {
				continue
			}
			had := of[v]
			if p.Query.MatchMode == matcher.Homomorphism { // edges may share an image
				had = 0
			}
			of[v] |= addAround(had, uint32(l))
		}
	}
	return of
}

// of returns the signatures of a graph.
func (s *Signatures) of(g *dyngraph.Graph) []uint64 {
	if s.words == nil {
		s.words, s.around = make([]uint64, g.IDBound()), make([]uint64, g.IDBound())
		for v := range s.words {
			s.words[v] = signatureOf(g, dyngraph.VertexID(v))
		}
	}
	return s.words
}

// Begin returns a space that takes no time to make: all data vertices of its label that have enough edges are
// candidates of a pattern vertex. It returns nil where more is asked about a vertex, or a label has alternatives.
func Begin(g *dyngraph.Graph, f *candidates.Filter, p *matcher.Plan, of *Signatures) *Space {
	n, needs := len(p.Query.Vertices), degreesOf(p)
	s := &Space{Filter: f, plan: p, Narrowed: p, Bare: true, Rough: true, same: make([]int, n),
		Candidates: make([]int, n), tests: make([]candidates.Test, n)}
	for u, l := range p.VertexLabels {
		if f.VertexTest(p, u) != nil || l != matcher.AnyLabel && matcher.SeveralLabels(l) {
			return nil
		}
		t := &s.tests[u]
		t.Mask = signature(0, needs[u].out, needs[u].in)
		if t.Want = t.Mask; l != matcher.AnyLabel {
			t.Mask, t.Want = t.Mask|uint64(matcher.AnyLabel), t.Want|uint64(l)
		}
		s.same[u] = slices.Index(s.tests, *t)
		s.Candidates[u] = f.AtMost(p, u)
	}
	s.bits = of.of(g)
	return s
}
