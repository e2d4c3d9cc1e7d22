package labeladj

import (
	"slices"

	"motifd/dyngraph"
)

// Blocks are mostly in no cache. Loads that do not depend on each other overlap: a caller first touches the locations
// of several vertices, then their blocks. It must keep the results, or the compiler drops the loads.

// Lookup asks for the neighbours of a vertex that are of a kind.
type Lookup struct {
	Vertex dyngraph.VertexID
	Kind   uint32
}

// Slots is the half-open range [From, To) of Nbr and Ent that answers a Lookup.
type Slots struct {
	From, To int
	Staged   bool // some of the entries may be staged
}

// FindAll answers many lookups at once, so that their cache misses overlap, and loads the first and the last slot of
// each answer. It reuses the memory of ranges. entries is the number of slots found; touched must be kept like the
// results of other prefetches.
func (a *Index) FindAll(ranges []Slots, of []Lookup) (found []Slots, entries, touched uint64) {
	ranges = slices.Grow(ranges[:0], len(of))[:len(of)]
	for i := range of {
		ranges[i].From = a.blocks[of[i].Vertex].start
	}
	for i := range ranges {
		touched += uint64(a.Nbr[min(ranges[i].From, len(a.Nbr)-1)])
	}
	for i := range of {
		r := &ranges[i]
		r.From, r.To, r.Staged = a.slots(of[i].Vertex, of[i].Kind)
	}
	for i := range ranges {
		r := &ranges[i]
		entries += uint64(r.To - r.From)
		if r.From < r.To {
			touched += uint64(a.Nbr[r.From] + a.Nbr[r.To-1])
			if r.Staged {
				touched += uint64(a.Ent[r.From])
			}
		}
	}
	return ranges, entries, touched
}
