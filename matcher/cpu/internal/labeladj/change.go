package labeladj

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// sortAndApply applies the changes of one batch and leaves them sorted. There are few of most vertices, so vertices are
// sorted as numbers first.
func (a *Index) sortAndApply(changes []change) {
	a.keys, a.unsorted = a.keys[:0], append(a.unsorted[:0], changes...)
	for i := range changes {
		a.keys = append(a.keys, uint64(changes[i].v)<<32|uint64(i))
	}
	slices.Sort(a.keys)
	for i, k := range a.keys {
		changes[i] = a.unsorted[uint32(k)]
	}
	if cap(a.unsorted) > maxKept {
		a.keys, a.unsorted = nil, nil
	}
	a.apply(changes)
}

// apply applies changes that are sorted by vertex, and sorts those of each.
func (a *Index) apply(changes []change) {
	read := 0
	for from := 0; from < len(changes); {
		if from >= read && len(changes) > ahead {
			read = min(from+ahead, len(changes))
			a.readAhead(changes[from:read])
		}
		to := from + 1
		for to < len(changes) && changes[to].v == changes[from].v {
			to++
		}
		slices.SortFunc(changes[from:to], func(x, y change) int {
			return cmp.Or(compareEntries(&x.entry, &y.entry), cmp.Compare(x.op, y.op))
		})
		a.applyTo(changes[from:to])
		from = to
	}
}

// ahead is the number of changes whose blocks are read together before the first of them is applied.
const ahead = 64

// readAhead reads where blocks are, then some of their slots: cache misses of reads that do not depend on each other
// overlap.
func (a *Index) readAhead(changes []change) {
	sum := uint32(0)
	for i := range changes {
		sum += a.blocks[changes[i].v].n
	}
	for i := range changes {
		h := &a.blocks[changes[i].v]
		if h.n == 0 {
			continue
		}
		mid, last := h.base()+int(h.n)/2, h.base()+int(h.n)-1
		sum += uint32(a.Nbr[h.start] + a.Nbr[mid] + a.Nbr[last])
		sum += uint32(a.Ent[mid] + a.Ent[last])
	}
	a.touched += sum
}

// applyTo applies the changes of one vertex, which are in the order of its entries: entries leave, others come, and
// those that stay are marked where they are then.
func (a *Index) applyTo(changes []change) {
	h := &a.blocks[changes[0].v]
	a.remove(h, changes)
	a.add(h, changes)
	kind := 0
	for i := range changes {
		if c := &changes[i]; c.op == markEntry || c.op == keepEntry {
			kind = a.find(h, c, kind)
			a.Ent[h.base()+int(c.at)] = c.ent
			mark(&a.Nbr[h.start+2*kind+1], c.ent)
		}
	}
}

// base returns the index of the first entry of a block.
func (h *block) base() int { return h.start + 2*int(h.kindCapacity) }

// locate sets where a change's entry goes in a block, before parallel ones. It returns the index of its kind in the
// directory, which is searched from an index on.
func (a *Index) locate(h *block, c *change, kind int) int {
	pairs := a.Nbr[h.start : h.start+2*int(h.kinds)]
	kind += searchKind(pairs[2*kind:], c.kind)
	from, to := 0, 0
	if kind > 0 {
		from = endOf(pairs[2*kind-1])
		to = from
	}
	if h.has(pairs, kind, c) {
		to = endOf(pairs[2*kind+1])
	}
	at, _ := slices.BinarySearch(a.Nbr[h.base()+from:h.base()+to], c.nbr)
	c.at = uint32(from + at)
	return kind
}

// has reports whether a directory has the kind of a change, at an index.
func (h *block) has(pairs []dyngraph.VertexID, kind int, c *change) bool {
	return 2*kind < len(pairs) && uint32(pairs[2*kind]) == c.kind
}

// find is locate for a change of an entry that the block has.
func (a *Index) find(h *block, c *change, kind int) int {
	kind = a.locate(h, c, kind)
	for a.Ent[h.base()+int(c.at)].Index() != c.ent.Index() {
		c.at++
	}
	return kind
}

