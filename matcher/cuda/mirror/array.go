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

// array is the packed memory array that the device keeps (GAMMA section V-C; GPMA). It follows the host's graph by
// operations on edges, so that its layout is its own. An update is a chain of launches on the array's stream, with one
// look at the end: what does not fit is found out on the device, and only a change of size comes back here.
type array struct {
	dev  kernels.Device
	q    kernels.Stream
	dirs int

	now     slots
	entries int
	// bound says which ids, labels and edges the array has room for.
	bound    bounds
	nearBits int // of a kind

	// by vertex and direction, and by edge; of the staged batch
	span, degree, order, net                    device.Buffer
	staged                                      [2]device.Buffer
	op, key, val, key2, val2, at, info, sum     device.Buffer // by operation
	ranges, base, pending, segment, mark, tile  device.Buffer // by leaf
	scratchRow, scratchNbr, scratchEnt, control device.Buffer
	sortWork                                    device.Buffer

	page   device.Page // operations on their way, or runs of entries; the last words are the status
	stamp  uint32
	before int  // operations that staged the last batch that was: they are in staged[0]
	asked  *ask // what begin asked for and finish has not looked at
	wide   bool // tests: as if keys had more than 64 bits
	rank   int  // up to so many keys are sorted by counting
	run    int  // loadRun, or fewer in tests
	trace  *device.Trace
	// watch, in benchmarks, is told when the stages of an update have been asked for.
	watch func(stage string) error
}

// bounds are above all ids, labels and edge indexes that are in use.
type bounds struct{ vertices, labels, edges int }

// slots are the columns of an array of that many leaves.
type slots struct {
	row, nbr, ent, count, will, fenceRow, fenceNbr device.Buffer
	leaves                                         int
}

func (s *slots) buffers() []*device.Buffer {
	return []*device.Buffer{&s.row, &s.nbr, &s.ent, &s.count, &s.will, &s.fenceRow, &s.fenceNbr}
}

// reserve makes room for that many leaves. The content is lost.
func (s *slots) Reserve(dev kernels.Device, leaves int) error {
	const n = kernels.LeafSlots
	if leaves > math.MaxUint32/n {
		return &kernels.MemoryError{Wanted: leaves * n * 16,
			Err: fmt.Errorf("a graph of %d leaves is beyond the 2^32 slots of an array", leaves)}
	}
	s.leaves = leaves
	for i, size := range []int{8 * n, 4 * n, 4 * n, 4, 4, 8, 4} {
		b := s.buffers()[i]
		b.Dev = dev
		if _, err := b.Reserve(size * leaves); err != nil {
			return err
		}
	}
	return nil
}

func (s *slots) Free() error { return device.FreeAll(s.buffers()) }

func (s *slots) params() kernels.Slots {
	return kernels.Slots{Row: s.row.Ptr, Nbr: s.nbr.Ptr, Ent: s.ent.Ptr, Count: s.count.Ptr, Will: s.will.Ptr,
		FenceRow: s.fenceRow.Ptr,
		FenceNbr: s.fenceNbr.Ptr, Leaves: uint32(s.leaves)}
}

// Bounds of the root's density, which is midway between them in an array that is written anew; those of leaves are in
// gpma.cuh.
const (
	rootLow  = 0.42
	rootHigh = 0.84
)

// leavesFor is the size of an array for that many entries.
func leavesFor(entries int) int {
	const best = (rootLow + rootHigh) / 2 * kernels.LeafSlots
	leaves := max(1, int(math.Round(float64(entries)/best)))
	if float64(entries) > rootHigh*kernels.LeafSlots*float64(leaves) {
		leaves++
	}
	return leaves
}

// newArray returns an array without memory; load gives it some.
func newArray(dev kernels.Device, directed bool) *array {
	a := &array{dev: dev, dirs: 1, rank: kernels.RankMost, run: loadRun}
	if directed {
		a.dirs = 2
	}
	for _, b := range a.buffers() {
		b.Dev = dev
	}
	a.page.Dev = dev
	return a
}

func (a *array) buffers() []*device.Buffer {
	return append(a.now.buffers(), &a.span, &a.degree, &a.order, &a.net, &a.staged[0], &a.staged[1], &a.op, &a.key,
		&a.val, &a.key2, &a.val2,
		&a.at, &a.info, &a.sum, &a.ranges, &a.base, &a.pending, &a.segment, &a.mark, &a.tile, &a.scratchRow,
		&a.scratchNbr,
		&a.scratchEnt, &a.control, &a.sortWork)
}

func (a *array) Free() error {
	a.rest()
	err := device.FreeAll(a.buffers())
	if e := a.page.Free(); err == nil {
		err = e
	}
	if a.q != nil {
		if e := a.q.Close(); err == nil {
			err = e
		}
		a.q = nil
	}
	return err
}

// rest waits until nothing is under way in the memory, and forgets an update that was begun. After a failure some may
// be; what failed has been told.
func (a *array) rest() {
	a.asked = nil
	if a.q != nil {
		_ = a.q.Sync()
	}
}

// statusSize is what the status takes at the end of the host's memory.
const statusSize = int(unsafe.Sizeof(kernels.UpdateStatus{}))

