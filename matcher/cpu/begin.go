package cpu

import (
	"context"

	"motifd/matcher/cpu/internal/space"
)

// A search of a whole graph begins without a candidate space, which often takes longer to make than the search. It is
// given up after some steps. How many are worth trying is learnt: whether searches end in so few depends on the graph
// and its labels more than on the pattern.
const (
	// mostBegin is the greatest number of these steps. They take less than a tenth of a millisecond.
	mostBegin = 1 << 11
	// leastBegin is the least number: fewer are not worth preparing the search.
	leastBegin = 1 << 8
)

// begin searches without a candidate space. It reports whether the search is done: if not, it has found nothing.
func (e *enumeration) begin(ctx context.Context) bool {
	b := e.b
	if b.begins < leastBegin || b.neverBegins || b.sumsFirst {
		return false
	}
	s := space.Begin(b.g, b.filter, e.c.plan, &b.signatures)
	if s == nil {
		return false
	}
	began := b.work.Now()
	w := b.wayIn(s, e.c, e.want)
	e.result.OrderNS += b.work.Now() - began
	if w.order == nil {
		return true
	}
	e.brief = b.begins
	done := e.turn(ctx, w, float64(e.brief-1))
	e.brief = 0
	if w.release(b); done {
		b.begins = mostBegin
	} else {
		b.begins /= 2
	}
	return done
}

// learn takes note of a search with a candidate space, where none begins without. One with few steps might have ended
// without, too. before are the steps that were made before it.
func (e *enumeration) learn(before uint64) {
	if b := e.b; b.begins < leastBegin && e.result.Steps-before < leastBegin {
		b.begins = leastBegin
	}
}
