package cpu

import (
	"slices"

	"motifd/dyngraph"
)

// An adjacency follows the graph when it is asked for, since batches may pass that nobody counts in, or that another
// backend counts in. What they changed is listed, batch by batch, and made before the next count.

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
	a.late, a.batches = a.late[:0], a.batches[:0]
	if d != nil && !a.staged {
		a.staged = true
		a.entered = a.list(a.entered[:0], d, true, func(n *dyngraph.NetEdge) adjacencyOp {
			if n.Sign == dyngraph.Inserted {
				return addEntry
			}
			return markEntry
		})
		a.change(a.entered)
	}
	if 2*a.free > len(a.nbr) {
		a.pack()
	}
}

// end ends the staged batch. If it is in it, marks go, and with them the entries that are no longer in the graph; if it
// never was, what it changed is listed. It answers false when that is so much that to read the graph anew takes less.
func (a *adjacency) end(d *dyngraph.Delta, committed bool) bool {
	switch {
	case a.staged && len(a.entered) > 0:
		a.leave(committed)
		return true
	case a.staged: // it was read with the graph
		a.staged = false
		a.change(a.list(nil, d, false, func(n *dyngraph.NetEdge) adjacencyOp {
			if (n.Sign == dyngraph.Inserted) != committed {
				return removeEntry
			}
			return markEntry
		}))
		return true
	case !committed:
		return true
	}
	a.late = a.list(a.late, d, false, func(n *dyngraph.NetEdge) adjacencyOp {
		if n.Sign == dyngraph.Inserted {
			return addEntry
		}
		return removeEntry
	})
	if n := len(a.batches); len(a.late) > 0 && (n == 0 || a.batches[n-1] < len(a.late)) {
		a.batches = append(a.batches, len(a.late))
	}
	return len(a.late) <= a.g.Edges()/lateShare+minLate
}

// leave ends the batch that is in it. What it has changed is in order, and known by place until something is removed.
func (a *adjacency) leave(committed bool) {
	gone := a.entered[:0]
	for i := range a.entered {
		if i+ahead <= len(a.entered) && i%ahead == 0 {
			a.warm(a.entered[i : i+ahead])
		}
		c := a.entered[i]
		c.ent = dyngraph.EntryOf(c.ent.Index(), false)
		if (c.what == addEntry) == committed {
			a.unmark(&c)
			continue
		}
		c.what = removeEntry
		gone = append(gone, c)
	}
	a.make(gone)
	a.staged, a.entered = false, a.entered[:0]
	if cap(a.entered) > maxEntered {
		a.entered = nil
	}
}

// maxEntered bounds the changes whose memory is kept.
const maxEntered = 1 << 16

// A change takes some ten times as long as an entry that is read, and a graph has twice as many entries as edges.
const (
	lateShare = 4
	minLate   = 1 << 12
)

// list appends the changes of both entries of every net edge.
func (a *adjacency) list(to []adjacencyChange, d *dyngraph.Delta, staged bool, what func(*dyngraph.NetEdge) adjacencyOp) []adjacencyChange {
	view := a.g.View(dyngraph.New)
	in := dyngraph.Out
	if a.g.Directed() {
		in = dyngraph.In
	}
	to = slices.Grow(to, 2*len(d.Net))
	a.grow() // ids may be fewer when the changes are made
	for i := range d.Net {
		n := &d.Net[i]
		op, ent := what(n), dyngraph.EntryOf(n.Edge, staged)
		to = append(to,
			adjacencyChange{v: n.From, adjacencyEntry: adjacencyEntry{a.kind(dyngraph.Out, n.Label, view.Label(n.To)), n.To, ent}, what: op},
			adjacencyChange{v: n.To, adjacencyEntry: adjacencyEntry{a.kind(in, n.Label, view.Label(n.From)), n.From, ent}, what: op})
		if len(a.wide) > 0 {
			to = a.listWide(to, n, in, view.Label(n.From), view.Label(n.To), op, ent)
		}
	}
	return to
}

// grow makes room for all ids of the graph.
func (a *adjacency) grow() {
	if n := int(a.g.IDBound()); n > len(a.heads) {
		a.heads = append(a.heads, make([]adjacencyHead, n-len(a.heads))...)
	}
}
