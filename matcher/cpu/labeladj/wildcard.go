package labeladj

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Wildcard is a kind that some counted pattern needs beside the exact kinds, since one of its edges has no label or no
// direction: neighbours along edges of one direction or both, with one label or any, to vertices with one label or any.
// Parallel edges to a neighbour are adjacent entries. Each wildcard costs a second copy of its entries.
type Wildcard struct {
	Dirs      uint8 // bit 1<<d for each dyngraph.Dir d
	Edge, Nbr dyngraph.LabelID
}

// anyLabel and unknownLabel stand for AnyLabel and UnknownLabel in the key of a wildcard. No graph has that many
// labels.
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
	return w.Dirs>>d&1 != 0 && (w.Edge == matcher.AnyLabel || w.Edge == edge)
}

// admits reports whether the wildcard covers neighbours with a label.
func (w *Wildcard) admits(nbr dyngraph.LabelID) bool {
	return w.Nbr == matcher.AnyLabel || w.Nbr == nbr
}

// numberWildcards assigns numbers to the wildcards.
func (a *Index) numberWildcards() {
	for _, w := range a.wildcards {
		k, key := uint32(len(a.kinds)), w.Key()
		a.kinds[key] = k
		a.wildcardKinds = append(a.wildcardKinds, k)
	}
}

// countWildcards counts the entries of the vertex by wildcard and returns their number.
func (r *reader) countWildcards() (n int) {
	for i := range r.a.wildcards {
		w, kind, before := &r.a.wildcards[i], r.a.wildcardKinds[i], n
		for x := range r.runs {
			switch of := &r.runs[x]; {
			case !w.takes(of.dir, of.edge):
			case w.Nbr == matcher.AnyLabel:
				n += len(of.nbr)
			default:
				for _, u := range of.nbr {
					if r.view.Label(u) == w.Nbr {
						n++
					}
				}
			}
		}
		if n > before {
			r.kinds = append(r.kinds, kind)
			r.count[kind] = uint32(n - before)
		}
	}
	return n
}

// fillWildcards writes the entries of the vertex by wildcard, at the indexes in count, sorted by neighbour.
func (r *reader) fillWildcards(pairs, nbrs []dyngraph.VertexID, ents []dyngraph.Entry) {
	for i := range r.a.wildcards {
		w, kind := &r.a.wildcards[i], r.a.wildcardKinds[i]
		pair, ok := slices.BinarySearch(r.kinds, kind)
		if !ok {
			continue
		}
		r.scratch = r.scratch[:0]
		for x := range r.runs {
			of := &r.runs[x]
			if !w.takes(of.dir, of.edge) {
				continue
			}
			for i, u := range of.nbr {
				if w.admits(r.view.Label(u)) {
					r.scratch = append(r.scratch, entry{kind, u, of.ent[i]})
				}
			}
		}
		byNeighbor := func(a, b entry) int { return cmp.Compare(a.nbr, b.nbr) }
		if !slices.IsSortedFunc(r.scratch, byNeighbor) { // as what one label and direction have is
			slices.SortStableFunc(r.scratch, byNeighbor)
		}
		at := r.count[kind]
		for i, e := range r.scratch {
			nbrs[int(at)+i], ents[int(at)+i] = e.nbr, e.ent
			if e.ent.Staged() {
				pairs[2*pair+1] |= stagedEnd
			}
		}
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
