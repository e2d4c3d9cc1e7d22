package dyngraph

import "slices"

// PackedTwin makes a second array of the same entries without gaps. swap puts the one in the other's place. A batch may be
// staged, but must end as it began, with the first.
func (g *Graph) PackedTwin() (swap func()) {
	other := g.adj
	other.heads = slices.Clone(other.heads)
	b := other.buildIn(other.n, (other.n+leafSize-1)/leafSize)
	for leaf := range g.adj.count {
		for _, s := range g.adj.appendLeaf(nil, leaf) {
			b.add(s.row, s.nbr, s.ent)
		}
	}
	return func() { g.adj, other = other, g.adj }
}

// Density is the part of the array's slots that is taken.
func (g *Graph) Density() float64 { return float64(g.adj.n) / float64(len(g.adj.nbr)) }

// findEdge looks an edge up.
func (g *Graph) findEdge(from, to VertexID, l LabelID) (EdgeIndex, bool) {
	at, _, ok := g.findSlot(from, to, l)
	if !ok {
		return NoEdge, false
	}
	return g.adj.ent[at].Index(), true
}

// find looks an entry up.
func (p *pma) find(row uint64, nbr VertexID) (Entry, bool) {
	at, ok := p.lookup(row, nbr)
	if !ok {
		return 0, false
	}
	return p.ent[at], true
}
