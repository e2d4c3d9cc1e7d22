//go:build cuda || emu

package mirror

import (
	"math/bits"

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
// have come. b limits the ids, labels and edges in them.
func (a *array) load(entries int, b bounds, label kernels.Ptr,
	next func(row []uint64, nbr, ent []uint32) (int, error)) error {
	a.rest()
	a.entries, a.before, a.nbrBits = entries, 0, b.nbrBits()
	leaves := leavesFor(entries)
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
	r := loading{size: min(a.run, max(entries/8, leastRun))}
	if err := a.reserveRun(&r); err != nil {
		return err
	}
	if err := a.now.Reserve(a.dev, leaves); err != nil {
		return err
	}
	if err := a.reserveOrder(); err != nil {
		return err
	}
	a.trace.Begin(a.q, device.LaneArray, "load", 0)
	defer func() { a.trace.End(a.q, device.LaneArray, "load", 0, entries) }()
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
		if err := a.fill(&r, done, n, label); err != nil {
			return err
		}
		r.keep(a.page.Host, n)
		done += n
	}
	if entries == 0 {
		for _, b := range []*device.Buffer{&a.now.count, &a.now.will, &a.now.fenceRow, &a.now.fenceNbr} {
			if err := a.q.Clear(b.Ptr, b.Size); err != nil {
				return err
			}
		}
	}
	*a.status() = kernels.UpdateStatus{Entries: uint32(entries)}
	if err := a.q.Write(a.control.Ptr, kernels.BytesOf(a.status())); err != nil {
		return err
	}
	if err := a.q.Clear(a.ranges.Ptr, a.ranges.Size); err != nil {
		return err
	}
	if err := a.tables(true); err != nil {
		return err
	}
	return a.q.Sync()
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
	return nil
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

// fill copies the first n entries of a run to the device, which sorts them and writes them to the array after the first
// done entries. It waits for that.
func (a *array) fill(r *loading, done, n int, label kernels.Ptr) error {
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
	p.SortedVal = s.Values[at]
	if err := kernels.RunUpdateFill(a.q, p); err != nil {
		return err
	}
	return a.q.Sync() // the caller overwrites the host memory
}

// tables recomputes where the entries of each vertex begin and end and, if degrees is true, the number of its entries.
func (a *array) tables(degrees bool) error {
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
