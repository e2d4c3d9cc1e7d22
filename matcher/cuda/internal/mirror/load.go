//go:build cuda || emu

package mirror

import (
	"errors"
	"math/bits"
	"unsafe"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// loadRun is the number of entries that are copied at a time when the array is loaded. A row (the entries of one
// vertex, direction and label) is not divided, so a copy may be larger. Not tuned.
const loadRun = 1 << 20

// leastRun is the minimum number of entries that are copied at a time. Where there are few entries, a smaller buffer
// saves memory. Not tuned.
const leastRun = 1 << 12

// load rewrites the array with a number of entries. They come in the order of the host: by row, with the label of the
// edge alone, and neighbour. The device sorts them into its own order, by the labels of the vertices at the address
// label. next fills its arguments with the next entries and returns their number, at least one; it is called until all
// have come. b limits the ids, labels and edges in them. rows is the number of rows, as far as it is known: where they
// are too many for the room that it gives, the error is errRows.
func (a *array) load(entries, rows int, b bounds, label kernels.Ptr,
	next func(row []uint64, nbr, ent []uint32) (int, error)) error {
	a.rest()
	a.entries, a.written, a.before, a.nbrBits, a.ranges.base = entries, entries, 0, b.nbrBits(), nil
	r := loading{size: min(a.run, max(entries/8, leastRun))}
	// Two runs in turn have more entries than there is room for.
	leaves := leavesFor(entries, rows, 2*entries/r.size+1)
	if err := a.pairs.reserve(entries); err != nil { // it is on the device, whatever else is
		return err
	}
	a.bound.labels = 0 // the limit may decrease
	if _, err := a.reserveBounds(b); err != nil {
		return err
	}
	if err := a.reserveLeaves(leaves); err != nil {
		return err
	}
	if _, err := a.sortWork.Reserve(kernels.SortWork(a.dev.Info())); err != nil {
		return err
	}
	if err := a.reserveRun(&r); err != nil {
		return err
	}
	if err := a.now.Reserve(a.cols, leaves); err != nil {
		return err
	}
	if err := a.reserveOrder(); err != nil {
		return err
	}
	a.trace.Begin(a.q, device.LaneArray, "load", 0)
	defer func() { a.trace.End(a.q, device.LaneArray, "load", 0, entries) }()
	if err := a.q.Write(a.control.Ptr, kernels.BytesOf(a.clean())); err != nil {
		return err
	}
	if err := a.q.Sync(); err != nil { // the host memory may be moved
		return err
	}
	room := leaves
	a.now.leaves = 0
	for done := 0; done < entries; {
		for r.n < min(r.size, entries-done) {
			row, nbr, ent := r.columns(a.page.Host, r.n, min(r.size, entries-done))
			n, err := next(row, nbr, ent)
			if err != nil {
				return err
			}
			r.n += n
		}
		n := r.n
		if done+n < entries {
			n = r.whole(a.page.Host, b.layers)
		}
		if n == 0 {
			if err := a.grow(&r); err != nil {
				return err
			}
			continue
		}
		if err := a.fill(&r, done, n, room, label); err != nil {
			return err
		}
		r.keep(a.page.Host, n)
		done += n
	}
	if entries == 0 {
		if err := a.empty(&a.now); err != nil {
			return err
		}
	}
	if err := a.q.Write(a.control.Ptr, kernels.BytesOf(a.clean())); err != nil {
		return err
	}
	if err := a.q.Clear(a.opRanges.Ptr, a.opRanges.Size); err != nil {
		return err
	}
	if err := a.tables(true); err != nil {
		return err
	}
	if err := a.fillPairs(); err != nil {
		return err
	}
	return a.q.Sync()
}

// errRows tells that there are more rows than load was told.
var errRows = errors.New("the graph has more rows than there is room for")

// empty makes an array of one leaf without entries.
func (a *array) empty(s *slots) error {
	s.leaves = 1
	for _, b := range s.byLeaf() {
		if err := a.q.Clear(b.Ptr, b.Size); err != nil {
			return err
		}
	}
	return nil
}

// loading is a run of n entries in host memory, with room for size.
type loading struct{ size, n int }

// columns returns the entries in [from, to).
func (r *loading) columns(host []byte, from, to int) (row []uint64, nbr, ent []uint32) {
	return view[uint64](host, r.size)[from:to], view[uint32](host[8*r.size:], r.size)[from:to],
		view[uint32](host[12*r.size:], r.size)[from:to]
}

// whole returns the number of entries before the last row, which may be incomplete. A row has all layers of its label.
func (r *loading) whole(host []byte, layers int) int {
	row, _, _ := r.columns(host, 0, r.n)
	n := r.n - 1
	for n > 0 && row[n-1]>>layers == row[r.n-1]>>layers {
		n--
	}
	return n
}

// keep removes the first n entries.
func (r *loading) keep(host []byte, n int) {
	row, nbr, ent := r.columns(host, 0, r.n)
	r.n = copy(row, row[n:])
	copy(nbr, nbr[n:])
	copy(ent, ent[n:])
}

// reserveRun makes room for a run on the host and on the device. The content is lost.
func (a *array) reserveRun(r *loading) error {
	if err := a.open(16 * r.size); err != nil {
		return err
	}
	for _, b := range []struct {
		b    *device.Buffer
		size int
	}{{&a.scratchRow, 8}, {&a.scratchNbr, 4}, {&a.scratchEnt, 4}, {&a.key, 8}, {&a.key2, 8}, {&a.val, 4},
		{&a.val2, 4}} {
		if _, err := b.b.Claim(b.size * r.size); err != nil {
			return err
		}
	}
	_, err := a.tile.Claim(4 * kernels.Pieces(r.size))
	return err
}

// grow doubles the room of a run and keeps its entries.
func (a *array) grow(r *loading) error {
	row, nbr, ent := r.columns(a.page.Host, 0, r.n)
	row, nbr, ent = append([]uint64(nil), row...), append([]uint32(nil), nbr...), append([]uint32(nil), ent...)
	r.size *= 2
	if err := a.reserveRun(r); err != nil {
		return err
	}
	toRow, toNbr, toEnt := r.columns(a.page.Host, 0, r.n)
	copy(toRow, row)
	copy(toNbr, nbr)
	copy(toEnt, ent)
	return nil
}

// fill copies the first n entries of a run to the device, which sorts them and writes them to the array behind its
// leaves, of which there may be as many as room says. It waits for that.
func (a *array) fill(r *loading, done, n, room int, label kernels.Ptr) error {
	row, nbr, ent := r.columns(a.page.Host, 0, n)
	p := a.params()
	p.From, p.To, p.First, p.Label = uint32(done), uint32(done+n), uint32(row[0]>>32), label
	for _, c := range []struct {
		dst kernels.Ptr
		src []byte
	}{{p.ScratchRow, kernels.Bytes(row)}, {p.ScratchNbr, kernels.Bytes(nbr)}, {p.ScratchEnt, kernels.Bytes(ent)}} {
		if err := a.q.Write(c.dst, c.src); err != nil {
			return err
		}
	}
	if err := kernels.RunUpdateKinds(a.q, p); err != nil {
		return err
	}
	s := kernels.Sort{Keys: [2]kernels.Ptr{a.key.Ptr, a.key2.Ptr}, Values: [2]kernels.Ptr{a.val.Ptr, a.val2.Ptr},
		Work: a.sortWork.Ptr, N: n,
		Bits: bits.Len32(uint32(row[n-1]>>32)-p.First) + a.dirs - 1 + int(p.LabelBits+p.NbrUsed)}
	at, err := kernels.RunSort(a.q, s)
	if err != nil {
		return err
	}
	p.SortedVal, p.Sorted = s.Values[at], 1
	leaves, err := a.weigh(p)
	if err != nil {
		return err
	}
	if leaves > room-a.now.leaves {
		return errRows
	}
	p.B, p.Leaf = a.now.params(), uint32(a.now.leaves)
	if err := kernels.RunUpdateFill(a.q, p); err != nil {
		return err
	}
	a.now.leaves += leaves
	return a.q.Sync() // the caller overwrites the host memory
}

// weigh returns the number of leaves that the entries in scratch are to have.
func (a *array) weigh(p *kernels.Update) (int, error) {
	const at = kernels.Ptr(unsafe.Offsetof(kernels.UpdateStatus{}.Leaves))
	if err := a.q.Clear(a.control.Ptr+at, 4); err != nil {
		return 0, err
	}
	if err := kernels.RunUpdateWeigh(a.q, p); err != nil {
		return 0, err
	}
	if err := a.readStatus(); err != nil {
		return 0, err
	}
	return int(a.status().Leaves), nil
}

// clean returns a status of the entries alone, in page-locked memory.
func (a *array) clean() *kernels.UpdateStatus {
	*a.status() = kernels.UpdateStatus{Entries: uint32(a.entries)}
	return a.status()
}

// tables recomputes the ranges, where the entries of each vertex begin and end and, if degrees is true, the number of
// its entries.
func (a *array) tables(degrees bool) error {
	if err := a.divide(); err != nil {
		return err
	}
	p := a.params()
	p.Whole = 1
	if err := a.q.Clear(a.span.Ptr, a.span.Size); err != nil {
		return err
	}
	if degrees {
		p.Whole = 2
		if err := a.q.Clear(a.degree.Ptr, a.degree.Size); err != nil {
			return err
		}
	}
	return kernels.RunUpdateSpans(a.q, p)
}
