package candidates

import "slices"

// A vertex begins or ceases to fit a class only when one of its counts crosses the number that the class needs. The
// classes to check then are listed by column and number.

// thresholds lists the classes of a table by the column and count that they need.
type thresholds struct {
	noted   []threshold
	width   uint32  // one more than the highest number
	spans   []span  // by column times width, plus number: those in classes
	classes []int32 // to check
}

// threshold: a class needs a count of n in a column.
type threshold struct{ column, n, class int32 }

type span struct{ from, to uint32 }

// note adds a threshold of a class; arrange then builds the lists.
func (w *thresholds) note(column int, n uint32, class int) {
	w.noted = append(w.noted, threshold{int32(column), int32(n), int32(class)})
}

// arrange builds the lists from what was noted, for a table with that number of columns.
func (w *thresholds) arrange(columns int) {
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
	w.classes = slices.Grow(w.classes[:0], len(w.noted))[:len(w.noted)]
	for _, x := range w.noted {
		s := spanOf(x)
		w.classes[s.to] = x.class
		s.to++
	}
}

// of returns the classes to check at a count in a column.
func (w *thresholds) of(column uint32, n uint8) []int32 {
	if uint32(n) >= w.width {
		return nil
	}
	s := w.spans[column*w.width+uint32(n)]
	return w.classes[s.from:s.to]
}
