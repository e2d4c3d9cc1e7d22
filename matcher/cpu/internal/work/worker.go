package work

import (
	"context"
	"sync/atomic"

	"motifd/matcher"
)

// PollEvery is the number of search steps between looks at the stop flags and the budget.
const PollEvery = 1 << 12

// Worker counts what one goroutine spends on a search, and knows what may end it. Only that goroutine uses it.
type Worker struct {
	Steps   uint64 // made in this request: candidates tried
	Stopped bool   // the search at hand ends: by a stop flag, the budget, an error, or since enough is found
	Tripped bool   // the search at hand has exceeded its budget

	*Options
	Stop   *atomic.Bool    // of the whole search
	Ctx    context.Context // of the whole search, where nobody sets Stop when it is done; else nil
	Closed *atomic.Bool    // of the request; nil if it has none
	Meter  *matcher.Meter  // of the group or the request; nil when nothing is measured
	Told   Spent           // the part that the meter has

	Matches     func() uint64               // returns the number of matches found so far
	OnSpend     func(steps, matches uint64) // also told what the meter is told; may be nil
	Interrupted func() bool                 // reports, at each poll, whether the search at hand is to end; may be nil
	UsedUp      func()                      // called when the allowance is used up; may be nil
	Allowance   *Allowance                  // nil for none

	Sharing
}

// Spent is the part of a budget that a worker has used.
type Spent struct {
	Steps, Matches uint64
	At             int64 // nanoseconds
}

// Begin makes the worker ready for another request.
func (w *Worker) Begin() {
	w.Steps, w.Told, w.Tripped, w.Stopped = 0, Spent{}, false, false
	w.End()
}

// End drops what belongs to a request.
func (w *Worker) End() {
	w.Meter, w.Closed, w.Ctx, w.Allowance, w.Sharing = nil, nil, nil, nil, Sharing{}
}

// Step counts a search step and polls now and then; false ends the search.
func (w *Worker) Step() bool {
	w.Steps++
	if w.Steps&(PollEvery-1) == 0 {
		return w.Poll()
	}
	return true
}

// StepBy counts n search steps and polls now and then; false ends the search.
func (w *Worker) StepBy(n int) bool {
	before := w.Steps
	w.Steps += uint64(n)
	if before/PollEvery != w.Steps/PollEvery {
		return w.Poll()
	}
	return true
}

// Poll looks at the stop flags and the budget; false ends the search.
func (w *Worker) Poll() bool {
	if w.Ctx != nil && w.Ctx.Err() != nil {
		w.Stop.Store(true)
	}
	if w.Stop.Load() || w.Closed != nil && w.Closed.Load() {
		w.Stopped = true
		return false
	}
	if w.Meter != nil && !w.Spend() {
		w.Tripped, w.Stopped = true, true
	}
	if w.Interrupted != nil && !w.Stopped {
		w.Stopped = w.Interrupted()
	}
	if w.Allowance != nil && !w.Stopped {
		w.Stopped = w.Allowance.exceeded(w)
	}
	return !w.Stopped
}

// Measure begins to tell a meter, which may be nil, what is spent.
func (w *Worker) Measure(m *matcher.Meter) {
	w.Meter, w.Told = m, Spent{Steps: w.Steps, At: w.Now()}
}

// Spend tells the meter what was spent since it was told last; false when that exceeds the budget. Time spent waiting
// for other workers does not count.
func (w *Worker) Spend() bool {
	now := Spent{w.Steps, w.Matches(), w.Now() - w.Waited}
	was := w.Told
	w.Told = now
	if w.OnSpend != nil {
		w.OnSpend(now.Steps-was.Steps, now.Matches-was.Matches)
	}
	if w.Allowance != nil {
		w.Allowance.spent.Add(now.Steps - was.Steps)
	}
	return w.Meter.Spend(now.Steps-was.Steps, now.Matches-was.Matches, now.At-was.At)
}

// SkipTime leaves out the time since the last Spend, which another worker's meter knows of.
func (w *Worker) SkipTime() { w.Told.At = w.Now() - w.Waited }

// Part is work that a worker gave away.
type Part struct {
	Work  any // of the code that gave it away and resumes it
	By    *Worker
	taken bool // guarded by the lock of the list that the part is in
}

// Sharing is how a worker gives work away. The zero Sharing gives nothing away.
type Sharing struct {
	Hungry *atomic.Int32  // number of workers that have nothing to do; a hint
	Wanted func() bool    // reports whether a part is wanted, by a worker or for the scheduler's stock
	Give   func(work any) // hands over work
	Whole  func() bool    // gives away searches that are not begun, and reports whether there were any; may be nil
	Pool   *Pool          // that Hungry, Wanted and Give belong to, where order does not matter
	Every  uint64         // least steps between two parts
	Next   uint64         // steps before which nothing is given away
	Gave   bool           // of the search at hand
	Waited int64          // nanoseconds of waiting for other workers
}

// Asked reports whether a worker that has made a number of steps is to look whether to give work away.
func (s *Sharing) Asked(steps uint64) bool {
	return s.Hungry != nil && s.Hungry.Load() > 0 && steps >= s.Next
}

// Splits reports whether the worker is to split the search at hand now. Searches that are not begun are given away
// before.
func (w *Worker) Splits() bool {
	w.Next = w.Steps + w.Every
	if !w.Wanted() {
		return false
	}
	if w.Whole != nil && w.Whole() {
		w.Gave = true
		return false
	}
	return true
}

// GiveAway gives away part of the search at hand.
func (w *Worker) GiveAway(work any) {
	w.Gave = true
	w.Give(work)
}
