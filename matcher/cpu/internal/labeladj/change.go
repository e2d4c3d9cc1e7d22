package labeladj

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// sortAndApply applies the changes of one batch and leaves them sorted.
func (a *Index) sortAndApply(changes []change) {
	slices.SortFunc(changes, func(x, y change) int {
		if x.v != y.v {
			return cmp.Compare(x.v, y.v)
		}
		return cmp.Or(compareEntries(&x.entry, &y.entry), cmp.Compare(x.op, y.op))
	})
	a.apply(changes)
}

// apply applies sorted changes.
func (a *Index) apply(changes []change) {
	for from := 0; from < len(changes); {
		to := from + 1
		for to < len(changes) && changes[to].v == changes[from].v {
			to++
		}
		a.applyTo(changes[from:to])
		from = to
	}
}

// fewChanges is the number of changes of a block below which they are applied in place: one moves half of the entries,
// which is some thirty times as fast as to rewrite them all.
const fewChanges = 32

// applyTo applies the changes of one vertex, which are in the order of its entries.
func (a *Index) applyTo(changes []change) {
	h := &a.blocks[changes[0].v]
	inPlace := len(changes) < fewChanges || 4*len(changes) < int(h.n)
	for inPlace && len(changes) > 0 && a.applyInPlace(h, &changes[0]) {
		changes = changes[1:]
	}
	if len(changes) == 0 {
		return
	}
	a.scratch = a.scratch[:0]
	pairs, base := a.Nbr[h.start:h.start+2*int(h.kinds)], h.start+2*int(h.kindCapacity)
	next, i := 0, 0
	for k := 0; k < len(pairs); k += 2 {
		for to := endOf(pairs[k+1]); i < to; i++ {
			e := entry{uint32(pairs[k]), a.Nbr[base+i], a.Ent[base+i]}
			for next < len(changes) && changes[next].op == addEntry && compareEntries(&changes[next].entry, &e) < 0 {
				a.rewrite(&changes[next])
				next++
			}
			if meets(changes[next:], &e) {
				if changes[next].op != removeEntry {
					a.rewrite(&changes[next])
				}
				next++
				continue
			}
			a.scratch = append(a.scratch, e)
		}
	}
	for ; next < len(changes); next++ {
		a.rewrite(&changes[next])
	}
	a.write(h)
}

// rewrite appends a changed entry to the scratch.
func (a *Index) rewrite(c *change) {
	c.at = uint32(len(a.scratch))
	a.scratch = append(a.scratch, c.entry)
}

// meets reports whether one of the next changes marks or removes entry e, and swaps that change to the front. Changes
// of parallel edges come in any order.
func meets(changes []change, e *entry) bool {
	for i := range changes {
		c := &changes[i]
		if c.op == addEntry || compareEntries(&c.entry, e) != 0 {
			break
		}
		if c.ent.Index() == e.ent.Index() {
			changes[0], *c = *c, changes[0]
			return true
		}
	}
	return false
}

// applyInPlace applies one change without rewriting the block. It reports false when the block has no room for one more
// entry or kind.
func (a *Index) applyInPlace(h *block, c *change) bool {
	directory := a.Nbr[h.start : h.start+2*int(h.kindCapacity)]
	pairs := directory[:2*h.kinds]
	kind := 2 * searchKind(pairs, c.kind)
	from, to := 0, 0
	if kind > 0 {
		from = endOf(pairs[kind-1])
		to = from
	}
	isNew := kind == len(pairs) || uint32(pairs[kind]) != c.kind
	if !isNew {
		to = endOf(pairs[kind+1])
	}
	base, n := h.start+2*int(h.kindCapacity), int(h.n)
	nbr, ent := a.Nbr[base:base+int(h.capacity)], a.Ent[base:base+int(h.capacity)]
	at, _ := slices.BinarySearch(nbr[from:to], c.nbr)
	at += from
	if c.op != addEntry {
		for ent[at].Index() != c.ent.Index() {
			at++
		}
	}
	c.at = uint32(at)
	shift := uint32(1) // modulo 2^32
	switch c.op {
	case markEntry, keepEntry:
		ent[at] = c.ent
		mark(&pairs[kind+1], c.ent)
		return true
	case addEntry:
		if h.n == h.capacity || isNew && h.kinds == h.kindCapacity {
			return false
		}
		if isNew {
			h.kinds++
			pairs = directory[:2*h.kinds]
			copy(pairs[kind+2:], pairs[kind:])
			pairs[kind], pairs[kind+1] = dyngraph.VertexID(c.kind), dyngraph.VertexID(to)
		}
		copy(nbr[at+1:n+1], nbr[at:n])
		copy(ent[at+1:n+1], ent[at:n])
		nbr[at], ent[at] = c.nbr, c.ent
	case removeEntry:
		copy(nbr[at:], nbr[at+1:n])
		copy(ent[at:], ent[at+1:n])
		shift = -shift
	}
	mark(&pairs[kind+1], c.ent)
	if c.op == removeEntry && to-from == 1 {
		copy(pairs[kind:], pairs[kind+2:])
		h.kinds--
		pairs = pairs[:2*h.kinds]
	}
	h.n += shift
	for k := kind; k < len(pairs); k += 2 {
		pairs[k+1] += dyngraph.VertexID(shift)
	}
	if c.op == removeEntry {
		a.shrink(h)
	}
	return true
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

// write writes the sorted scratch as the block of a vertex.
func (a *Index) write(h *block) {
	pairs, n := uint32(0), uint32(len(a.scratch))
	for i := range a.scratch {
		if i == 0 || a.scratch[i].kind != a.scratch[i-1].kind {
			pairs++
		}
	}
	if n > h.capacity || pairs > h.kindCapacity {
		a.free += int(h.capacity + 2*h.kindCapacity)
		h.resize(n, pairs)
		h.start = h.align(len(a.Nbr))
		more := h.start + int(h.capacity+2*h.kindCapacity) - len(a.Nbr)
		a.Nbr = append(a.Nbr, make([]dyngraph.VertexID, more)...)
		a.Ent = append(a.Ent, make([]dyngraph.Entry, more)...)
	}
	h.n, h.kinds = n, pairs
	at, base := h.start-2, h.start+2*int(h.kindCapacity)
	for i, e := range a.scratch {
		if i == 0 || e.kind != a.scratch[i-1].kind {
			at += 2
			a.Nbr[at], a.Nbr[at+1] = dyngraph.VertexID(e.kind), 0
		}
		a.Nbr[at+1] = a.Nbr[at+1]&stagedEnd | dyngraph.VertexID(i+1)
		if e.ent.Staged() {
			a.Nbr[at+1] |= stagedEnd
		}
		a.Nbr[base+i], a.Ent[base+i] = e.nbr, e.ent
	}
	a.shrink(h)
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
