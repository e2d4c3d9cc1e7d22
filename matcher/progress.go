package matcher

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Progress tells how far the searches have come that run now. Its methods are safe for concurrent use. A nil Progress
// takes note of nothing.
type Progress struct {
	mu  sync.Mutex
	now []*SearchProgress
}

// SearchProgress is the progress of one search. The zero SearchProgress is of no Progress.
type SearchProgress struct {
	all  int
	done atomic.Int64
}

// Begin takes note of a search from a number of anchors, of which none is done. s must not be in use.
func (p *Progress) Begin(s *SearchProgress, anchors int) {
	s.all = anchors
	s.done.Store(0)
	p.Resume(s)
}

// Resume takes note of a search again that End forgot, with the anchors that were done then.
func (p *Progress) Resume(s *SearchProgress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = append(p.now, s)
}

// Done takes note that another n anchors are done with.
func (s *SearchProgress) Done(n int) { s.done.Add(int64(n)) }

// End forgets a search.
func (p *Progress) End(s *SearchProgress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = slices.DeleteFunc(p.now, func(x *SearchProgress) bool { return x == s })
}

// Anchors returns how many anchors the searches that run now have, and how many of these are done with.
func (p *Progress) Anchors() (done, all uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.now {
		done += uint64(s.done.Load())
		all += uint64(s.all)
	}
	return done, all
}
