package ivm

import (
	"motifd/matcher/cpu/labeladj"

	"motifd/matcher/cpu/count"
)

// ahead is how many vertices have their neighbours found together, or thereabouts: the batch that was staged has put most of the
// adjacency out of the caches, and reads that do not wait for each other overlap.
const prefetched = 64

// find finds what is wanted, and reads the first and the last of the neighbours. What it returns lies in ranges.
func (k *Maintainer) findAll(ranges []labeladj.Slots, of []labeladj.Lookup) []labeladj.Slots {
	found, entries, read := k.index.FindAll(ranges, of)
	k.Steps += entries
	k.touched += read
	return found
}

// findAll finds the neighbours, along edges of a kind, of all that a walk has reached.
func (k *Maintainer) neighborsOf(of []count.Reached, kind uint32) []labeladj.Slots {
	k.wanted = k.wanted[:0]
	for i := range of {
		k.wanted = append(k.wanted, labeladj.Lookup{Vertex: of[i].Vertex, Kind: kind})
	}
	k.ranges = k.findAll(k.ranges, k.wanted)
	return k.ranges
}
