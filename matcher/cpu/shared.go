package cpu

import (
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/work"
)

// options are for tests; the zero value is for production.
type searchOptions struct {
	// canonicalFirst begins capped requests with the canonical search.
	canonicalFirst bool
	// noMemo has suffixes searched each time.
	noMemo bool
	memo   endingLimits
}

// shared is what the searches of a backend share.
type shared struct {
	g         *dyngraph.Graph
	filter    *candidates.Filter
	neighbors *neighbors.Cache
	work      *work.Options
	memory    int // of a sorter, in bytes
	options   searchOptions
	cuts      atomic.Int64 // tests: groups and views of which a canonical search found the first rows

	mu      sync.Mutex
	idle    []*search      // searches of cuts that are not in use
	endings []*endingTable // tables of memos that are not in use
}

// forget drops what searches keep between them.
func (h *shared) forget() { h.idle, h.endings = nil, nil }

// begin makes a search, new or used before, ready for requests of one kind. It ends with done.
func (s *search) attach(h *shared, stop *atomic.Bool, mode matcher.Want) {
	if s.Matches == nil {
		s.Matches, s.OnSpend = s.matches, s.tellCut
	}
	s.Interrupted = s.cutTaken
	s.h, s.Options, s.Stop = h, h.work, stop
	s.g, s.orders, s.bits, s.words = h.g, h.g.OrderTable(), h.filter.Bits(), h.filter.Words()
	s.filled = filled{}
	s.ask(mode)
	s.lists.Attach(h.g, h.filter, h.neighbors)
	s.pairs.Attach(h.neighbors)
	s.endings.attach(h)
}

// detach keeps the search's caches for another use, and nothing else.
func (s *search) detach() {
	s.out, s.Stop, s.cut = nil, nil, nil
	s.Worker.End()
}

// take returns a search that is not in use.
func (h *shared) take() *search {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.idle)
	if n == 0 {
		return &search{}
	}
	s := h.idle[n-1]
	h.idle = h.idle[:n-1]
	return s
}

// put takes back what take returned.
func (h *shared) put(s *search) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = append(h.idle, s)
}
