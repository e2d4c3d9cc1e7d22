package neighbors

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// Which lists a changed candidate bit outdates is found by way of the vertex's head, its entries, its neighbors' labels
// and their epochs: four cache misses in a row. So many vertices are handled at a time, step by step. The reads of one
// step do not depend on each other, so that they overlap.

// changedBits holds vertices whose candidate bits changed, and which lists these bits decide.
type changedBits struct {
	vertices []changedVertex
	lists    []program.ListReader
	sum      int // of what is prefetched, so that the compiler keeps the reads
}

// changedVertex is a vertex whose candidate bits changed.
type changedVertex struct {
	v        dyngraph.VertexID
	from, to int32  // of changedBits.lists
	labels   uint64 // set of the readers' labels modulo 64: most neighbors have another one
}

// affectedReader is a neighbor of a changed vertex.
type affectedReader struct {
	v     dyngraph.VertexID
	label uint8 // its lowest byte
	of    int32 // index in changedBits.vertices
}

const (
	changesTogether = 64
	readersTogether = 256 // and what a vertex has in one leaf
)

// take replaces what x holds by the next changed vertices that some list depends on, and returns the other changes.
func (x *changedBits) take(changed []candidates.Change, g *dyngraph.Graph, c *program.ListKeys) []candidates.Change {
	x.vertices, x.lists = x.vertices[:0], x.lists[:0]
	for len(changed) > 0 && len(x.vertices) < changesTogether {
		y := changedVertex{v: changed[0].Vertex, from: int32(len(x.lists))}
		for ; len(changed) > 0 && changed[0].Vertex == y.v; changed = changed[1:] {
			if class := int(changed[0].Class); class < len(c.Readers) {
				x.lists = append(x.lists, c.Readers[class]...)
			}
		}
		y.to = int32(len(x.lists))
		for _, k := range x.lists[y.from:] {
			if y.labels |= 1 << (k.Label & 63); k.Label == matcher.AnyLabel {
				y.labels = ^uint64(0)
				break
			}
		}
		if y.labels != 0 {
			x.vertices = append(x.vertices, y)
			x.sum += g.Degree(y.v, dyngraph.Out)
		}
	}
	return changed
}

// advanceReaders advances the list epochs of the neighbors of the changed vertices.
func (f *epochs) advanceReaders(g *dyngraph.Graph) {
	for i := range f.changed.vertices {
		for dir := dyngraph.Out; dir <= dyngraph.In; dir++ {
			r := g.RangeAll(f.changed.vertices[i].v, dir)
			for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
				for _, w := range nbrs {
					f.readers = append(f.readers, affectedReader{v: w, of: int32(i)})
				}
				if len(f.readers) >= readersTogether {
					f.flushReaders(g)
				}
			}
		}
	}
	f.flushReaders(g)
}

// flushReaders advances the epochs of the neighbors collected so far.
func (f *epochs) flushReaders(g *dyngraph.Graph) {
	view, low := g.View(dyngraph.New), g.LowLabels()
	for i := range f.readers {
		f.readers[i].label = low[f.readers[i].v]
	}
	for _, r := range f.readers {
		of := &f.changed.vertices[r.of]
		if of.labels>>(r.label&63)&1 == 0 {
			continue
		}
		label := view.Label(r.v)
		for _, k := range f.changed.lists[of.from:of.to] {
			if k.Label == label || k.Label == matcher.AnyLabel {
				f.advance(r.v, k.Epoch)
			}
		}
	}
	f.readers = f.readers[:0]
}
