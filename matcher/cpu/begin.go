package cpu

import (
	"context"

	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/cpu/internal/work"
)

// A search of a whole graph begins without a candidate space, which often takes longer to make than the search. It is
// given up when it first polls, after 0.1 to 0.2 milliseconds. Whether that is worth trying is foretold by the searches
// before, as processors foretell branches: it depends on the graph and its labels more than on the pattern.

// fewWithSpace is the number of steps with a candidate space up to which a search might have ended without one.
const fewWithSpace = work.PollEvery / 4

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
	done = e.turn(ctx, w, work.PollEvery-1)
	w.release(b)
	b.outlook.tell(done)
	return done
}
