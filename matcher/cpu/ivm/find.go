package ivm

import (
	"motifd/matcher/cpu/labeladj"

	"motifd/matcher/cpu/count"
)

// prefetched is the number of vertices that are looked up together, so that cache misses overlap: staging the batch has
// evicted most of the index.
const prefetched = 64

// findAll answers lookups, in the memory of ranges, and counts their slots as steps.
func (k *Maintainer) findAll(ranges []labeladj.Slots, of []labeladj.Lookup) []labeladj.Slots {
	found, entries, read := k.index.FindAll(ranges, of)
	k.Steps += entries
	k.touched += read
	return found
}

// neighborsOf finds the neighbours, along edges of a kind, of a frontier.
func (k *Maintainer) neighborsOf(of []count.Reached, kind uint32) []labeladj.Slots {
	k.wanted = k.wanted[:0]
	for i := range of {
		k.wanted = append(k.wanted, labeladj.Lookup{Vertex: of[i].Vertex, Kind: kind})
	}
	k.ranges = k.findAll(k.ranges, k.wanted)
	return k.ranges
}
