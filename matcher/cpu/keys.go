package cpu

import "motifd/matcher"

// keyPart is where a column is in a key, and which of its bits: width of them, none if it is not there.
type keyPart struct {
	width, shift uint8
	mask         uint32
}

func (p keyPart) of(v uint32) uint64 { return uint64(v&p.mask) << (p.shift & 63) }

// keyParts are those of all vertices.
type keyParts [matcher.MaxVertices]keyPart

// packAll fills in the keys of all rows of the buffer, in the order in which they came, and tells whether they ascend. What the rows of a head have in
// common is read once for all of them.
func (s *rowSorter) packAll(keys []rowKey, parts *keyParts) bool {
	sorted, last, n := true, uint64(0), 0
	vertices := s.order.vertices
	s.buf.each(func(head int, f *form, tails []uint32, at int) {
		common := uint64(0)
		if f.row > 0 {
			for c, v := range s.buf.words[head+headWords:][:vertices] {
				if f.at[c] < 0 {
					common |= parts[c].of(v)
				}
			}
		}
		each, columns := len(f.columns), f.columns[:f.vertices]
		for i := 0; i < len(tails); i += each {
			k := common
			for j, v := range tails[i : i+len(columns)] {
				k |= parts[columns[j]].of(v)
			}
			keys[n] = rowKey{k, uint32(at + i), uint32(head)}
			n++
			sorted = sorted && last <= k
			last = k
		}
	})
	return sorted
}

// packSome is packAll for some rows that are named already.
func (s *rowSorter) packSome(keys []rowKey, parts []keyPart) bool {
	sorted, last := true, uint64(0)
	for i := range keys {
		k := uint64(0)
		for c := range parts {
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
	vertices := s.order.vertices
	var all, any [matcher.MaxVertices]uint32
	for c := range all {
		all[c] = ^uint32(0)
	}
	if s.fresh {
		s.buf.each(func(head int, f *form, tails []uint32, _ int) {
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
	} else {
		for i := range keys {
			for c := column; c < vertices; c++ {
				v := s.buf.value(&keys[i], c)
				all[c] &= v
				any[c] |= v
			}
		}
	}
	for c := column; c < vertices; c++ {
		bits[c-column] = all[c] ^ any[c]
	}
	return bits
}
