package command

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress shows how far a load or a replay is, on a terminal; elsewhere it is silent.
type Progress struct {
	w    io.Writer // nil when silent
	what string
	unit string

	mu          sync.Mutex
	start, last time.Time
	shown       bool
}

// ProgressEvery is the time between two refreshes.
const ProgressEvery = 200 * time.Millisecond

// NewProgress returns the progress of a task, counted in a unit.
func NewProgress(w io.Writer, what, unit string) *Progress {
	p := &Progress{what: what, unit: unit, start: time.Now()}
	if IsTerminal(w) {
		p.w = w
	}
	p.last = p.start
	return p
}

// Silent reports whether nothing is shown, as where there is no terminal.
func (p *Progress) Silent() bool { return p.w == nil }

// Update tells that n units are done, which is the given part of the whole, or of an unknown whole when part is 0.
func (p *Progress) Update(n uint64, part float64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < ProgressEvery {
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

// Done clears the line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
