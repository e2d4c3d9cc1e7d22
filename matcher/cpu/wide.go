package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// wideKind is a kind of neighbours beside those of the adjacency: along edges of one direction or both, with one label
// or any, to vertices with one label or any. Some query counts pattern edges without a label or a direction; the
// neighbours that it asks for are kept side by side, too, parallel edges one after the other. Where no query does,
// there are no such kinds.
type wideKind struct {
	dirs      uint8 // bits of dyngraph.Dir
	edge, nbr dyngraph.LabelID
}

// anyWide and unknownWide are AnyLabel and UnknownLabel in the key of a wide kind. No graph has that many labels.
const (
	anyWide     = 1<<29 - 1
	unknownWide = 1<<29 - 2
)

// key returns the key of the kind in the adjacency, which no other kind has: see adjacencyKey.
func (w wideKind) key() uint64 {
	edge := uint64(w.edge)
	switch w.edge {
	case matcher.AnyLabel:
		edge = anyWide
	case matcher.UnknownLabel:
		edge = unknownWide
	}
	return uint64(w.dirs)<<61 | edge<<32 | uint64(w.nbr)
}

// takes reports whether edges of a direction and label are of the kind, if their neighbours are.
func (w *wideKind) takes(d dyngraph.Dir, edge dyngraph.LabelID) bool {
	return w.dirs>>d&1 != 0 && (w.edge == matcher.AnyLabel || w.edge == edge)
}

// admits reports whether neighbours of a label are of the kind.
func (w *wideKind) admits(nbr dyngraph.LabelID) bool {
	return w.nbr == matcher.AnyLabel || w.nbr == nbr
}

// number gives the wide kinds their numbers.
func (a *adjacency) numberWide() {
	for _, w := range a.wide {
		k, key := uint32(len(a.kinds)), w.key()
		a.kinds[key] = k
		a.wideKinds = append(a.wideKinds, k)
	}
}

// wideRanges calls f with the vertex's entries of each wide kind, not all of whose neighbours need be: those of a
// direction and edge label after the other.
func (r *adjacencyReader) wideRanges(
	v dyngraph.VertexID,
	f func(w *wideKind, kind uint32, nbr []dyngraph.VertexID, ent []dyngraph.Entry),
) {
	for i := range r.a.wide {
		w, kind := &r.a.wide[i], r.a.wideKinds[i]
		r.ranges(v, func(d dyngraph.Dir, edge dyngraph.LabelID, nbr []dyngraph.VertexID, ent []dyngraph.Entry) {
			if w.takes(d, edge) {
				f(w, kind, nbr, ent)
			}
		})
	}
}

// readWide counts the vertex's entries of the wide kinds.
func (r *adjacencyReader) readWide(v dyngraph.VertexID) (n int) {
	r.wideRanges(v, func(w *wideKind, kind uint32, nbr []dyngraph.VertexID, _ []dyngraph.Entry) {
		for _, u := range nbr {
			if !w.admits(r.view.Label(u)) {
				continue
			}
			if r.count[kind] == 0 {
				r.kinds = append(r.kinds, kind)
			}
			r.count[kind]++
			n++
		}
	})
	return n
}

// fillWide writes the vertex's entries of the wide kinds, whose places count tells, and puts them in order.
func (r *adjacencyReader) fillWide(v dyngraph.VertexID, pairs, nbrs []dyngraph.VertexID, ents []dyngraph.Entry) {
	r.wideRanges(v, func(w *wideKind, kind uint32, nbr []dyngraph.VertexID, ent []dyngraph.Entry) {
		for i, u := range nbr {
			if !w.admits(r.view.Label(u)) {
				continue
			}
			at := r.count[kind]
			r.count[kind]++
			nbrs[at], ents[at] = u, ent[i]
			if ent[i].Staged() {
				pair, _ := slices.BinarySearch(r.kinds, kind)
				pairs[2*pair+1] |= stagedEnd
			}
		}
	})
	for _, kind := range r.a.wideKinds {
		pair, ok := slices.BinarySearch(r.kinds, kind)
		if !ok {
			continue
		}
		from, to := 0, end(pairs[2*pair+1])
		if pair > 0 {
			from = end(pairs[2*pair-1])
		}
		r.scratch = r.scratch[:0]
		for i := from; i < to; i++ {
			r.scratch = append(r.scratch, adjacencyEntry{kind, nbrs[i], ents[i]})
		}
		slices.SortStableFunc(r.scratch, func(a, b adjacencyEntry) int { return cmp.Compare(a.nbr, b.nbr) })
		for i, e := range r.scratch {
			nbrs[from+i], ents[from+i] = e.nbr, e.ent
		}
	}
}

// listWide appends the changes of a net edge's entries of wide kinds: as its source sees it, and its target.
func (a *adjacency) listWide(
	to []adjacencyChange,
	n *dyngraph.NetEdge,
	in dyngraph.Dir,
	fromLabel, toLabel dyngraph.LabelID,
	op adjacencyOp,
	ent dyngraph.Entry,
) []adjacencyChange {
	for i := range a.wide {
		w, kind := &a.wide[i], a.wideKinds[i]
		if w.takes(dyngraph.Out, n.Label) && w.admits(toLabel) {
			to = append(to, adjacencyChange{v: n.From, adjacencyEntry: adjacencyEntry{kind, n.To, ent}, what: op})
		}
		if w.takes(in, n.Label) && w.admits(fromLabel) {
			to = append(to, adjacencyChange{v: n.To, adjacencyEntry: adjacencyEntry{kind, n.From, ent}, what: op})
		}
	}
	return to
}

// widen makes the adjacency have the wide kinds of a shape, from when it is asked for next.
func (b *Backend) widen(s *shape) {
	for _, w := range s.wide {
		if !slices.Contains(b.wide, w) {
			b.wide = append(b.wide, w)
		}
	}
}

// prepareWide drops the wide kinds that no plan has any more, and adds those of the plans that are counted in every
// batch.
func (b *Backend) prepareWide() {
	var all []wideKind
	for _, c := range b.plans {
		if c.shape != nil {
			all = append(all, c.shape.wide...)
		}
	}
	b.wide = slices.DeleteFunc(b.wide, func(w wideKind) bool { return !slices.Contains(all, w) })
	for p, c := range b.plans {
		if c.summed() && !b.filter.Dormant(p) {
			b.widen(c.shape)
		}
	}
}

// sameWide reports whether the adjacency has the wide kinds that it should.
func (a *adjacency) sameWide(wide []wideKind) bool {
	return len(a.wide) == len(wide) &&
		!slices.ContainsFunc(wide, func(w wideKind) bool { return !slices.Contains(a.wide, w) })
}
