package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/rowsort"
)

// beginRows begins rows that differ in what the last steps map: one step or two.
func (s *Search) beginRows(steps int) rowsort.Suffixes {
	return s.Out.Suffixes(s.order.LastColumns[steps-1], s.row[:])
}

// addLast adds a row for each of the candidates from to before to of the last step that may be taken: what is mapped,
// with the candidate and its edges. false reports an error.
func (s *Search) addLast(st *program.Step, f *frame, from, to int) bool {
	if len(st.Back) == 1 && len(st.Less) == 0 {
		return s.addList(st, neighbors.List{Vertices: f.nbr[from:to], Entries: f.ent[0][from:to]})
	}
	excluded := s.Excluded(0, st.MustDiffer)
	nbr, ent := f.nbr[from:to], f.ent[0][from:to]
	ent = ent[:len(nbr)]
	each := 1 + len(st.Back)
	x := s.beginRows(1)
	for i, v := range nbr {
		if excluded.Has(uint32(v)) || len(st.Less) > 0 && !s.Admits(st, v) {
			continue
		}
		if len(x.Words)+each > x.Room && !x.Full() {
			return false
		}
		at := len(x.Words)
		x.Words = x.Words[:at+each]
		into := x.Words[at : at+each : at+each]
		into[0], into[1] = uint32(v), uint32(ent[i].Index())
		for k := 1; k < len(st.Back); k++ {
			into[1+k] = uint32(f.ent[k][from+i].Index())
		}
	}
	x.End()
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

// addImages is addLast for an order with images: for each candidate the match and its images.
func (s *Search) addImages(st *program.Step, f *frame, from, to int) bool {
	edges := len(s.order.Plan.Query.Vertices)
	for i := from; i < to; i++ {
		if !s.Admits(st, f.nbr[i]) {
			continue
		}
		s.row[st.Vertex] = uint32(f.nbr[i])
		for k := range st.Back {
			s.row[edges+st.Back[k].Edge] = uint32(f.ent[k][i].Index())
		}
		if !s.addRow() {
			return false
		}
	}
	return true
}

// addRow adds the row at hand and its images.
func (s *Search) addRow() bool {
	row := s.row[:s.order.Width()]
	if !s.Out.Add(row) {
		return false
	}
	s.imageRow = slices.Grow(s.imageRow[:0], len(row))[:len(row)]
	for _, columns := range s.order.Images {
		for j, c := range columns {
			s.imageRow[j] = row[c]
		}
		if !s.Out.Add(s.imageRow) {
			return false
		}
	}
	return true
}
