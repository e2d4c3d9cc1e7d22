package backtrack

import (
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
)

// options are for tests; the zero value is for production.
type Options struct {
	// canonicalFirst begins capped requests with the canonical search.
	CanonicalFirst bool
	// noMemo has suffixes searched each time.
	NoMemo bool
	Memo   MemoLimits
	// ValueOrderLeast is the least length of a list that gets a value order, which is then used whatever it saves; 0 is
	// the constant.
	ValueOrderLeast int
	// TailCounts bounds the counts of the tail of an order; 0 is the constant.
	TailCounts int
	// MostFound bounds the matches that a worker counts in 64 bits, unless they were found one by one; 0 is the
	// constant.
	MostFound uint64
}

// Shared has the state that the searches of a backend share.
type Shared struct {
	Graph      *dyngraph.Graph
	Delta      *dyngraph.Delta // of the staged batch, nil for none
	Filter     candidates.Source
	Neighbors  *neighbors.Cache
	Work       *work.Options
	SortMemory int // of a sorter, in bytes
	Options    Options
	// Jumps has searches leave out images that fail as others did; see jump.go. Those of orders with Members do not.
	Jumps bool
	// Profile is added to by each search; nil for none.
	Profile *Profile
	Caps    atomic.Int64 // tests: groups and views of which a canonical search found the first rows

	mu    sync.Mutex
	idle  []*Search    // searches of cuts that are not in use
	memos []*memoTable // tables of memos that are not in use
}

// Forget drops what searches keep between them.
func (h *Shared) Forget() { h.idle, h.memos = nil, nil }

// begin makes a search, new or used before, ready for requests of one kind. It ends with done.
func (s *Search) Attach(h *Shared, stop *atomic.Bool, mode matcher.Want) {
	if s.Matches == nil {
		s.Matches, s.OnSpend = s.matches, s.tellCap
	}
	s.Interrupted = s.CapReached
	s.shared, s.Options, s.Stop = h, h.Work, stop
	s.graph, s.revises = h.Graph, h.Delta != nil && len(h.Delta.Revised) > 0
	s.Admission.Attach(h.Graph, h.Delta, h.Filter)
	s.NextRequest(mode)
	s.lists.Attach(h.Graph, h.Filter, h.Neighbors)
	s.visible.begin()
	s.tails.room = s.tails.room[:0]
	s.suffixes.attach(h)
	s.profile = profiler{}
	if h.Profile != nil {
		s.profile.orders = map[*program.Order]*Levels{}
	}
	s.valueOrders.drop()
	for i := range s.frames { // RootDone reads them
		s.frames[i].next, s.frames[i].end = 0, 0
	}
}

// Detach keeps the search's caches for another use, and nothing else.
func (s *Search) Detach() {
	if s.profile.orders != nil {
		s.shared.Profile.add(s.profile.orders)
		s.profile = profiler{}
	}
	s.Out, s.Stop, s.Cap = nil, nil, nil
	s.Worker.End()
}

// take returns a search that is not in use.
func (h *Shared) take() *Search {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.idle)
	if n == 0 {
		return &Search{}
	}
	s := h.idle[n-1]
	h.idle = h.idle[:n-1]
	return s
}

// put takes back what take returned.
func (h *Shared) put(s *Search) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = append(h.idle, s)
}