// remove removes entries from a block. Each of the others moves once at most.
func (a *Index) remove(h *block, changes []change) {
	pairs, gone, kind := a.Nbr[h.start:h.start+2*int(h.kinds)], a.gone[:0], 0
	for i := range changes {
		if c := &changes[i]; c.op == removeEntry {
			kind = a.find(h, c, kind)
			mark(&pairs[2*kind+1], c.ent)
			gone = append(gone, int(c.at))
		}
	}
	if a.gone = gone; len(gone) == 0 {
		return
	}
	slices.Sort(gone) // parallel entries come in any order
	kinds, fewer, before := 0, 0, 0
	for k := 0; k < len(pairs); k += 2 {
		end, staged := endOf(pairs[k+1]), pairs[k+1]&stagedEnd
		for fewer < len(gone) && gone[fewer] < end {
			fewer++
		}
		if end -= fewer; end > before {
			pairs[kinds], pairs[kinds+1] = pairs[k], dyngraph.VertexID(end)|staged
			kinds, before = kinds+2, end
		}
	}
	n, base := int(h.n), h.base()
	nbr, ent := a.Nbr[base:base+n], a.Ent[base:base+n]
	for i, at := range gone {
		next := n
		if i+1 < len(gone) {
			next = gone[i+1]
		}
		copy(nbr[at-i:], nbr[at+1:next])
		copy(ent[at-i:], ent[at+1:next])
	}
	h.n, h.kinds = uint32(n-len(gone)), uint32(kinds/2)
	a.shrink(h)
}

// add adds entries to a block, from the last to the first: each of the others moves once at most. A block without room
// for them moves.
func (a *Index) add(h *block, changes []change) {
	come, kind, kinds := a.come[:0], 0, h.kinds
	for i := range changes {
		c := &changes[i]
		if c.op != addEntry {
			continue
		}
		kind = a.locate(h, c, kind)
		isNew := !h.has(a.Nbr[h.start:h.start+2*int(h.kinds)], kind, c)
		if isNew && (len(come) == 0 || come[len(come)-1].kind != c.kind) {
			kinds++
		}
		come = append(come, c)
	}
	if a.come = come; len(come) == 0 {
		return
	}
	was, base := *h, h.base()
	pairs, nbr, ent := a.Nbr[h.start:h.start+2*int(h.kinds)], a.Nbr[base:], a.Ent[base:]
	n := was.n + uint32(len(come))
	moves := n > h.capacity || kinds > h.kindCapacity
	if moves {
		a.move(h, n, kinds)
	}
	h.n, h.kinds, base = n, kinds, h.base()
	extend(a.Nbr[h.start:h.start+2*int(kinds)], pairs, come, moves)
	toNbr, toEnt, end := a.Nbr[base:base+int(n)], a.Ent[base:base+int(n)], int(was.n)
	for i := len(come) - 1; i >= 0; i-- {
		c := come[i]
		at := int(c.at)
		copy(toNbr[at+i+1:], nbr[at:end])
		copy(toEnt[at+i+1:], ent[at:end])
		toNbr[at+i], toEnt[at+i] = c.nbr, c.ent
		c.at, end = uint32(at+i), at
	}
	if moves {
		copy(toNbr, nbr[:end])
		copy(toEnt, ent[:end])
	}
	clear(come) // the changes may be many, and are not needed any more
}

// extend writes a directory to which entries come, in the place of the one that was, or elsewhere.
func extend(to, was []dyngraph.VertexID, come []*change, elsewhere bool) {
	more := len(come) // entries that come before the end at hand
	for k, r := len(to), len(was); k > 0 && (more > 0 || elsewhere); k -= 2 {
		kind, end := uint32(0), dyngraph.VertexID(0)
		if r > 0 {
			kind, end = uint32(was[r-2]), was[r-1]
		}
		last := more - 1
		if last >= 0 && (r == 0 || come[last].kind > kind) {
			kind, end = come[last].kind, end&^stagedEnd
		} else {
			r -= 2
		}
		end += dyngraph.VertexID(more)
		if last >= 0 && come[last].kind == kind {
			mark(&end, come[last].ent)
			for more > 0 && come[more-1].kind == kind {
				more--
			}
		}
		to[k-2], to[k-1] = dyngraph.VertexID(kind), end
	}
}

