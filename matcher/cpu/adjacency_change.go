package cpu

import (
	"slices"

	"motifd/dyngraph"
)

// change makes changes of one batch, and puts them in order.
func (a *adjacency) change(changes []adjacencyChange) {
	a.sorter.sort(changes, len(a.heads))
	a.make(changes)
}

// make makes changes that are in order.
func (a *adjacency) make(changes []adjacencyChange) {
	warm := 0
	for from := 0; from < len(changes); {
		if from >= warm {
			warm = min(from+ahead, len(changes))
			a.warm(changes[from:warm])
		}
		to := from + 1
		for to < len(changes) && changes[to].v == changes[from].v {
			to++
		}
		a.apply(changes[from:to])
		from = to
	}
}

// warm reads the blocks ahead that changes concern: heads, then what these lead to, so that the reads of a step overlap.
func (a *adjacency) warm(changes []adjacencyChange) {
	sum := uint64(0)
	for i := range changes {
		sum += uint64(a.heads[changes[i].v].n)
	}
	for i := range changes {
		h := &a.heads[changes[i].v]
		if h.n == 0 {
			continue
		}
		base := h.at + 2*int(h.width)
		mid, last := base+int(h.n)/2, base+int(h.n)-1
		sum += uint64(a.nbr[h.at]) + uint64(a.nbr[mid]) + uint64(a.nbr[last]) + uint64(a.ent[mid]) + uint64(a.ent[last])
	}
	a.warmth += sum
}

