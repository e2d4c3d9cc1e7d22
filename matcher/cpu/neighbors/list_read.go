package neighbors

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// manyLabels is the number of pattern labels from which on most neighbors have another label than the one wanted. Then
// their labels, which take less memory than candidate bits, are looked at first.
const manyLabels = 12

// read fills the list with what passes the test of a step in a range.
func (l *List) read(c *Lists, r dyngraph.Range, b *program.BackEdge, st *program.Step) {
	*l = List{Vertices: l.Vertices[:0], Entries: l.Entries[:0]}
	byLabel := (c.labels >= manyLabels || c.options.ByLabel) && b.NeighborLabel != matcher.AnyLabel
	r.Rewind()
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		switch {
		case byLabel:
			l.addLabelled(c, nbrs, ents, b, st)
		case len(st.OrTests) > 0:
			for i := range nbrs {
				l.addIf(c, nbrs[i], ents[i], st)
			}
		default:
			l.add(nbrs, ents, c.bits, c.words, st.Test)
		}
	}
}

// labelsAtOnce is the number of neighbors whose labels are looked at in one loop.
const labelsAtOnce = 64

// addLabelled adds what passes where few neighbors have the wanted label. These are found first, in a branch-free loop
// over the lowest bytes of the labels; the candidate bits decide.
func (l *List) addLabelled(c *Lists, nbrs []dyngraph.VertexID, ents []dyngraph.Entry, b *program.BackEdge,
	st *program.Step) {
	var some [labelsAtOnce]uint8
	low := c.g.LowLabels()
	for from := 0; from < len(nbrs); from += labelsAtOnce {
		part := nbrs[from:min(from+labelsAtOnce, len(nbrs))]
		for _, i := range some[:labelled(&some, part, low, uint8(b.NeighborLabel))] {
			l.addIf(c, part[i], ents[from+int(i)], st)
		}
	}
}

// labelled finds which of at most labelsAtOnce vertices have a label, by its lowest byte, and returns how many.
//
// labelled finds the indexes of at most labelsAtOnce vertices whose label has a lowest byte, and returns how many.
//
//go:noinline
func labelled(some *[labelsAtOnce]uint8, of []dyngraph.VertexID, low []uint8, label uint8) (n int) {
	for i, w := range of {
		some[n&(labelsAtOnce-1)] = uint8(i)
		if low[w] == label {
			n++
		}
	}
	return n
}

// addIf adds a neighbour if it passes.
func (l *List) addIf(c *Lists, w dyngraph.VertexID, e dyngraph.Entry, st *program.Step) {
	if st.Passes(c.bits[int(w)*c.words:]) {
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
