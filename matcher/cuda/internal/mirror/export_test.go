//go:build cuda || emu

package mirror

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// Array lets tests reach the device's packed memory array.
type Array struct{ a *array }

// NewArray returns an array; wide and rank choose how it sorts, run is how many entries it is loaded by, unless it is
// 0.
func NewArray(dev kernels.Device, directed, wide bool, rank, run int) Array {
	a := newArray(dev, directed)
	a.wide, a.rank = wide, rank
	if run > 0 {
		a.run = run
	}
	return Array{a}
}

// ErrRows is the error of Load for too few rows.
var ErrRows = errRows

// Load loads entries, of a number of rows, of vertices with these labels.
func (a Array) Load(entries, rows, vertices, labels, edges int, label []uint32,
	next func(row []uint64, nbr, ent []uint32) (int, error)) error {
	of := device.Buffer{Dev: a.a.dev}
	if err := of.Put(kernels.Bytes(label)); err != nil {
		return err
	}
	err := a.a.load(entries, rows, bounds{vertices: vertices, labels: labels, edges: edges}, of.Ptr, next)
	if e := of.Free(); err == nil {
		err = e
	}
	return err
}

// Update does what the mirror does with a batch, which packs it on all cores.
func (a Array) Update(ops []kernels.Op, staged int, end Outcome, vertices, labels, edges int) error {
	to, err := a.a.room(len(ops))
	if err != nil {
		return err
	}
	device.InParts(len(ops), runtime.GOMAXPROCS(0), func(i, j int) { copy(to[i:j], ops[i:]) })
	if err := a.a.begin(len(ops), staged, end, bounds{vertices: vertices, labels: labels, edges: edges}); err != nil {
		return err
	}
	return a.a.finish()
}

// Divide has the array have ranges, as Mirror.Divide does.
func (a Array) Divide(top int) { a.a.top, a.a.ranges.one = top, 0 }

// MostLeaves sets the maximum number of leaves of a range.
func (a Array) MostLeaves(n int) { a.a.ranges.each = n }

// Base returns the first slot of the range of a vertex.
func (a Array) Base(vertex int) uint32 { return uint32(a.a.ranges.of(vertex) * kernels.LeafSlots) }

// Bases returns the number of leaves at which ranges begin.
func (a Array) Bases() int { return len(slices.Compact(slices.Clone(a.a.ranges.base))) }

// PairsMost sets the maximum number of bytes of the filter of pairs.
func (a Array) PairsMost(n int) { a.a.pairs.most = n }

// Leaves returns the size of the array.
func (a Array) Leaves() int { return a.a.now.leaves }

// Status returns what the last update left.
func (a Array) Status() kernels.UpdateStatus { return *a.a.status() }

// Watch has f told of the stages of updates.
func (a Array) Watch(f func(stage string) error) { a.a.watch = f }

// Stream returns the array's stream.
func (a Array) Stream() kernels.Stream { return a.a.q }

// Device returns the device.
func (a Array) Device() kernels.Device { return a.a.dev }

// Rewrite writes the array anew, with nothing to merge, and waits.
func (a Array) Rewrite() error {
	p := a.a.params()
	p.SortedKey, p.SortedVal = p.Key, p.Val
	return a.a.rewrite(p)
}

func (a Array) Free() error { return a.a.Free() }

// Entry is an entry of the array.
type Entry struct {
	Row      uint64
	Nbr, Ent uint32
}

// Span is Span of graph.cuh.
type Span struct{ Begin, End, First, Last uint32 }

// Content is the content of the device's array.
type Content struct {
	Entries []Entry
	Slots   []uint32 // of the entries
	InUse   int      // slots of entries and rows
	Span    []Span
	Degree  []uint32
	Order   []uint32
	Net     []kernels.Net
	Pairs   []uint32 // filter
}

// read copies memory of the device.
func read[T any](a *array, b *device.Buffer, n int) ([]T, error) {
	x := make([]T, n)
	return x, a.dev.Read(kernels.Bytes(x), b.Ptr)
}

