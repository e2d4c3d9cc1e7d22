package cpu

import (
	"math/bits"

	"motifd/matcher"
)

// keyPart is where a column is in a key, and which of its bits: width of them, none if it is not there.
type keyPart struct {
	width, shift uint8
	mask         uint32
}

func (p keyPart) of(v uint32) uint64 { return uint64(v&p.mask) << (p.shift & 63) }

// keyParts are those of all vertices.
type keyParts [matcher.MaxVertices]keyPart

// layout decides what keys hold, from the bits in which the columns differ: the columns from column on, as far as 64 bits go. It returns the first
// column that they do not hold, the width of the keys in bits, and how many of these are of the tail. Only columns that differ go into the keys.
func (s *rowSorter) layout(parts *keyParts, differ *[matcher.MaxVertices]uint32, column int) (next, width, low int) {
	for next = column; next < s.order.vertices; next++ {
		n := bits.Len32(differ[next])
		if width+n > 64 {
			break
		}
		if width += n; next >= s.order.vertices-s.tail {
			low += n
		}
		parts[next].width = uint8(n)
	}
	at := uint8(width)
	for c := column; c < next; c++ {
		p := &parts[c]
		at -= p.width
		p.shift, p.mask = at, 1<<p.width-1
	}
	return next, width, low
}

// packSome fills in keys, by the columns from column to before next, and tells whether they ascend.
func (s *rowSorter) packSome(keys []rowKey, parts *keyParts, column, next int) bool {
	sorted, last := true, uint64(0)
	for i := range keys {
		k := uint64(0)
		for c := column; c < next; c++ {
			if p := parts[c]; p.width > 0 {
				k |= p.of(s.buf.value(&keys[i], c))
			}
		}
		keys[i].key = k
		sorted = sorted && last <= k
		last = k
	}
	return sorted
}

// differ returns, for each column of the vertices from column on, the bits in which the rows of keys differ.
func (s *rowSorter) differ(keys []rowKey, column int) (bits [matcher.MaxVertices]uint32) {
	for c := column; c < s.order.vertices; c++ {
		all, any := ^uint32(0), uint32(0)
		for i := range keys {
			v := s.buf.value(&keys[i], c)
			all &= v
			any |= v
		}
		bits[c] = all ^ any
	}
	return bits
}

// differAll is differ for all rows of the buffer and all columns. It counts the heads of each form, too.
func (s *rowSorter) differAll() (bits [matcher.MaxVertices]uint32) {
	vertices := s.order.vertices
	var all, any [matcher.MaxVertices]uint32
	for c := range all {
		all[c] = ^uint32(0)
	}
	s.headsOf = append(s.headsOf[:0], make([]int, len(s.buf.forms))...)
	s.buf.each(func(head int, f *form, tails []uint32, _ int) {
		s.headsOf[s.buf.words[head]]++
		if f.row > 0 {
			for c, v := range s.buf.words[head+headWords:][:vertices] {
				if f.at[c] < 0 {
					all[c] &= v
					any[c] |= v
				}
			}
		}
		each := len(f.columns)
		for j, c := range f.columns[:f.vertices] {
			x, y := all[c&31], any[c&31]
			for i := j; i < len(tails); i += each {
				x &= tails[i]
				y |= tails[i]
			}
			all[c&31], any[c&31] = x, y
		}
	})
	for c := range vertices {
		bits[c] = all[c] ^ any[c]
	}
	return bits
}