// apply makes the changes of one vertex, in the order of its entries.
func (a *adjacency) apply(changes []adjacencyChange) {
	h := &a.heads[changes[0].v]
	for len(changes) > 0 && a.inPlace(h, &changes[0]) {
		changes = changes[1:]
	}
	if len(changes) == 0 {
		return
	}
	a.scratch = a.scratch[:0]
	pairs, base := a.nbr[h.at:h.at+2*int(h.pairs)], h.at+2*int(h.width)
	next, i := 0, 0
	for k := 0; k < len(pairs); k += 2 {
		for to := end(pairs[k+1]); i < to; i++ {
			e := adjacencyEntry{uint32(pairs[k]), a.nbr[base+i], a.ent[base+i]}
			for next < len(changes) && changes[next].what == addEntry && compareEntries(&changes[next].adjacencyEntry, &e) < 0 {
				a.rewrite(&changes[next])
				next++
			}
			if concerns(changes[next:], &e) {
				if changes[next].what == markEntry {
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
func (a *adjacency) rewrite(c *adjacencyChange) {
	c.at = uint32(len(a.scratch))
	a.scratch = append(a.scratch, c.adjacencyEntry)
}

// concerns reports whether one of the next changes marks or removes an entry, and makes it the first: those of parallel edges come in
// any order.
func concerns(changes []adjacencyChange, e *adjacencyEntry) bool {
	for i := range changes {
		c := &changes[i]
		if c.what == addEntry || compareEntries(&c.adjacencyEntry, e) != 0 {
			break
		}
		if c.ent.Index() == e.ent.Index() {
			changes[0], *c = *c, changes[0]
			return true
		}
	}
	return false
}

// inPlace makes one change without writing the whole block, if it has room and the kind is there and remains.
func (a *adjacency) inPlace(h *adjacencyHead, c *adjacencyChange) bool {
	pairs := a.nbr[h.at : h.at+2*int(h.pairs)]
	kind := 2 * searchKind(pairs, c.kind)
	if kind == len(pairs) || uint32(pairs[kind]) != c.kind {
		return false
	}
	from, to := 0, end(pairs[kind+1])
	if kind > 0 {
		from = end(pairs[kind-1])
	}
	base, n := h.at+2*int(h.width), int(h.n)
	nbr, ent := a.nbr[base:base+int(h.room)], a.ent[base:base+int(h.room)]
	at, _ := slices.BinarySearch(nbr[from:to], c.nbr)
	at += from
	if c.what != addEntry {
		for ent[at].Index() != c.ent.Index() {
			at++
		}
	}
	c.at = uint32(at)
	shift := uint32(1) // modulo 2^32
	switch c.what {
	case markEntry:
		ent[at] = c.ent
		mark(&pairs[kind+1], c.ent)
		return true
	case addEntry:
		if h.n == h.room {
			return false
		}
		copy(nbr[at+1:n+1], nbr[at:n])
		copy(ent[at+1:n+1], ent[at:n])
		nbr[at], ent[at] = c.nbr, c.ent
	case removeEntry:
		if to-from == 1 {
			return false
		}
		copy(nbr[at:], nbr[at+1:n])
		copy(ent[at:], ent[at+1:n])
		shift = -shift
	}
	mark(&pairs[kind+1], c.ent)
	h.n += shift
	for k := kind; k < len(pairs); k += 2 {
		pairs[k+1] += dyngraph.VertexID(shift)
	}
	return true
}

// unmark makes an entry of the staged batch one of the graph, and no entry of its kind staged. Nothing was removed since it was entered, so
// that it is where it was then, or behind parallel ones.
func (a *adjacency) unmark(c *adjacencyChange) {
	h := &a.heads[c.v]
	ent := a.ent[h.at+2*int(h.width)+int(c.at):]
	at := 0
	for ent[at].Index() != c.ent.Index() {
		at++
	}
	ent[at] = c.ent
	pairs := a.nbr[h.at : h.at+2*int(h.pairs)]
	mark(&pairs[2*searchKind(pairs, c.kind)+1], c.ent)
}

// mark marks the end of entries while one of them is staged. All marks of a batch go together.
func mark(end *dyngraph.VertexID, e dyngraph.Entry) {
	*end &^= stagedEnd
	if e.Staged() {
		*end |= stagedEnd
	}
}

// write makes the scratch, which is in order, the block of a vertex.
func (a *adjacency) write(h *adjacencyHead) {
	pairs, n := uint32(0), uint32(len(a.scratch))
	for i := range a.scratch {
		if i == 0 || a.scratch[i].kind != a.scratch[i-1].kind {
			pairs++
		}
	}
	if n > h.room || pairs > h.width {
		a.free += int(h.room + 2*h.width)
		h.resize(n, pairs)
		h.at = h.place(len(a.nbr))
		more := h.at + int(h.room+2*h.width) - len(a.nbr)
		a.nbr = append(a.nbr, make([]dyngraph.VertexID, more)...)
		a.ent = append(a.ent, make([]dyngraph.Entry, more)...)
	}
	h.n, h.pairs = n, pairs
	at, base := h.at-2, h.at+2*int(h.width)
	for i, e := range a.scratch {
		if i == 0 || e.kind != a.scratch[i-1].kind {
			at += 2
			a.nbr[at], a.nbr[at+1] = dyngraph.VertexID(e.kind), 0
		}
		a.nbr[at+1] = a.nbr[at+1]&stagedEnd | dyngraph.VertexID(i+1)
		if e.ent.Staged() {
			a.nbr[at+1] |= stagedEnd
		}
		a.nbr[base+i], a.ent[base+i] = e.nbr, e.ent
	}
}

// resize is told how many entries and kinds there are, and makes room for a few more. An empty block has none.
func (h *adjacencyHead) resize(n, pairs uint32) {
	h.n, h.pairs = n, pairs
	if n > 0 {
		h.room, h.width = n+n/8+2, pairs+pairs/8
	}
}

// lineSlots is how many slots of one array are in a cache line.
const lineSlots = 16

// place returns where the block begins when it is laid behind others: there, or in the next cache line if its pairs would be in
// two.
func (h *adjacencyHead) place(at int) int {
	if in := at % lineSlots; in+min(2*int(h.width), lineSlots) > lineSlots {
		at += lineSlots - in
	}
	return at
}

// pack lays all blocks out anew.
func (a *adjacency) pack() {
	nbr, ent := a.nbr, a.ent
	total := 0
	for v := range a.heads {
		h := &a.heads[v]
		total = h.place(total) + int(h.room+2*h.width)
	}
	a.nbr, a.ent, a.free = make([]dyngraph.VertexID, total), make([]dyngraph.Entry, total), 0
	at := 0
	for v := range a.heads {
		h := &a.heads[v]
		size := int(h.room + 2*h.width)
		at = h.place(at)
		copy(a.nbr[at:], nbr[h.at:h.at+size])
		copy(a.ent[at:], ent[h.at:h.at+size])
		h.at = at
		at += size
	}
}
