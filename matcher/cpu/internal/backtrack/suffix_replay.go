package backtrack

import "motifd/dyngraph"

// extendSuffix maps the steps d and d+1 as an entry says, and the steps after them.
func (s *Search) extendSuffix(d int, words []uint32, staged bool) bool {
	e, check := s.order.Suffix, s.ChecksEdges(staged)
	s1, s2 := &s.order.Steps[d], &s.order.Steps[d+1]
	each := 1 + len(s2.Back)
	// The frame of s1 is filled so that its rest can be given away.
	f, g := &s.frames[s1.Slot], &s.frames[s2.Slot]
	f.valid, f.nbrs = false, f.nbrs[:0]
	for rest := words; len(rest) > 0; {
		var x suffixImages
		x, rest = nextImages(rest, each)
		f.nbrs = append(f.nbrs, x.image)
	}
	f.nbr = f.nbrs
	f.next, f.end, f.hi, f.counted = 0, len(f.nbr), unbounded, false
	g.next, g.end = 0, 0
	for f.next < f.end {
		f.next++
		if !s.Step() {
			return false
		}
		var x suffixImages
		x, words = nextImages(words, each)
		if s.IsImage(e.MustDiffer[0], x.image) || !s.AdmitsListed(&s1.Back[0], x.by) {
			continue
		}
		s.bind(d, x.image)
		s.edges[s1.Back[0].Edge] = uint32(x.by.Index())
		if s.Asked(s.Steps) {
			s.share(d)
		}
		for ends := x.ends; len(ends) >= each; ends = ends[each:] {
			if !s.Step() {
				return false
			}
			v, entries := dyngraph.VertexID(ends[0]), ends[1:each]
			if s.IsImage(e.MustDiffer[1], v) || check && !s.admitsAll(s2, entries) {
				continue
			}
			for k, by := range entries {
				s.edges[s2.Back[k].Edge] = uint32(dyngraph.Entry(by).Index())
			}
			s.bind(d+1, v)
			if !s.extend(d + 2) {
				return false
			}
		}
	}
	return true
}

// suffixImages is an image of s1 in an entry, the entry of its edge, and the images of s2 that go with it, each
// followed by the entries of its back edges.
type suffixImages struct {
	image dyngraph.VertexID
	by    dyngraph.Entry
	ends  []uint32
}

// nextImages returns what goes with the first image of s1 in some words, and the words behind it. each is the number of
// words of an image of s2.
func nextImages(words []uint32, each int) (x suffixImages, rest []uint32) {
	end := 3 + int(words[2])*each
	return suffixImages{dyngraph.VertexID(words[0]), dyngraph.Entry(words[1]), words[3:end]}, words[end:]
}
