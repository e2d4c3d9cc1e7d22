package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// stage enters the net edges of a staged batch.
func (a *adjacency) stage(d *dyngraph.Delta) {
	if n := int(a.g.IDBound()); n > len(a.heads) {
		a.heads = append(a.heads, make([]adjacencyHead, n-len(a.heads))...)
	}
	a.change(d, true, func(n *dyngraph.NetEdge) adjacencyOp {
		if n.Sign == dyngraph.Inserted {
			return addEntry
		}
		return markEntry
	})
}

// end takes the marks away, and with them the entries that are no longer in the graph.
func (a *adjacency) end(d *dyngraph.Delta, committed bool) {
	a.change(d, false, func(n *dyngraph.NetEdge) adjacencyOp {
		if (n.Sign == dyngraph.Inserted) != committed {
			return removeEntry
		}
		return markEntry
	})
	if 2*a.free > len(a.nbr) {
		a.pack()
	}
}

// change does the same to both entries of every net edge.
func (a *adjacency) change(d *dyngraph.Delta, staged bool, what func(*dyngraph.NetEdge) adjacencyOp) {
	a.changes = a.changes[:0]
	view := a.g.View(dyngraph.New)
	in := dyngraph.Out
	if a.g.Directed() {
		in = dyngraph.In
	}
	for i := range d.Net {
		n := &d.Net[i]
		op, ent := what(n), dyngraph.EntryOf(n.Edge, staged)
		a.changes = append(a.changes,
			adjacencyChange{n.From, adjacencyEntry{a.kind(dyngraph.Out, n.Label, view.Label(n.To)), n.To, ent}, op},
			adjacencyChange{n.To, adjacencyEntry{a.kind(in, n.Label, view.Label(n.From)), n.From, ent}, op})
		a.heads[n.From].staged, a.heads[n.To].staged = staged, staged
	}
	slices.SortFunc(a.changes, func(x, y adjacencyChange) int {
		if x.v != y.v {
			return cmp.Compare(x.v, y.v)
		}
		return cmp.Or(compareEntries(&x.adjacencyEntry, &y.adjacencyEntry), cmp.Compare(x.what, y.what))
	})
	for from := 0; from < len(a.changes); {
		to := from + 1
		for to < len(a.changes) && a.changes[to].v == a.changes[from].v {
			to++
		}
		a.apply(a.changes[from:to])
		from = to
	}
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
		for end := int(pairs[k+1]); i < end; i++ {
			e := adjacencyEntry{uint32(pairs[k]), a.nbr[base+i], a.ent[base+i]}
			for next < len(changes) && changes[next].what == addEntry && compareEntries(&changes[next].adjacencyEntry, &e) < 0 {
				a.scratch = append(a.scratch, changes[next].adjacencyEntry)
				next++
			}
			if next < len(changes) && changes[next].what != addEntry && changes[next].ent.Index() == e.ent.Index() {
				if changes[next].what == markEntry {
					a.scratch = append(a.scratch, changes[next].adjacencyEntry)
				}
				next++
				continue
			}
			a.scratch = append(a.scratch, e)
		}
	}
	for ; next < len(changes); next++ {
		a.scratch = append(a.scratch, changes[next].adjacencyEntry)
	}
	a.write(h)
}

// inPlace makes one change without writing the whole block, if it has room and the kind is there and remains.
func (a *adjacency) inPlace(h *adjacencyHead, c *adjacencyChange) bool {
	pairs := a.nbr[h.at : h.at+2*int(h.pairs)]
	kind := 2 * searchKind(pairs, c.kind)
	if kind == len(pairs) || uint32(pairs[kind]) != c.kind {
		return false
	}
	from, to := 0, int(pairs[kind+1])
	if kind > 0 {
		from = int(pairs[kind-1])
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
	shift := uint32(1) // modulo 2^32
	switch c.what {
	case markEntry:
		ent[at] = c.ent
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
	h.n += shift
	for k := kind; k < len(pairs); k += 2 {
		pairs[k+1] += dyngraph.VertexID(shift)
	}
	return true
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
		h.at, h.room, h.width = len(a.nbr), n+n/8+2, pairs+pairs/8
		more := int(h.room + 2*h.width)
		a.nbr = append(a.nbr, make([]dyngraph.VertexID, more)...)
		a.ent = append(a.ent, make([]dyngraph.Entry, more)...)
	}
	h.n, h.pairs = n, pairs
	at, base := h.at-2, h.at+2*int(h.width)
	for i, e := range a.scratch {
		if i == 0 || e.kind != a.scratch[i-1].kind {
			at += 2
			a.nbr[at] = dyngraph.VertexID(e.kind)
		}
		a.nbr[at+1] = dyngraph.VertexID(i + 1)
		a.nbr[base+i], a.ent[base+i] = e.nbr, e.ent
	}
}

// pack lays all blocks out anew.
func (a *adjacency) pack() {
	nbr, ent := a.nbr, a.ent
	total := 0
	for v := range a.heads {
		total += int(a.heads[v].room + 2*a.heads[v].width)
	}
	a.nbr, a.ent, a.free = make([]dyngraph.VertexID, total), make([]dyngraph.Entry, total), 0
	at := 0
	for v := range a.heads {
		h := &a.heads[v]
		size := int(h.room + 2*h.width)
		copy(a.nbr[at:], nbr[h.at:h.at+size])
		copy(a.ent[at:], ent[h.at:h.at+size])
		h.at = at
		at += size
	}
}
