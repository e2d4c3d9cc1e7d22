//go:build cuda || emu

package mirror

import (
	"errors"
	"math/bits"
	"unsafe"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// pairs is a filter of the pairs of vertices that edges join, for searches that look for an edge between two vertices
// and find none (DESIGN A29). Edges that go stay in it. It is made anew when the array is written anew, and when
// updates have added as many pairs as limit.
type pairs struct {
	on    device.Buffer // mask+1 words
	mask  uint32
	most  int  // maximum number of bytes; math.MaxInt if all of the graph is on the device
	added int  // pairs that updates have added since the filter was made
	limit int  // of these
	all   bool // there is no memory for it: all pairs are in it
}

const (
	// pairBits is the least number of bits of a filter for an edge, when it is made. With 8, one of 17 pairs without an
	// edge is in the filter, with 16 one of 50. Not tuned.
	pairBits = 8
	// pairShare: of the device memory of a mapped graph the filter takes at most this part. Not tuned.
	pairShare = 4
)

// reserve makes room for a number of entries of the array. The content is lost. The filter of a mapped graph grows only
// as far as there is memory left on the device.
func (s *pairs) reserve(entries int) error {
	edges := (entries + 1) / 2
	words := 1 << bits.Len(uint(max(1, edges*pairBits/32)-1))
	most := s.most
	if d, ok := s.on.Dev.(*nearFirst); ok {
		most = min(most, (d.room()+d.near[s.on.Ptr])/5*4) // a buffer is up to a quarter larger
	}
	for words > 1 && 4*words > most {
		words /= 2
	}
	_, err := s.on.Reserve(4 * words)
	var short *kernels.MemoryError
	if s.all = errors.As(err, &short); s.all {
		words = 1
		_, err = s.on.Reserve(4)
	}
	s.mask, s.limit = uint32(words-1), max(edges, words*32/pairBits)
	return err
}

// fillPairs makes the filter anew, of all edges in the array.
func (a *array) fillPairs() error {
	if a.pairs.all {
		return a.q.Write(a.pairs.on.Ptr, []byte{0xff, 0xff, 0xff, 0xff})
	}
	if err := a.q.Clear(a.pairs.on.Ptr, 4*(int(a.pairs.mask)+1)); err != nil {
		return err
	}
	a.pairs.added = 0
	const at = kernels.Ptr(unsafe.Offsetof(kernels.UpdateStatus{}.Added))
	if err := a.q.Clear(a.control.Ptr+at, 4); err != nil {
		return err
	}
	return kernels.RunUpdatePairs(a.q, a.params())
}
