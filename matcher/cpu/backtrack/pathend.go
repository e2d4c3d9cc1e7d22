package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/program"
)

// lastTwo maps the last two steps of an order that ends in a path (Order.PathEnd), from step d on: lists of the last
// step go out as they are prefetched, without a frame.
func (s *Search) lastTwo(d int, f *frame) bool {
	st, last := &s.order.Steps[d], &s.order.Steps[d+1]
	for f.next < f.end {
		from := f.next
		known := s.lists.Prefetch(f.nbr[from:min(from+neighbors.PrefetchSize, f.end)], &last.Back[0])
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
				at.List = s.lists.Of(w, &last.Back[0], last)
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

// addList adds a row for each admitted member of a list of the last step, which has one back edge; false reports an
// error.
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

// appendList appends the admitted members of a list; there is room for all.
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
