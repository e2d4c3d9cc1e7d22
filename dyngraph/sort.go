package dyngraph

import (
	"math/bits"
	"slices"
)

// sorter sorts adjacency entries and keeps its scratch.
type sorter struct {
	other  []slot
	counts [1 << sorterBits]uint32
}

const sorterBits = 11

// sort sorts by (row, neighbour). vertices bounds the vertices. Long inputs are counted into place vertex by vertex,
// digit by digit from the lowest, and then sorted inside a vertex.
func (x *sorter) sort(s []slot, vertices uint32) {
	const long = 96
	if len(s) < long {
		slices.SortFunc(s, compareSlots)
		return
	}
	width := sorterBits
	if len(s) < 4096 {
		width = 8 // clearing the counts would cost more than another pass
	}
	counts := x.counts[:1<<width]
	mask := uint64(len(counts) - 1)
	x.other = grown(x.other[:0], len(s))
	from, to := s, x.other
	for shift := 32; shift < 32+bits.Len32(vertices); shift += width {
		clear(counts)
		for i := range from {
			counts[from[i].row>>shift&mask]++
		}
		sum := uint32(0)
		for d, c := range counts {
			counts[d] = sum
			sum += c
		}
		for i := range from {
			d := from[i].row >> shift & mask
			to[counts[d]] = from[i]
			counts[d]++
		}
		from, to = to, from
	}
	if &from[0] != &s[0] {
		copy(s, from)
	}
	for i := 0; i < len(s); {
		j := i + 1
		for j < len(s) && s[j].row>>32 == s[i].row>>32 {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(s[i:j], compareSlots)
		}
		i = j
	}
	const keep = 1 << 18
	if cap(x.other) > keep {
		x.other = nil
	}
}
