package cpu

import (
	"cmp"
	"math"
	"slices"

	"motifd/dyngraph"
)

// adjacency keeps the graph's entries once more, those of a vertex in one block by (direction, edge label, label of the
// neighbour, neighbour): what counting asks for is then a few neighbours side by side, where a range of the packed memory array
// is mostly neighbours of other labels (GSI section IV, which partitions by edge label only). Entries of a staged batch are
// in it as they are in the array: those inserted and those deleted, marked.
//
// It takes 8 bytes for each end of an edge and 12 for each kind of neighbour that a vertex has, and room to grow; it is kept while
// some query asks for counts.
type adjacency struct {
	g     *dyngraph.Graph
	heads []adjacencyHead // by vertex
	nbr   []dyngraph.VertexID
	ent   []dyngraph.Entry
	keys  []uint64 // of the kinds of a vertex, ascending
	ends  []uint32 // where each kind ends in the vertex's block
	// Slots of blocks that have moved, and of kinds; when they are half of all, blocks are packed anew.
	freeSlots, freeKinds int

	changes []adjacencyChange
	scratch []adjacencyEntry
}

type adjacencyHead struct {
	at, kindsAt      int // in nbr and ent, in keys and ends
	n, room          uint32
	kinds, kindsRoom uint32
	staged           bool // the staged batch has entries here
}

type adjacencyEntry struct {
	key uint64
	nbr dyngraph.VertexID
	ent dyngraph.Entry
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

// noKey is no kind's key.
const noKey = math.MaxUint64

// adjacencyKey is the key of the neighbours with a label on the other side of edges with a label.
func adjacencyKey(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint64 {
	return uint64(d)<<63 | uint64(edge)<<32 | uint64(nbr)
}

// newAdjacency reads the graph, with the staged batch if there is one.
func newAdjacency(g *dyngraph.Graph) *adjacency {
	a := &adjacency{g: g, heads: make([]adjacencyHead, g.IDBound())}
	view := g.View(dyngraph.New)
	var labels []dyngraph.LabelID
	for v := range a.heads {
		id := dyngraph.VertexID(v)
		a.scratch = a.scratch[:0]
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			labels = g.LabelsOf(id, d, labels[:0])
			for _, l := range labels {
				r := g.Range(id, d, l)
				for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
					for i, w := range nbrs {
						a.scratch = append(a.scratch, adjacencyEntry{adjacencyKey(d, l, view.Label(w)), w, ents[i]})
						a.heads[v].staged = a.heads[v].staged || ents[i].Staged()
					}
				}
			}
		}
		if len(a.scratch) > 0 {
			slices.SortFunc(a.scratch, compareEntries)
			a.write(&a.heads[v])
		}
	}
	return a
}

func compareEntries(a, b adjacencyEntry) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.nbr, b.nbr))
}

// of returns the neighbours of one kind, ascending, with their entries, and whether some might be staged.
func (a *adjacency) of(v dyngraph.VertexID, key uint64) (nbr []dyngraph.VertexID, ent []dyngraph.Entry, staged bool) {
	h := &a.heads[v]
	keys := a.keys[h.kindsAt : h.kindsAt+int(h.kinds)]
	i := 0
	if len(keys) > 16 {
		i, _ = slices.BinarySearch(keys, key)
	}
	for ; i < len(keys); i++ {
		if keys[i] < key {
			continue
		}
		if keys[i] > key {
			break
		}
		from, to := h.at, h.at+int(a.ends[h.kindsAt+i])
		if i > 0 {
			from += int(a.ends[h.kindsAt+i-1])
		}
		return a.nbr[from:to:to], a.ent[from:to:to], h.staged
	}
	return nil, nil, false
}

// stage enters the net edges of a staged batch.
func (a *adjacency) stage(d *dyngraph.Delta) {
	if n := int(a.g.IDBound()); n > len(a.heads) {
		a.heads = append(a.heads, make([]adjacencyHead, n-len(a.heads))...)
	}
	a.change(d, func(n *dyngraph.NetEdge) (adjacencyOp, bool) {
		if n.Sign == dyngraph.Inserted {
			return addEntry, true
		}
		return markEntry, true
	})
	a.setStaged(d, true)
}

// end takes the marks away, and with them the entries that are no longer in the graph.
func (a *adjacency) end(d *dyngraph.Delta, committed bool) {
	a.change(d, func(n *dyngraph.NetEdge) (adjacencyOp, bool) {
		if (n.Sign == dyngraph.Inserted) != committed {
			return removeEntry, false
		}
		return markEntry, false
	})
	a.setStaged(d, false)
	if 2*a.freeSlots > len(a.nbr) || 2*a.freeKinds > len(a.keys) {
		a.pack()
	}
}

func (a *adjacency) setStaged(d *dyngraph.Delta, staged bool) {
	for i := range d.Net {
		a.heads[d.Net[i].From].staged, a.heads[d.Net[i].To].staged = staged, staged
	}
}

