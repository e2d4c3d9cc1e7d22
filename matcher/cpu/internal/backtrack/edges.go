package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// degree bounds the number of data edges that b offers.
func (s *Search) degree(b *program.BackEdge) int {
	n := 0
	for _, d := range b.Dirs() {
		if b.Labels == nil {
			n += s.graph.Degree(s.Images[b.Step], d)
			continue
		}
		for _, l := range b.Labels {
			r := s.graph.Range(s.Images[b.Step], d, l)
			n += r.Len()
		}
	}
	return n
}

// extendEdges maps step d where a back edge may have several images between two given vertices: each combination of
// images is a match of its own (DESIGN S4). Candidates are numbered in the order of the shortest adjacency; those from
// lo to before hi are tried.
func (s *Search) extendEdges(d int, lo, hi uint32) bool {
	st := &s.order.Steps[d]
	best, size := 0, 0
	for k := range st.Back {
		if n := s.degree(&st.Back[k]); k == 0 || n < size {
			best, size = k, n
		}
	}
	f := &s.frames[st.Slot]
	if st.Tested && !s.confine(st, &f.readFrame) {
		return true
	}
	f.next, f.end, f.hi, f.counted = int(lo), size, hi, true
	if uint32(size) > hi {
		f.end = int(hi)
	}
	b := &st.Back[best]
	at := uint32(0)
	for _, dir := range b.Dirs() {
		for k := range b.Runs() {
			var ok bool
			if at, ok = s.extendRun(d, best, b.Run(s.graph, s.Images[b.Step], dir, k), lo, at); !ok {
				return false
			}
		}
	}
	return true
}

// extendRun maps step d to the neighbours of a range of its best back edge. at is the number of candidates before the
// range, and returned with those of the range; candidates beyond lo and up to the frame's end are tried.
func (s *Search) extendRun(d, best int, r dyngraph.Range, lo, at uint32) (uint32, bool) {
	st := &s.order.Steps[d]
	f, b := &s.frames[st.Slot], &st.Back[best]
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		if n := uint32(len(nbrs)); at+n <= lo {
			at += n
			continue
		}
		for i, w := range nbrs {
			at++
			if at <= lo {
				continue
			}
			if at > f.hi { // share may have lowered it
				return at, true
			}
			f.next = int(at)
			if !s.Step() {
				return at, false
			}
			if !s.AdmitsFound(b, ents[i]) || !s.Passes(st, w) || !s.Admits(st, w) ||
				!b.Admits(uint32(ents[i].Index()), s.edges) || s.order.Members != nil && !s.keepMembers(d, w) {
				continue
			}
			if s.Asked(s.Steps) {
				s.share(d)
			}
			s.edges[b.Edge] = uint32(ents[i].Index())
			if !s.bindEdges(d, w, best, 0) {
				return at, false
			}
		}
	}
	return at, true
}

// bindEdges maps the back edges of step d from index k on, except done, which is mapped already; then the vertex, to
// w, and the steps after it.
func (s *Search) bindEdges(d int, w dyngraph.VertexID, done, k int) bool {
	st := &s.order.Steps[d]
	if k == done {
		k++
	}
	if k >= len(st.Back) {
		s.bind(d, w)
		if !s.ascending(st) || st.Tested && !s.holds(d, st) {
			return true
		}
		going := s.extend(d + 1)
		s.fails[d] |= s.failed
		return going
	}
	b := &st.Back[k]
	u := s.Images[b.Step]
	for _, dir := range b.Dirs() {
		labels := b.Labels
		if labels == nil {
			labels = s.graph.LabelsOf(u, dir, nil)
		}
		for _, l := range labels {
			if !s.bindEach(d, w, done, k, s.graph.Range(u, dir, l), l) {
				return false
			}
		}
	}
	return true
}

// bindEach maps back edge k of step d to each edge to w in a range of one label, and goes on.
func (s *Search) bindEach(d int, w dyngraph.VertexID, done, k int, r dyngraph.Range, label dyngraph.LabelID) bool {
	if !s.graph.HasParallel(label) {
		e, ok := r.Find(w)
		return !ok || s.bindEdge(d, w, done, k, e)
	}
	among := r.Among(w)
	for _, ents, ok := among.Next(); ok; _, ents, ok = among.Next() {
		for _, e := range ents {
			if !s.bindEdge(d, w, done, k, e) {
				return false
			}
		}
	}
	return true
}

// bindEdge maps back edge k of step d to e and goes on.
func (s *Search) bindEdge(d int, w dyngraph.VertexID, done, k int, e dyngraph.Entry) bool {
	st := &s.order.Steps[d]
	b := &st.Back[k]
	if !s.AdmitsFound(b, e) || !b.Admits(uint32(e.Index()), s.edges) || !b.AdmitsBeside(uint32(e.Index()), s.edges) ||
		done > k && s.edges[st.Back[done].Edge] == uint32(e.Index()) &&
			slices.Contains(st.Back[done].Beside, b.Edge) {
		return true
	}
	if !s.Step() {
		return false
	}
	s.edges[b.Edge] = uint32(e.Index())
	return s.bindEdges(d, w, done, k+1)
}

// ascending checks that the images of parallel pattern edges ascend where symmetry demands it.
func (s *Search) ascending(st *program.Step) bool {
	view := s.graph.View(dyngraph.New)
	for _, l := range st.EdgeLess {
		if view.CompareEdges(dyngraph.EdgeIndex(s.edges[l[0]]), dyngraph.EdgeIndex(s.edges[l[1]])) >= 0 {
			return false
		}
	}
	return true
}
