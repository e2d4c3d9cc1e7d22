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

// array is the packed memory array on the device (GAMMA section V-C; GPMA). The host sends operations on edges; the
// layout of the entries is the device's own. An update is a chain of launches on the array's stream. The host reads the
// status once, at the end: the device rebalances leaves itself, and the host acts only if the array must change its
// size.
type array struct {
	dev  kernels.Device
	cols kernels.Device // where columns of the graph are allocated
	q    kernels.Stream
	dirs int

	now     slots
	entries int
	written int    // number of entries when the array was last written anew
	bound   bounds // ids, labels and edges that the array has room for
	nbrBits int    // bits of a kind for the label of the neighbour
	ranges  ranges // of vertices
	pairs   pairs  // that edges join
	top     int    // level of the widest window that is spread; tests set it

	span, degree                                 device.Buffer // by vertex and direction
	order                                        device.Buffer // by edge
	net                                          device.Buffer // net edges of the staged batch
	staged                                       [2]device.Buffer
	op, key, val, key2, val2, at, info, sum      device.Buffer // by operation
	opRanges, base, pending, segment, mark, tile device.Buffer // by leaf
	scratchRow, scratchNbr, scratchEnt, control  device.Buffer
	sortWork                                     device.Buffer

	page   device.Page // operations or entries to copy; the last words are the status
	stamp  uint32
	before int  // number of operations of the last staged batch, which are in staged[0]
	asked  *ask // the update that is queued and not finished
	wide   bool // set by tests: use the code for keys of more than 64 bits
	rank   int  // maximum number of keys that are sorted by counting
	run    int  // maximum number of entries that are copied at a time when the array is loaded
	most   int  // maximum number of entries in scratch
	trace  *device.Trace
	// watch, in benchmarks, is called after each stage of an update is queued.
	watch func(stage string) error
}

// bounds are exclusive upper bounds of the ids, labels and edge indexes in use. A label of an edge is followed by
// layers bits that tell parallel edges apart.
type bounds struct{ vertices, labels, layers, edges int }

// nbrBits returns how many bits of a kind are for the label of the neighbour.
func (b bounds) nbrBits() int { return kernels.NbrBits(b.labels << b.layers) }

// slots holds the columns of an array.
type slots struct {
	nbr, ent, count, will, used, runs, fenceRow, fenceNbr device.Buffer
	leaves                                                int
}

func (s *slots) buffers() []*device.Buffer {
	return append(s.byLeaf(), &s.nbr, &s.ent)
}

func (s *slots) byLeaf() []*device.Buffer {
	return []*device.Buffer{&s.count, &s.will, &s.used, &s.runs, &s.fenceRow, &s.fenceNbr}
}

// Reserve makes room for a number of leaves. The content is lost. What searches read most for its size comes first: see
// nearFirst.
func (s *slots) Reserve(dev kernels.Device, leaves int) error {
	const n = kernels.LeafSlots
	if leaves > math.MaxInt32-n { // windows of all levels have numbers of 32 bits
		return &kernels.MemoryError{Wanted: leaves * n * 8,
			Err: fmt.Errorf("a graph of %d leaves is beyond the 2^31 leaves of an array", leaves)}
	}
	s.leaves = leaves
	for _, r := range []struct {
		b    *device.Buffer
		size int
	}{{&s.count, 4}, {&s.will, 4}, {&s.used, 4}, {&s.runs, 8}, {&s.fenceRow, 8}, {&s.fenceNbr, 4}, {&s.nbr, 4 * n},
		{&s.ent, 4 * n}} {
		r.b.Dev = dev
		if _, err := r.b.Reserve(r.size * leaves); err != nil {
			return err
		}
	}
	return nil
}

// Free frees the memory of all columns.
func (s *slots) Free() error { return device.FreeAll(s.buffers()) }

func (s *slots) params() kernels.Slots {
	return kernels.Slots{Nbr: s.nbr.Ptr, Ent: s.ent.Ptr, Count: s.count.Ptr, Will: s.will.Ptr, Used: s.used.Ptr,
		Runs: s.runs.Ptr, FenceRow: s.fenceRow.Ptr, FenceNbr: s.fenceNbr.Ptr, Leaves: uint32(s.leaves)}
}

// Slots in use of the whole array: between rootLow and rootHigh, in percent; when it is written anew, kernels.Fullness.
// Where the number of rows changes as that of entries does, the number of entries keeps them there. Where it does not,
// leaves climb to the root. Limits of leaves are in gpma.cuh.
const (
	rootLow  = 42
	rootHigh = 84
)

