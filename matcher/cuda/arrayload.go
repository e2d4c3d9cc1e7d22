//go:build cuda || emu

package cuda

import (
	"motifd/kernels"
)

// loadRun is the number of entries that are copied at a time when the array is loaded.
const loadRun = 1 << 20

// load makes the array anew from that many entries in order. next puts the first entries that it has not yet given into its
// arguments, and returns how many, at least one; it is asked until all are there. b bounds what is in them.
func (a *array) load(entries int, b bounds, next func(row []uint64, nbr, ent []uint32) (int, error)) error {
	a.rest()
	run := min(loadRun, max(entries, 1))
	if err := a.open(16 * run); err != nil {
		return err
	}
	a.entries, a.before = entries, 0
	leaves := leavesFor(entries)
	if err := a.now.reserve(a.dev, leaves); err != nil {
		return err
	}
	if err := a.reserveLeaves(leaves); err != nil {
		return err
	}
	if _, err := a.reserveBounds(b); err != nil {
		return err
	}
	run = min(run, a.scratch())
	a.trace.begin(a.q, LaneArray, "load", 0)
	defer func() { a.trace.end(a.q, LaneArray, "load", 0, entries) }()
	p := a.params()
	for p.From = 0; int(p.From) < entries; p.From = p.To {
		row, nbr, ent := view[uint64](a.host, run), view[uint32](a.host[8*run:], run), view[uint32](a.host[12*run:], run)
		left := min(run, entries-int(p.From))
		n, err := next(row[:left], nbr[:left], ent[:left])
		if err != nil {
			return err
		}
		p.To = p.From + uint32(n)
		for _, c := range []struct {
			dst kernels.Ptr
			src []byte
		}{{p.ScratchRow, kernels.Bytes(row[:n])}, {p.ScratchNbr, kernels.Bytes(nbr[:n])}, {p.ScratchEnt, kernels.Bytes(ent[:n])}} {
			if err := a.q.Write(c.dst, c.src); err != nil {
				return err
			}
		}
		if err := kernels.RunUpdateFill(a.q, p); err != nil {
			return err
		}
		if err := a.q.Sync(); err != nil { // the host's memory is written next
			return err
		}
	}
	if entries == 0 {
		for _, b := range []*buffer{&a.now.count, &a.now.will, &a.now.fenceRow, &a.now.fenceNbr} {
			if err := a.q.Clear(b.ptr, b.size); err != nil {
				return err
			}
		}
	}
	*a.status() = kernels.UpdateStatus{Entries: uint32(entries)}
	if err := a.q.Write(a.control.ptr, kernels.BytesOf(a.status())); err != nil {
		return err
	}
	if err := a.q.Clear(a.ranges.ptr, a.ranges.size); err != nil {
		return err
	}
	if err := a.tables(true); err != nil {
		return err
	}
	return a.q.Sync()
}

// tables has the device find anew where vertices begin and end and, if so, how many entries they have.
func (a *array) tables(degrees bool) error {
	p := a.params()
	p.Whole = 1
	if err := a.q.Clear(a.span.ptr, a.span.size); err != nil {
		return err
	}
	if degrees {
		p.Whole = 2
		if err := a.q.Clear(a.degree.ptr, a.degree.size); err != nil {
			return err
		}
	}
	return kernels.RunUpdateSpans(a.q, p)
}