// Read returns the content and checks what holds of every array: order, density, fences.
func (a Array) Read(net int) (c Content, err error) {
	s := &a.a.now
	nbr, err := read[uint32](a.a, &s.nbr, s.leaves*kernels.LeafSlots)
	if err != nil {
		return c, err
	}
	ent, err := read[uint32](a.a, &s.ent, len(nbr))
	if err != nil {
		return c, err
	}
	count, err := read[uint32](a.a, &s.count, s.leaves)
	if err != nil {
		return c, err
	}
	will, err := read[uint32](a.a, &s.will, s.leaves)
	if err != nil {
		return c, err
	}
	used, err := read[uint32](a.a, &s.used, s.leaves)
	if err != nil {
		return c, err
	}
	runs, err := read[uint64](a.a, &s.runs, s.leaves)
	if err != nil {
		return c, err
	}
	fenceRow, err := read[uint64](a.a, &s.fenceRow, s.leaves)
	if err != nil {
		return c, err
	}
	fenceNbr, err := read[uint32](a.a, &s.fenceNbr, s.leaves)
	if err != nil {
		return c, err
	}
	for leaf, n := range count {
		inUse := int(n) + bits.OnesCount64(runs[leaf])
		if n != will[leaf] || int(used[leaf]) != inUse || s.leaves > 1 && n < 1 || inUse > kernels.LeafSlots-2 ||
			n > 0 && runs[leaf]&1 == 0 || runs[leaf]>>n != 0 {
			return c, fmt.Errorf("leaf %d of %d has %d entries and was to have %d, in %d slots; runs %x", leaf,
				s.leaves, n, will[leaf], used[leaf], runs[leaf])
		}
		fence := Entry{Row: fenceRow[leaf], Nbr: fenceNbr[leaf]}
		if last := len(c.Entries) - 1; leaf == 0 && fence != (Entry{}) || leaf > 0 && !c.Entries[last].before(fence) {
			return c, fmt.Errorf("leaf %d has fence %x", leaf, fence)
		}
		row, rowAt := uint64(0), (leaf+1)*kernels.LeafSlots
		for i := range int(n) {
			at := leaf*kernels.LeafSlots + i
			if runs[leaf]>>i&1 != 0 {
				rowAt--
				was := row
				if row = uint64(ent[rowAt])<<32 | uint64(nbr[rowAt]); i > 0 && row <= was {
					return c, fmt.Errorf("leaf %d, entry %d: a run of row %x is behind one of %x", leaf, i, row, was)
				}
			}
			e := Entry{row, nbr[at], ent[at]}
			if last := len(c.Entries) - 1; i == 0 && e.before(fence) || last >= 0 && !c.Entries[last].before(e) {
				return c, fmt.Errorf("leaf %d, entry %d is out of order", leaf, i)
			}
			c.Entries = append(c.Entries, e)
			c.Slots = append(c.Slots, uint32(at))
		}
		c.InUse += inUse
	}
	least, most := a.a.limits()
	if n := len(c.Entries); n < least || n > most || n != a.a.entries {
		return c, fmt.Errorf("%d entries, of which the status knows %d, in %d leaves and %d slots; limits %d and %d", n,
			a.a.entries, s.leaves, c.InUse, least, most)
	}
	sides := a.a.bound.vertices * a.a.dirs
	if c.Span, err = read[Span](a.a, &a.a.span, sides); err != nil {
		return c, err
	}
	if c.Degree, err = read[uint32](a.a, &a.a.degree, sides); err != nil {
		return c, err
	}
	if c.Order, err = read[uint32](a.a, &a.a.order, a.a.bound.edges); err != nil {
		return c, err
	}
	if c.Pairs, err = read[uint32](a.a, &a.a.pairs.on, int(a.a.pairs.mask)+1); err != nil {
		return c, err
	}
	if net > 0 {
		c.Net, err = read[kernels.Net](a.a, &a.a.net, net)
	}
	return c, err
}

func (e Entry) before(f Entry) bool { return e.Row < f.Row || e.Row == f.Row && e.Nbr < f.Nbr }

// GrowPairs has a filter on a device of which a graph may take a number of bytes: for some entries, and for more of
// them; when the rest of that is in use, if full. It returns how many bytes are near and far for the filter then, and
// its words.
func GrowPairs(dev kernels.Device, bytes, entries, more int, full bool) (near, far, words int, err error) {
	d := newNearFirst(dev)
	d.most = bytes
	s := pairs{on: device.Buffer{Dev: d}, most: bytes / pairShare}
	if err := s.reserve(entries); err != nil {
		return 0, 0, 0, err
	}
	size := 1
	if full {
		size = d.room()
	}
	rest, err := d.Alloc(size)
	if err != nil {
		return 0, 0, 0, err
	}
	err = s.reserve(more)
	near, far = d.used[0]-d.near[rest], d.used[1]
	return near, far, int(s.mask) + 1, errors.Join(err, s.on.Free(), d.Free(rest))
}
