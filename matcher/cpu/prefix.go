package cpu

import (
	"encoding/binary"

	"motifd/dyngraph"
)

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
	for len(s.frames) < len(o.kinds) {
		s.frames = append(s.frames, frame{})
	}
	for i, k := range o.kinds {
		f := &s.frames[i]
		f.valid = f.valid && same && k != ownKind && i < len(last.o.kinds) && last.o.kinds[i] == k
	}
	s.filled = now
}

// third returns the kind of the step after the anchor's, if a search that begins with it may end with the anchor; ownKind if there is none.
func (o *order) third() stepKind {
	if o == nil || o.members != nil || len(o.kinds) < 3 {
		return ownKind
	}
	return o.kinds[2]
}

// noThird tells that a step of a kind, the third of an order, is known to have no candidates beside a net edge, from the search before. Then
// the order need not be looked at, which is in no cache where many patterns are registered.
func (s *search) noThird(k stepKind, net uint32) bool {
	last := &s.filled
	if k == ownKind || last.o == nil || last.anchor != net || len(last.o.kinds) < 3 || last.o.kinds[2] != k {
		return false
	}
	f := &s.frames[2]
	return f.valid && (f.none || len(f.nbr) == 0)
}

// ends tells that the first step after the anchor's ends, which depends on them alone, is known to have no candidates.
func (s *search) ends(o *order) bool {
	if o.members != nil || len(o.kinds) < 3 {
		return false
	}
	f := &s.frames[2]
	return f.valid && (f.none || len(f.nbr) == 0)
}

// stepKind numbers the plain steps of all orders: those of one kind have the same candidates beside the same images, as they are joined to the same
// steps by the same columns of neighbour lists, which name direction, label and class.
type stepKind uint32

// ownKind is that of steps which share nothing.
const ownKind stepKind = 0

// kindOf returns the kind of a step.
func (c *columns) kindOf(st *step) stepKind {
	if !st.plain {
		return ownKind
	}
	var room [64]byte
	key := binary.AppendUvarint(room[:0], uint64(st.test.Word))
	key = binary.AppendUvarint(binary.AppendUvarint(key, st.test.Mask), st.test.Want)
	for k := range st.back {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(st.back[k].step)), uint64(st.back[k].column))
	}
	kind, ok := c.steps[string(key)]
	if !ok {
		if c.steps == nil {
			c.steps = map[string]stepKind{}
		}
		kind = ownKind + 1 + stepKind(len(c.steps))
		c.steps[string(key)] = kind
	}
	return kind
}
