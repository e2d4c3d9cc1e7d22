package matcher

import "sync"

// running is what other goroutines may do to the step that runs now.
type running struct {
	mu      sync.Mutex
	budgets []runningBudget
}

type runningBudget struct {
	query string
	*Budget
}

// end ends the step.
func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.budgets)
	r.budgets = r.budgets[:0]
}

// budget makes the budget of a query known.
func (r *running) budget(query string, b *Budget) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.budgets = append(r.budgets, runningBudget{query, b})
}

// Found returns how many matches the step that runs now has found so far, those that are still to be put in order and
// emitted among them. It may be called from any goroutine.
func (e *Engine) Found() (matches uint64) {
	r := &e.running
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.budgets {
		matches += b.found.Load()
	}
	return matches
}

// Anchors returns how many anchors the searches that run now have, and how many of these are done with: net edges, or
// vertices where the whole graph is searched; where each query is counted by itself, those of the query at hand. Both
// are 0 when nothing is searched, or the backend does not tell. It may be called from any goroutine.
func (e *Engine) Anchors() (done, all uint64) { return e.progress.Anchors() }

// Interrupt ends whatever the step that runs now searches or emits for a query: the query is suspended where it is. It
// reports whether there is anything to end. It may be called from any goroutine.
func (e *Engine) Interrupt(query string) bool {
	r := &e.running
	r.mu.Lock()
	defer r.mu.Unlock()
	ends := false
	for _, b := range r.budgets {
		if b.query == query {
			b.Stop()
			ends = true
		}
	}
	return ends
}
