package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// previous says what the frames of a search were filled for.
type previous struct {
	order  *program.Order
	sign   dyngraph.Sign
	anchor uint32
}

// reuseFrames makes the frames ready for order o and the anchor at hand. Where o begins like the order before it, of whatever
// query, and the anchor is the same, candidates hold on: queries whose plans agree share what the steps find that they have
// in common. A frame's key tells whether its candidates are those of the present images.
func (s *Search) reuseFrames(o *program.Order) {
	last, now := s.previous, previous{o, s.Sign, s.Anchor}
	same := last.order != nil && now.sign != 0 && last.sign == now.sign && last.anchor == now.anchor
	for len(s.frames) < len(o.StepKeys) {
		s.frames = append(s.frames, frame{})
	}
	for i, k := range o.StepKeys {
		f := &s.frames[i]
		f.valid = f.valid && same && k != program.NoStepKey && i < len(last.order.StepKeys) && last.order.StepKeys[i] == k
	}
	s.previous = now
}

// HasNoThird tells that a step of a kind, the third of an order, is known to have no candidates beside a net edge, from the search before. Then
// the order need not be looked at, which is in no cache where many patterns are registered.
func (s *Search) HasNoThird(k program.StepKey, net uint32) bool {
	last := &s.previous
	if k == program.NoStepKey || last.order == nil || last.anchor != net || len(last.order.StepKeys) < 3 || last.order.StepKeys[2] != k {
		return false
	}
	f := &s.frames[2]
	return f.valid && (f.none || len(f.nbr) == 0)
}

// ends tells that the first step after the anchor's ends, which depends on them alone, is known to have no candidates.
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
