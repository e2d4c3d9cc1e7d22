package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/program"
	"motifd/matcher/cpu/rowsort"
	"motifd/matcher/cpu/work"
)

// maxWidth is the number of columns of the widest row.
const maxWidth = matcher.MaxVertices + matcher.MaxEdges

// search is one worker's state: a depth-first search over the steps of an order (GAMMA Algorithm 1, one thread in
// the place of a warp).
type search struct {
	h      *shared
	g      *dyngraph.Graph
	orders []uint32 // side table of batch orders by edge index
	bits   []uint64
	words  int

	// What is visible: sign and anchor of an incremental search (DESIGN A2), or a plain view.
	sign   dyngraph.Sign // 0 for a plain view
	which  dyngraph.Which
	anchor uint32

	o       *program.Order
	class   *program.Order                         // that o, a member, was come to from
	left    [matcher.MaxVertices]uint64            // by step of a class's order: the members that are left
	common  [maxWidth]uint32                       // row, as the class has it
	m       [matcher.MaxVertices]dyngraph.VertexID // by step
	row     [maxWidth]uint32                       // what is mapped: vertices in pattern order, then edges
	edges   []uint32                               // row, from the edges on
	frames  []frame                                // by slot
	filled  filled
	lists   neighbors.Lists
	pairs   neighbors.Pairs
	endings endings
	meeting neighbors.Intersecter
	apart   [2][matcher.MaxVertices]uint32 // what images are to be kept apart from

	mode     matcher.Want
	found    uint64          // matches, when they are counted one by one
	out      *rowsort.Sorter // of the rows
	room     rowsort.Room    // of the next sorter
	imageRow []uint32        // the image of a row at hand
	witness  []uint32        // the first match, when any will do
	work.Worker
	base int  // steps before it belong to another worker
	cut  *cut // of the group, or the request; nil when its rows are not capped
}

