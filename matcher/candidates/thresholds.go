package candidates

import (
	"math"
	"math/bits"
	"slices"

	"motifd/dyngraph"
)

// A vertex may begin or cease to fit a class when one of its counts rises to the number that the class asks for, or falls from it. Which classes are
// to be looked at then is written down by column and number, with all that the look takes but the vertex's own counts and bits: with many
// queries all of this is in no cache, and what a batch costs is the lines that are read one after the other.

// watches are the classes of a group by what they watch for.
type watches struct {
	noted    []noted
	width    uint32 // one more than any number that is asked for
	spans    []span // by column times width, plus number: those in watchers
	watchers []watcher
}

// noted says that a class asks for a count of n in a column.
type noted struct{ column, n, class int32 }

type span struct{ from, to uint32 }

// watcher is a class and what it asks for, in short.
type watcher struct {
	class    int32
	word     uint32 // of the candidate bits
	columns  [mostShort]uint16
	counts   [mostShort]uint8
	bit, tag uint8
	asks     uint8 // how many of these, or longAsks
}

const (
	mostShort = 4
	longAsks  = mostShort + 1 // it asks for more than has room
)

// note notes what a class asks for; arrange makes it known.
func (w *watches) note(column int, n uint32, class int) {
	w.noted = append(w.noted, noted{int32(column), int32(n), int32(class)})
}

// arrange makes known what was noted, for a group of so many columns.
func (w *watches) arrange(columns int, classes []class) {
	w.width = 0
	for _, x := range w.noted {
		w.width = max(w.width, uint32(x.n)+1)
	}
	w.spans = slices.Grow(w.spans[:0], columns*int(w.width)+1)[:columns*int(w.width)+1]
	clear(w.spans)
	place := func(x noted) *span { return &w.spans[x.column*int32(w.width)+x.n] }
	for _, x := range w.noted {
		place(x).to++
	}
	end := uint32(0)
	for i := range w.spans {
		s := &w.spans[i]
		s.from, s.to, end = end, end, end+s.to
	}
	w.watchers = slices.Grow(w.watchers[:0], len(w.noted))[:len(w.noted)]
	for _, x := range w.noted {
		s := place(x)
		w.watchers[s.to] = newWatcher(int(x.class), &classes[x.class])
		s.to++
	}
}

// of returns the classes that watch for a count in a column.
func (w *watches) of(column uint32, n uint8) []watcher {
	if uint32(n) >= w.width {
		return nil
	}
	s := w.spans[column*w.width+uint32(n)]
	return w.watchers[s.from:s.to]
}

func newWatcher(number int, c *class) watcher {
	w := watcher{class: int32(number), word: uint32(c.test.Word), tag: uint8(c.test.Want >> tagShift),
		bit: uint8(bits.TrailingZeros64(c.test.Want &^ tagMask)), asks: longAsks}
	if len(c.asks) > mostShort {
		return w
	}
	for i, a := range c.asks {
		if a.column > math.MaxUint16 || a.count > math.MaxUint8 {
			return w
		}
		w.columns[i], w.counts[i] = uint16(a.column), uint8(a.count)
	}
	w.asks = uint8(len(c.asks))
	return w
}

// satisfied reports whether the member at a place has what a watcher asks for.
func (f *Filter) satisfied(g *group, at uint32, w *watcher) bool {
	if w.asks == longAsks {
		return g.satisfied(at, f.classes[w.class].asks)
	}
	row := g.counts[int(at)*g.stride:][:g.stride]
	for i := range w.asks {
		if row[w.columns[i&(mostShort-1)]] < w.counts[i&(mostShort-1)] {
			return false
		}
	}
	return true
}

// has reports whether a vertex has the bit of a watcher's class.
func (w *watcher) has(c *candidates, v dyngraph.VertexID) bool {
	t := Test{Word: int(w.word), Mask: tagMask | 1<<w.bit, Want: uint64(w.tag)<<tagShift | 1<<w.bit}
	return c.has(v, &t)
}
