package work

import (
	"sync"
	"sync/atomic"
)

// Allowance is the number of steps that the workers of a search may make together. It is not a limit of a query: when
// it is used up, the caller searches in another way. The zero Allowance allows nothing.
type Allowance struct {
	steps atomic.Uint64
	spent atomic.Uint64
	over  atomic.Bool

	// used gets a value when the steps are used up: workers wait for more then. Nil: they are stopped.
	used    chan struct{}
	mu      sync.Mutex // held to decide whether workers wait
	more    sync.Cond
	refused bool
}

// Begin allows a number of steps anew. Workers are stopped when they are used up.
func (a *Allowance) Begin(steps uint64) {
	a.steps.Store(steps)
	a.spent.Store(0)
	a.over.Store(false)
}

// Pause makes workers wait for more steps, instead of being stopped.
func (a *Allowance) Pause() {
	a.used = make(chan struct{}, 1)
	a.more.L = &a.mu
}

// Allow allows a number of steps in all, so that workers which wait go on. Used gives a value when these are used up.
func (a *Allowance) Allow(steps uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps.Store(steps)
	select {
	case <-a.used: // of the steps before
	default:
	}
	a.more.Broadcast()
}

// Used returns a channel that gets a value when the steps are used up and workers wait.
func (a *Allowance) Used() <-chan struct{} { return a.used }

// Refuse stops workers that wait, and those that would.
func (a *Allowance) Refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = true
	a.more.Broadcast()
}

// Spent returns how many steps workers have told that they made.
func (a *Allowance) Spent() uint64 { return a.spent.Load() }

// exceeded reports whether more steps were made than are allowed, by which a worker stops.
func (a *Allowance) exceeded(w *Worker) bool {
	if a.spent.Load() <= a.steps.Load() {
		return false
	}
	if w.UsedUp != nil {
		w.UsedUp()
	}
	if a.used != nil && a.wait(w) {
		return false
	}
	a.over.Store(true)
	return true
}

// wait waits until more steps are allowed, and reports false if they are refused. The time it takes is not spent
// searching.
func (a *Allowance) wait(w *Worker) bool {
	began := w.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.refused && a.spent.Load() > a.steps.Load() {
		select {
		case a.used <- struct{}{}:
		default: // another worker has told
		}
		a.more.Wait()
	}
	w.Waited += w.Now() - began
	return !a.refused
}

// Over reports whether a worker was stopped, so that the search is not complete. A nil Allowance is never over.
func (a *Allowance) Over() bool { return a != nil && a.over.Load() }
