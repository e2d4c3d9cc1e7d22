package neighbors

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
)

// read fills the list with what passes the tests of a step and of its back edge in a range.
func (l *List) read(c *Lists, r dyngraph.Range, b *program.BackEdge, st *program.Step) {
	*l = List{Vertices: l.Vertices[:0], Entries: l.Entries[:0]}
	r.Rewind()
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		if len(st.OrTests) == 0 && b.Test == nil {
			l.add(nbrs, ents, c.bits, c.words, st.Test)
			continue
		}
		for i := range nbrs {
			l.addIf(c, nbrs[i], ents[i], b, st)
		}
	}
}

// addIf adds a neighbour if it passes, and the edge to it.
func (l *List) addIf(c *Lists, w dyngraph.VertexID, e dyngraph.Entry, b *program.BackEdge, st *program.Step) {
	if (b.Test == nil || c.truths.Either(b.Test, e)) && st.Passes(c.bits[int(w)*c.words:]) {
		l.Vertices, l.Entries, l.Staged = append(l.Vertices, w), append(l.Entries, e), l.Staged || e.Staged()
	}
}

// add adds what passes a test. Every neighbor is written and is overwritten unless it passes: the outcome is
// unpredictable, and a branch would wait for candidate bits that are mostly not in a near cache.
func (l *List) add(nbrs []dyngraph.VertexID, ents []dyngraph.Entry, bits []uint64, words int, test candidates.Test) {
	n := len(l.Vertices)
	nbr, ent := slices.Grow(l.Vertices, len(nbrs))[:n+len(nbrs)], slices.Grow(l.Entries, len(nbrs))[:n+len(nbrs)]
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
	*l = List{nbr[:n], ent[:n], l.Staged || marks.Staged()}
}
