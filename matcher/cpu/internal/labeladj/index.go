package labeladj

import (
	"cmp"

	"motifd/dyngraph"
)

// Index is the adjacency of a graph by label. It is not safe for concurrent changes; calls of Of may run concurrently.
//
// A block begins with its directory: pairs (kind, end of the kind's entries in the block), ascending. The end is marked
// when some of the entries belong to the staged batch. The neighbours follow. A block takes 8 bytes for each end of an
// edge, 16 for each kind that its vertex has, and spare capacity.
type Index struct {
	g             *dyngraph.Graph
	Number        uint64            // identifies the index in this process, from 1 on: kinds of another index differ
	kinds         map[uint64]uint32 // by key
	blocks        []block           // by vertex
	Nbr           []dyngraph.VertexID
	Ent           []dyngraph.Entry // parallel to Nbr
	wildcards     []Wildcard       // indexed in addition to the exact kinds
	wildcardKinds []uint32         // their numbers
	free          int              // slots of blocks that have moved or shrunk; when they are many, blocks are packed

	staged        bool     // the staged batch is in the index
	stagedChanges []change // its changes, sorted; empty when the batch was read with the graph
	pending       []change // of committed batches that are not in the index yet
	pendingEnds   []int    // by batch: the end of its changes in pending
	// Room for the changes of a batch, as they are sorted, and for those of a vertex.
	keys     []uint64
	unsorted []change
	gone     []int
	come     []*change
	touched  uint32 // the sum of what was read ahead, without which the reads would not be made
}

// Vertices is the number of vertices that the index covers.
func (a *Index) Vertices() int { return len(a.blocks) }

// Kinds is the number of kinds.
func (a *Index) Kinds() int { return len(a.kinds) }

// HasStaged reports whether the staged batch is in the index.
func (a *Index) HasStaged() bool { return a.staged }

// Pending is the number of changes of committed batches that the next CatchUp applies.
func (a *Index) Pending() int { return len(a.pending) }

// block locates the entries of a vertex.
type block struct {
	start               int
	n, capacity         uint32 // entries
	kinds, kindCapacity uint32
}

type entry struct {
	kind uint32
	nbr  dyngraph.VertexID
	ent  dyngraph.Entry
}

// change adds, removes or marks an entry.
type change struct {
	v dyngraph.VertexID
	entry
	at uint32 // index of the entry in its block once the change is applied; parallel entries may precede it
	op operation
}

type operation uint8

const (
	removeEntry operation = iota
	markEntry             // sets the staged bit
	keepEntry             // sets it, of an edge that stays
	addEntry
	noOperation
)

// NoKind is the kind of no entry.
const NoKind = ^uint32(0)

// Key returns the key of a kind: the direction and label of the edge, and the label of the neighbour.
func Key(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint64 {
	return uint64(d)<<63 | uint64(edge)<<32 | uint64(nbr)
}

// ofKey returns what Key was made of.
func ofKey(key uint64) (d dyngraph.Dir, edge, nbr dyngraph.LabelID) {
	return dyngraph.Dir(key >> 63), dyngraph.LabelID(key >> 32 &^ (1 << 31)), dyngraph.LabelID(uint32(key))
}

// kind returns the number of a kind. It assigns one to a new kind.
func (a *Index) kind(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint32 {
	key := Key(d, edge, nbr)
	k, ok := a.kinds[key]
	if !ok {
		k = uint32(len(a.kinds))
		a.kinds[key] = k
	}
	return k
}

// KindOf returns the number of the kind with a key, NoKind if no vertex has such neighbours.
func (a *Index) KindOf(key uint64) uint32 {
	if k, ok := a.kinds[key]; ok {
		return k
	}
	return NoKind
}

func compareEntries(a, b *entry) int {
	switch {
	case a.kind != b.kind:
		return cmp.Compare(a.kind, b.kind)
	case a.nbr != b.nbr:
		return cmp.Compare(a.nbr, b.nbr)
	}
	return 0
}

// linearKinds is the number of kinds up to which a directory is searched linearly.
const linearKinds = 16

// Of returns the neighbours of one kind, ascending, with their entries, and whether some entries may be staged. The
// slices are valid until the index changes.
func (a *Index) Of(v dyngraph.VertexID, kind uint32) (nbr []dyngraph.VertexID, ent []dyngraph.Entry, staged bool) {
	h := &a.blocks[v]
	pairs := a.Nbr[h.start : h.start+2*int(h.kinds)]
	// Kinds ascend and are numbered from 0: kind k is at index k of the directory or before.
	i := 2 * int(min(kind, h.kinds-1))
	if len(pairs) > 2*linearKinds {
		i = min(2*searchKind(pairs, kind), len(pairs)-2)
	}
	for ; i >= 0 && i < len(pairs); i -= 2 {
		if uint32(pairs[i]) > kind {
			continue
		}
		if uint32(pairs[i]) < kind {
			break
		}
		base := h.start + 2*int(h.kindCapacity)
		from, to := base, base+endOf(pairs[i+1])
		if i > 0 {
			from += endOf(pairs[i-1])
		}
		return a.Nbr[from:to:to], a.Ent[from:to:to], pairs[i+1]&stagedEnd != 0
	}
	return nil, nil, false
}

// Start returns the index in Nbr at which the block of a vertex begins.
func (a *Index) Start(v dyngraph.VertexID) int { return a.blocks[v].start }

// stagedEnd marks an end of a directory: some entries of the kind are staged.
const stagedEnd = 1 << 31

// endOf returns an end of a directory without its mark.
func endOf(e dyngraph.VertexID) int { return int(e &^ stagedEnd) }

// searchKind returns the index of the first pair whose kind is at least kind.
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
