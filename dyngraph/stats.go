package dyngraph

import (
	"cmp"
	"slices"
)

// Triple counts the edges of one (source label, edge label, target label). In an undirected graph Src <= Dst.
type Triple struct {
	Src, Edge, Dst LabelID
	Count          int
}

type tripleKey struct{ src, edge, dst LabelID }

// stats are the label statistics that plans are made from.
type stats struct {
	triples  map[tripleKey]*int // no zeros
	recent   [64]recentTriple   // by some bits of the labels: those that were asked for last are asked for again
	vertices []int              // by label
	edges    []int              // by edge label: triples that have it
	version  uint64
	kinds    uint64 // changes with the combinations and labels that are there
}

// recentTriple is an entry of triples; there is none when n is nil.
type recentTriple struct {
	tripleKey
	n *int
}

// addTriple changes a count and returns what it was.
func (s *stats) addTriple(k tripleKey, by int) int {
	r := &s.recent[(uint32(k.src)*9+uint32(k.edge)*81+uint32(k.dst))%uint32(len(s.recent))]
	if r.n == nil || r.tripleKey != k {
		n := s.triples[k]
		if n == nil {
			n = new(int)
			s.triples[k] = n
		}
		*r = recentTriple{k, n}
	}
	s.version++
	was := *r.n
	if *r.n += by; *r.n == 0 {
		delete(s.triples, k)
		r.n = nil
		s.addKind(k.edge, -1)
	} else if was == 0 {
		s.addKind(k.edge, 1)
	}
	return was
}

func (s *stats) addKind(edge LabelID, by int) {
	s.edges = grown(s.edges, int(edge)+1)
	s.edges[edge] += by
	s.kinds++
}

func (g *Graph) tripleOf(from, to VertexID, l LabelID) tripleKey {
	return g.tripleKey(g.vlabel[from], l, g.vlabel[to])
}

func (g *Graph) tripleKey(src, edge, dst LabelID) tripleKey {
	if !g.opt.Directed && src > dst {
		src, dst = dst, src
	}
	return tripleKey{src, edge, dst}
}

func (s *stats) addVertex(l LabelID, by int) {
	s.vertices = grown(s.vertices, int(l)+1)
	was := s.vertices[l]
	if s.vertices[l] += by; was == 0 || s.vertices[l] == 0 {
		s.kinds++
	}
	s.version++
}

// StatsVersion changes whenever Triples, TripleCount or VertexLabelCount may.
func (g *Graph) StatsVersion() uint64 { return g.stats.version }

// LabelsVersion changes whenever vertices get a label that none had, or the last one with a label goes, and likewise
// for the combinations of Triples.
func (g *Graph) LabelsVersion() uint64 {
	if column, ok := g.vertexColumns.Labels(); ok {
		return g.stats.kinds + g.vertexValues[column].sets.version
	}
	return g.stats.kinds
}

// HasEdgeLabel tells whether some edge has a label; staged edges are as in TripleCount.
func (g *Graph) HasEdgeLabel(l LabelID) bool {
	return int(l) < len(g.stats.edges) && g.stats.edges[l] > 0
}

// TripleCount returns the number of edges with these labels; in an undirected graph src and dst may be swapped. Edges
// that the staged batch inserts count, and those that it deletes still do.
func (g *Graph) TripleCount(src, edge, dst LabelID) int {
	if n := g.stats.triples[g.tripleKey(src, edge, dst)]; n != nil {
		return *n
	}
	return 0
}

// Triples returns the label combinations that edges have, ascending by (Src, Edge, Dst), with counts as TripleCount
// gives them.
func (g *Graph) Triples() []Triple {
	r := make([]Triple, 0, len(g.stats.triples))
	for k, n := range g.stats.triples {
		r = append(r, Triple{k.src, k.edge, k.dst, *n})
	}
	slices.SortFunc(r, func(a, b Triple) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.Dst, b.Dst))
	})
	return r
}

// VertexLabelCount returns the number of vertices with this label. Vertices that the staged batch creates count, and
// those that it frees still do.
func (g *Graph) VertexLabelCount(l LabelID) int {
	if int(l) >= len(g.stats.vertices) {
		return 0
	}
	return g.stats.vertices[l]
}
