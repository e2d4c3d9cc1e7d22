package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// Part is a range of the candidates of one step that a worker has given away.
type Part struct {
	o      *program.Order
	sign   dyngraph.Sign
	which  dyngraph.Which
	anchor uint32
	level  int
	lo, hi uint32 // candidates of the level (see frame)
	m      [matcher.MaxVertices]dyngraph.VertexID
	row    []uint32
}

// share gives away half of the candidates that are left at the shallowest step that has any, if they are wanted. The
// search is at step d.
func (s *Search) share(d int) {
	if !s.Splits() {
		return
	}
	for l := s.base; l <= d; l++ {
		o, row := s.order, &s.row
		if s.class != nil && l < len(s.class.Steps) {
			o, row = s.class, &s.common
		}
		for o.Parent != nil && l < len(o.Parent.Steps) { // all that goes on from there is given away, too
			o = o.Parent
		}
		f := &s.frames[o.Steps[l].Slot]
		left := f.end - f.next
		if left <= 0 {
			continue
		}
		mid := f.next + left/2
		if !f.counted { // a vertex that is there for several edges stays together
			for mid < f.end && f.nbr[mid] == f.nbr[mid-1] {
				mid++
			}
			if mid == f.end {
				continue
			}
		}
		p := &Part{o: o, sign: s.Sign, which: s.Which, anchor: s.Anchor, level: l, hi: f.hi, m: s.Images,
			row: slices.Clone(row[:o.Width()])}
		f.end = mid
		if p.lo = uint32(mid); !f.counted {
			p.lo = uint32(f.nbr[mid])
		}
		f.hi = p.lo
		s.GiveAway(p)
		return
	}
}

// Resume searches a part.
func (s *Search) Resume(p *Part) {
	s.Sign, s.Which, s.Anchor = p.sign, p.which, p.anchor
	s.Start(p.o)
	s.Images = p.m
	copy(s.row[:], p.row)
	s.begins()
	for i := range p.level {
		if p.o.Members != nil {
			s.keepMembers(i, p.m[i])
		}
		if st := &p.o.Steps[i]; i > 0 && st.Tested {
			s.confine(st, &s.frames[st.Slot].readFrame)
			s.holds(i, st)
		}
	}
	s.base = p.level
	s.extendWithin(p.level, p.lo, p.hi)
}

// SortedTail returns the SortedTail of the part's order.
func (p *Part) SortedTail() int { return p.o.SortedTail }
