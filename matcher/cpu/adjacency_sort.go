package cpu

import (
	"cmp"
	"math/bits"
	"slices"
)

// changeSorter puts the changes of a batch in order: by vertex, then by entry. Vertices are counted into place digit by digit, from the lowest; a
// vertex has few changes.
type changeSorter struct {
	keys, other []uint64 // vertex, and in the lower half where its change is
	sorted      []adjacencyChange
	counts      [1 << wideDigit]uint32
}

const (
	digit         = 8
	wideDigit     = 11      // from manyChanges on
	manyChanges   = 1 << 13 // clearing the counts of wide digits costs less than a pass
	fewChanges    = 64      // comparing costs less than counting
	sortedChanges = 1 << 16 // whose memory is kept
)

func compareChanges(x, y adjacencyChange) int {
	if x.v != y.v {
		return cmp.Compare(x.v, y.v)
	}
	return cmp.Or(compareEntries(&x.adjacencyEntry, &y.adjacencyEntry), cmp.Compare(x.what, y.what))
}

// sort sorts changes of vertices below a bound.
func (x *changeSorter) sort(changes []adjacencyChange, vertices int) {
	if len(changes) < fewChanges {
		slices.SortFunc(changes, compareChanges)
		return
	}
	x.byVertex(changes, vertices)
	for i := 0; i < len(changes); {
		j := i + 1
		for j < len(changes) && changes[j].v == changes[i].v {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(changes[i:j], compareChanges)
		}
		i = j
	}
	if cap(x.sorted) > sortedChanges {
		x.keys, x.other, x.sorted = nil, nil, nil
	}
}

func (x *changeSorter) byVertex(changes []adjacencyChange, vertices int) {
	n, width := len(changes), digit
	if n >= manyChanges {
		width = wideDigit
	}
	x.keys, x.other, x.sorted = slices.Grow(x.keys[:0], n)[:n], slices.Grow(x.other[:0], n)[:n], append(x.sorted[:0], changes...)
	from, to := x.keys, x.other
	for i := range changes {
		from[i] = uint64(changes[i].v)<<32 | uint64(i)
	}
	counts := x.counts[:1<<width]
	mask := uint64(len(counts) - 1)
	for shift := 32; shift < 32+bits.Len(uint(vertices)); shift += width {
		clear(counts)
		for _, k := range from {
			counts[k>>shift&mask]++
		}
		sum := uint32(0)
		for d, c := range counts {
			counts[d] = sum
			sum += c
		}
		for _, k := range from {
			d := k >> shift & mask
			to[counts[d]] = k
			counts[d]++
		}
		from, to = to, from
	}
	for i, k := range from {
		changes[i] = x.sorted[uint32(k)]
	}
}
