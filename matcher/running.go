package matcher

import "sync"

// running lets other goroutines watch and interrupt the current step.
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

// Found returns how many matches the current step has found so far, including those not yet sorted and emitted. It may
// be called from any goroutine.
func (e *Engine) Found() (matches uint64) {
	r := &e.running
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.budgets {
		matches += b.found.Load()
	}
	return matches
}

// Anchors returns the number of anchors of the current searches, and how many of them are done. Anchors are net edges,
// or the first vertices of a search of the whole graph. Where queries are counted one by one, they are those of the
// current query. Both are 0 when nothing is searched, or the backend does not tell. It may be called from any
// goroutine.
func (e *Engine) Anchors() (done, all uint64) { return e.progress.Anchors() }

// Interrupt ends what the current step searches or emits for a query: the query is suspended where it is. It reports
// whether there was anything to end. It may be called from any goroutine.
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
