package cpu

import (
	"sync/atomic"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/work"
)

// searcher has the searches and counters of one worker.
type searcher struct {
	backtrack.Search
	counter count.Counter
}

// newSearcher returns a worker's searcher. It ends with release.
func (b *Backend) newSearcher(stop *atomic.Bool, mode matcher.Want) *searcher {
	b.mu.Lock()
	var s *searcher
	if n := len(b.idle); n > 0 {
		s, b.idle = b.idle[n-1], b.idle[:n-1]
	} else {
		s = &searcher{}
	}
	b.mu.Unlock()
	s.Attach(&b.shared, stop, mode)
	s.counter.Attach(&s.Worker, b.g, b.filter)
	s.counter.Strategy = b.strategy
	return s
}

// release keeps the searcher's caches for another worker.
func (b *Backend) release(s *searcher) {
	s.Detach()
	s.counter.Detach()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, s)
}

// resumePart resumes what another worker gave away: a part of a search, or of a sum.
func (s *searcher) resumePart(p *work.Part) {
	if p, ok := p.Work.(*backtrack.Part); ok {
		s.Resume(p)
		return
	}
	s.counter.Resume(p)
}
