package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// manyLabels is so many labels that most neighbours have another one than is asked for, and a look at their labels first, which take less
// memory than candidate bits, pays.
const manyLabels = 12

// read makes the list what passes the filter of a range.
func (l *list) read(c *lists, r dyngraph.Range, b *back, st *step) {
	*l = list{nbr: l.nbr[:0], ent: l.ent[:0]}
	byLabel := c.labels >= manyLabels && b.nbr != matcher.AnyLabel
	r.Rewind()
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		if byLabel || len(st.or) > 0 {
			l.addFew(c, nbrs, ents, b, st, byLabel)
		} else {
			l.add(nbrs, ents, c.bits, c.words, st.test)
		}
	}
}

// addFew adds what passes where that is a matter of several looks, or where few do.
func (l *list) addFew(c *lists, nbrs []dyngraph.VertexID, ents []dyngraph.Entry, b *back, st *step, byLabel bool) {
	nbr, ent, staged, view := l.nbr, l.ent, l.staged, c.g.View(dyngraph.New)
	for i, w := range nbrs {
		if byLabel && view.Label(w) != b.nbr || !st.admits(c.bits[int(w)*c.words:]) {
			continue
		}
		nbr = append(nbr, w)
		ent = append(ent, ents[i])
		staged = staged || ents[i].Staged()
	}
	*l = list{nbr, ent, staged}
}

// add adds what passes a test. All neighbours are written, each over the one before if that does not pass: whether one does cannot be foreseen, and a
// branch that is would have to wait for its bits, which mostly are in no near cache.
func (l *list) add(nbrs []dyngraph.VertexID, ents []dyngraph.Entry, bits []uint64, words int, test plan.Test) {
	n := len(l.nbr)
	nbr, ent := slices.Grow(l.nbr, len(nbrs))[:n+len(nbrs)], slices.Grow(l.ent, len(nbrs))[:n+len(nbrs)]
	bits, ents = bits[test.Word:], ents[:len(nbrs)]
	var marks dyngraph.Entry // of all that pass
	for i, w := range nbrs {
		e := ents[i]
		nbr[n], ent[n] = w, e
		passes := 0
		if bits[int(w)*words]&test.Mask == test.Want {
			passes = 1
		}
		n += passes
		marks |= e & -dyngraph.Entry(passes)
	}
	*l = list{nbr[:n], ent[:n], l.staged || marks.Staged()}
}
