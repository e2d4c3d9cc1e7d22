package cpu

import (
	"slices"

	"motifd/dyngraph"
)

// An adjacency follows the graph when it is asked for, since batches may pass that nobody counts in, or that another backend counts in.
// What they changed is listed, batch by batch, and made before the next count.

// catchUp makes the changes that are late, and enters the net edges of the staged batch, if there is one.
func (a *adjacency) catchUp(d *dyngraph.Delta) {
	a.grow()
	if len(a.late) == 0 && (d == nil || a.staged) {
		return
	}
	from := 0
	for _, to := range a.batches {
		a.change(a.late[from:to])
		from = to
	}
	a.late, a.batches, a.ended = a.late[:0], a.batches[:0], 0
	if d != nil && !a.staged {
		a.staged = true
		a.list(d, true, func(n *dyngraph.NetEdge) adjacencyOp {
			if n.Sign == dyngraph.Inserted {
				return addEntry
			}
			return markEntry
		})
		a.change(a.late)
		a.late = a.late[:0]
	}
	if 2*a.free > len(a.nbr) {
		a.pack()
	}
}

// end lists what the end of a batch changes: marks go, and with them the entries that are no longer in the graph; of a batch that was
// never entered, all that it did. It answers false when that is so much that to read the graph anew takes less.
func (a *adjacency) end(d *dyngraph.Delta, committed bool) bool {
	switch {
	case a.staged:
		a.list(d, false, func(n *dyngraph.NetEdge) adjacencyOp {
			if (n.Sign == dyngraph.Inserted) != committed {
				return removeEntry
			}
			return markEntry
		})
		a.ended += 2 * len(d.Net)
	case committed:
		a.list(d, false, func(n *dyngraph.NetEdge) adjacencyOp {
			if n.Sign == dyngraph.Inserted {
				return addEntry
			}
			return removeEntry
		})
	}
	a.staged = false
	if n := len(a.batches); len(a.late) > 0 && (n == 0 || a.batches[n-1] < len(a.late)) {
		a.batches = append(a.batches, len(a.late))
	}
	return len(a.late) <= a.g.Edges()/lateShare+minLate
}

// A change takes some ten times as long as an entry that is read, and a graph has twice as many entries as edges.
const (
	lateShare = 4
	minLate   = 1 << 12
)

// list appends the changes of both entries of every net edge to those that are late.
func (a *adjacency) list(d *dyngraph.Delta, staged bool, what func(*dyngraph.NetEdge) adjacencyOp) {
	view := a.g.View(dyngraph.New)
	in := dyngraph.Out
	if a.g.Directed() {
		in = dyngraph.In
	}
	a.late = slices.Grow(a.late, 2*len(d.Net))
	a.grow() // ids may be fewer when the changes are made
	for i := range d.Net {
		n := &d.Net[i]
		op, ent := what(n), dyngraph.EntryOf(n.Edge, staged)
		a.late = append(a.late,
			adjacencyChange{n.From, adjacencyEntry{a.kind(dyngraph.Out, n.Label, view.Label(n.To)), n.To, ent}, op},
			adjacencyChange{n.To, adjacencyEntry{a.kind(in, n.Label, view.Label(n.From)), n.From, ent}, op})
	}
}

// grow makes room for all ids of the graph.
func (a *adjacency) grow() {
	if n := int(a.g.IDBound()); n > len(a.heads) {
		a.heads = append(a.heads, make([]adjacencyHead, n-len(a.heads))...)
	}
}
