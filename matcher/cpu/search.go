package cpu

import (
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
)

// pollEvery is the number of search steps between looks at the stop flag and the budget.
const pollEvery = 1 << 12

// search is one worker's state: a depth-first search over the steps of an order (GAMMA Algorithm 1, one thread in
// the place of a warp).
type search struct {
	g      *dyngraph.Graph
	orders []uint32 // side table of batch orders by edge index
	bits   []uint64
	words  int

	// What is visible: sign and anchor of an incremental search (DESIGN A2), or a plain view.
	sign   dyngraph.Sign // 0 for a plain view
	which  dyngraph.Which
	anchor uint32

	o     *order
	m     [matcher.MaxVertices]dyngraph.VertexID // by step
	edges [matcher.MaxEdges]dyngraph.EdgeIndex   // by pattern edge
	joins [matcher.MaxVertices][]join            // scratch, by step
	lists lists

	counting bool // without a shape
	total    matcher.Count
	found    func() bool // called for every match when not counting; false ends the search
	counter  counter

	steps   uint64 // candidates tried
	polled  uint64
	stop    *atomic.Bool
	budget  *budget
	tripped bool // the budget was exceeded
	stopped bool // by the stop flag, the budget or found
}

// budget is a request's bound on search steps, shared by the workers.
type budget struct {
	limit uint64
	spent atomic.Uint64
}

// newSearch returns a worker's search. It ends with release.
func (b *Backend) newSearch(stop *atomic.Bool) *search {
	b.mu.Lock()
	var s *search
	if n := len(b.idle); n > 0 {
		s, b.idle = b.idle[n-1], b.idle[:n-1]
	} else {
		s = &search{}
	}
	b.mu.Unlock()
	s.g, s.orders, s.bits, s.words, s.stop = b.g, b.g.OrderTable(), b.filter.Bits(), b.filter.Words(), stop
	s.counting, s.total, s.found, s.budget = false, matcher.Count{}, nil, nil
	s.steps, s.polled, s.tripped, s.stopped = 0, 0, false, false
	s.lists.attach(b.g, b.filter, b.fresh.stamps)
	s.counter.memo.reset()
	return s
}

// release keeps the search's caches for another one.
func (b *Backend) release(s *search) {
	s.found, s.stop, s.budget = nil, nil, nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, s)
}

// visible reports whether a staged edge belongs to what is searched. In an incremental search the view is that of
// the batch just before the anchor: for positives, edges inserted by a lower order; for negatives, edges
// deleted by a higher one, so that every match is found from exactly one anchor. The anchor's own edge is mapped by
// the anchor and by nothing else.
func (s *search) visible(e dyngraph.Entry) bool {
	o := s.orders[e.Index()]
	deleted, order := o>>31 != 0, o&(1<<31-1)-1
	switch s.sign {
	case dyngraph.Inserted:
		return !deleted && order < s.anchor
	case dyngraph.Deleted:
		return deleted && order > s.anchor
	}
	return deleted == (s.which == dyngraph.Old)
}

// candidate reports whether data vertex w passes the filter of a step.
func (s *search) candidate(st *step, w dyngraph.VertexID) bool {
	return s.bits[int(w)*s.words+st.word]&st.mask != 0
}

// free checks injectivity and symmetry for w as the image of step d.
func (s *search) free(d int, w dyngraph.VertexID) bool {
	st := &s.o.steps[d]
	for _, k := range st.clash {
		if s.m[k] == w {
			return false
		}
	}
	for _, l := range st.less {
		if (s.m[l.step] < w) != l.greater {
			return false
		}
	}
	return true
}

// fromAnchor searches the matches that net edge n, of order i in its batch, makes or breaks along o.
func (s *search) fromAnchor(o *order, n *dyngraph.NetEdge, i uint32) {
	s.o, s.sign, s.anchor, s.stopped, s.tripped = o, n.Sign, i, false, false
	s.m[0] = n.From
	s.steps++
	if !s.candidate(&o.steps[0], n.From) || !s.candidate(&o.steps[1], n.To) {
		return
	}
	s.edges[o.anchor] = n.Edge
	if s.free(1, n.To) {
		s.joined(1, n.To, -1, 0)
	}
}