// move gives a block a new place, with room for entries and kinds. They are not written.
func (a *Index) move(h *block, n, kinds uint32) {
	a.free += int(h.capacity + 2*h.kindCapacity)
	h.resize(n, kinds)
	h.start = h.align(len(a.Nbr))
	more := h.start + int(h.capacity+2*h.kindCapacity) - len(a.Nbr)
	a.Nbr = append(a.Nbr, make([]dyngraph.VertexID, more)...)
	a.Ent = append(a.Ent, make([]dyngraph.Entry, more)...)
}

// shrink frees what a block does not need any more, once that is three quarters of its capacity: vertex ids are used
// again, and each would keep the room of the largest of its vertices.
func (a *Index) shrink(h *block) {
	if 4*h.n >= h.capacity {
		return
	}
	before := h.capacity + 2*h.kindCapacity
	if h.n == 0 {
		h.capacity, h.kindCapacity = 0, 0
	} else {
		h.capacity = capacityFor(h.n)
	}
	a.free += int(before - h.capacity - 2*h.kindCapacity)
}

// settle makes a staged entry one of the graph and clears the staged mark of its kind. No entry was removed since the
// change was applied, so the entry is at the change's index or behind parallel ones.
func (a *Index) settle(c *change) {
	h := &a.blocks[c.v]
	ent := a.Ent[h.start+2*int(h.kindCapacity)+int(c.at):]
	at := 0
	for ent[at].Index() != c.ent.Index() {
		at++
	}
	ent[at] = c.ent
	pairs := a.Nbr[h.start : h.start+2*int(h.kinds)]
	mark(&pairs[2*searchKind(pairs, c.kind)+1], c.ent)
}

// mark sets the mark of a kind's end as the entry is staged or not. All marks of a batch change together.
func mark(end *dyngraph.VertexID, e dyngraph.Entry) {
	*end &^= stagedEnd
	if e.Staged() {
		*end |= stagedEnd
	}
}

// resize sets the numbers of entries and kinds, and spare capacity. An empty block has no capacity.
func (h *block) resize(n, pairs uint32) {
	h.n, h.kinds = n, pairs
	if n > 0 {
		h.capacity, h.kindCapacity = capacityFor(n), pairs+pairs/8
	}
}

// capacityFor is the capacity of a block of n entries.
func capacityFor(n uint32) uint32 { return n + n/8 + 2 }

// lineSlots is the number of slots of one array per cache line.
const lineSlots = 16

// align returns where the block starts when the slots before at are taken: at the next cache line if its directory
// would straddle two.
func (h *block) align(at int) int {
	if in := at % lineSlots; in+min(2*int(h.kindCapacity), lineSlots) > lineSlots {
		at += lineSlots - in
	}
	return at
}

// pack lays out all blocks without gaps between them.
func (a *Index) pack() {
	nbr, ent := a.Nbr, a.Ent
	total := 0
	for v := range a.blocks {
		h := &a.blocks[v]
		total = h.align(total) + int(h.capacity+2*h.kindCapacity)
	}
	a.Nbr, a.Ent, a.free = make([]dyngraph.VertexID, total), make([]dyngraph.Entry, total), 0
	at := 0
	for v := range a.blocks {
		h := &a.blocks[v]
		size := int(h.capacity + 2*h.kindCapacity)
		at = h.align(at)
		copy(a.Nbr[at:], nbr[h.start:h.start+size])
		copy(a.Ent[at:], ent[h.start:h.start+size])
		h.start = at
		at += size
	}
}
