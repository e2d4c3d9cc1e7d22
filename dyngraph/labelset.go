package dyngraph

// labelSet is the few labels that a vertex's entries of one direction have: up to four below 255, ascending, a byte
// each that holds the label plus 1; or manyLabels. It may have more than there are, when a label went with an entry
// and it could not be seen at once that it was the last.
type labelSet uint32

const manyLabels = ^labelSet(0)

// with returns the set with another label.
func (s labelSet) with(l LabelID) labelSet {
	if s == manyLabels || l >= 254 {
		return manyLabels
	}
	x := labelSet(l) + 1
	for shift := 0; shift < 32; shift += 8 {
		b := s >> shift & 0xff
		if b == x {
			return s
		}
		if b == 0 || b > x {
			if s>>24 != 0 {
				return manyLabels
			}
			low := s & (1<<shift - 1)
			return low | x<<shift | (s&^low)<<8
		}
	}
	return manyLabels
}

// without returns the set less a label.
func (s labelSet) without(l LabelID) labelSet {
	if i := s.rank(l); s != manyLabels && i >= 0 {
		low := s & (1<<(8*i) - 1)
		return low | s>>8&^(1<<(8*i)-1)
	}
	return s
}

// rank returns how many members are less than a label, or -1 when it is none. The set is not manyLabels.
func (s labelSet) rank(l LabelID) int {
	for i := 0; s != 0; i++ {
		if LabelID(s&0xff) == l+1 {
			return i
		}
		s >>= 8
	}
	return -1
}

func (s labelSet) len() int {
	n := 0
	for ; s != 0; s >>= 8 {
		n++
	}
	return n
}

// add counts an entry in.
func (h *head) add(d Dir, l LabelID) {
	switch bit := uint8(1) << d; {
	case h.degree[d] == 0:
		h.label[d] = uint32(l)
	case h.mixed&bit != 0:
		h.label[d] = uint32(labelSet(h.label[d]).with(l))
	case LabelID(h.label[d]) != l:
		h.label[d] = uint32(labelSet(0).with(LabelID(h.label[d])).with(l))
		h.mixed |= bit
	}
	h.degree[d]++
}

// drop counts an entry out; lastOf tells that it is known to be the last one of its label.
func (h *head) drop(d Dir, l LabelID, lastOf bool) {
	bit := uint8(1) << d
	if h.degree[d]--; h.degree[d] == 0 {
		h.mixed &^= bit
		return
	}
	if s := labelSet(h.label[d]); lastOf && h.mixed&bit != 0 && s != manyLabels {
		if s = s.without(l); s.len() == 1 {
			h.mixed &^= bit
			s-- // the label itself
		}
		h.label[d] = uint32(s)
	}
}

// lacks tells at once, in most cases, that no entry has the label.
func (h *head) lacks(d Dir, l LabelID) bool {
	if h.mixed>>d&1 == 0 {
		return h.degree[d] == 0 || LabelID(h.label[d]) != l
	}
	s := labelSet(h.label[d])
	return s != manyLabels && s.rank(l) < 0
}
