package neighbors

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// The lists that changed candidate bits outdate are found by way of the vertices' heads, their entries, the labels of their neighbours, and the
// stamps. Each lies somewhere else, and to wait for one after the other is most of what it costs. So it is done for many vertices at
// a time, step by step: the reads of a step do not depend on each other, and the processor has many of them under way.

// changedBits are vertices of which candidate bits changed, and what lists ask for these bits.
type changedBits struct {
	vertices []changedVertex
	lists    []program.ListReader
	warmth   int // what was read ahead, lest it be left out
}

type changedVertex struct {
	v        dyngraph.VertexID
	from, to int32  // of kinds
	labels   uint64 // of the readers, by their lowest bits: most neighbours have another one
}

// affectedReader is a neighbour of a flipped vertex.
type affectedReader struct {
	v     dyngraph.VertexID
	label uint8 // its lowest byte
	of    int32 // index in flips.of
}

const (
	flipsAtOnce   = 64
	readersAtOnce = 256 // and what a vertex has in one leaf
)

// take replaces what it holds by the next vertices of which bits changed, as far as lists ask for them, and returns the other changes.
func (x *changedBits) take(changed []candidates.Change, g *dyngraph.Graph, c *program.ListKeys) []candidates.Change {
	x.vertices, x.lists = x.vertices[:0], x.lists[:0]
	for len(changed) > 0 && len(x.vertices) < flipsAtOnce {
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
			x.warmth += g.Degree(y.v, dyngraph.Out)
		}
	}
	return changed
}

// advanceReaders outdates the lists of the flipped vertices' neighbours that ask for their bits.
func (f *epochs) advanceReaders(g *dyngraph.Graph) {
	for i := range f.changed.vertices {
		for dir := dyngraph.Out; dir <= dyngraph.In; dir++ {
			r := g.RangeAll(f.changed.vertices[i].v, dir)
			for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
				for _, w := range nbrs {
					f.readers = append(f.readers, affectedReader{v: w, of: int32(i)})
				}
				if len(f.readers) >= readersAtOnce {
					f.flushReaders(g)
				}
			}
		}
	}
	f.flushReaders(g)
}

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
