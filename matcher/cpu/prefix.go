package cpu

import "motifd/dyngraph"

// filled says what the frames of a search were filled for.
type filled struct {
	o      *order
	sign   dyngraph.Sign
	anchor uint32
}

// keepFrames makes the frames ready for order o and the anchor at hand. Where o begins like the order before it, of whatever
// query, and the anchor is the same, candidates hold on: queries whose plans agree share what the steps find that they have
// in common. A frame's key tells whether its candidates are those of the present images.
func (s *search) keepFrames(o *order) {
	last, now := s.filled, filled{o, s.sign, s.anchor}
	same := last.o != nil && now.sign != 0 && last.sign == now.sign && last.anchor == now.anchor
	for len(s.frames) < len(o.slots) {
		s.frames = append(s.frames, frame{})
	}
	for i, st := range o.slots {
		f := &s.frames[i]
		f.valid = f.valid && same && i < len(last.o.slots) && alike(last.o.slots[i], st)
	}
	s.filled = now
}

// alike reports whether two plain steps have the same candidates beside the same images: those of the same columns of
// neighbour lists, which name direction, label and class.
func alike(a, b *step) bool {
	if !a.plain || !b.plain || len(a.back) != len(b.back) || a.test != b.test {
		return false
	}
	for k := range a.back {
		if a.back[k].step != b.back[k].step || a.back[k].column != b.back[k].column {
			return false
		}
	}
	return true
}
