package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// adjacency keeps the graph's entries once more, those of a vertex in one block by kind, then neighbour: entries of one
// direction, edge label and label of the neighbour are of one kind. What counting asks for is then a few neighbours
// side by side, where a range of the packed memory array is mostly neighbours of other labels (GSI section IV, which partitions
// by edge label only). Entries of a staged batch are in it as they are in the array: those inserted and those deleted,
// marked.
//
// A block begins with pairs (kind, end of its entries in the block), ascending; then come the neighbours. It takes 8 bytes for
// each end of an edge and 16 for each kind of neighbour that a vertex has, and room to grow; it is kept while some query
// asks for counts.
type adjacency struct {
	g     *dyngraph.Graph
	kinds map[uint64]uint32 // by key
	near  []nearKind        // by label of the neighbour: the kind last asked for
	heads []adjacencyHead   // by vertex
	nbr   []dyngraph.VertexID
	ent   []dyngraph.Entry // beside nbr
	free  int              // slots of blocks that have moved; when they are half of all, blocks are packed anew

	changes []adjacencyChange
	scratch []adjacencyEntry
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
	staged       bool   // the staged batch has entries here
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

// newAdjacency reads the graph, with the staged batch if there is one.
func newAdjacency(g *dyngraph.Graph) *adjacency {
	a := &adjacency{g: g, kinds: map[uint64]uint32{}, heads: make([]adjacencyHead, g.IDBound())}
	view := g.View(dyngraph.New)
	slots := 2*g.Edges() + g.Edges()/4 + 6*len(a.heads)
	a.nbr, a.ent = make([]dyngraph.VertexID, 0, slots), make([]dyngraph.Entry, 0, slots)
	var labels []dyngraph.LabelID
	var byKind kindSorter
	for v := range a.heads {
		id := dyngraph.VertexID(v)
		a.scratch = a.scratch[:0]
		ordered := true
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			labels = g.LabelsOf(id, d, labels[:0])
			for _, l := range labels {
				r := g.Range(id, d, l)
				for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
					for i, w := range nbrs {
						e := adjacencyEntry{a.kind(d, l, view.Label(w)), w, ents[i]}
						if n := len(a.scratch); n > 0 && a.scratch[n-1].kind > e.kind {
							ordered = false
						}
						a.scratch = append(a.scratch, e)
						a.heads[v].staged = a.heads[v].staged || e.ent.Staged()
					}
				}
			}
		}
		if !ordered {
			a.scratch = byKind.sort(a.scratch, len(a.kinds))
		}
		if len(a.scratch) > 0 {
			a.write(&a.heads[v])
		}
	}
	return a
}

// kindSorter sorts entries by kind and leaves those of one kind in their order, in linear time for few kinds.
type kindSorter struct {
	at    []uint32 // by kind: how many there are, then where the next goes; 0 between uses
	kinds []uint32
	out   []adjacencyEntry
}

// sort returns the entries in order; what it was given is the scratch of the next call.
func (s *kindSorter) sort(entries []adjacencyEntry, kinds int) []adjacencyEntry {
	if len(s.at) < kinds {
		s.at = make([]uint32, 2*kinds)
	}
	s.kinds = s.kinds[:0]
	for i := range entries {
		k := entries[i].kind
		if s.at[k] == 0 {
			s.kinds = append(s.kinds, k)
		}
		s.at[k]++
	}
	slices.Sort(s.kinds)
	next := uint32(0)
	for _, k := range s.kinds {
		s.at[k], next = next, next+s.at[k]
	}
	out := slices.Grow(s.out[:0], len(entries))[:len(entries)]
	for i := range entries {
		k := entries[i].kind
		out[s.at[k]] = entries[i]
		s.at[k]++
	}
	for _, k := range s.kinds {
		s.at[k] = 0
	}
	s.out = entries
	return out
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
	h := &a.heads[v]
	pairs := a.nbr[h.at : h.at+2*int(h.pairs)]
	i := 0
	if len(pairs) > 2*few {
		if i = 2 * searchKind(pairs, kind); i == len(pairs) {
			return nil, nil, false
		}
	}
	for ; i < len(pairs); i += 2 {
		if uint32(pairs[i]) != kind {
			continue
		}
		base := h.at + 2*int(h.width)
		from, to := base, base+int(pairs[i+1])
		if i > 0 {
			from += int(pairs[i-1])
		}
		return a.nbr[from:to:to], a.ent[from:to:to], h.staged
	}
	return nil, nil, false
}

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
