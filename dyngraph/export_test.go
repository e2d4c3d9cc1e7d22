package dyngraph

import (
	"math"
	"slices"
)

// PackedTwin makes a second array of the same entries without gaps. swap puts the one in the other's place. A batch
// may be staged, but must end as it began, with the first.
func (g *Graph) PackedTwin() (swap func()) {
	other := g.packed()
	return func() { g.adj, other = other, g.adj }
}

// FlatTwin is PackedTwin for an array that a search cannot tell from a plain CSR's: besides the gaps, the ends of
// leaves are gone, so that a vertex's neighbours are one run. That is so for vertices of up to some 200 entries; runs
// of others end with leaves.
func (g *Graph) FlatTwin() (swap func()) {
	other := g.packed()
	for v := range other.heads {
		h := &other.heads[v]
		if n := h.all(); n > 0 && int(h.offset)+n > int(other.count[h.start]) && int(h.offset)+n <= math.MaxUint8 {
			other.count[h.start] = math.MaxUint8 // one vertex at most goes on behind a leaf that it begins in
		}
	}
	return func() { g.adj, other = other, g.adj }
}

func (g *Graph) packed() pma {
	other := g.adj
	other.heads, other.spares.nbr, other.spares.ent = slices.Clone(other.heads), spare[VertexID]{}, spare[Entry]{}
	n, leaves := other.n, (other.n+leafSize-1)/leafSize
	b := other.buildIn(leaves*leafSize, leaves) // only the last one is not full
	for leaf := range g.adj.count {
		for _, s := range g.adj.appendLeaf(nil, leaf) {
			b.add(s.row, s.nbr, s.ent)
		}
	}
	other.n, other.count[leaves-1] = n, uint8(n-(leaves-1)*leafSize)
	return other
}

// Density is the part of the array's slots that is taken.
func (g *Graph) Density() float64 { return float64(g.adj.n) / float64(len(g.adj.nbr)) }

// findEdge looks an edge up.
func (g *Graph) findEdge(from, to VertexID, l LabelID) (EdgeIndex, bool) {
	at, _, ok := g.findSlot(from, to, l, "")
	if !ok {
		return NoEdge, false
	}
	return g.adj.ent[at].Index(), true
}

// find looks an entry up.
func (p *pma) find(row uint64, nbr VertexID) (Entry, bool) {
	at, ok := p.lookup(row, nbr, 0)
	if !ok {
		return 0, false
	}
	return p.ent[at], true
}

// Tests load small graphs with several threads.
func init() { loadThreads = func(edges int) int { return 1 + edges%7 } }
