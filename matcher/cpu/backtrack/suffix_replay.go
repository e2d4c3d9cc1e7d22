package backtrack

import "motifd/dyngraph"

// extendSuffix maps the two steps from d on as they are remembered, and what comes after them.
func (s *Search) extendSuffix(d int, words []uint32, staged bool) bool {
	e, check := s.order.Suffix, s.ChecksEdges(staged)
	near, far := &s.order.Steps[d], &s.order.Steps[d+1]
	two := len(far.Back) == 2
	// What is left of the near step is there to be given away.
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

// images are those of the far step that an ending found for one of the near step.
type images struct {
	near  dyngraph.VertexID
	by    dyngraph.Entry
	words []uint32
	n     int
	// far and entry say where the first image and its entries are in the words; those of the next are each words behind.
	far, entry, each int
}

// imagesOf returns the images for the first of the near step in some words, and what is behind them. two tells that the far step has two edges.
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