// fromRoot searches the matches of a plain view whose first vertex is v.
func (s *search) fromRoot(o *order, which dyngraph.Which, v dyngraph.VertexID) {
	s.o, s.sign, s.which, s.stopped, s.tripped = o, 0, which, false, false
	if !s.candidate(&o.steps[0], v) {
		return
	}
	s.m[0] = v
	s.extend(1)
}

// step counts a step and looks at the flags now and then; false ends the search.
func (s *search) step() bool {
	s.steps++
	if s.steps&(pollEvery-1) == 0 {
		return s.poll()
	}
	return true
}

func (s *search) poll() bool {
	if s.stop.Load() {
		s.stopped = true
		return false
	}
	if s.budget != nil {
		if s.budget.spent.Add(s.steps-s.polled) > s.budget.limit {
			s.tripped, s.stopped = true, true
		}
		s.polled = s.steps
	}
	return !s.stopped
}

// extend maps the vertex of step d and all after it; false ends the search.
func (s *search) extend(d int) bool {
	o := s.o
	if d == len(o.steps) {
		return s.match()
	}
	st := &o.steps[d]
	if !st.plain {
		return s.extendJoined(d)
	}
	last := s.counting && d+1 == len(o.steps)
	if len(st.back) == 1 {
		b := &st.back[0]
		l := s.lists.neighbours(s.m[b.step], b, st)
		for i, w := range l.nbr {
			if !s.step() {
				return false
			}
			if !s.free(d, w) || l.ent[i].Staged() && !s.visible(l.ent[i]) {
				continue
			}
			if last {
				s.total = s.total.Add(matcher.CountOf(1))
				continue
			}
			s.edges[b.edge] = l.ent[i].Index()
			s.m[d] = w
			if !s.extend(d + 1) {
				return false
			}
		}
		return true
	}
	return s.intersect(d, last)
}

// join is one neighbour list, or range, that an intersection reads.
type join struct {
	list  list
	r     dyngraph.Range // when not built
	built bool
	at    int // where the next seek in the list begins
	edge  int
}

// intersect maps step d, joined to several earlier vertices: the shortest list is read, the others are searched for each of
// its vertices, galloping from where the last search ended (GAMMA's Gen_candidates; DESIGN A7).
func (s *search) intersect(d int, last bool) bool {
	st := &s.o.steps[d]
	js := s.joins[d][:0]
	best, size := -1, 0
	for k := range st.back {
		b := &st.back[k]
		l, r, built := s.lists.peek(s.m[b.step], b, st)
		n := len(l.nbr)
		if !built {
			n = r.AtMost()
		}
		js = append(js, join{list: l, r: r, built: built, edge: b.edge})
		if n == 0 {
			s.joins[d] = js
			return true
		}
		if best < 0 || n < size {
			best, size = k, n
		}
	}
	s.joins[d] = js
	read := &js[best]
	if !read.built {
		b := &st.back[best]
		read.list = s.lists.neighbours(s.m[b.step], b, st)
	}
	nbrs, ents := read.list.nbr, read.list.ent
next:
	for i, w := range nbrs {
		if !s.step() {
			return false
		}
		if ents[i].Staged() && !s.visible(ents[i]) || !s.free(d, w) {
			continue
		}
		for k := range js {
			if k == best {
				continue
			}
			j := &js[k]
			var e dyngraph.Entry
			if j.built {
				j.at = seek(j.list.nbr, j.at, w)
				if j.at == len(j.list.nbr) {
					return true
				}
				if j.list.nbr[j.at] != w {
					continue next
				}
				e = j.list.ent[j.at]
			} else {
				var ok bool
				if e, ok = j.r.Find(w); !ok {
					continue next
				}
			}
			if e.Staged() && !s.visible(e) {
				continue next
			}
			s.edges[j.edge] = e.Index()
		}
		if last {
			s.total = s.total.Add(matcher.CountOf(1))
			continue
		}
		s.edges[read.edge] = ents[i].Index()
		s.m[d] = w
		if !s.extend(d + 1) {
			return false
		}
	}
	return true
}

// match reports a complete mapping; false ends the search.
func (s *search) match() bool {
	if s.counting {
		s.total = s.total.Add(matcher.CountOf(1))
		return true
	}
	if !s.found() {
		s.stopped = true
		return false
	}
	return true
}
