package cpu

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// freshness says which neighbour lists still hold, for the caches of all workers: a list is outdated once one of its two stamps has
// changed. The one of a vertex and a label of neighbours changes when an edge to such a neighbour does, or is marked by a batch; the one
// of a vertex and a column when the candidate bits of a neighbour change that the column asks for. Stamps are found by hashing: where
// two meet, lists are outdated for nothing.
type freshness struct {
	stamps []uint32
	shift  uint         // of a hash, to get an index
	kinds  []kindOfList // room for some
}

// perVertex is how many stamps there are at least for each vertex.
const perVertex = 4

// lane says which stamps of its vertex a list has.
type lane struct{ label, column uint32 }

// kindOfList is a column that lists have, and the label of their vertices, or AnyLabel.
type kindOfList struct {
	column uint32
	reader dyngraph.LabelID
}

func labelLane(l dyngraph.LabelID) uint32 { return uint32(l)<<1 | 1 }

func columnLane(column int) uint32 { return uint32(column) << 1 }

func (f *freshness) at(v dyngraph.VertexID, lane uint32) *uint32 {
	return &f.stamps[(uint64(lane)<<32|uint64(v))*0x9e3779b97f4a7c15>>f.shift]
}

// stamp returns the stamp of a list of v.
func (f *freshness) stamp(v dyngraph.VertexID, l lane) uint32 {
	return *f.at(v, l.label) + *f.at(v, l.column)
}

// grow makes room for so many vertices. When there was less, all lists are outdated: no two stamps make what any made before.
func (f *freshness) grow(vertices int) {
	if perVertex*vertices <= len(f.stamps) && len(f.stamps) > 0 {
		return
	}
	top := uint32(0)
	for _, s := range f.stamps {
		top = max(top, s)
	}
	n := bits.Len(uint(max(perVertex*vertices, 2) - 1))
	f.stamps, f.shift = make([]uint32, 1<<n), uint(64-n)
	for i := range f.stamps {
		f.stamps[i] = top + 1
	}
}

// outdate outdates the lists that a batch changes, and those that ask for bits that changed. It is called while the batch is staged, so
// that edges of both graphs are found.
func (f *freshness) outdate(g *dyngraph.Graph, d *dyngraph.Delta, changed []plan.Change, c *columns) {
	f.grow(int(g.IDBound()))
	view := g.View(dyngraph.New)
	for i := range d.Net {
		n := &d.Net[i]
		*f.at(n.From, labelLane(view.Label(n.To)))++
		*f.at(n.To, labelLane(view.Label(n.From)))++
		if c.wild {
			*f.at(n.From, labelLane(matcher.AnyLabel))++
			*f.at(n.To, labelLane(matcher.AnyLabel))++
		}
	}
	for len(changed) > 0 {
		v := changed[0].Vertex
		f.kinds = f.kinds[:0]
		for ; len(changed) > 0 && changed[0].Vertex == v; changed = changed[1:] {
			if class := int(changed[0].Class); class < len(c.lists) {
				f.kinds = append(f.kinds, c.lists[class]...)
			}
		}
		if len(f.kinds) == 0 {
			continue
		}
		labels := uint64(0) // of the readers, by their lowest bits: most neighbours have another one
		for _, k := range f.kinds {
			if labels |= 1 << (k.reader & 63); k.reader == matcher.AnyLabel {
				labels = ^uint64(0)
				break
			}
		}
		for dir := dyngraph.Out; dir <= dyngraph.In; dir++ {
			r := g.RangeAll(v, dir)
			for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
				for _, w := range nbrs {
					l := view.Label(w)
					if labels>>(l&63)&1 == 0 {
						continue
					}
					for _, k := range f.kinds {
						if k.reader == l || k.reader == matcher.AnyLabel {
							*f.at(w, k.column)++
						}
					}
				}
			}
		}
	}
}
