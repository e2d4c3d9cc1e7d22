package backtrack

import "motifd/dyngraph"

// extendSuffix maps the steps d and d+1 as an entry says, and the steps after them.
func (s *Search) extendSuffix(d int, words []uint32, staged bool) bool {
	e, check := s.order.Suffix, s.ChecksEdges(staged)
	near, far := &s.order.Steps[d], &s.order.Steps[d+1]
	two := len(far.Back) == 2
	// The frame of s1 is filled so that its rest can be given away.
	f, g := &s.frames[near.Slot], &s.frames[far.Slot]
	f.valid, f.nbrs = false, f.nbrs[:0]
	for rest := words; len(rest) > 0; {
		var x images
		x, rest = imagesOf(rest, two)
		f.nbrs = append(f.nbrs, x.near)
	}
	f.nbr = f.nbrs
	f.next, f.end, f.hi, f.counted = 0, len(f.nbr), unbounded, false
	g.next, g.end = 0, 0
	for f.next < f.end {
		f.next++
		if !s.Step() {
			return false
		}
		var x images
		x, words = imagesOf(words, two)
		v, by := x.near, x.by
		if s.IsImage(e.MustDiffer[0], v) || !s.AdmitsEdge(by) {
			continue
		}
		s.bind(d, v)
		s.edges[near.Back[0].Edge] = uint32(by.Index())
		if s.Asked(s.Steps) {
			s.share(d)
		}
	far:
		for i := range x.n {
			if !s.Step() {
				return false
			}
			v := x.words[x.far+i*x.each]
			if s.IsImage(e.MustDiffer[1], dyngraph.VertexID(v)) {
				continue
			}
			for k := range far.Back {
				by := dyngraph.Entry(x.words[x.entry+i*x.each+k])
				if check && !s.AdmitsEdge(by) {
					continue far
				}
				s.edges[far.Back[k].Edge] = uint32(by.Index())
			}
			s.bind(d+1, dyngraph.VertexID(v))
			if !s.extend(d + 2) {
				return false
			}
		}
	}
	return true
}

// images holds the images of s2 in an entry that go with one image of s1.
type images struct {
	near  dyngraph.VertexID
	by    dyngraph.Entry
	words []uint32
	n     int
	// far and entry are the indexes of the first image and of its entries in words; each is the distance to the next.
	far, entry, each int
}

// imagesOf returns the images that go with the first image of s1 in some words, and the words behind them. two tells
// that s2 has two back edges.
func imagesOf(words []uint32, two bool) (x images, rest []uint32) {
	x.near = dyngraph.VertexID(words[0])
	if !two {
		x.by, x.n, x.each = dyngraph.Entry(words[1]), int(words[2]), 1
		x.far, x.entry = 3, 3+x.n
		end := 3 + 2*x.n
		x.words = words[:end]
		return x, words[end:]
	}
	x.by, x.each, x.far, x.entry = dyngraph.Entry(words[2]), pairWords, 1, 3
	for x.n*pairWords < len(words) && words[x.n*pairWords] == words[0] {
		x.n++
	}
	x.words = words[:x.n*pairWords]
	return x, words[x.n*pairWords:]
}