// change does the same to both entries of every net edge.
func (a *adjacency) change(d *dyngraph.Delta, what func(*dyngraph.NetEdge) (op adjacencyOp, staged bool)) {
	a.changes = a.changes[:0]
	view := a.g.View(dyngraph.New)
	in := dyngraph.Out
	if a.g.Directed() {
		in = dyngraph.In
	}
	for i := range d.Net {
		n := &d.Net[i]
		op, staged := what(n)
		ent := dyngraph.EntryOf(n.Edge, staged)
		a.changes = append(a.changes,
			adjacencyChange{n.From, adjacencyEntry{adjacencyKey(dyngraph.Out, n.Label, view.Label(n.To)), n.To, ent}, op},
			adjacencyChange{n.To, adjacencyEntry{adjacencyKey(in, n.Label, view.Label(n.From)), n.From, ent}, op})
	}
	slices.SortFunc(a.changes, func(x, y adjacencyChange) int {
		return cmp.Or(cmp.Compare(x.v, y.v), compareEntries(x.adjacencyEntry, y.adjacencyEntry), cmp.Compare(x.what, y.what))
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
	i := uint32(0)
	entry := func(kind int) adjacencyEntry {
		at := h.at + int(i)
		return adjacencyEntry{a.keys[h.kindsAt+kind], a.nbr[at], a.ent[at]}
	}
	next := 0
	for kind := range int(h.kinds) {
		for end := a.ends[h.kindsAt+kind]; i < end; i++ {
			e := entry(kind)
			for next < len(changes) && changes[next].what == addEntry && compareEntries(changes[next].adjacencyEntry, e) < 0 {
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
	keys, ends := a.keys[h.kindsAt:h.kindsAt+int(h.kinds)], a.ends[h.kindsAt:h.kindsAt+int(h.kinds)]
	kind, ok := slices.BinarySearch(keys, c.key)
	if !ok {
		return false
	}
	from, to := 0, int(ends[kind])
	if kind > 0 {
		from = int(ends[kind-1])
	}
	nbr, ent := a.nbr[h.at:h.at+int(h.room)], a.ent[h.at:h.at+int(h.room)]
	at, _ := slices.BinarySearch(nbr[from:to], c.nbr)
	at += from
	shift := uint32(1) // modulo 2^32
	switch c.what {
	case markEntry:
		for ent[at].Index() != c.ent.Index() {
			at++
		}
		ent[at] = c.ent
		return true
	case addEntry:
		if h.n == h.room {
			return false
		}
		copy(nbr[at+1:h.n+1], nbr[at:h.n])
		copy(ent[at+1:h.n+1], ent[at:h.n])
		nbr[at], ent[at] = c.nbr, c.ent
	case removeEntry:
		if to-from == 1 {
			return false
		}
		for ent[at].Index() != c.ent.Index() {
			at++
		}
		copy(nbr[at:], nbr[at+1:h.n])
		copy(ent[at:], ent[at+1:h.n])
		shift = -shift
	}
	h.n += shift
	for k := kind; k < len(ends); k++ {
		ends[k] += shift
	}
	return true
}

// write makes the scratch, which is in order, the block of a vertex.
func (a *adjacency) write(h *adjacencyHead) {
	kinds := uint32(0)
	for i := range a.scratch {
		if i == 0 || a.scratch[i].key != a.scratch[i-1].key {
			kinds++
		}
	}
	n := uint32(len(a.scratch))
	if n > h.room {
		a.freeSlots += int(h.room)
		h.at, h.room = len(a.nbr), n+n/8+2
		a.nbr = append(a.nbr, make([]dyngraph.VertexID, h.room)...)
		a.ent = append(a.ent, make([]dyngraph.Entry, h.room)...)
	}
	if kinds > h.kindsRoom {
		a.freeKinds += int(h.kindsRoom)
		h.kindsAt, h.kindsRoom = len(a.keys), kinds+kinds/8+1
		a.keys = append(a.keys, make([]uint64, h.kindsRoom)...)
		a.ends = append(a.ends, make([]uint32, h.kindsRoom)...)
	}
	h.n, h.kinds = n, kinds
	k := -1
	for i, e := range a.scratch {
		if i == 0 || e.key != a.scratch[i-1].key {
			k++
			a.keys[h.kindsAt+k] = e.key
		}
		a.ends[h.kindsAt+k] = uint32(i + 1)
		a.nbr[h.at+i], a.ent[h.at+i] = e.nbr, e.ent
	}
}

// pack lays all blocks out anew, with little room to grow.
func (a *adjacency) pack() {
	nbr, ent, keys, ends := a.nbr, a.ent, a.keys, a.ends
	a.nbr, a.ent, a.keys, a.ends, a.freeSlots, a.freeKinds = nil, nil, nil, nil, 0, 0
	for v := range a.heads {
		h := &a.heads[v]
		at, kindsAt := h.at, h.kindsAt
		h.at, h.room = len(a.nbr), h.n+h.n/8
		a.nbr = append(append(a.nbr, nbr[at:at+int(h.n)]...), make([]dyngraph.VertexID, h.room-h.n)...)
		a.ent = append(append(a.ent, ent[at:at+int(h.n)]...), make([]dyngraph.Entry, h.room-h.n)...)
		h.kindsAt, h.kindsRoom = len(a.keys), h.kinds
		a.keys = append(a.keys, keys[kindsAt:kindsAt+int(h.kinds)]...)
		a.ends = append(a.ends, ends[kindsAt:kindsAt+int(h.kinds)]...)
	}
}