// ask makes the search ready for another request of the same Search. What it remembers of the graph holds on.
func (s *search) ask(mode matcher.Want) {
	s.mode, s.found, s.out, s.witness, s.cut = mode, 0, nil, nil, nil
	s.Worker.Begin()
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
func (s *search) candidate(st *program.Step, w dyngraph.VertexID) bool {
	return st.Passes(s.bits[int(w)*s.words:])
}

// free checks injectivity and symmetry for w as the image of step d.
func (s *search) free(d int, w dyngraph.VertexID) bool {
	st := &s.o.Steps[d]
	for _, k := range st.MustDiffer {
		if s.m[k] == w {
			return false
		}
	}
	for _, l := range st.Less {
		if (s.m[l.Step] < w) != l.Greater {
			return false
		}
	}
	return true
}

// begin makes the search ready for another anchor or root.
func (s *search) begin(o *program.Order) {
	s.o, s.class, s.Stopped, s.Tripped = o, nil, false, false
	s.edges = s.row[len(o.Plan.Query.Vertices):]
	s.keepFrames(o)
}

// put maps step d to w.
func (s *search) put(d int, w dyngraph.VertexID) {
	s.m[d] = w
	s.row[s.o.Steps[d].Vertex] = uint32(w)
}

// fromAnchor searches the matches that net edge n, of order i in its batch, makes or breaks along o.
func (s *search) fromAnchor(o *program.Order, n *dyngraph.NetEdge, i uint32) {
	s.sign, s.anchor, s.base = n.Sign, i, 2
	s.begin(o)
	s.Steps++
	if s.ends(o) {
		return
	}
	if !s.candidate(&o.Steps[0], n.From) || !s.candidate(&o.Steps[1], n.To) {
		return
	}
	s.put(0, n.From)
	s.edges[o.Anchor] = uint32(n.Edge)
	if s.free(1, n.To) && (o.Members == nil || s.live(0, n.From) && s.live(1, n.To)) {
		s.joined(1, n.To, -1, 0)
	}
}

// fromRoot searches the matches of a plain view whose first vertex is v.
func (s *search) fromRoot(o *program.Order, which dyngraph.Which, v dyngraph.VertexID) {
	s.sign, s.which, s.base = 0, which, 1
	s.begin(o)
	if !s.candidate(&o.Steps[0], v) {
		return
	}
	s.put(0, v)
	s.extend(1)
}

// matches returns how many matches the search has found.
func (s *search) matches() uint64 {
	if s.mode == matcher.WantRows && s.out != nil {
		return s.out.Count()
	}
	return s.found
}

// extend maps the vertex of step d and all after it; false ends the search.
func (s *search) extend(d int) bool { return s.extendWithin(d, 0, unbounded) }

// extendWithin is extend with the images of step d from lo to before hi only; those of a step that is not plain are
// numbered from 0 in the order in which they are read (see frame).
func (s *search) extendWithin(d int, lo, hi uint32) bool {
	if d == len(s.o.Steps) {
		if s.o.Members != nil {
			return s.branch()
		}
		return s.match()
	}
	st := &s.o.Steps[d]
	if !st.Simple {
		return s.extendJoined(d, lo, hi)
	}
	if s.o.Suffix != nil && d == s.o.Suffix.S1 && lo == 0 && hi == unbounded && s.mode == matcher.WantRows {
		if done, ok := s.end(d); done {
			return ok
		}
	}
	f := &s.frames[st.Slot]
	if !s.fill(d, st, f) {
		return false
	}
	if f.none {
		return true
	}
	if st.Windows != nil && !s.roomy(st, f.nbr) {
		return true
	}
	from, to := 0, len(f.nbr)
	if lo > 0 {
		from = neighbors.Seek(f.nbr, 0, dyngraph.VertexID(lo))
	}
	if hi != unbounded {
		to = neighbors.Seek(f.nbr, from, dyngraph.VertexID(hi))
	}
	if d+1 == len(s.o.Steps) && s.o.Members == nil {
		return s.last(st, f, from, to)
	}
	f.next, f.end, f.hi, f.counted = from, to, hi, false
	if s.o.PathEnd && d+2 == len(s.o.Steps) && s.mode == matcher.WantRows {
		return s.lastTwo(d, f)
	}
	for f.next < f.end {
		i := f.next
		if (i-from)%neighbors.PrefetchSize == 0 && f.end-i > 1 {
			s.readAhead(d, f.nbr[i:min(i+neighbors.PrefetchSize, f.end)])
		}
		f.next++
		if !s.Step() {
			return false
		}
		w := f.nbr[i]
		if !s.free(d, w) || s.o.Members != nil && !s.live(d, w) {
			continue
		}
		s.put(d, w)
		for k := range st.Back {
			s.edges[st.Back[k].Edge] = uint32(f.ent[k][i].Index())
		}
		if s.Asked(s.Steps) {
			s.share(d)
		}
		if !s.extend(d + 1) {
			return false
		}
	}
	return true
}

// last maps the last step, to each of the candidates from to before to that is free: they go out in one go.
func (s *search) last(st *program.Step, f *frame, from, to int) bool {
	if from >= to {
		return true
	}
	if !s.StepBy(to - from) {
		return false
	}
	d := len(s.o.Steps) - 1
	if s.mode == matcher.WantRows {
		add := s.addLast
		if s.o.Images != nil {
			add = s.addImages
		}
		if !add(st, f, from, to) {
			s.Stopped = true
			return false
		}
		return true
	}
	for i := from; i < to; i++ {
		if !s.free(d, f.nbr[i]) {
			continue
		}
		switch s.mode {
		case matcher.WantCount:
			s.found++
		default:
			s.put(d, f.nbr[i])
			for k := range st.Back {
				s.edges[st.Back[k].Edge] = uint32(f.ent[k][i].Index())
			}
			return s.match()
		}
	}
	return true
}

// match reports a complete mapping; false ends the search.
func (s *search) match() bool {
	switch s.mode {
	case matcher.WantCount:
		s.found++
		return true
	case matcher.WantAny:
		s.witness = append([]uint32(nil), s.row[:s.o.Width()]...)
		s.Stop.Store(true)
		s.Stopped = true
		return false
	}
	if !s.addRow() {
		s.Stopped = true
		return false
	}
	return true
}
