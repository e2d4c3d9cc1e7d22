package cpu

import "motifd/dyngraph"

// through maps the two steps from d on as they are remembered, and what comes after them.
func (s *search) through(d int, words []uint32, staged bool) bool {
	e := s.o.ending
	near, far := &s.o.steps[d], &s.o.steps[d+1]
	each := 1 + len(far.back)
	// What is left of the near step is there to be given away.
	f, g := &s.frames[near.slot], &s.frames[far.slot]
	f.valid, f.nbrs = false, f.nbrs[:0]
	for at := 0; at < len(words); at += 3 + each*int(words[at+2]) {
		f.nbrs = append(f.nbrs, dyngraph.VertexID(words[at]))
	}
	f.nbr = f.nbrs
	f.next, f.end, f.hi, f.counted = 0, len(f.nbr), unbounded, false
	g.next, g.end = 0, 0
near:
	for f.next < f.end {
		f.next++
		if !s.step() {
			return false
		}
		v, by, n := dyngraph.VertexID(words[0]), dyngraph.Entry(words[1]), int(words[2])
		found := words[3:][:each*n]
		words = words[3+each*n:]
		for _, k := range e.apart[0] {
			if s.m[k] == v {
				continue near
			}
		}
		if by.Staged() && !s.visible(by) {
			continue
		}
		s.put(d, v)
		s.edges[near.back[0].edge] = uint32(by.Index())
		if s.sharing.asked(s.steps) {
			s.share(d)
		}
	far:
		for i, v := range found[:n] {
			if !s.step() {
				return false
			}
			for _, k := range e.apart[1] {
				if uint32(s.m[k]) == v {
					continue far
				}
			}
			for k := range far.back {
				by := dyngraph.Entry(found[(1+k)*n+i])
				if staged && by.Staged() && !s.visible(by) {
					continue far
				}
				s.edges[far.back[k].edge] = uint32(by.Index())
			}
			s.put(d+1, dyngraph.VertexID(v))
			if !s.extend(d + 2) {
				return false
			}
		}
	}
	return true
}
