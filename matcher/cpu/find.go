package cpu

import (
	"slices"

	"motifd/dyngraph"
)

// wanted are the neighbours of a vertex that are of a kind.
type wanted struct {
	v    dyngraph.VertexID
	kind uint32
}

// neighbours is a range of the adjacency's slots.
type neighbours struct {
	from, to int
	staged   bool // some of them, perhaps
}

// ahead is how many vertices have their neighbours found together, or thereabouts: the batch that was staged has put most of the
// adjacency out of the caches, and reads that do not wait for each other overlap.
const ahead = 64

// find finds what is wanted, and reads the first and the last of the neighbours. What it returns lies in ranges.
func (k *keeper) find(ranges []neighbours, of []wanted) []neighbours {
	a, read := k.adj, uint64(0)
	ranges = slices.Grow(ranges[:0], len(of))[:len(of)]
	for i := range of {
		ranges[i].from = a.heads[of[i].v].at
	}
	for i := range ranges {
		read += uint64(a.nbr[min(ranges[i].from, len(a.nbr)-1)])
	}
	for i := range of {
		r := &ranges[i]
		r.from, r.to, r.staged = a.slots(of[i].v, of[i].kind)
	}
	for i := range ranges {
		r := &ranges[i]
		k.steps += uint64(r.to - r.from)
		if r.from < r.to {
			read += uint64(a.nbr[r.from] + a.nbr[r.to-1])
			if r.staged {
				read += uint64(a.ent[r.from])
			}
		}
	}
	k.read += read
	return ranges
}

// findAll finds the neighbours, along edges of a kind, of all that a walk has reached.
func (k *keeper) findAll(of []reached, kind uint32) []neighbours {
	k.wanted = k.wanted[:0]
	for i := range of {
		k.wanted = append(k.wanted, wanted{of[i].v, kind})
	}
	k.ranges = k.find(k.ranges, k.wanted)
	return k.ranges
}
