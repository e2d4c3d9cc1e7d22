package stream

import (
	"sync"
	"sync/atomic"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// StepStatus is the step that the engine runs now.
type StepStatus struct {
	Batch     uint64  `json:"batch"`
	Seconds   float64 `json:"seconds"`             // since the step began
	Recovered bool    `json:"recovered,omitempty"` // the batch was in hand when the run before ended
	Updates   int     `json:"updates"`             // of the batch
	// Change is "add", "replace" or "remove" where the batch is a query change; Query is then the changed query, else
	// the one that emitted last.
	Change string        `json:"change,omitempty"`
	Query  string        `json:"query,omitempty"`
	Phase  matcher.Phase `json:"phase,omitempty"`
	// Sign and Update are of the matches that were emitted last: update number Update of the batch has made or broken
	// them; -1 is an edge that expired. Negative matches come first, in the order of the updates, then positive ones.
	Sign   string `json:"sign,omitempty"`
	Update int    `json:"update"`
	// Anchors are those of the searches that run now, and AnchorsDone how many of these are done with: net edges, or
	// vertices where the whole graph is searched. Both are 0 between searches, and where the backend does not tell.
	Anchors     uint64 `json:"anchors,omitempty"`
	AnchorsDone uint64 `json:"anchors_done,omitempty"`
	// Found counts the matches that were found so far, those that are still to be put in order and emitted among them.
	Found   uint64 `json:"found,omitempty"`
	Records uint64 `json:"records"` // emitted so far
}

// running is the step that runs now, for other goroutines to see.
type running struct {
	mu    sync.Mutex
	now   StepStatus // Step fills in the fields that change while it runs
	since time.Time  // zero: no step runs

	last    atomic.Pointer[emitted]
	records atomic.Uint64
}

// emitted is the origin of the last matches: their query, sign and update.
type emitted struct {
	query  string
	sign   dyngraph.Sign
	update int
}

// begin notes that a step begins; the function returned notes its end.
func (r *running) begin(b *Batch, recovered bool) (end func()) {
	s := StepStatus{Batch: b.Number, Recovered: recovered, Updates: len(b.Updates)}
	if ch := b.Change; ch != nil {
		switch {
		case ch.Add == nil:
			s.Change, s.Query = "remove", ch.Remove
		case ch.Remove != "":
			s.Change, s.Query = "replace", ch.Add.Name
		default:
			s.Change, s.Query = "add", ch.Add.Name
		}
	}
	r.last.Store(nil)
	r.records.Store(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.since = s, time.Now()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.since = time.Time{}
	}
}

// emit notes an event. It is called by the engine's goroutine alone; it allocates once for each change of query or
// update.
func (r *running) emit(ev *matcher.Event) {
	r.records.Add(uint64(ev.Records()))
	x := emitted{query: ev.Query.Name, sign: ev.Sign}
	if ev.AnchorEdge != nil {
		if x.update = -1; !ev.AnchorEdge.Expired() {
			x.update = int(ev.AnchorEdge.UpdateIndex)
		}
	}
	if last := r.last.Load(); last == nil || *last != x {
		kept := x // only what is stored is on the heap
		r.last.Store(&kept)
	}
}

// NotePhase tells which phase of a step begins. It is for matcher.EngineOptions.Phase.
func (p *Pipeline) NotePhase(phase matcher.Phase) {
	p.running.mu.Lock()
	defer p.running.mu.Unlock()
	p.running.now.Phase = phase
}

// Step returns the step that runs now, and whether there is one. It is safe to call from any goroutine, at any time,
// and waits for nothing that a step does.
func (p *Pipeline) Step() (StepStatus, bool) {
	r := &p.running
	r.mu.Lock()
	s, since := r.now, r.since
	r.mu.Unlock()
	if since.IsZero() {
		return StepStatus{}, false
	}
	s.Seconds, s.Records = time.Since(since).Seconds(), r.records.Load()
	if x := r.last.Load(); x != nil {
		s.Query, s.Sign, s.Update = x.query, x.sign.String(), x.update
	}
	s.AnchorsDone, s.Anchors = p.opt.Engine.Anchors()
	s.Found = p.opt.Engine.Found()
	return s, true
}
