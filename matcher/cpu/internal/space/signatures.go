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
type Signatures struct{ words []uint64 }

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

// of returns the signatures of a graph.
func (s *Signatures) of(g *dyngraph.Graph) []uint64 {
	if s.words == nil {
		s.words = make([]uint64, g.IDBound())
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
