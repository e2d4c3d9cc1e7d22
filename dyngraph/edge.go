package dyngraph

// edge is a row of the edge table: what an adjacency entry does not say itself. In an undirected graph from < to.
type edge struct {
	from, to VertexID
	label    LabelID
}

// rowAt returns the row of the entry in a slot. The array keeps no rows: an entry names its edge, the neighbour is one of
// the edge's ends, and the row's vertex is the other.
func (p *pma) rowAt(at int) uint64 {
	e := &p.edges[p.ent[at].Index()]
	switch {
	case e.from != p.nbr[at]:
		return rowKey(e.from, Out, e.label)
	case p.directed:
		return rowKey(e.to, In, e.label)
	}
	return rowKey(e.to, Out, e.label)
}

func (p *pma) get(at int) slot { return slot{p.rowAt(at), p.nbr[at], p.ent[at]} }
