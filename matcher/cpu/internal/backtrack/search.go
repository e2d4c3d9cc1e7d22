package backtrack

import (
	"cmp"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/rowsort"
)

// maxWidth is the number of columns of the widest row.
const maxWidth = matcher.MaxVertices + matcher.MaxEdges

// Search is one worker's state: a depth-first search over the steps of an order (GAMMA Algorithm 1, one thread in
// the place of a warp).
type Search struct {
	shared *Shared
	graph  *dyngraph.Graph

	program.Admission

	revises     bool // the staged batch revises vertices
	order       *program.Order
	class       *program.Order              // that o, a member, was come to from
	members     [matcher.MaxVertices]uint64 // by step of a class's order: the members that are left
	common      [maxWidth]uint32            // row, as the class has it
	row         [maxWidth]uint32            // the images: vertices in pattern order, then edges
	edges       []uint32                    // row, from the edges on
	frames      []frame                     // by slot
	lists       neighbors.Lists
	suffixes    suffixes
	intersecter neighbors.Intersecter
	visible     visible
	tails       tails
	free        []dyngraph.VertexID // scratch of countLastTwo, like less
	less        []program.Less

	mode    matcher.Want
	Found   uint64           // matches, when they are counted one by one; Counted has all
	many    matcher.Count    // the matches that were taken off Found
	Out     *rowsort.Sorter  // of the rows
	Room    rowsort.Room     // of the next sorter
	formed  [maxWidth]uint32 // the row at hand, in some form
	Witness []uint32         // the first match, when any will do
	work.Worker
	base  int  // steps before it belong to another worker
	jumps bool // see jump.go
	// vertices tells that matches are counted without the data edges of their back edges.
	vertices bool
	// special tells that extendSpecial is asked first: the search jumps, or is profiled.
	special bool
	profile profiler
	failed  uint32                      // steps on which the failure of the last extension depends
	fails   [matcher.MaxVertices]uint32 // by step that is not simple: likewise, for its images so far
	// Silence is the request's. pairs tells that matches of the current anchor may hold in both views, and must be
	// tested one by one.
	Silence     *matcher.Silence
	pairs       bool
	Cap         *Cap                            // of the group, or the request; nil when its rows are not capped
	left        [1 + matcher.MaxVertices]uint64 // behind a Tested step, or (0) before all: the Conditions that are left
	held        held
	fit         frame    // of the last step: the candidates that meet its readings
	at          []uint32 // scratch: their positions among all
	valueOrders valueOrders
}

// NextRequest makes the search ready for another request of the same Search. Its caches of the graph stay valid.
func (s *Search) NextRequest(mode matcher.Want) {
	s.mode, s.Found, s.many, s.Out, s.Witness, s.Cap, s.Silence = mode, 0, matcher.Count{}, nil, nil, nil, nil
	s.Worker.Begin()
}

// ListsRead returns about how many entries of the graph the search has read for lists.
func (s *Search) ListsRead() uint64 { return s.lists.Read() }

// Start makes the search ready for another anchor or root. It returns the order that is searched: for a batch that
// revises vertices it may be another form of o.
func (s *Search) Start(o *program.Order) *program.Order {
	if s.revises && o.Revising != nil {
		o = o.Revising
	}
	s.order, s.class, s.Stopped, s.Tripped = o, nil, false, false
	s.jump(s.shared.Jumps && !o.GoesOn() && o.Parent == nil)
	s.edges, s.pairs = s.row[len(o.Plan.Query.Vertices):], s.maybePairs()
	if s.vertices = s.countsVertices(o); s.vertices {
		s.visible.start(&s.Admission)
	}
	if o.Columns != nil {
		s.startReading(o)
	}
	for len(s.frames) < o.Slots {
		s.frames = append(s.frames, frame{})
	}
	for i := range s.frames[:o.Slots] {
		s.frames[i].valid, s.frames[i].prefixes = false, 0
	}
	return o
}

// bind maps step d to w.
func (s *Search) bind(d int, w dyngraph.VertexID) {
	s.Images[d] = w
	s.row[s.order.Steps[d].Vertex] = uint32(w)
}