// limits returns the numbers of entries beyond which the array is written anew.
func (a *array) limits() (least, most int) {
	if a.now.leaves <= 1 {
		return 0, kernels.LeafSlots
	}
	return a.written * rootLow / kernels.Fullness, a.written * rootHigh / kernels.Fullness
}

// leavesFor returns the number of leaves that suffice for entries and rows, which come in a number of parts. The number
// of leaves of a piece is rounded, and a piece begins with a row of its own; a part may have a small piece.
func leavesFor(entries, rows, parts int) int {
	return (entries+rows)*100/(kernels.Fullness*kernels.LeafSlots) + kernels.Pieces(entries)*6/10 + 2*parts + 1
}

// newArray returns an array without memory; load allocates it.
func newArray(dev kernels.Device, directed bool) *array {
	a := &array{dev: dev, dirs: 1, rank: kernels.RankMost, run: loadRun, most: mostScratch, top: kernels.TopWindow,
		ranges: ranges{one: mostLeaves, each: mostLeaves}, pairs: pairs{most: math.MaxInt}}
	if directed {
		a.dirs = 2
	}
	for _, b := range a.buffers() {
		b.Dev = dev
	}
	a.page.Dev = dev
	a.placeIn(dev)
	return a
}

// placeIn sets the device of the columns of the graph.
func (a *array) placeIn(dev kernels.Device) {
	a.cols = dev
	for _, b := range []*device.Buffer{&a.span, &a.degree, &a.order, &a.opRanges, &a.base, &a.pending, &a.segment,
		&a.mark} {
		b.Dev = dev
	}
}

func (a *array) buffers() []*device.Buffer {
	return append(a.now.buffers(), &a.span, &a.degree, &a.order, &a.net, &a.staged[0], &a.staged[1], &a.op, &a.key,
		&a.val, &a.key2, &a.val2,
		&a.at, &a.info, &a.sum, &a.opRanges, &a.base, &a.pending, &a.segment, &a.mark, &a.tile, &a.scratchRow,
		&a.scratchNbr,
		&a.scratchEnt, &a.control, &a.sortWork, &a.ranges.on, &a.pairs.on)
}

// Free frees all memory and closes the stream.
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

// rest waits for the stream, which may still use the memory after a failure, and drops an unfinished update. Errors
// were reported when the work failed.
func (a *array) rest() {
	a.asked = nil
	if a.q != nil {
		_ = a.q.Sync()
	}
}

// statusSize is the size of the status, in bytes.
const statusSize = int(unsafe.Sizeof(kernels.UpdateStatus{}))

// open allocates the stream, and host memory for a number of bytes and the status. The content of the memory is lost.
func (a *array) open(bytes int) (err error) {
	if a.q == nil {
		if a.q, err = a.dev.NewStream(); err != nil {
			return err
		}
	}
	_, err = a.page.Reserve(bytes + statusSize)
	return err
}

// view returns the beginning of host memory as n values of a plain type.
func view[T any](host []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(host))), n)
}

func (a *array) status() *kernels.UpdateStatus {
	return &view[kernels.UpdateStatus](a.page.Host[len(a.page.Host)-statusSize:], 1)[0]
}

// Minimum and maximum number of entries in scratch. Not tuned.
const leastScratch, mostScratch = 1 << 14, 1 << 22

// workShare is the divisor of the memory of a device that holds a part of the graph for scratch, and for copies when
// the array is loaded. Not tuned.
const workShare = 16

// work bounds the memory of a device for what is not the graph, of a number of bytes in all.
func (a *array) work(bytes int) {
	const scratch, run = 8 + 4 + 4, 2*8 + 2*4 + 8 + 4 + 4 // bytes of an entry
	a.most = min(mostScratch, max(leastScratch, bytes/workShare/scratch))
	a.run = min(loadRun, max(leastRun, bytes/workShare/run))
	a.pairs.most = bytes / pairShare
}

