package cpu

import (
	"motifd/matcher"
	"motifd/matcher/plan"
)

// coalesce makes one order search for all whose anchors the pattern's automorphisms map to one another (DESIGN A6): the rows
// of the others are its rows with the columns exchanged. The orders of the others become nil.
func coalesce(p *matcher.Plan, rows []*order) {
	if p.Query.Unit != matcher.Embeddings {
		return
	}
	images, own := plan.Coalesce(p)
	n := len(p.Query.Vertices)
	for i, o := range rows {
		if !own[i] {
			rows[i] = nil
			continue
		}
		for _, m := range images[i] {
			columns := make([]int, o.width())
			for v, w := range m.Vertices {
				columns[w] = v
			}
			for e, f := range m.Edges {
				columns[n+f] = n + e
			}
			o.images = append(o.images, columns)
		}
	}
}

// addImages is add for an order with images: for each candidate the match and its images.
func (s *sorter) addImages(se *search, st *step, f *frame, from, to int) bool {
	w := s.order.width()
	row := se.row[:w]
	d := len(se.o.steps) - 1
	for i := from; i < to; i++ {
		if !se.free(d, f.nbr[i]) {
			continue
		}
		row[st.vertex] = uint32(f.nbr[i])
		for k := range st.back {
			row[s.order.vertices+st.back[k].edge] = uint32(f.ent[k][i].Index())
		}
		if !s.addAll(row, se.o.images) {
			return false
		}
	}
	return true
}

// addAll adds a row and its images.
func (s *sorter) addAll(row []uint32, images [][]int) bool {
	if !s.addRow(row) {
		return false
	}
	for _, columns := range images {
		if len(s.data)+len(row) > s.room && !s.full() {
			return false
		}
		at := len(s.data)
		data := s.data[:at+len(row)]
		for j, c := range columns {
			data[at+j] = row[c]
		}
		s.grown(data)
	}
	return true
}
