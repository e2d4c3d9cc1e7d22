package cpu

import (
	"math/bits"

	"motifd/dyngraph"
)

// live notes which members are left when step d of a class's order is mapped to w, and tells whether there are any.
func (s *search) live(d int, w dyngraph.VertexID) bool {
	members := s.o.Members
	left := ^uint64(0) >> (64 - len(members))
	if d > 0 {
		left = s.left[d-1]
	}
	passed, words := uint64(0), s.bits[int(w)*s.words:]
	for m := left; m != 0; m &= m - 1 {
		k := bits.TrailingZeros64(m)
		if members[k].Steps[d].Test.Of(words) {
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
	d := len(class.Steps)
	s.class = class
	copy(s.common[:], s.row[:class.Width()])
	for m := s.left[d-1]; m != 0; m &= m - 1 {
		if !s.Step() {
			return false
		}
		s.o = class.Members[bits.TrailingZeros64(m)]
		for i, c := range s.o.SharedColumns {
			s.row[c] = s.common[class.SharedColumns[i]]
		}
		if !s.extend(d) {
			return false
		}
	}
	s.o, s.class = class, nil
	copy(s.row[:class.Width()], s.common[:])
	return true
}
