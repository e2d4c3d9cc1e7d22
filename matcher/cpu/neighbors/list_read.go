package neighbors

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// manyLabels is so many labels that most neighbours have another one than is asked for, and a look at their labels first, which take less
// memory than candidate bits, pays.
const manyLabels = 12

// read makes the list what passes the filter of a range.
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

// labelsAtOnce is how many neighbours have their labels looked at before those that have the right one are.
const labelsAtOnce = 64

// addLabelled adds what passes where few neighbours have the label: these are told first, in a loop of its own, without a branch. One
// byte of a label does, as the bits tell all of it.
func (l *List) addLabelled(c *Lists, nbrs []dyngraph.VertexID, ents []dyngraph.Entry, b *program.BackEdge, st *program.Step) {
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

// add adds what passes a test. All neighbours are written, each over the one before if that does not pass: whether one does cannot be foreseen, and a
// branch that is would have to wait for its bits, which mostly are in no near cache.
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
