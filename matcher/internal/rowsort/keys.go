package rowsort

import (
	"math/bits"

	"motifd/matcher"
)

// key says where a row is, with some of its columns packed into one integer that orders like them.
type key struct {
	key            uint64
	suffix, prefix uint32 // indexes in the words of a buffer
}

// keyRoom is memory for keys.
type keyRoom struct {
	keys, tmp []key
	prefixes  []key // of one band; the key has the columns that the rows of the prefix share
}

// keysFor returns memory for n keys: some that is there, whatever it holds, or more.
func keysFor(n int, there []key) []key {
	if cap(there) < n {
		return make([]key, n, n+n/2)
	}
	return there[:n]
}

// field is the place of a column in a key, and the number of its bits there, width; 0 if it is not in the key.
type field struct {
	width, shift uint8
	mask         uint32
}

func (f field) of(v uint32) uint64 { return uint64(v&f.mask) << (f.shift & 63) }

// fields are those of all vertices.
type fields [matcher.MaxVertices]field

// layout decides what keys hold: the columns from column on, as far as 64 bits go, and of each the low bits up to the
// highest that differs between rows. It returns the first column that the keys do not hold, the width of the keys in
// bits, and how many of these, the lowest, are of presorted columns.
func (s *keySorter) layout(fs *fields, differ *[matcher.MaxVertices]uint32, column int) (next, width, low int) {
	for next = column; next < s.of.Vertices; next++ {
		n := bits.Len32(differ[next])
		if width+n > 64 {
			break
		}
		if width += n; next >= s.of.Vertices-s.presorted {
			low += n
		}
		fs[next].width = uint8(n)
	}
	at := uint8(width)
	for c := column; c < next; c++ {
		f := &fs[c]
		at -= f.width
		f.shift, f.mask = at, 1<<f.width-1
	}
	return next, width, low
}

// packColumns fills in keys by the columns from column to before next, and reports whether they ascend.
func (s *keySorter) packColumns(keys []key, fs *fields, column, next int) bool {
	sorted, last := true, uint64(0)
	for i := range keys {
		k := uint64(0)
		for c := column; c < next; c++ {
			if f := fs[c]; f.width > 0 {
				k |= f.of(s.buf.value(&keys[i], c))
			}
		}
		keys[i].key = k
		sorted = sorted && last <= k
		last = k
	}
	return sorted
}

// differ returns, for each vertex column from column on, the bits in which the rows of keys differ.
func (s *keySorter) differ(keys []key, column int) (bits [matcher.MaxVertices]uint32) {
	for c := column; c < s.of.Vertices; c++ {
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

// differAll is differ for all rows of the buffer and all vertex columns. It counts the prefixes of each split, too.
func (s *keySorter) differAll() (bits [matcher.MaxVertices]uint32) {
	vertices := s.of.Vertices
	var all, any [matcher.MaxVertices]uint32
	for c := range all {
		all[c] = ^uint32(0)
	}
	s.prefixesOf = append(s.prefixesOf[:0], make([]int, len(s.buf.splits))...)
	s.buf.each(func(prefix int, f *split, suffixes []uint32, _ int) {
		s.prefixesOf[s.buf.words[prefix]]++
		if f.row > 0 {
			for c, v := range s.buf.words[prefix+prefixWords:][:vertices] {
				if f.at[c] < 0 {
					all[c] &= v
					any[c] |= v
				}
			}
		}
		each := len(f.columns)
		for j, c := range f.columns[:f.vertices] {
			x, y := all[c&31], any[c&31]
			for i := j; i < len(suffixes); i += each {
				x &= suffixes[i]
				y |= suffixes[i]
			}
			all[c&31], any[c&31] = x, y
		}
	})
	for c := range vertices {
		bits[c] = all[c] ^ any[c]
	}
	return bits
}
