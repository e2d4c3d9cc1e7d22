//go:build cuda || emu

package mirror

import (
	"errors"
	"math/bits"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// pairs is a filter of the pairs of vertices that edges join, for searches that look for an edge between two vertices
// and find none (DESIGN A29). Edges that go stay in it, so it is made anew when the array is written anew; for that
// reason, too, the array is, if many have been added.
type pairs struct {
	on    device.Buffer // mask+1 words
	mask  uint32
	most  int // maximum number of bytes
	adds  int // number of pairs that were added since the filter was made, at most
	limit int // of adds
}

const (
	// pairBits is the least number of bits of a filter for an edge: with 8 to 16, one of 20 to 60 pairs without an edge
	// is in it. Not tuned.
	pairBits = 8
	// pairShare is the divisor of the memory of a device that holds a part of the graph for the filter. Not tuned.
	pairShare = 4
)

// begin makes the filter empty, for a number of entries of the array. If there is no memory for it, all pairs are in
// it.
func (s *pairs) begin(q kernels.Stream, entries int) error {
	edges := (entries + 1) / 2
	words := 1 << bits.Len(uint(max(1, edges*pairBits/32)-1))
	for words > 1 && 4*words > s.most {
		words /= 2
	}
	_, err := s.on.Reserve(4 * words)
	var short *kernels.MemoryError
	all := errors.As(err, &short)
	if all {
		words = 1
		_, err = s.on.Reserve(4)
	}
	if err != nil {
		return err
	}
	s.mask, s.adds, s.limit = uint32(words-1), 0, max(edges, words*32/pairBits)
	if all {
		ones := []uint32{1<<32 - 1}
		if err := q.Write(s.on.Ptr, kernels.Bytes(ones)); err != nil {
			return err
		}
		return q.Sync()
	}
	return q.Clear(s.on.Ptr, 4*words)
}

// added notes that some pairs are added, and reports whether the filter should be made anew.
func (s *pairs) added(n int) bool {
	s.adds += n
	return s.adds > s.limit
}
