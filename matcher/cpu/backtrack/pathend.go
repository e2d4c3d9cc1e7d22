package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/program"
)

// lastTwo maps the last two steps, of which the first is d, to what is left in its frame: the last one is joined to nothing else (see order.endsInPath).
// The lists that it reads are taken as they are found ahead, and go out without a frame.
func (s *Search) lastTwo(d int, f *frame) bool {
	st, last := &s.order.Steps[d], &s.order.Steps[d+1]
	for f.next < f.end {
		from := f.next
		known := s.Lists.Prefetch(f.nbr[from:min(from+neighbors.PrefetchSize, f.end)], &last.Back[0])
		for to := from + len(known); f.next < min(to, f.end); {
			i := f.next
			f.next++
			if !s.Step() {
				return false
			}
			w := f.nbr[i]
			if !s.Admits(st, w) {
				continue
			}
			s.bind(d, w)
			for k := range st.Back {
				s.edges[st.Back[k].Edge] = uint32(f.ent[k][i].Index())
			}
			if s.Asked(s.Steps) {
				s.share(d)
			}
			at := &known[i-from]
			if !at.Built {
				at.List = s.Lists.Of(w, &last.Back[0], last)
			}
			if len(at.List.Vertices) == 0 {
				continue
			}
			if !s.StepBy(len(at.List.Vertices)) {
				return false
			}
			if !s.addList(last, at.List) {
				s.Stopped = true
				return false
			}
		}
	}
	return true
}

// addList adds a row for each candidate in a list that may be taken and is visible, where the last step has one edge; false
// reports an error.
func (s *Search) addList(st *program.Step, l neighbors.List) bool {
	excluded := s.Excluded(0, st.MustDiffer)
	nbr, ent := l.Vertices, l.Entries[:len(l.Vertices)]
	x := s.beginRows(1)
	for {
		for len(nbr) > 0 && (excluded.Has(uint32(nbr[0])) || !s.AdmitsEdge(ent[0])) {
			nbr, ent = nbr[1:], ent[1:]
		}
		if len(nbr) == 0 {
			x.End()
			return true
		}
		if len(x.Words)+2 > x.Room && !x.Full() {
			return false
		}
		n := min(len(nbr), (x.Room-len(x.Words))/2)
		x.Words = s.appendList(x.Words, nbr[:n], ent[:n], excluded, s.ChecksEdges(l.Staged))
		nbr, ent = nbr[n:], ent[n:]
	}
}

// appendList appends the suffixes of the candidates in a list that may be taken and are visible; there is room for all.
func (s *Search) appendList(to []uint32, nbr []dyngraph.VertexID, ent []dyngraph.Entry, excluded program.Excluded,
	check bool) []uint32 {
	at := len(to)
	to = to[:at+2*len(nbr)]
	for i, e := range ent[:len(nbr)] {
		v := uint32(nbr[i])
		if excluded.Has(v) || check && !s.AdmitsEdge(e) {
			continue
		}
		into := to[at:][:2]
		into[0], into[1] = v, uint32(e.Index())
		at += 2
	}
	return to[:at]
}
