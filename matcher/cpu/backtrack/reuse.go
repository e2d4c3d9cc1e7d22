package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// previous tells what the frames of a search were last filled for.
type previous struct {
	order  *program.Order
	sign   dyngraph.Sign
	anchor uint32
}

// reuseFrames makes the frames ready for order o and the anchor at hand. Where o begins like the order before it, of
// whatever query, and the anchor is the same, frames keep their candidates: queries whose orders agree share the work
// of their common steps. A frame's key tells whether its candidates are those of the present images.
func (s *Search) reuseFrames(o *program.Order) {
	last, now := s.previous, previous{o, s.Sign, s.Anchor}
	same := last.order != nil && now.sign != 0 && last.sign == now.sign && last.anchor == now.anchor
	for len(s.frames) < len(o.StepKeys) {
		s.frames = append(s.frames, frame{})
	}
	for i, k := range o.StepKeys {
		f := &s.frames[i]
		f.valid = f.valid && same && k != program.NoStepKey && i < len(last.order.StepKeys) &&
			last.order.StepKeys[i] == k
	}
	s.previous = now
}

// HasNoThird reports whether the third step of an order is known, by its key, to have no candidates beside a net edge.
// Then the order itself need not be read, which is in no cache where many patterns are registered.
func (s *Search) HasNoThird(k program.StepKey, net uint32) bool {
	last := &s.previous
	if k == program.NoStepKey || last.order == nil || last.anchor != net || len(last.order.StepKeys) < 3 ||
		last.order.StepKeys[2] != k {
		return false
	}
	f := &s.frames[2]
	return f.valid && (f.none || len(f.nbr) == 0)
}

// ends reports whether the third step of an order is known to have no candidates beside the anchor.
func (s *Search) ends(o *program.Order) bool {
	if o.Members != nil || len(o.StepKeys) < 3 {
		return false
	}
	f := &s.frames[2]
	return f.valid && (f.none || len(f.nbr) == 0)
}

// SearchedFrom reports whether the search before this one began with a net edge.
func (s *Search) SearchedFrom(net uint32) bool {
	return s.previous.order != nil && s.previous.anchor == net
}
