package labeladj

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Wildcard is a kind that some counted pattern needs beside the exact kinds, since one of its edges has no label,
// alternatives of labels or no direction, or one of its vertices has no label or alternatives: neighbours along edges
// of one direction or both to vertices, each with one label, one of a label set, or any.
// Parallel edges to a neighbour are adjacent entries. Each wildcard costs a second copy of its entries.
type Wildcard struct {
	Dirs      uint8 // bit 1<<d for each dyngraph.Dir d
	Edge, Nbr dyngraph.LabelID
}

// anyLabel and unknownLabel stand for AnyLabel and UnknownLabel in the key of a wildcard. All other resolved labels are
// less: labels of graphs and label sets.
const (
	anyLabel     = 1<<29 - 1
	unknownLabel = 1<<29 - 2
)

// Key returns the key of the kind. It differs from every Key of an exact kind.
func (w Wildcard) Key() uint64 {
	edge := uint64(w.Edge)
	switch w.Edge {
	case matcher.AnyLabel:
		edge = anyLabel
	case matcher.UnknownLabel:
		edge = unknownLabel
	}
	return uint64(w.Dirs)<<61 | edge<<32 | uint64(w.Nbr)
}

// takes reports whether the wildcard covers edges of a direction and label.
func (w *Wildcard) takes(d dyngraph.Dir, edge dyngraph.LabelID) bool {
	return w.Dirs>>d&1 != 0 && matcher.LabelFits(w.Edge, edge)
}

// admits reports whether the wildcard covers neighbours with a label.
func (w *Wildcard) admits(nbr dyngraph.LabelID) bool {
	return matcher.LabelFits(w.Nbr, nbr)
}

// numberWildcards assigns numbers to the wildcards, after all exact kinds of the graph, and lists by exact kind the
// wildcards that cover it.
func (a *Index) numberWildcards() (covering [][]uint32) {
	covering = make([][]uint32, len(a.kinds))
	for i := range a.wildcards {
		w := &a.wildcards[i]
		k := uint32(len(a.kinds))
		for key, exact := range a.kinds {
			d, edge, nbr := ofKey(key)
			if int(exact) < len(covering) && w.takes(d, edge) && w.admits(nbr) {
				covering[exact] = append(covering[exact], k)
			}
		}
		a.kinds[w.Key()] = k
		a.wildcardKinds = append(a.wildcardKinds, k)
	}
	return covering
}

// countWildcards adds the wildcards of the vertex to kinds and count, which have its exact kinds. It returns the number
// of entries that they have.
func (r *reader) countWildcards() (n int) {
	for _, k := range r.kinds {
		for _, w := range r.covering[k] {
			if r.count[w] == 0 {
				r.kinds = append(r.kinds, w)
			}
			r.count[w] += r.count[k]
			n += int(r.count[k])
		}
	}
	return n
}

// sortWildcard sorts the entries of a wildcard by neighbour. Parallel ones keep their order. They come as some
// ascending sequences: one for each direction and label.
func (r *reader) sortWildcard(nbrs []dyngraph.VertexID, ents []dyngraph.Entry) {
	if slices.IsSorted(nbrs) {
		return
	}
	r.order, r.moved = r.order[:0], append(r.moved[:0], ents...)
	for i, u := range nbrs {
		r.order = append(r.order, uint64(u)<<32|uint64(i))
	}
	slices.Sort(r.order)
	for i, x := range r.order {
		nbrs[i], ents[i] = dyngraph.VertexID(x>>32), r.moved[uint32(x)]
	}
}

// listWildcards appends the changes of a net edge's entries that wildcards cover: at its source, then at its target.
func (a *Index) listWildcards(
	to []change,
	n *dyngraph.NetEdge,
	in dyngraph.Dir,
	fromLabel, toLabel dyngraph.LabelID,
	op operation,
	ent dyngraph.Entry,
) []change {
	for i := range a.wildcards {
		w, kind := &a.wildcards[i], a.wildcardKinds[i]
		if w.takes(dyngraph.Out, n.Label) && w.admits(toLabel) {
			to = append(to, change{v: n.From, entry: entry{kind, n.To, ent}, op: op})
		}
		if w.takes(in, n.Label) && w.admits(fromLabel) {
			to = append(to, change{v: n.To, entry: entry{kind, n.From, ent}, op: op})
		}
	}
	return to
}

// HasWildcards reports whether the index has exactly the given wildcards.
func (a *Index) HasWildcards(wide []Wildcard) bool {
	return len(a.wildcards) == len(wide) &&
		!slices.ContainsFunc(wide, func(w Wildcard) bool { return !slices.Contains(a.wildcards, w) })
}
