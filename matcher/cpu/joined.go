package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// dirs returns the directions in which the earlier vertex may see the back edge.
func (b *back) dirs() []dyngraph.Dir {
	if b.either {
		return []dyngraph.Dir{dyngraph.Out, dyngraph.In}
	}
	return bothDirs[b.dir : b.dir+1]
}

var bothDirs = []dyngraph.Dir{dyngraph.Out, dyngraph.In}

// degree bounds the number of data edges that b offers.
func (s *search) degree(b *back) int {
	n := 0
	for _, d := range b.dirs() {
		if b.label == matcher.AnyLabel {
			n += s.g.Degree(s.m[b.step], d)
		} else {
			r := s.g.Range(s.m[b.step], d, b.label)
			n += r.Len()
		}
	}
	return n
}

// extendJoined maps step d where some back edge may have several images between two given vertices: each combination of
// images is a match of its own (DESIGN S4). The images of the back edge that is read are numbered as they come; those
// from lo to before hi are tried.
func (s *search) extendJoined(d int, lo, hi uint32) bool {
	st := &s.o.steps[d]
	best, size := 0, 0
	for k := range st.back {
		if n := s.degree(&st.back[k]); k == 0 || n < size {
			best, size = k, n
		}
	}
	f := &s.frames[st.slot]
	f.next, f.end, f.hi, f.counted = int(lo), size, hi, true
	if uint32(size) > hi {
		f.end = int(hi)
	}
	b := &st.back[best]
	at := uint32(0)
	for _, dir := range b.dirs() {
		var r dyngraph.Range
		if b.label == matcher.AnyLabel {
			r = s.g.RangeAll(s.m[b.step], dir)
		} else {
			r = s.g.Range(s.m[b.step], dir, b.label)
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
				if !s.step() {
					return false
				}
				if ents[i].Staged() && !s.visible(ents[i]) ||
					!s.candidate(st, w) || !s.free(d, w) || s.o.members != nil && !s.live(d, w) {
					continue
				}
				if s.sharing.asked(s.steps) {
					s.share(d)
				}
				s.edges[b.edge] = uint32(ents[i].Index())
				if !s.joined(d, w, best, 0) {
					return false
				}
			}
		}
	}
	return true
}

// joined maps the back edges k.. of step d, whose vertex is to be w, but the one that is mapped already; then w, and
// what comes after.
func (s *search) joined(d int, w dyngraph.VertexID, done, k int) bool {
	st := &s.o.steps[d]
	if k == done {
		k++
	}
	if k >= len(st.back) {
		if !s.ascending(st) {
			return true
		}
		s.put(d, w)
		return s.extend(d + 1)
	}
	b := &st.back[k]
	u := s.m[b.step]
	for _, dir := range b.dirs() {
		if b.label != matcher.AnyLabel {
			r := s.g.Range(u, dir, b.label)
			if e, ok := r.Find(w); ok && !s.image(d, w, done, k, e) {
				return false
			}
			continue
		}
		labels := s.g.LabelsOf(u, dir, nil)
		for _, l := range labels {
			r := s.g.Range(u, dir, l)
			if e, ok := r.Find(w); ok && !s.image(d, w, done, k, e) {
				return false
			}
		}
	}
	return true
}

// image maps back edge k of step d to e and goes on.
func (s *search) image(d int, w dyngraph.VertexID, done, k int, e dyngraph.Entry) bool {
	st := &s.o.steps[d]
	b := &st.back[k]
	if e.Staged() && !s.visible(e) || s.isImage(uint32(e.Index()), b.distinct) ||
		done > k && s.edges[st.back[done].edge] == uint32(e.Index()) && slices.Contains(st.back[done].distinct, b.edge) {
		return true
	}
	if !s.step() {
		return false
	}
	s.edges[b.edge] = uint32(e.Index())
	return s.joined(d, w, done, k+1)
}

// isImage reports whether a data edge is the image of one of the pattern edges.
func (s *search) isImage(e uint32, of []int) bool {
	for _, other := range of {
		if s.edges[other] == e {
			return true
		}
	}
	return false
}

// ascending checks that the images of parallel pattern edges ascend where symmetry demands it.
func (s *search) ascending(st *step) bool {
	view := s.g.View(dyngraph.New)
	for _, l := range st.edgeLess {
		if compareEdges(view, dyngraph.EdgeIndex(s.edges[l[0]]), dyngraph.EdgeIndex(s.edges[l[1]])) >= 0 {
			return false
		}
	}
	return true
}
