package cpu

import (
	"context"

	"motifd/matcher/cpu/internal/space"
)

// A search of a whole graph begins without a candidate space, which often takes longer to make than the search. It is
// given up after some steps. Whether that is worth trying is foretold by the searches before, as processors foretell
// branches: it depends on the graph and its labels more than on the pattern.
const (
	// beginSteps is the number of these steps. They take less than a tenth of a millisecond.
	beginSteps = 1 << 11
	// fewWithSpace is the number of steps with a candidate space up to which a search might have ended without one.
	fewWithSpace = beginSteps / 2
)

// outlook foretells whether searches end without a candidate space: those that it is told of count one up or down.
type outlook int

const (
	worst outlook = iota
	bad
	good // searches begin without a candidate space from here on
	best
)

// tell takes note of a search.
func (o *outlook) tell(ends bool) {
	if ends {
		*o = min(*o+1, best)
	} else {
		*o = max(*o-1, worst)
	}
}

// begin searches without a candidate space. It reports whether the search is done: if not, it has found nothing.
func (e *enumeration) begin(ctx context.Context) (done bool) {
	b := e.b
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
	e.brief = beginSteps
	done = e.turn(ctx, w, beginSteps-1)
	e.brief = 0
	w.release(b)
	b.outlook.tell(done)
	return done
}
