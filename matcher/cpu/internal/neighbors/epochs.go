package neighbors

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
)

// epochs tells which cached lists are valid. A list depends on two epochs of its vertex, and is outdated once either
// has advanced: the label epoch advances when an edge to a neighbor of that label is inserted, deleted or staged; the
// list epoch when a candidate bit changes that decides whether a neighbor is in the list. Epochs are counters found by
// hashing. Where two collide, lists are outdated needlessly; epochs that no list depends on are not advanced, so that
// collisions are few.
//
// A cached list may be left untouched for ever. So that a counter never comes round to a value that it had, all
// counters start over before the sum of two of them can, and the caches are dropped then.
type epochs struct {
	counters []uint32
	shift    uint                 // of a hash, to get an index
	advances uint64               // since the counters started over
	readers  []program.ListReader // scratch of advanceReaders
}

// perVertex is the least number of counters for each vertex.
const perVertex = 4

func (f *epochs) at(v dyngraph.VertexID, key uint32) *uint32 {
	return &f.counters[(uint64(key)<<32|uint64(v))*0x9e3779b97f4a7c15>>f.shift]
}

// of returns the sum of the two epochs of a list of v.
func (f *epochs) of(v dyngraph.VertexID, l program.EpochKey) uint32 {
	return *f.at(v, l.Label) + *f.at(v, l.List)
}

// maxAdvances is the number of advances of counters before they start over. The two epochs of a list may be one
// counter.
const maxAdvances = 1 << 31

func (f *epochs) advance(v dyngraph.VertexID, key uint32) {
	*f.at(v, key)++
	f.advances++
}

// grow makes room for n vertices. It reports whether the counters started over: then the caches must be dropped.
func (f *epochs) grow(n int) (over bool) {
	if perVertex*n <= len(f.counters) && len(f.counters) > 0 {
		return false
	}
	width := bits.Len(uint(max(perVertex*n, 2) - 1))
	f.counters, f.shift, f.advances = make([]uint32, 1<<width), uint(64-width), 0
	return true
}

// outdate advances the epochs that a staged batch changes. It is called while the batch is staged, so that the edges
// of both views are found. It reports whether the counters started over (see grow).
func (f *epochs) outdate(g *dyngraph.Graph, d *dyngraph.Delta, changed []candidates.Change, c *program.ListKeys,
	most uint64) (over bool) {
	over = f.grow(int(g.IDBound()))
	for i := range d.Net {
		n := &d.Net[i]
		if n.Vertex {
			continue
		}
		from, to := n.Labels[0], n.Labels[1]
		if c.MayRead(from, to) {
			f.advance(n.From, program.LabelEpoch(to))
		}
		if c.MayRead(to, from) {
			f.advance(n.To, program.LabelEpoch(from))
		}
		if c.AnyNeighbor {
			f.advance(n.From, program.LabelEpoch(matcher.AnyLabel))
			f.advance(n.To, program.LabelEpoch(matcher.AnyLabel))
		}
	}
	for len(changed) > 0 {
		n := 1
		for n < len(changed) && changed[n].Vertex == changed[0].Vertex {
			n++
		}
		f.advanceReaders(g, changed[:n], c)
		changed = changed[n:]
	}
	if f.advances >= most {
		clear(f.counters)
		f.advances, over = 0, true
	}
	return over
}

// advanceReaders advances the list epochs of the neighbors of a vertex some of whose candidate bits changed.
func (f *epochs) advanceReaders(g *dyngraph.Graph, bits []candidates.Change, c *program.ListKeys) {
	f.readers = f.readers[:0]
	for _, b := range bits {
		if class := int(b.Class); class < len(c.Readers) {
			f.readers = append(f.readers, c.Readers[class]...)
		}
	}
	if len(f.readers) == 0 {
		return
	}
	view := g.View(dyngraph.New)
	for dir := dyngraph.Out; dir <= dyngraph.In; dir++ {
		r := g.RangeAll(bits[0].Vertex, dir)
		for nbrs, _, ok := r.Next(); ok; nbrs, _, ok = r.Next() {
			for _, w := range nbrs {
				label := view.Label(w)
				for _, k := range f.readers {
					if k.Label == label || k.Label == matcher.AnyLabel {
						f.advance(w, k.Epoch)
					}
				}
			}
		}
	}
}