// FromAnchor searches the matches that net edge n, of order i in its batch, makes or breaks along o; or that the
// version of a revised vertex does, along an order that begins with it.
func (s *Search) FromAnchor(o *program.Order, n *dyngraph.NetEdge, i uint32) {
	s.Sign, s.Anchor, s.base = n.Sign, i, 2
	o = s.Start(o)
	s.started()
	s.Steps++
	if n.Vertex {
		s.base = 1
		s.fromRoot(n.From)
		return
	}
	if !s.Passes(&o.Steps[0], n.From) || !s.Passes(&o.Steps[1], n.To) {
		return
	}
	s.bind(0, n.From)
	s.edges[o.Anchor] = uint32(n.Edge)
	if s.begins() && s.Admits(&o.Steps[1], n.To) &&
		(o.Members == nil || s.keepMembers(0, n.From) && s.keepMembers(1, n.To)) {
		if st := &o.Steps[1]; !st.Tested || s.confine(st, &s.frames[st.Slot].readFrame) {
			s.bindEdges(1, n.To, -1, 0)
		}
	}
}

// FromRoot searches the matches of a plain view whose first vertex is v.
func (s *Search) FromRoot(o *program.Order, which dyngraph.Which, v dyngraph.VertexID) {
	s.Sign, s.Which, s.base = 0, which, 1
	s.Start(o)
	s.started()
	s.fromRoot(v)
}

// RootDone estimates the part of the last root's search that was done before the search was stopped, by how far each
// step came among its candidates. A step that was not begun again since the step before it went on has little weight.
func (s *Search) RootDone() (part float64) {
	weight := 1.0
	for d := 1; d < len(s.order.Steps) && weight > 1e-9; d++ {
		f := &s.frames[s.order.Steps[d].Slot]
		weight /= float64(max(1, f.end))
		part += weight * float64(max(0, f.next-1))
	}
	return min(part, 1)
}

// fromRoot searches the matches whose first vertex is v.
func (s *Search) fromRoot(v dyngraph.VertexID) {
	if !s.Passes(&s.order.Steps[0], v) {
		return
	}
	if s.bind(0, v); s.begins() {
		s.extend(1)
	}
}

// matches returns the number of matches that the search has found.
func (s *Search) matches() uint64 {
	if s.mode == matcher.WantRows && s.Out != nil {
		return s.Out.Count()
	}
	return s.Found + s.many.Lo
}

// Counted returns the number of matches that were found, when they are counted.
func (s *Search) Counted() matcher.Count { return s.many.Add(matcher.CountOf(s.Found)) }

// mostFound is the most that Found may have after an addition of many matches at once, and the most that one such
// addition may have.
const mostFound = 1 << 62

// foundMany adds matches that were found at once.
func (s *Search) foundMany(n uint64) {
	if s.Found += n; s.Found >= s.mostFound() {
		s.many, s.Found = s.Counted(), 0
	}
}

func (s *Search) mostFound() uint64 { return cmp.Or(s.shared.Options.MostFound, mostFound) }

// extend maps the vertex of step d and all after it; false ends the search.
func (s *Search) extend(d int) bool { return s.extendWithin(d, 0, unbounded) }

