package matcher

import (
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
)

// Progress is how far the step has come that runs now. It may be read at any time, from any goroutine.
type Progress struct {
	Batch uint64        // 0 when no step runs
	Phase Phase         // "" likewise
	Sign  dyngraph.Sign // that is being searched; 0 before
	// Anchor is the order of the last net edge whose group was handed on, Anchors the number of net edges.
	Anchor, Anchors int
	Found           uint64 // matches that searches have reported
	Emitted         uint64 // records
	SearchNS        int64  // nanoseconds of search, summed over threads
}

// running is what other goroutines may know of, and do to, the step that runs now.
type running struct {
	batch, found, emitted atomic.Uint64
	phase                 atomic.Value // Phase
	sign                  atomic.Int32
	anchor, anchors       atomic.Int64

	mu      sync.Mutex
	all     *BatchBudget
	budgets map[string]*Budget // by query
}

// begin begins a step.
func (r *running) begin(batch uint64, all *BatchBudget) {
	r.sign.Store(0)
	r.anchor.Store(0)
	r.anchors.Store(0)
	r.emitted.Store(0)
	r.batch.Store(batch)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = all
}

// end ends the step.
func (r *running) end() {
	r.batch.Store(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
	clear(r.budgets)
}

// budget makes the budget of a query known.
func (r *running) budget(query string, b *Budget) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.budgets == nil {
		r.budgets = map[string]*Budget{}
	}
	r.budgets[query] = b
}

// Interrupt ends whatever the step that runs now searches or emits for a query: the query is suspended where it is. It
// reports whether there is anything to end. It may be called from any goroutine.
func (e *Engine) Interrupt(query string) bool {
	r := &e.running
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.budgets[query]
	if b != nil {
		b.Stop()
	}
	return b != nil
}

// Progress returns how far the step has come that runs now. It may be called from any goroutine.
func (e *Engine) Progress() Progress {
	r := &e.running
	p := Progress{Batch: r.batch.Load(), Sign: dyngraph.Sign(r.sign.Load()), Anchor: int(r.anchor.Load()), Anchors: int(r.anchors.Load()),
		Emitted: r.emitted.Load()}
	if p.Batch == 0 {
		return Progress{}
	}
	p.Phase, _ = r.phase.Load().(Phase)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all != nil {
		p.Found, p.SearchNS = r.all.Found()
	}
	return p
}
