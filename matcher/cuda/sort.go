//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"
)

// rowSorter puts the rows of a group in canonical order. The device does plain plans only, whose vertices determine their edges,
// so that vertex ids in pattern order decide (DESIGN S7).
type rowSorter struct {
	keys []rowKey
	out  []uint32
}

// rowKey is a row's first two columns, which decide most comparisons, and where it is.
type rowKey struct {
	first uint64
	at    int
}

// sorted returns the rows of the pieces in order, in memory that the next call uses again.
func (s *rowSorter) sorted(data []uint32, pieces []piece, vertices, width int) []uint32 {
	s.keys, s.out = s.keys[:0], s.out[:0]
	for _, p := range pieces {
		for at := p.from; at < p.to; at += width {
			s.keys = append(s.keys, rowKey{uint64(data[at])<<32 | uint64(data[at+1]), at})
		}
	}
	slices.SortFunc(s.keys, func(a, b rowKey) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return slices.Compare(data[a.at+2:a.at+vertices], data[b.at+2:b.at+vertices])
	})
	for _, k := range s.keys {
		s.out = append(s.out, data[k.at:k.at+width]...)
	}
	return s.out
}
