package labeladj

import (
	"slices"

	"motifd/dyngraph"
)

// The index follows the graph lazily: a batch may pass without a count on this backend. Changes of such batches are
// listed and applied before the next count.

// CatchUp applies the pending changes and, if d is not nil, those of the staged batch d.
func (a *Index) CatchUp(d *dyngraph.Delta) {
	a.grow()
	if len(a.pending) == 0 && (d == nil || a.staged) {
		return
	}
	from := 0
	for _, to := range a.pendingEnds {
		a.sortAndApply(a.pending[from:to])
		from = to
	}
	a.pending, a.pendingEnds = a.pending[:0], a.pendingEnds[:0]
	if d != nil && !a.staged {
		a.staged = true
		a.stagedChanges = a.list(a.stagedChanges[:0], d, true, func(n *dyngraph.NetEdge) operation {
			switch {
			case n.Replaced:
				return keepEntry
			case n.Sign == dyngraph.Inserted:
				return addEntry
			}
			return markEntry
		})
		a.sortAndApply(a.stagedChanges)
	}
	if 2*a.free > len(a.Nbr)+len(a.blocks) { // pack looks at all of both
		a.pack()
	}
}

// End ends the staged batch d, before the graph does. A batch that is in the index loses its marks, and the entries
// that it removed or that were not committed are removed. The changes of a committed batch that is not in the index
// become pending. End reports false when reading the graph again is faster than the pending changes; the caller
// then drops the index.
func (a *Index) End(d *dyngraph.Delta, committed bool) bool {
	switch {
	case a.staged && len(a.stagedChanges) > 0:
		a.endStaged(committed)
		return true
	case a.staged: // the batch was read with the graph
		a.staged = false
		a.sortAndApply(a.list(nil, d, false, func(n *dyngraph.NetEdge) operation {
			switch {
			case n.Replaced:
				return keepEntry
			case (n.Sign == dyngraph.Inserted) != committed:
				return removeEntry
			}
			return markEntry
		}))
		return true
	case !committed:
		return true
	}
	a.pending = a.list(a.pending, d, false, func(n *dyngraph.NetEdge) operation {
		switch {
		case n.Replaced:
			return noOperation
		case n.Sign == dyngraph.Inserted:
			return addEntry
		}
		return removeEntry
	})
	if n := len(a.pendingEnds); len(a.pending) > 0 && (n == 0 || a.pendingEnds[n-1] < len(a.pending)) {
		a.pendingEnds = append(a.pendingEnds, len(a.pending))
	}
	return len(a.pending) <= a.g.Edges()/pendingShare+minPending
}

// endStaged ends a batch whose changes are known. They are sorted, and their indexes hold until an entry is removed.
func (a *Index) endStaged(committed bool) {
	gone := a.stagedChanges[:0]
	for i := range a.stagedChanges {
		c := a.stagedChanges[i]
		c.ent = dyngraph.EntryOf(c.ent.Index(), false)
		if c.op == keepEntry || (c.op == addEntry) == committed {
			a.settle(&c)
			continue
		}
		c.op = removeEntry
		gone = append(gone, c)
	}
	a.apply(gone)
	a.staged, a.stagedChanges = false, a.stagedChanges[:0]
	if cap(a.stagedChanges) > maxKept {
		a.stagedChanges = nil
	}
}

// maxKept is the number of staged changes whose memory is kept between batches.
const maxKept = 1 << 16

// Pending changes are worth applying up to minPending plus the number of edges divided by pendingShare: a change takes
// about ten times as long as reading an entry, and a graph has two entries for each edge.
const (
	pendingShare = 4
	minPending   = 1 << 12
)

// list appends the changes of both entries of every net edge of a batch; of a replaced edge, which keeps its entries,
// once.
func (a *Index) list(to []change, d *dyngraph.Delta, staged bool, opOf func(*dyngraph.NetEdge) operation) []change {
	in := dyngraph.Out
	if a.g.Directed() {
		in = dyngraph.In
	}
	to = slices.Grow(to, 2*len(d.Net))
	a.grow() // the graph may have fewer ids when the changes are applied
	for i := range d.Net {
		n := &d.Net[i]
		op, ent := opOf(n), dyngraph.EntryOf(n.Edge, staged)
		if op == noOperation || n.Vertex || n.Replaced && n.Sign == dyngraph.Inserted {
			continue
		}
		to = append(to,
			change{v: n.From, entry: entry{a.kind(dyngraph.Out, n.Label, n.Labels[1]), n.To, ent}, op: op},
			change{v: n.To, entry: entry{a.kind(in, n.Label, n.Labels[0]), n.From, ent}, op: op})
		if len(a.wildcards) > 0 {
			to = a.listWildcards(to, n, in, n.Labels[0], n.Labels[1], op, ent)
		}
	}
	return to
}

// grow extends the index to all ids of the graph.
func (a *Index) grow() {
	if n := int(a.g.IDBound()); n > len(a.blocks) {
		a.blocks = append(a.blocks, make([]block, n-len(a.blocks))...)
	}
}
