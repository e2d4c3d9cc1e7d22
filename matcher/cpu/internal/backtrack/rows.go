package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/rowsort"
)

// rowAs returns the row at hand in a form, until the next call.
func (s *Search) rowAs(form *program.Form) []uint32 {
	if form.Columns == nil {
		return s.row[:]
	}
	for j, c := range form.Columns {
		s.formed[j] = s.row[c]
	}
	if form.Tag >= 0 {
		s.formed[0] = uint32(form.Tag)
	}
	return s.formed[:]
}

// beginRows begins rows of a form that differ in what the last steps map: one step or two.
func (s *Search) beginRows(form *program.Form, steps int) rowsort.Suffixes {
	return s.Out.Suffixes(form.Last[steps-1], s.rowAs(form))
}

// addLast adds a row for each of the candidates from to before to of the last step that may be taken: what is mapped,
// with the candidate and its edges, in a form. false reports an error.
func (s *Search) addLast(st *program.Step, f *frame, from, to int, form *program.Form) bool {
	if len(st.Back) == 1 && len(st.Less) == 0 {
		return s.addList(st, neighbors.List{Vertices: f.nbr[from:to], Entries: f.ent[0][from:to]}, form)
	}
	excluded := s.Excluded(0, st.MustDiffer)
	nbr, ent := f.nbr[from:to], f.ent[0][from:to]
	ent = ent[:len(nbr)]
	each := 1 + len(st.Back)
	x := s.beginRows(form, 1)
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
func (s *Search) addList(st *program.Step, l neighbors.List, form *program.Form) bool {
	excluded := s.Excluded(0, st.MustDiffer)
	nbr, ent, b := l.Vertices, l.Entries[:len(l.Vertices)], &st.Back[0]
	x := s.beginRows(form, 1)
	for {
		for len(nbr) > 0 && (excluded.Has(uint32(nbr[0])) || !s.AdmitsEdge(b, ent[0])) {
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
		x.Words = s.appendList(x.Words, b, nbr[:n], ent[:n], excluded, s.ChecksEdges(l.Staged))
		nbr, ent = nbr[n:], ent[n:]
	}
}

// appendList appends the admitted members of a list; there is room for all.
func (s *Search) appendList(to []uint32, b *program.BackEdge, nbr []dyngraph.VertexID, ent []dyngraph.Entry,
	excluded program.Excluded, check bool) []uint32 {
	at := len(to)
	to = to[:at+2*len(nbr)]
	for i, e := range ent[:len(nbr)] {
		v := uint32(nbr[i])
		if excluded.Has(v) || check && !s.AdmitsEdge(b, e) {
			continue
		}
		into := to[at:][:2]
		into[0], into[1] = v, uint32(e.Index())
		at += 2
	}
	return to[:at]
}
