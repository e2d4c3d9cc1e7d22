package cpu

import (
	"fmt"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
)

// compileRows prepares the orders of a plan for rows, by anchored order: one for each class, the others are nil (DESIGN
// A6). With apart, each is searched by itself.
func compileRows(p *matcher.Plan, f *candidates.Filter, columns *columns, apart bool) []*order {
	rows := make([]*order, len(p.Anchored))
	symmetric := p.Query.Unit == matcher.Subgraphs
	if apart {
		for i := range rows {
			rows[i] = compile(p, &p.Anchored[i], f, columns, symmetric)
			rows[i].end(columns)
		}
		return rows
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		var members []*order
		for k := range c.Members {
			m := &c.Members[k]
			o := compile(p, &m.Order, f, columns, symmetric)
			for _, image := range m.Images {
				o.images = append(o.images, o.exchanged(image))
			}
			o.end(columns)
			members = append(members, o)
		}
		if len(members) > 1 {
			rows[c.Members[0].Anchor] = together(p, c, members, f, columns)
		} else {
			rows[c.Members[0].Anchor] = members[0]
		}
	}
	return rows
}

// exchanged returns, by column, the column of the match that an image has there.
func (o *order) exchanged(image matcher.Image) []int {
	columns := make([]int, o.width())
	n := len(image.Vertices)
	for v, w := range image.Vertices {
		columns[w] = v
	}
	for e, f := range image.Edges {
		columns[n+f] = n + e
	}
	return columns
}

// together makes the order of what the members of a class have in common. Its candidates are those of any member; which
// members they leave is kept by search.live.
func together(p *matcher.Plan, c *matcher.Class, members []*order, f *candidates.Filter, columns *columns) *order {
	o := &order{plan: p, anchor: members[0].anchor, steps: slices.Clone(members[0].steps[:c.Shared]), members: members}
	for i := range o.steps {
		s := &o.steps[i]
		var classes []int
		for k := range c.Members {
			v := c.Members[k].Order.Steps[i].Vertex
			classes = append(classes, f.Class(p, v))
			if t := f.Test(p, v); t != s.test && !slices.Contains(s.or, t) {
				s.or = append(s.or, t)
			}
		}
		slices.Sort(classes)
		classes = slices.Compact(classes)
		s.back = slices.Clone(s.back)
		for k := range s.back {
			b := &s.back[k]
			key := column{dir: b.dir, label: b.label, class: classes[0]}
			if len(classes) > 1 {
				key.others = fmt.Sprint(classes[1:])
			}
			b.column, b.lane = columns.of(key, p.VertexLabels[o.steps[b.step].vertex], b.nbr, classes...)
		}
		o.kinds = append(o.kinds, columns.kindOf(s))
	}
	o.columns = o.sharedColumns(c.Shared)
	for _, m := range members {
		m.columns = m.sharedColumns(c.Shared)
		for i := c.Shared; i < len(m.steps); i++ {
			m.steps[i].slot = len(o.kinds)
			o.kinds = append(o.kinds, m.kinds[i])
		}
	}
	for _, m := range members {
		m.kinds = o.kinds
	}
	return o
}

// sharedColumns lists the columns of a row that the first n steps fill, in the order of the steps.
func (o *order) sharedColumns(n int) (columns []int) {
	edges := len(o.plan.Query.Vertices)
	columns = append(columns, edges+o.anchor)
	for i := range o.steps[:n] {
		s := &o.steps[i]
		columns = append(columns, s.vertex)
		for k := range s.back {
			columns = append(columns, edges+s.back[k].edge)
		}
	}
	return columns
}

// live notes which members are left when step d of a class's order is mapped to w, and tells whether there are any.
func (s *search) live(d int, w dyngraph.VertexID) bool {
	members := s.o.members
	left := ^uint64(0) >> (64 - len(members))
	if d > 0 {
		left = s.left[d-1]
	}
	passed, words := uint64(0), s.bits[int(w)*s.words:]
	for m := left; m != 0; m &= m - 1 {
		k := bits.TrailingZeros64(m)
		if members[k].steps[d].test.Of(words) {
			passed |= 1 << k
		}
	}
	s.left[d] = passed
	return passed != 0
}

// branch goes on with each member that is left of a class whose shared steps are mapped: the mapping is the member's
// but for the columns that it has in the row.
func (s *search) branch() bool {
	class := s.o
	d := len(class.steps)
	s.class = class
	copy(s.common[:], s.row[:class.width()])
	for m := s.left[d-1]; m != 0; m &= m - 1 {
		if !s.step() {
			return false
		}
		s.o = class.members[bits.TrailingZeros64(m)]
		for i, c := range s.o.columns {
			s.row[c] = s.common[class.columns[i]]
		}
		if !s.extend(d) {
			return false
		}
	}
	s.o, s.class = class, nil
	copy(s.row[:class.width()], s.common[:])
	return true
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
	s.image = slices.Grow(s.image[:0], len(row))[:len(row)]
	for _, columns := range images {
		for j, c := range columns {
			s.image[j] = row[c]
		}
		if !s.addRow(s.image) {
			return false
		}
	}
	return true
}
