package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// degree bounds the number of data edges that b offers.
func (s *Search) degree(b *program.BackEdge) int {
	n := 0
	for _, d := range b.Dirs() {
		if b.Label == matcher.AnyLabel {
			n += s.graph.Degree(s.Images[b.Step], d)
		} else {
			r := s.graph.Range(s.Images[b.Step], d, b.Label)
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
	f.next, f.end, f.hi, f.counted = int(lo), size, hi, true
	if uint32(size) > hi {
		f.end = int(hi)
	}
	b := &st.Back[best]
	at := uint32(0)
	for _, dir := range b.Dirs() {
		var r dyngraph.Range
		if b.Label == matcher.AnyLabel {
			r = s.graph.RangeAll(s.Images[b.Step], dir)
		} else {
			r = s.graph.Range(s.Images[b.Step], dir, b.Label)
		}
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
					return true
				}
				f.next = int(at)
				if !s.Step() {
					return false
				}
				if !s.AdmitsEdge(ents[i]) || st.HasOwn && !s.Meets(s.order.Conditions.Own[b.Edge], ents[i].Index()) ||
					!s.Passes(st, w) || !s.Admits(st, w) || s.order.Members != nil && !s.keepMembers(d, w) {
					continue
				}
				if s.Asked(s.Steps) {
					s.share(d)
				}
				s.edges[b.Edge] = uint32(ents[i].Index())
				if !s.bindEdges(d, w, best, 0) {
					return false
				}
			}
		}
	}
	return true
}

// bindEdges maps the back edges of step d from index k on, except done, which is mapped already; then the vertex, to
// w, and the steps after it.
func (s *Search) bindEdges(d int, w dyngraph.VertexID, done, k int) bool {
	st := &s.order.Steps[d]
	if k == done {
		k++
	}
	if k >= len(st.Back) {
		if !s.ascending(st) || st.Tested && !s.holds(d, st) {
			return true
		}
		s.bind(d, w)
		return s.extend(d + 1)
	}
	b := &st.Back[k]
	u := s.Images[b.Step]
	for _, dir := range b.Dirs() {
		if b.Label != matcher.AnyLabel {
			r := s.graph.Range(u, dir, b.Label)
			if e, ok := r.Find(w); ok && !s.bindEdge(d, w, done, k, e) {
				return false
			}
			continue
		}
		labels := s.graph.LabelsOf(u, dir, nil)
		for _, l := range labels {
			r := s.graph.Range(u, dir, l)
			if e, ok := r.Find(w); ok && !s.bindEdge(d, w, done, k, e) {
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
	if !s.AdmitsEdge(e) || st.HasOwn && !s.Meets(s.order.Conditions.Own[b.Edge], e.Index()) ||
		!b.Admits(uint32(e.Index()), s.edges) ||
		done > k && s.edges[st.Back[done].Edge] == uint32(e.Index()) &&
			slices.Contains(st.Back[done].Parallel, b.Edge) {
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
