package backtrack

import (
	"errors"
	"sync"
	"sync/atomic"

	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
)

// Cap lets the search of a group, or of a view, whose rows are capped go over to one that finds them in canonical order
// and stops at the cap (see canonSearch): work in proportion to the cap, not to the group (DESIGN S11).
//
// Which of the two takes less is not known beforehand: a canonical order may find dead ends late. So the ordinary
// search begins, which is all that most groups need. Now and then a worker interrupts it for a canonical search, within
// a part of the steps that the ordinary one has spent: half once there are more rows than are wanted, and a small part
// before, when the group may yet end within the cap. The ordinary search spends as much again before the next attempt.
// Hence all attempts cost at most as much as an ordinary search that finds too many rows, three percent of one that
// does not, and where an attempt ends, both searches together take a constant multiple of its steps.
type Cap struct {
	Limit uint64 // rows that are wanted; 0 is no cap, and no cut
	of    Capped
	steps atomic.Uint64 // of the ordinary search
	rows  atomic.Uint64
	// next are the steps at which the canonical search is tried again: while it is not known that there are more rows
	// than are wanted, and once it is.
	next [2]atomic.Uint64
	done atomic.Bool
	mu   sync.Mutex // held by the worker that tries
	// first are the first rows, until the worker that found them takes them.
	first  *rowsort.Sorter
	winner *Search
}

// Capped is a set of rows that may be cut: a group, or those of a view.
type Capped interface {
	// begin returns what a canonical search begins with, on behalf of a search that is going on.
	Begin() (l *rowsort.Layout, file *rowsort.File)
	// find finds the first rows in canonical order.
	Find(c *CanonicalSearch, limit uint64)
	// tell adds the steps of a canonical search to the request's.
	Tell(steps uint64)
}

const (
	// cutAfter is the number of steps of a group after which the canonical search is tried although the cap is not
	// exceeded: many times the cost of trying, and few milliseconds.
	cutAfter = 1 << 16
	// cutShare is the part of the steps so far that it may take then: all attempts together at most twice that.
	cutShare = 64
	// knownShare is that part once there are more rows than are wanted.
	knownShare = 2
)

// Begin makes the cut ready for another group.
func (c *Cap) Begin(h *Shared, limit uint64, of Capped) {
	c.Limit, c.of, c.first, c.winner = limit, of, nil, nil
	c.steps.Store(0)
	c.rows.Store(0)
	c.done.Store(false)
	c.next[0].Store(cutAfter)
	c.next[1].Store(0)
	if h.Options.CanonicalFirst {
		c.next[0].Store(0)
	}
}

// Measure has what a search spends, and finds, count for the cut from now on.
func (c *Cap) Measure(s *Search) {
	if c.Limit == 0 {
		return
	}
	if s.Cap = c; s.shared.Options.CanonicalFirst {
		s.Stopped = c.reached(s)
	}
}

// IsDone tells whether the first rows are found, so that others are not wanted.
func (c *Cap) IsDone() bool { return c.Limit > 0 && c.done.Load() }

// reached tells whether the first rows are found, by a canonical search that s has made now or by another worker's.
func (c *Cap) reached(s *Search) bool {
	known, share := 0, uint64(cutShare)
	if c.rows.Load() > c.Limit {
		known, share = 1, knownShare
	}
	if c.done.Load() || c.steps.Load() < c.next[known].Load() || !c.mu.TryLock() {
		return c.done.Load()
	}
	defer c.mu.Unlock()
	steps := c.steps.Load()
	if c.done.Load() || steps < c.next[known].Load() {
		return c.done.Load()
	}
	c.next[known].Store(2 * steps)
	most := steps / share
	if s.shared.Options.CanonicalFirst {
		most = ^uint64(0)
	}
	first := c.try(s, most)
	s.SkipTime()
	if first == nil {
		return false
	}
	c.first, c.winner = first, s
	c.done.Store(true)
	s.shared.Caps.Add(1)
	return true
}

// try makes a canonical search with a limit of steps; s is the ordinary search that it interrupts. It returns nil when
// the steps are not enough, and when all searching is to stop.
func (c *Cap) try(s *Search, most uint64) *rowsort.Sorter {
	se := s.shared.take()
	se.Attach(s.shared, s.Stop, matcher.WantRows)
	defer func() {
		se.Detach()
		s.shared.put(se)
	}()
	se.Closed, se.Silence = s.Closed, s.Silence
	se.Measure(s.Meter)
	layout, file := c.of.Begin()
	out := &rowsort.Sorter{Memory: s.shared.SortMemory, Stop: s.Stop}
	out.Begin(layout, c.Limit, file)
	cs := &CanonicalSearch{search: se, out: out, most: most, pause: ^uint64(0)}
	c.of.Find(cs, c.Limit)
	out.Pack()
	within := se.Spend()
	c.of.Tell(se.Steps)
	if cs.Over || !within || errors.Is(out.Err(), rowsort.ErrStopped) {
		out.Drop()
		out.Release()
		return nil
	}
	return out
}

// tellCap tells the cut at hand what was spent.
func (s *Search) tellCap(steps, matches uint64) {
	if s.Cap != nil {
		s.Cap.steps.Add(steps)
		s.Cap.rows.Add(matches)
	}
}

// CapReached reports whether the first rows of the cut at hand are found.
func (s *Search) CapReached() bool { return s.Cap != nil && s.Cap.reached(s) }

// Give replaces the rows that a worker has, when the search ended since the first rows are found: by these, if it was
// the worker that found them, or by none.
func (c *Cap) Give(s *Search, rows *rowsort.Sorter) (first bool) {
	rows.Drop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.winner != s {
		return false
	}
	f := c.first
	c.first, c.winner = nil, nil
	rows.Replace(f)
	f.Release()
	return true
}
