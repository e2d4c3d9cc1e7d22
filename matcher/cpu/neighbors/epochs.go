package neighbors

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// epochs says which neighbour lists still hold, for the caches of all workers: a list is outdated once one of its two stamps has
// changed. The one of a vertex and a label of neighbours changes when an edge to such a neighbour does, or is marked by a batch; the one
// of a vertex and a column when the candidate bits of a neighbour change that the column asks for. Stamps are found by hashing: where
// two meet, lists are outdated for nothing; stamps that no list has are not counted up, so that fewer meet.
//
// A list that is not asked for may lie there for ever, under the stamp that it had; stamps that come round to it would make it good again. So
// all counters start over before a sum of two of them can come round, and what was found under them is dropped then.
type epochs struct {
	counters []uint32
	shift    uint   // of a hash, to get an index
	advances uint64 // how often stamps were counted up since they started over
	// Room, for use within a batch.
	changed changedBits
	readers []affectedReader
}

// perVertex is how many stamps there are at least for each vertex.
const perVertex = 4

func (f *epochs) at(v dyngraph.VertexID, lane uint32) *uint32 {
	return &f.counters[(uint64(lane)<<32|uint64(v))*0x9e3779b97f4a7c15>>f.shift]
}

// of returns the stamp of a list of v.
func (f *epochs) of(v dyngraph.VertexID, l program.EpochKey) uint32 {
	return *f.at(v, l.Label) + *f.at(v, l.List)
}

// maxAdvances is how often stamps are counted up before they start over: a list's two may be one and the same.
const maxAdvances = 1 << 31

func (f *epochs) advance(v dyngraph.VertexID, lane uint32) {
	*f.at(v, lane)++
	f.advances++
}

// grow makes room for so many vertices. It tells whether the stamps started over: whatever was found under those before must be dropped.
func (f *epochs) grow(vertices int) (over bool) {
	if perVertex*vertices <= len(f.counters) && len(f.counters) > 0 {
		return false
	}
	n := bits.Len(uint(max(perVertex*vertices, 2) - 1))
	f.counters, f.shift, f.advances = make([]uint32, 1<<n), uint(64-n), 0
	return true
}

// outdate outdates the lists that a batch changes, and those that ask for bits that changed. It is called while the batch is staged, so
// that edges of both graphs are found. It tells whether the stamps started over (see grow).
func (f *epochs) outdate(g *dyngraph.Graph, d *dyngraph.Delta, changed []candidates.Change, c *program.ListKeys,
	most uint64) (over bool) {
	over = f.grow(int(g.IDBound()))
	view := g.View(dyngraph.New)
	for i := range d.Net {
		n := &d.Net[i]
		from, to := view.Label(n.From), view.Label(n.To)
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
		changed = f.changed.take(changed, g, c)
		f.advanceReaders(g)
	}
	if f.advances >= most {
		clear(f.counters)
		f.advances, over = 0, true
	}
	return over
}
