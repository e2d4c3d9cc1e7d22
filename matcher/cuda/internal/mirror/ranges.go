//go:build cuda || emu

package mirror

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// ranges number the slots of an array that may have more than numbers of 32 bits (DESIGN A28). A range is the vertices
// with equal ids, shifted by shift. The slots of its entries are counted from the beginning of a block of leaves, as
// many as the widest window that is spread. Entries are spread inside blocks, and the fence of a block changes only
// when the array is written anew: so none comes before the block in which its range began then.
type ranges struct {
	base  []uint32 // by range: the first leaf; none: there is one range, from leaf 0 on
	shift int
	on    device.Buffer // base, on the device
	// one is the maximum number of leaves without ranges, and each that of a range. Tests set them.
	one, each int
}

// mostLeaves is the number of leaves whose slots have numbers of 32 bits, as have the next ones in a search.
const mostLeaves = math.MaxUint32 / kernels.LeafSlots

// of returns the first leaf of the range of a vertex.
func (r *ranges) of(vertex int) int {
	if r.base == nil {
		return 0
	}
	return int(r.base[vertex>>r.shift])
}

// params returns what kernels know of the ranges.
func (r *ranges) params() (base kernels.Ptr, shift uint32) {
	if r.base == nil {
		return 0, 0
	}
	return r.on.Ptr, uint32(r.shift)
}

// leaves returns how many leaves a range may come to have, of an array with this many, until it is written anew.
func (r *ranges) leaves(number, all, top int) int {
	end := all
	if number+1 < len(r.base) {
		end = min(all, int(r.base[number+1])+1<<top)
	}
	return end - int(r.base[number])
}

// widest returns the most leaves that a range has or may come to have.
func (a *array) widest() int {
	most := a.now.leaves
	for i := range a.ranges.base {
		if i == 0 {
			most = 0
		}
		most = max(most, a.ranges.leaves(i, a.now.leaves, a.top))
	}
	return most
}

// divide chooses the ranges, after the array was loaded or written anew, or for more vertices. Ranges of vertices to
// come begin at the last block.
func (a *array) divide() error {
	r := &a.ranges
	r.base = nil
	if a.now.leaves <= r.one {
		return nil
	}
	if err := a.q.Sync(); err != nil {
		return err
	}
	// Half of the ranges are for vertices to come.
	r.shift = max(0, bits.Len(uint(a.bound.vertices-1))-bits.Len(kernels.MostRanges)+2)
	blocks := (a.now.leaves-1)>>a.top + 1
	base := make([]uint32, kernels.MostRanges)
	for i := 1; i < len(base); i++ {
		first := uint64(i) << r.shift // vertex
		lo, hi := int(base[i-1])>>a.top, blocks-1
		for lo < hi && first <= math.MaxUint32 {
			mid := (lo + hi + 1) / 2
			var fence uint64
			at := a.now.fenceRow.Ptr + kernels.Ptr(mid<<a.top)*kernels.Ptr(unsafe.Sizeof(fence))
			if err := a.dev.Read(kernels.BytesOf(&fence), at); err != nil {
				return err
			}
			if fence < first<<32 {
				lo = mid
			} else {
				hi = mid - 1
			}
		}
		if first > math.MaxUint32 {
			lo = hi
		}
		base[i] = uint32(lo << a.top)
	}
	if err := r.on.Put(kernels.Bytes(base)); err != nil {
		return err
	}
	r.base = base
	if n := a.widest(); n > r.each {
		r.base = nil
		const slot = 8 // bytes
		return &kernels.MemoryError{Wanted: n * kernels.LeafSlots * slot,
			Err: fmt.Errorf("vertices with adjacent ids have %d leaves of the array, more than 2^32 slots", n)}
	}
	return nil
}

// cover reports whether the ranges are for all ids below a bound.
func (r *ranges) cover(vertices int) bool {
	return r.base == nil || (vertices-1)>>r.shift < len(r.base)
}