// open makes the stream and the host's memory, for that many bytes beside the status. What was in the memory is lost.
func (a *array) open(bytes int) (err error) {
	if a.q == nil {
		if a.q, err = a.dev.NewStream(); err != nil {
			return err
		}
	}
	_, err = a.page.Reserve(bytes + statusSize)
	return err
}

// view returns the beginning of the host's memory as n values of a plain type.
func view[T any](host []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(host))), n)
}

func (a *array) status() *kernels.UpdateStatus {
	return &view[kernels.UpdateStatus](a.page.Host[len(a.page.Host)-statusSize:], 1)[0]
}

// reserveLeaves makes room for what there is by leaf, beside the slots.
func (a *array) reserveLeaves(leaves int) error {
	const leastScratch, mostScratch = 1 << 14, 1 << 22
	scratch := min(max(leaves*kernels.LeafSlots/8, leastScratch), mostScratch)
	for _, r := range []struct {
		b    *device.Buffer
		size int
	}{{&a.ranges, kernels.RangeSize * leaves}, {&a.base, 4 * leaves}, {&a.pending, 4 * leaves},
		{&a.segment, kernels.SegmentSize * leaves},
		{&a.mark, 4 * (2*leaves + 64)}, {&a.scratchRow, 8 * scratch}, {&a.scratchNbr, 4 * scratch},
		{&a.scratchEnt, 4 * scratch},
		{&a.control, statusSize}} {
		if _, err := r.b.Reserve(r.size); err != nil {
			return err
		}
	}
	return nil
}

// scratch is the number of entries that there is room for beside the slots: buffers are rounded up, each by itself.
func (a *array) scratch() int {
	return min(a.scratchRow.Size/8, a.scratchNbr.Size/4, a.scratchEnt.Size/4)
}

// reserveOps makes room for what there is by operation.
func (a *array) reserveOps(ops, staged int) error {
	keys := 2 * ops
	for _, r := range []struct {
		b    *device.Buffer
		size int
	}{{&a.op, kernels.OpSize * ops}, {&a.key, 8 * keys}, {&a.val, 4 * keys}, {&a.key2, 8 * keys}, {&a.val2, 4 * keys},
		{&a.at, 4 * keys}, {&a.info, 4 * keys},
		{&a.sum, 4 * keys}, {&a.staged[1], kernels.OpSize * staged}, {&a.net, 12 * staged},
		{&a.tile, 4 * kernels.ScanTiles(a.now.leaves, keys)},
		{&a.sortWork, kernels.SortWork(a.dev.Info())}} {
		if _, err := r.b.Reserve(r.size); err != nil {
			return err
		}
	}
	return nil
}

// reserveBounds makes room for vertices and edges. It tells whether the vertices' tables were lost with it.
func (a *array) reserveBounds(b bounds) (lost bool, err error) {
	a.bound = bounds{max(a.bound.vertices, b.vertices, 1), max(a.bound.labels, b.labels, 1),
		max(a.bound.edges, b.edges, 1)}
	sides := a.bound.vertices * a.dirs
	if lost, err = a.span.Reserve(sides * kernels.SpanSize); err != nil {
		return true, err
	}
	more, err := a.degree.Reserve(4 * sides)
	if err != nil {
		return true, err
	}
	_, err = a.order.Reserve(4 * a.bound.edges)
	return lost || more, err
}

// params returns what all kernels are told.
func (a *array) params() *kernels.Update {
	return &kernels.Update{A: a.now.params(), Span: a.span.Ptr, Degree: a.degree.Ptr, Order: a.order.Ptr,
		Net: a.net.Ptr, Op: a.op.Ptr,
		Before: a.staged[0].Ptr, Staged: a.staged[1].Ptr, Key: a.key.Ptr, Val: a.val.Ptr, At: a.at.Ptr,
		Info: a.info.Ptr, Sum: a.sum.Ptr,
		Range: a.ranges.Ptr, Base: a.base.Ptr, Pending: a.pending.Ptr, Segment: a.segment.Ptr, Mark: a.mark.Ptr,
		Tile:       a.tile.Ptr,
		ScratchRow: a.scratchRow.Ptr, ScratchNbr: a.scratchNbr.Ptr, ScratchEnt: a.scratchEnt.Ptr,
		Control: a.control.Ptr,
		Dirs:    uint32(a.dirs), IDBits: uint32(bits.Len(uint(a.bound.vertices - 1))),
		LabelBits: uint32(bits.Len(uint(a.bound.labels - 1))),
		NearBits:  uint32(a.nearBits), NearUsed: uint32(a.nearUsed()), Height: uint32(bits.Len(uint(a.now.leaves - 1))),
		ScratchSize: uint32(a.scratch()), Entries: uint32(a.entries)}
}

// nearUsed is how many of the bits for a neighbour's label the labels have.
func (a *array) nearUsed() int { return min(a.nearBits, bits.Len(uint(a.bound.labels-1))) }

func (a *array) did(stage string) error {
	if a.watch == nil {
		return nil
	}
	return a.watch(stage)
}
