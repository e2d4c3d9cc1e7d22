package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows how far a load or a replay is, on a terminal; elsewhere it is silent.
type progress struct {
	w    io.Writer // nil when silent
	what string
	unit string
	now  func() time.Time

	mu          sync.Mutex
	start, last time.Time
	shown       bool
}

// progressEvery is the time between two refreshes.
const progressEvery = 200 * time.Millisecond

// newProgress returns the progress of a task, counted in a unit.
func newProgress(w io.Writer, what, unit string) *progress {
	p := &progress{what: what, unit: unit, now: time.Now}
	if isTerminal(w) {
		p.w = w
	}
	p.start = p.now()
	p.last = p.start
	return p
}

// update tells that n units are done, which is the given part of the whole, or of an unknown whole when part is 0.
func (p *progress) update(n uint64, part float64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	elapsed := now.Sub(p.start).Seconds()
	line := fmt.Sprintf("%s: %d %s, %.0f/s", p.what, n, p.unit, float64(n)/elapsed)
	if part > 0 && part <= 1 {
		left := time.Duration(elapsed * (1 - part) / part * float64(time.Second)).Round(time.Second)
		line += fmt.Sprintf(", %.0f%%, %s left", part*100, left)
	}
	// A terminal that does not take the line is no reason to stop the work.
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// done clears the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
