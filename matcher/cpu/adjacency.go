package cpu

import (
	"cmp"

	"motifd/dyngraph"
)

// adjacency keeps the graph's entries once more, those of a vertex in one block by kind, then neighbour: entries of one
// direction, edge label and label of the neighbour are of one kind. What counting asks for is then a few neighbours
// side by side, where a range of the packed memory array is mostly neighbours of other labels (GSI section IV, which
// partitions by edge label only). Entries of a staged batch are in it as they are in the array: those inserted and
// those deleted, marked.
//
// A block begins with pairs (kind, end of its entries in the block, marked if the staged batch has some of them),
// ascending; then come the neighbours. It takes 8 bytes for each end of an edge and 16 for each kind of neighbour that
// a vertex has, and room to grow; it is kept while some query asks for counts.
type adjacency struct {
	g         *dyngraph.Graph
	number    uint64            // of adjacencies that the process has made, from 1 on
	kinds     map[uint64]uint32 // by key
	near      []nearKind        // by label of the neighbour: the kind last asked for
	heads     []adjacencyHead   // by vertex
	nbr       []dyngraph.VertexID
	ent       []dyngraph.Entry // beside nbr
	wide      []wideKind       // kept beside the others, and their numbers
	wideKinds []uint32
	free      int // slots of blocks that have moved; when they are half of all, blocks are packed anew

	staged  bool              // the staged batch is in it
	entered []adjacencyChange // what it changed, in order; while it is staged
	late    []adjacencyChange // of batches that were never in it, to be made
	batches []int             // where those of each end
	scratch []adjacencyEntry
	sorter  changeSorter
	warmth  uint64 // what was read ahead, lest it be left out
}

// nearKind remembers a kind by what its key has beside the label of the neighbour.
type nearKind struct {
	rest uint64
	kind uint32
}

// adjacencyHead describes the block of a vertex.
type adjacencyHead struct {
	at           int
	n, room      uint32 // entries
	pairs, width uint32 // kinds, and room for kinds
}

type adjacencyEntry struct {
	kind uint32
	nbr  dyngraph.VertexID
	ent  dyngraph.Entry
}

// adjacencyChange adds, removes or marks an entry.
type adjacencyChange struct {
	v dyngraph.VertexID
	adjacencyEntry
	at   uint32 // where the entry is among those of the block, or before that if it has parallel ones; once it is made
	what adjacencyOp
}

type adjacencyOp uint8

const (
	removeEntry adjacencyOp = iota
	markEntry               // its staged bit
	addEntry
)

// noKind is no entry's kind.
const noKind = ^uint32(0)

// adjacencyKey is the key of the neighbours with a label on the other side of edges with a label.
func adjacencyKey(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint64 {
	return uint64(d)<<63 | uint64(edge)<<32 | uint64(nbr)
}

// kind returns the number of a kind, a new one if need be.
func (a *adjacency) kind(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint32 {
	key := adjacencyKey(d, edge, nbr)
	rest := key >> 32
	if n := int(nbr); n >= len(a.near) {
		for len(a.near) <= n {
			a.near = append(a.near, nearKind{kind: noKind})
		}
	}
	if near := &a.near[nbr]; near.kind != noKind && near.rest == rest {
		return near.kind
	}
	k, ok := a.kinds[key]
	if !ok {
		k = uint32(len(a.kinds))
		a.kinds[key] = k
	}
	a.near[nbr] = nearKind{rest, k}
	return k
}

// kindOf returns the number of the kind with a key; noKind if no vertex has such neighbours.
func (a *adjacency) kindOf(key uint64) uint32 {
	if k, ok := a.kinds[key]; ok {
		return k
	}
	return noKind
}

func compareEntries(a, b *adjacencyEntry) int {
	switch {
	case a.kind != b.kind:
		return cmp.Compare(a.kind, b.kind)
	case a.nbr != b.nbr:
		return cmp.Compare(a.nbr, b.nbr)
	}
	return 0
}

// few is the number of kinds up to which they are searched one by one.
const few = 16

// of returns the neighbours of one kind, ascending, with their entries, and whether some might be staged.
func (a *adjacency) of(v dyngraph.VertexID, kind uint32) (nbr []dyngraph.VertexID, ent []dyngraph.Entry, staged bool) {
	from, to, staged := a.slots(v, kind)
	return a.nbr[from:to:to], a.ent[from:to:to], staged
}

// slots returns where the neighbours of one kind are.
func (a *adjacency) slots(v dyngraph.VertexID, kind uint32) (from, to int, staged bool) {
	h := &a.heads[v]
	pairs := a.nbr[h.at : h.at+2*int(h.pairs)]
	// Kinds ascend and are numbered from 0: a vertex that has all up to this one has it there, and otherwise before.
	i := 2 * int(min(kind, h.pairs-1))
	if len(pairs) > 2*few {
		i = min(2*searchKind(pairs, kind), len(pairs)-2)
	}
	for ; i >= 0 && i < len(pairs); i -= 2 {
		if uint32(pairs[i]) > kind {
			continue
		}
		if uint32(pairs[i]) < kind {
			break
		}
		base := h.at + 2*int(h.width)
		from, to := base, base+end(pairs[i+1])
		if i > 0 {
			from += end(pairs[i-1])
		}
		return from, to, pairs[i+1]&stagedEnd != 0
	}
	return 0, 0, false
}

// stagedEnd marks the end of entries some of which are staged.
const stagedEnd = 1 << 31

// end returns where entries end, without the mark.
func end(e dyngraph.VertexID) int { return int(e &^ stagedEnd) }

// searchKind returns the index of the first pair whose kind is at least the given one.
func searchKind(pairs []dyngraph.VertexID, kind uint32) int {
	lo, hi := 0, len(pairs)/2
	for lo < hi {
		m := (lo + hi) / 2
		if uint32(pairs[2*m]) < kind {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
