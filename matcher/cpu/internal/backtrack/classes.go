package backtrack

import (
	"math/bits"

	"motifd/dyngraph"
)

// keepMembers notes which members of a class are left when step d is mapped to w, and reports whether there are any.
func (s *Search) keepMembers(d int, w dyngraph.VertexID) bool {
	members := s.order.Members
	left := ^uint64(0) >> (64 - len(members))
	if d > 0 {
		left = s.members[d-1]
	}
	passed, words := uint64(0), s.BitsOf(w)
	for m := left; m != 0; m &= m - 1 {
		k := bits.TrailingZeros64(m)
		st, of := &members[k].Steps[d], members[k].Variants // at most one, of conditions on vertices
		if st.Test.Of(words) && (of == nil || s.MeetsVertex(of[0], st.Vertex, w)) {
			passed |= 1 << k
		}
	}
	s.members[d] = passed
	return passed != 0
}

// extendMembers goes on with each member left of a class whose shared steps are mapped: the member's row is the
// class's with other columns.
func (s *Search) extendMembers() bool {
	class := s.order
	d := len(class.Steps)
	s.class = class
	copy(s.common[:], s.row[:class.Width()])
	for m := s.members[d-1]; m != 0; m &= m - 1 {
		if !s.Step() {
			return false
		}
		s.order = class.Members[bits.TrailingZeros64(m)]
		for i := range d + 1 {
			s.left[i] = 1 // of its Variants, which hold for the shared steps
		}
		for i, c := range s.order.SharedColumns {
			s.row[c] = s.common[class.SharedColumns[i]]
		}
		if !s.extend(d) {
			return false
		}
	}
	s.order, s.class = class, nil
	copy(s.row[:class.Width()], s.common[:])
	return true
}
