package residual

import (
	"context"
	"errors"

	"motifd/matcher"
)

// ErrBudget tells that a search ended at a limit; Work.Meter tells which one.
var ErrBudget = errors.New("the search is beyond its budget")

// pollEvery is the number of steps between looks at the context and the budget.
const pollEvery = 256

// Work counts what searches spend, one after the other, and knows what may end them. The zero Work bounds nothing.
type Work struct {
	Ctx   context.Context // nil never ends
	Meter *matcher.Meter  // of the group at hand; nil measures nothing
	Clock func() int64    // nanoseconds; nil measures no time
	Steps uint64          // made: candidates tried
	NS    int64           // spent since Begin, with a clock

	told  uint64 // of the steps, to the meter
	began int64
}

// Begin starts the clock, for a meter that may be nil.
func (w *Work) Begin(m *matcher.Meter) {
	w.Meter, w.told = m, w.Steps
	if w.Clock != nil {
		w.began = w.Clock()
	}
}

// Spend tells the meter what was spent since it was told last, with the matches that were found; an error ends the
// search.
func (w *Work) Spend(matches uint64) error {
	ns := int64(0)
	if w.Clock != nil {
		now := w.Clock()
		ns, w.began = now-w.began, now
		w.NS += ns
	}
	steps := w.Steps - w.told
	w.told = w.Steps
	if w.Meter != nil && !w.Meter.Spend(steps, matches, ns) {
		return ErrBudget
	}
	if w.Ctx != nil {
		return w.Ctx.Err()
	}
	return nil
}

// Step counts one candidate; an error ends the search.
func (w *Work) Step() error {
	if w.Steps++; w.Steps%pollEvery != 0 {
		return nil
	}
	return w.Spend(0)
}
