package cpu

import "motifd/dyngraph"

// freshness says which neighbour lists still hold, for the caches of all workers: a list is outdated once its vertex's stamp
// has changed. That is when the vertex's entries change or are marked by a batch, and when a neighbour's candidate bits change.
type freshness struct {
	stamps []uint32 // by vertex
}

// grow makes room for all ids of the graph.
func (f *freshness) grow(g *dyngraph.Graph) {
	if n := int(g.IDBound()); n > len(f.stamps) {
		f.stamps = append(f.stamps, make([]uint32, n-len(f.stamps))...)
	}
}

// outdate outdates the lists of the vertices that a batch touches and of the neighbours of those whose bits changed. It is
// called while the batch is staged, so that edges of both graphs are found.
func (f *freshness) outdate(g *dyngraph.Graph, touched, changed []dyngraph.VertexID) {
	f.grow(g)
	for _, v := range touched {
		f.stamps[v]++
	}
	for _, v := range changed {
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			r := g.RangeAll(v, d)
			for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
				for _, w := range nbrs {
					f.stamps[w]++
				}
			}
		}
	}
}