// extendWithin is extend with the images of step d from lo to before hi only; those of a step that is not plain are
// numbered from 0 in the order in which they are read (see frame).
func (s *Search) extendWithin(d int, lo, hi uint32) bool {
	if s.special {
		if done, going := s.extendSpecial(d, lo, hi); done {
			return going
		}
	}
	if s.vertices {
		return s.extendVertices(d, lo, hi)
	}
	if d == len(s.order.Steps) {
		switch o := s.order; {
		case o.Members != nil:
			return s.extendMembers()
		case o.Branches != nil:
			return s.extendBranches(d)
		}
		return s.match()
	}
	st := &s.order.Steps[d]
	if !st.Simple {
		return s.extendEdges(d, lo, hi)
	}
	if lo == 0 && hi == unbounded && s.remembers(d) {
		if done, ok := s.replay(d); done {
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
	if st.Windows != nil && !s.fitsWindows(st, f.nbr) {
		return true
	}
	from, to := within(f.nbr, lo, hi)
	if st.Tested && !s.confine(st, &f.readFrame) {
		return true
	}
	if d+1 == len(s.order.Steps) && !s.order.GoesOn() && !s.pairs {
		if !st.Tested {
			return s.lastOf(st, f, from, to)
		}
		if !st.MapsFirst {
			return s.lastAdmitted(st, f, from, to)
		}
	}
	f.next, f.end, f.hi, f.counted = from, to, hi, false
	for f.next < f.end {
		i := f.next
		f.next++
		if !s.Step() {
			return false
		}
		w, of := f.nbr[i], uint64(1)
		if st.Tested {
			of = s.fitAll(st, f, i, f.open)
		}
		if of == 0 || !s.Admits(st, w) || s.order.Members != nil && !s.keepMembers(d, w) {
			continue
		}
		s.bindEntry(d, st, f, i)
		if st.Tested && !s.meetsRest(d, st, of) {
			continue
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

// remembers reports whether the suffix that a step begins is remembered.
func (s *Search) remembers(d int) bool {
	return s.order.Suffix != nil && d == s.order.Suffix.S1 && !s.pairs && s.mode == matcher.WantRows
}

// bindEntry maps a step to a candidate of its frame, and its back edges with it.
func (s *Search) bindEntry(d int, st *program.Step, f *frame, i int) {
	s.bind(d, f.nbr[i])
	if s.vertices {
		return
	}
	for k := range st.Back {
		s.edges[st.Back[k].Edge] = uint32(f.ent[k][i].Index())
	}
}

// lastAdmitted is lastOf for a step with readings.
func (s *Search) lastAdmitted(st *program.Step, f *frame, from, to int) bool {
	for m := f.open; m != 0; m &= m - 1 {
		if !s.StepBy(to - from) {
			return false
		}
		k := bits.TrailingZeros64(m)
		fit := s.admitted(st, f, from, to, k)
		if !s.last(st, fit, 0, len(fit.nbr), s.order.Variants[k].Forms) {
			return false
		}
	}
	return true
}

// lastOf maps the last step, to each of the candidates from to before to that is free.
func (s *Search) lastOf(st *program.Step, f *frame, from, to int) bool {
	if s.order.Variants == nil {
		return s.last(st, f, from, to, s.order.Forms)
	}
	for m := s.left[st.Prior]; m != 0; m &= m - 1 {
		if !s.last(st, f, from, to, s.order.Variants[bits.TrailingZeros64(m)].Forms) {
			return false
		}
	}
	return true
}

// last maps the last step, to each of the candidates from to before to that is free: they go out in one go, in some
// forms.
func (s *Search) last(st *program.Step, f *frame, from, to int, forms []program.Form) bool {
	if from >= to {
		return true
	}
	if !s.StepBy(to - from) {
		return false
	}
	d := len(s.order.Steps) - 1
	if s.mode == matcher.WantRows {
		for i := range forms {
			if !s.addLast(st, f, from, to, &forms[i]) {
				s.Stopped = true
				return false
			}
		}
		return true
	}
	for i := from; i < to; i++ {
		if !s.Admits(st, f.nbr[i]) {
			continue
		}
		switch s.mode {
		case matcher.WantCount:
			s.Found += uint64(len(forms))
		default:
			s.bindEntry(d, st, f, i)
			return s.matchAs(forms)
		}
	}
	return true
}

// match reports a complete mapping; false ends the search.
func (s *Search) match() bool {
	o := s.order
	if o.Variants == nil {
		return s.matchAs(o.Forms)
	}
	for m := s.left[o.Last]; m != 0; m &= m - 1 {
		if !s.matchAs(o.Variants[bits.TrailingZeros64(m)].Forms) {
			return false
		}
	}
	return true
}

// matchAs reports a complete mapping in some forms; false ends the search.
func (s *Search) matchAs(forms []program.Form) bool {
	if s.pairs && s.inBoth(s.rowAs(&forms[0])) { // and then so are all of them: they meet the same conditions
		return true
	}
	switch s.mode {
	case matcher.WantCount:
		s.Found += uint64(len(forms))
		return true
	case matcher.WantAny:
		s.Witness = slices.Clone(s.rowAs(&forms[0])[:s.order.Width()])
		s.Stop.Store(true)
		s.Stopped = true
		return false
	}
	for i := range forms {
		if !s.Out.Add(s.rowAs(&forms[i])[:s.order.Width()]) {
			s.Stopped = true
			return false
		}
	}
	return true
}
