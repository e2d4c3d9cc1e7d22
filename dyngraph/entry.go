package dyngraph

import "cmp"

// Entry is the half of an adjacency slot beside the neighbour: the edge index in the low 31 bits, and the top bit, set
// while the edge is staged.
type Entry uint32

const entryStaged Entry = 1 << 31

// Index returns the edge.
func (e Entry) Index() EdgeIndex { return EdgeIndex(e &^ entryStaged) }

// Staged tells whether the staged batch inserts or deletes the edge: whether its order must be looked at.
func (e Entry) Staged() bool { return e&entryStaged != 0 }

// EntryOf returns the entry of an edge.
func EntryOf(e EdgeIndex, staged bool) Entry {
	if staged {
		return Entry(e) | entryStaged
	}
	return Entry(e)
}

// slot is an adjacency entry with its sort key.
type slot struct {
	row uint64 // vertex, direction, label: see rowKey
	nbr VertexID
	ent Entry
}

func rowKey(v VertexID, d Dir, l LabelID) uint64 { return uint64(v)<<32 | uint64(d)<<31 | uint64(l) }

func dirOf(row uint64) Dir { return Dir(row >> 31 & 1) }

func labelOf(row uint64) LabelID { return LabelID(row & (1<<31 - 1)) }

func (s *slot) vertex() VertexID { return VertexID(s.row >> 32) }

// compareSlots compares by row, neighbour and edge index, the order of the array.
func compareSlots(a, b slot) int {
	switch {
	case a.row < b.row:
		return -1
	case a.row > b.row:
		return 1
	case a.nbr < b.nbr:
		return -1
	case a.nbr > b.nbr:
		return 1
	}
	return cmp.Compare(a.ent.Index(), b.ent.Index())
}

// samePair tells whether two entries have the same vertex, direction, label and neighbour: their edges are one, or
// parallel.
func (s *slot) samePair(o *slot) bool { return s.row == o.row && s.nbr == o.nbr }
