package dyngraph

// edge is a row of the edge table: what an adjacency entry does not say itself. In an undirected graph from < to.
type edge struct {
	from, to VertexID
	label    LabelID
}

// rowAt returns the row of the entry in a slot. The array keeps no rows: an entry names its edge, the neighbour is
// one of the edge's ends, and the row's vertex is the other.
//
// It has no branch that depends on the edge: the processor cannot foresee which end it is, and a wrong guess would
// end what it has under way for the entries that follow.
func (p *pma) rowAt(at int) uint64 {
	e, nbr := &p.edges[p.ent[at].Index()], p.nbr[at]
	row := uint64(e.from^e.to^nbr)<<32 | uint64(e.label)
	if p.directed {
		row |= (uint64(e.from^nbr) - 1) >> 63 << 31 // In where the neighbour is the source
	}
	return row
}
