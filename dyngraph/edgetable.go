package dyngraph

import "hash/maphash"

// edgeSeed is that of the hashes of ids, which are hostile.
var edgeSeed = maphash.MakeSeed()

// edgeTable finds a fold's edges by identity: open addressing over indexes into the edges.
type edgeTable struct {
	slots []int32 // index plus 1
	mask  uint64
	n     int
}

func hashEdge(from, to int32, l LabelID, id string) uint64 {
	h := uint64(uint32(from))<<32 | uint64(uint32(to))
	if id != "" {
		h ^= maphash.String(edgeSeed, id)
	}
	h = (h ^ uint64(l)*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	h ^= h >> 32
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// find returns the edge's index, or none and the slot where it belongs.
func (t *edgeTable) find(edges []foldEdge, from, to int32, l LabelID, id string) (at int, i int32) {
	if len(t.slots) == 0 {
		return 0, none
	}
	for h := hashEdge(from, to, l, id); ; h++ {
		at := int(h & t.mask)
		s := t.slots[at]
		if s == 0 {
			return at, none
		}
		if e := &edges[s-1]; e.from == from && e.to == to && e.label == l && e.id == id {
			return at, s - 1
		}
	}
}

// put enters edges[i], the last one, at the slot that find returned for it.
func (t *edgeTable) put(edges []foldEdge, at int, i int32) {
	t.n++
	if t.n*2 <= len(t.slots) {
		t.slots[at] = i + 1
		return
	}
	t.slots = make([]int32, max(64, 2*len(t.slots)))
	t.mask = uint64(len(t.slots) - 1)
	for j := range edges {
		e := &edges[j]
		at, _ := t.find(edges, e.from, e.to, e.label, e.id)
		t.slots[at] = int32(j) + 1
	}
}

// reset empties the table at a cost that depends on its members only.
func (t *edgeTable) reset(edges []foldEdge) {
	t.n = 0
	const keep = 1 << 18
	if len(t.slots) > keep {
		*t = edgeTable{}
		return
	}
	if len(edges) > len(t.slots)/16 {
		clear(t.slots)
		return
	}
	for j := range edges {
		e := &edges[j]
		for h := hashEdge(e.from, e.to, e.label, e.id); ; h++ {
			at := h & t.mask
			if t.slots[at] == int32(j)+1 {
				t.slots[at] = 0
				break
			}
		}
	}
}
