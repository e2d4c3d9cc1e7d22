package labeladj

import (
	"cmp"
	"math/bits"
	"slices"
)

// changeSorter sorts the changes of a batch by vertex, then by entry: a radix sort by vertex, then comparisons within a
// vertex, which has few changes.
type changeSorter struct {
	keys, other []uint64 // vertex in the upper half, index of the change in the lower
	sorted      []change
	counts      [1 << wideDigit]uint32
}

const (
	digit         = 8
	wideDigit     = 11      // digit from manyChanges on
	manyChanges   = 1 << 13 // from here on, clearing the counts of wide digits costs less than one more pass
	fewChanges    = 64      // below it, comparisons cost less than a radix sort
	sortedChanges = 1 << 16 // beyond it, memory is not kept
)

func compareChanges(x, y change) int {
	if x.v != y.v {
		return cmp.Compare(x.v, y.v)
	}
	return cmp.Or(compareEntries(&x.entry, &y.entry), cmp.Compare(x.op, y.op))
}

// sort sorts the changes. Their vertices are below a bound.
func (x *changeSorter) sort(changes []change, vertices int) {
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

func (x *changeSorter) byVertex(changes []change, vertices int) {
	n, width := len(changes), digit
	if n >= manyChanges {
		width = wideDigit
	}
	x.keys, x.other = slices.Grow(x.keys[:0], n)[:n], slices.Grow(x.other[:0], n)[:n]
	x.sorted = append(x.sorted[:0], changes...)
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
