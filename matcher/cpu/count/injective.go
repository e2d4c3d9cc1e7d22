package count

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// maxTogether bounds the leaves that are counted together by inclusion and exclusion: 6 leaves have 203 partitions, 12
// have over 4 million. Beyond it one leaf is mapped and the rest counted.
const maxTogether = 6

// injectiveCounter is scratch memory for counting leaves that may meet.
type injectiveCounter struct {
	sets  [matcher.MaxVertices][]dyngraph.VertexID
	inter [1 << maxTogether][]dyngraph.VertexID
}

// count counts the ways to choose distinct members, one of each set: the sum, over all partitions of the sets, of the
// product over the blocks of (-1)^(b-1) (b-1)! times the size of the block's intersection. Partial sums may be
// negative, which does not matter modulo 2^128; if the sizes have more than 120 bits together, slower exact numbers are
// used. step is called now and then and ends the count when it returns false.
func (c *injectiveCounter) count(sets [][]dyngraph.VertexID, step func() bool) matcher.Count {
	if len(sets) > maxTogether {
		var sum matcher.Count
		rest := make([][]dyngraph.VertexID, len(sets)-1)
		for _, w := range sets[0] {
			if !step() {
				return matcher.Count{}
			}
			for i, t := range sets[1:] {
				rest[i] = t
				if at, ok := slices.BinarySearch(t, w); ok {
					rest[i] = slices.Concat(t[:at], t[at+1:])
				}
			}
			sum = sum.Add(c.count(rest, step))
		}
		return sum
	}
	n := len(sets)
	width := 0
	for _, t := range sets {
		width += bits.Len(uint(len(t)))
	}
	exact := width > 120 // the terms could leave 128 bits
	inter := &c.inter
	var size [1 << maxTogether]uint64
	for mask := 1; mask < 1<<n; mask++ {
		low := 0
		for mask>>low&1 == 0 {
			low++
		}
		if mask == 1<<low {
			inter[mask] = append(inter[mask][:0], sets[low]...)
		} else {
			inter[mask] = intersect(inter[mask][:0], inter[mask&^(1<<low)], sets[low])
		}
		size[mask] = uint64(len(inter[mask]))
	}
	// ways[mask] sums over the partitions of mask; the block of its lowest member is chosen first.
	var ways [1 << maxTogether]matcher.Count
	ways[0] = matcher.CountOf(1)
	for mask := 1; mask < 1<<n; mask++ {
		low := mask & -mask
		rest := mask &^ low
		var sum matcher.Count
		for sub := rest; ; sub = (sub - 1) & rest {
			block := sub | low
			a, b := ways[mask&^block], matcher.CountOf(size[block]*blockFactor(block))
			negative := bits.OnesCount(uint(block))%2 == 0
			switch {
			case exact && negative:
				sum = sum.Sub(a.Mul(b))
			case exact:
				sum = sum.Add(a.Mul(b))
			case negative:
				sum = addMod(sum, negate(mulMod(a, b)))
			default:
				sum = addMod(sum, mulMod(a, b))
			}
			if sub == 0 {
				break
			}
		}
		ways[mask] = sum
	}
	return ways[1<<n-1]
}

// blockFactor returns (b-1)! for a block of b sets.
func blockFactor(block int) uint64 {
	f := uint64(1)
	for k := uint64(2); k < uint64(bits.OnesCount(uint(block))); k++ {
		f *= k
	}
	return f
}

// intersect appends the common members of two ascending sets.
func intersect(dst, a, b []dyngraph.VertexID) []dyngraph.VertexID {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			dst = append(dst, a[i])
			i++
			j++
		}
	}
	return dst
}
