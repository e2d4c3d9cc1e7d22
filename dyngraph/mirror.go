package dyngraph

// Entries returns the number of adjacency entries: of every edge of the old graph and of the new one, its two.
func (g *Graph) Entries() int { return g.adj.n }

// Leaves returns the number of leaves of the packed memory array.
func (g *Graph) Leaves() int { return g.adj.leaves() }

// RowLabel returns the edge label of a row of Leaf.
func RowLabel(row uint64) LabelID { return labelOf(row) }

// Leaf returns the entries of a leaf of the packed memory array, for a copy of it elsewhere (GAMMA V-C): leaf by leaf,
// from 0 on, they come in order, Entries in all. A row is the vertex in the upper half, then a bit for the direction,
// then the label; the array stores no rows: they are written into the argument rows, which grows. The other slices
// belong to the Graph, must not be written, and are valid until the next Stage, Commit or Abort.
func (g *Graph) Leaf(leaf int, rows []uint64) ([]uint64, []VertexID, []Entry) {
	p := &g.adj
	at, n := leaf*leafSize, int(p.count[leaf])
	rows = grown(rows[:0], n)
	for i := 0; i < n; {
		row, end := p.runRow(leaf, i), p.runEnd(leaf, i)
		for ; i < end; i++ {
			rows[i] = row
		}
	}
	return rows, p.nbr[at : at+n], p.ent[at : at+n]
}
