//go:build cuda || emu

package mirror

import (
	"errors"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// Outcome is how a batch ended.
type Outcome int

const (
	Open Outcome = iota // it is still staged, or there is none
	Committed
	Aborted
)

// ask is a queued update.
type ask struct {
	p           *kernels.Update
	ops, staged int
	end         Outcome
}

// room returns page-locked memory for operations, which begin sends.
func (a *array) room(ops int) ([]kernels.Op, error) {
	if err := a.finish(); err != nil {
		return nil, err
	}
	if err := a.open(kernels.OpSize * ops); err != nil {
		return nil, err
	}
	return view[kernels.Op](a.page.Host, ops), nil
}

// begin queues an update: first the end of the last batch, then the first ops operations in the memory of room, the
// last staged of which stage a batch. A later operation on an edge replaces an earlier one. The array must not be read
// until finish or room has been called.
func (a *array) begin(ops, staged int, end Outcome, b bounds) error {
	settle := 0
	if end != Open {
		settle = a.before
	}
	all := settle + ops
	lost, err := a.reserveBounds(b)
	if err == nil {
		err = a.reserveOrder()
	}
	if err == nil {
		err = a.reserveOps(all, staged)
	}
	if err != nil {
		return err
	}
	if lost {
		if err := a.tables(true); err != nil {
			return err
		}
	}
	if all == 0 {
		return a.q.Sync()
	}
	if a.pairs.added > a.pairs.limit {
		if err := a.fillPairs(); err != nil {
			return err
		}
	}
	p := a.params()
	if a.stamp++; a.stamp == 0 {
		a.stamp = 1
		if err := a.q.Clear(a.mark.Ptr, a.mark.Size); err != nil {
			return err
		}
	}
	p.Ops, p.Settle, p.StagedFrom, p.Keys, p.Stamp = uint32(all), uint32(settle), uint32(all-staged), uint32(2*all),
		a.stamp
	if end == Aborted {
		p.Abort = 1
	}
	if 2*all > a.entries { // most of the array changes
		p.Force = 1
	}
	if err := a.did("begin"); err != nil {
		return err
	}
	a.trace.Begin(a.q, device.LaneArray, "copy", 0)
	if err := a.q.Write(p.Op+kernels.Ptr(kernels.OpSize*settle), a.page.Host[:kernels.OpSize*ops]); err != nil {
		return err
	}
	a.trace.End(a.q, device.LaneArray, "copy", 0, ops)
	if err := a.did("copy"); err != nil {
		return err
	}
	a.trace.Begin(a.q, device.LaneArray, "update", 0)
	if err := a.sort(p); err != nil {
		return err
	}
	if err := a.merge(p); err != nil {
		return err
	}
	a.trace.End(a.q, device.LaneArray, "update", 0, all)
	a.asked = &ask{p, ops, staged, end}
	return nil
}

// finish waits for the queued update, and rewrites the array if its size must change.
func (a *array) finish() error {
	x := a.asked
	if x == nil {
		return nil
	}
	a.asked = nil
	if err := a.readStatus(); err != nil {
		return err
	}
	if a.status().Rebuild != 0 {
		a.trace.Begin(a.q, device.LaneArray, "rewrite", 0)
		if err := a.rewrite(x.p); err != nil {
			return err
		}
		a.trace.End(a.q, device.LaneArray, "rewrite", 0, a.entries)
		if err := a.did("rewrite"); err != nil {
			return err
		}
	}
	if x.staged > 0 {
		a.staged[0], a.staged[1] = a.staged[1], a.staged[0]
		a.before = x.staged
	} else if x.end != Open {
		a.before = 0
	}
	return nil
}

// sort makes the keys of the operations and sorts them.
func (a *array) sort(p *kernels.Update) error {
	p.SortedKey, p.SortedVal = a.key.Ptr, a.val.Ptr
	n, idBits, rowBits := int(p.Keys), int(p.IDBits), int(p.IDBits+p.LabelBits+p.NbrUsed)+a.dirs-1
	if a.wide || idBits+rowBits > 64 {
		p.Wide = 1
	}
	if err := kernels.RunUpdateKeys(a.q, p); err != nil {
		return err
	}
	if err := a.did("keys"); err != nil {
		return err
	}
	s := kernels.Sort{Keys: [2]kernels.Ptr{a.key.Ptr, a.key2.Ptr}, Values: [2]kernels.Ptr{a.val.Ptr, a.val2.Ptr},
		Work: a.sortWork.Ptr, N: n}
	by := func(bits int) error {
		s.Bits = bits
		at, err := kernels.RunSort(a.q, s)
		s.Keys[0], s.Keys[1] = s.Keys[at], s.Keys[1-at]
		s.Values[0], s.Values[1] = s.Values[at], s.Values[1-at]
		p.SortedKey, p.SortedVal = s.Keys[0], s.Values[0]
		return err
	}
	switch {
	case p.Wide != 0:
		if err := by(idBits); err != nil {
			return err
		}
		if err := kernels.RunUpdateRows(a.q, p); err != nil {
			return err
		}
		if err := by(rowBits); err != nil {
			return err
		}
	case n <= a.rank:
		p.SortedKey, p.SortedVal = a.key2.Ptr, a.val2.Ptr
		if err := kernels.RunUpdateRank(a.q, p); err != nil {
			return err
		}
	default:
		if err := by(idBits + rowBits); err != nil {
			return err
		}
	}
	return a.did("sort")
}

// merge applies the sorted operations to the array.
func (a *array) merge(p *kernels.Update) error {
	for _, stage := range []struct {
		name string
		run  func(kernels.Queue, *kernels.Update) error
	}{{"locate", kernels.RunUpdateLocate}, {"merge", kernels.RunUpdateMerge}, {"spread", kernels.RunUpdateSpread},
		{"spans", kernels.RunUpdateSpans}} {
		if err := stage.run(a.q, p); err != nil {
			return err
		}
		if err := a.did(stage.name); err != nil {
			return err
		}
	}
	return nil
}

// readStatus waits for the stream and reads the status.
func (a *array) readStatus() error {
	if err := a.q.Read(kernels.BytesOf(a.status()), a.control.Ptr); err != nil {
		return err
	}
	if err := a.q.Sync(); err != nil {
		return err
	}
	a.entries, a.pairs.added = int(a.status().Entries), int(a.status().Added)
	return nil
}

// rewrite copies the array, with the sorted operations applied, into one of the right size.
func (a *array) rewrite(p *kernels.Update) error {
	next := slots{}
	if err := a.scatter(p, &next); err != nil {
		a.rest()
		return errors.Join(err, next.Free())
	}
	old := a.now
	a.now = next
	if err := old.Free(); err != nil {
		return err
	}
	if err := a.reserveLeaves(next.leaves); err != nil {
		return err
	}
	if err := a.tables(false); err != nil {
		return err
	}
	if err := a.pairs.reserve(a.entries); err != nil {
		return err
	}
	if err := a.fillPairs(); err != nil {
		return err
	}
	return a.q.Sync()
}

// scatter allocates next and writes the updated entries to it, as many at a time as scratch has room for. It goes over
// them twice: the number of leaves depends on the rows, and must be known first.
func (a *array) scatter(p *kernels.Update, next *slots) error {
	p.Again, p.Sorted = 1, 0
	if err := kernels.RunUpdateLocate(a.q, p); err != nil {
		return err
	}
	if err := kernels.RunUpdateScan(a.q, p); err != nil {
		return err
	}
	part := int(p.ScratchSize)
	var leaves []int // by part
	all := 0
	for from := 0; from < a.entries; from += part {
		if err := a.gather(p, from); err != nil {
			return err
		}
		n, err := a.weigh(p)
		if err != nil {
			return err
		}
		leaves, all = append(leaves, n), all+n
	}
	if err := next.Reserve(a.cols, max(1, all)); err != nil {
		return err
	}
	if a.entries == 0 {
		if err := a.empty(next); err != nil {
			return err
		}
	}
	p.B, p.Leaf = next.params(), 0
	for i, n := range leaves {
		if len(leaves) > 1 {
			if err := a.gather(p, i*part); err != nil {
				return err
			}
			if err := kernels.RunUpdateWeigh(a.q, p); err != nil {
				return err
			}
		}
		if err := kernels.RunUpdateFill(a.q, p); err != nil {
			return err
		}
		p.Leaf += uint32(n)
	}
	a.written = a.entries
	return a.q.Sync()
}

// gather copies the updated entries from a number on to scratch.
func (a *array) gather(p *kernels.Update, from int) error {
	p.From, p.To = uint32(from), uint32(min(from+int(p.ScratchSize), a.entries))
	return kernels.RunUpdateGather(a.q, p)
}
