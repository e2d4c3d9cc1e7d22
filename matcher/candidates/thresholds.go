package candidates

import (
	"math"
	"math/bits"
	"slices"

	"motifd/dyngraph"
)

// A vertex begins or ceases to fit a class only when one of its counts crosses the number that the class needs. The
// classes to check then are listed by column and number, with all that the check reads but the counts and bits of the
// vertex. With many queries none of this is in the cache, so a batch costs the cache lines that it reads one after the
// other.

// thresholds lists the classes of a table by the column and count that they need.
type thresholds struct {
	noted  []threshold
	width  uint32 // one more than the highest number
	spans  []span // by column times width, plus number: those in checks
	checks []check
}

// threshold: a class needs a count of n in a column.
type threshold struct{ column, n, class int32 }

type span struct{ from, to uint32 }

// check is a class with its needs in short form.
type check struct {
	class    int32
	word     uint32 // of the candidate bits
	columns  [mostShort]uint16
	counts   [mostShort]uint8
	bit, tag uint8
	asks     uint8 // number of columns, or longAsks
}

const (
	mostShort = 4
	longAsks  = mostShort + 1 // the needs do not fit
)

// note adds a threshold of a class; arrange then builds the lists.
func (w *thresholds) note(column int, n uint32, class int) {
	w.noted = append(w.noted, threshold{int32(column), int32(n), int32(class)})
}

// arrange builds the lists from what was noted, for a table with that number of columns.
func (w *thresholds) arrange(columns int, classes []class) {
	w.width = 0
	for _, x := range w.noted {
		w.width = max(w.width, uint32(x.n)+1)
	}
	w.spans = slices.Grow(w.spans[:0], columns*int(w.width)+1)[:columns*int(w.width)+1]
	clear(w.spans)
	spanOf := func(x threshold) *span { return &w.spans[x.column*int32(w.width)+x.n] }
	for _, x := range w.noted {
		spanOf(x).to++
	}
	end := uint32(0)
	for i := range w.spans {
		s := &w.spans[i]
		s.from, s.to, end = end, end, end+s.to
	}
	w.checks = slices.Grow(w.checks[:0], len(w.noted))[:len(w.noted)]
	for _, x := range w.noted {
		s := spanOf(x)
		w.checks[s.to] = newCheck(int(x.class), &classes[x.class])
		s.to++
	}
}

// of returns the checks of a count in a column.
func (w *thresholds) of(column uint32, n uint8) []check {
	if uint32(n) >= w.width {
		return nil
	}
	s := w.spans[column*w.width+uint32(n)]
	return w.checks[s.from:s.to]
}

func newCheck(number int, c *class) check {
	w := check{class: int32(number), word: uint32(c.test.Word), tag: uint8(c.test.Want >> tagShift),
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

// satisfied reports whether the member in a row meets the needs of a class.
func (f *Filter) satisfied(g *table, at uint32, w *check) bool {
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

// has reports whether a vertex has the bit of a check's class.
func (w *check) has(c *candidates, v dyngraph.VertexID) bool {
	t := Test{Word: int(w.word), Mask: tagMask | 1<<w.bit, Want: uint64(w.tag)<<tagShift | 1<<w.bit}
	return c.has(v, &t)
}