// reserveLeaves makes room for the buffers by leaf, except the slots, and for the scratch space.
func (a *array) reserveLeaves(leaves int) error {
	scratch := min(max(leaves*kernels.LeafSlots/8, leastScratch), a.most) // the eighth is not tuned
	for _, r := range []struct {
		b    *device.Buffer
		size int
	}{{&a.opRanges, kernels.RangeSize * leaves}, {&a.base, 4 * leaves}, {&a.pending, 4 * leaves},
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

// scratch returns the number of entries for which the scratch space has room. Each buffer is rounded up, so it is the
// minimum of three.
func (a *array) scratch() int {
	return min(a.scratchRow.Size/8, a.scratchNbr.Size/4, a.scratchEnt.Size/4)
}

// reserveOps makes room for the buffers by operation.
func (a *array) reserveOps(ops, staged int) error {
	keys := 2 * ops
	for _, r := range []struct {
		b    *device.Buffer
		size int
	}{{&a.op, kernels.OpSize * ops}, {&a.key, 8 * keys}, {&a.val, 4 * keys}, {&a.key2, 8 * keys}, {&a.val2, 4 * keys},
		{&a.at, 4 * keys}, {&a.info, 4 * keys},
		{&a.sum, 4 * keys}, {&a.staged[1], kernels.OpSize * staged}, {&a.net, 12 * staged},
		{&a.tile, 4 * max(kernels.ScanTiles(a.now.leaves, keys), kernels.Pieces(a.scratch()))},
		{&a.sortWork, kernels.SortWork(a.dev.Info())}} {
		if _, err := r.b.Reserve(r.size); err != nil {
			return err
		}
	}
	return nil
}

// reserveBounds makes room for vertices, and sets the number of edges for reserveOrder. lost is true if the tables by
// vertex have lost their content, or the ranges are too few.
func (a *array) reserveBounds(b bounds) (lost bool, err error) {
	a.bound = bounds{max(a.bound.vertices, b.vertices, 1), max(a.bound.labels, b.labels, 1), b.layers,
		max(a.bound.edges, b.edges, 1)}
	sides := a.bound.vertices * a.dirs
	if lost, err = a.span.Reserve(sides * kernels.SpanSize); err != nil {
		return true, err
	}
	more, err := a.degree.Reserve(4 * sides)
	if err != nil {
		return true, err
	}
	return lost || more || !a.ranges.cover(a.bound.vertices), nil
}

// reserveOrder makes room for what only staged edges have.
func (a *array) reserveOrder() error {
	_, err := a.order.Reserve(4 * a.bound.edges)
	return err
}

// params returns the parameters that are common to all kernels of an update.
func (a *array) params() *kernels.Update {
	least, most := a.limits()
	rangeAt, shift := a.ranges.params()
	height := bits.Len(uint(a.now.leaves - 1))
	return &kernels.Update{A: a.now.params(), Span: a.span.Ptr, Degree: a.degree.Ptr, Order: a.order.Ptr,
		Net: a.net.Ptr, Op: a.op.Ptr,
		Before: a.staged[0].Ptr, Staged: a.staged[1].Ptr, Key: a.key.Ptr, Val: a.val.Ptr, At: a.at.Ptr,
		Info: a.info.Ptr, Sum: a.sum.Ptr,
		Range: a.opRanges.Ptr, Base: a.base.Ptr, Pending: a.pending.Ptr, Segment: a.segment.Ptr, Mark: a.mark.Ptr,
		Tile:       a.tile.Ptr,
		ScratchRow: a.scratchRow.Ptr, ScratchNbr: a.scratchNbr.Ptr, ScratchEnt: a.scratchEnt.Ptr,
		Control: a.control.Ptr,
		Dirs:    uint32(a.dirs), IDBits: uint32(bits.Len(uint(a.bound.vertices - 1))),
		LabelBits: uint32(bits.Len(uint(a.bound.labels<<a.bound.layers - 1))),
		NbrBits:   uint32(a.nbrBits), NbrUsed: uint32(a.nbrUsed()), Height: uint32(height),
		Top: uint32(min(height, a.top)), RangeAt: rangeAt, Shift: shift, Pairs: a.pairs.on.Ptr, PairMask: a.pairs.mask,
		ScratchSize: uint32(a.scratch()), Least: uint32(least), Most: uint32(min(most, math.MaxUint32))}
}

// nbrUsed returns how many of the nbrBits can be set: labels may have fewer bits.
func (a *array) nbrUsed() int { return min(a.nbrBits, bits.Len(uint(a.bound.labels-1))) }

// did tells watch that a stage is queued.
func (a *array) did(stage string) error {
	if a.watch == nil {
		return nil
	}
	return a.watch(stage)
}
