//go:build cuda || emu

package cuda

import (
	"context"
	"math"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
)

// SetStagingSize sets the size of the memory that small copies go through.
func SetStagingSize(bytes int) { stagingSize = bytes }

// SetPairBits sets the least number of bits of a slot's number in the memo of pairs of leaves.
func SetPairBits(n int) { leastPairBits = n }

// Blocks tells what happened to blocks of matches since Load: how often a part of one went to another warp, how often
// one was kept for the next launch, and how many tasks were not for them, and were left when those left before were
// done.
func (b *Backend) Blocks() (given, kept, left uint64) {
	for _, s := range b.sides {
		given, kept, left = given+s.run.given, kept+s.run.kept, left+s.run.leftLater
	}
	return given, kept, left
}

// AgeMemo has the numbers of the memo end soon: after so many more.
func (b *Backend) AgeMemo(more uint32) {
	for _, s := range b.sides {
		s.run.most = max(s.run.most, math.MaxUint32-more)
	}
}

// RowsFound returns how many rows the device has found since Load, to be put in order.
func (b *Backend) RowsFound() (n uint64) {
	for _, s := range b.sides {
		n += s.run.rows
	}
	return n
}

// Rare returns how many searches began at a rarest pattern vertex, and how many of them were given up.
func (b *Backend) Rare() (begun, givenUp uint64) { return b.rare.begun, b.rare.givenUp }

// Spaces returns how many spaces were made since Load.
func (b *Backend) Spaces() (n uint64) {
	for _, s := range b.sides {
		n += s.run.spaces
	}
	return n
}

// Steals returns how often work was split since Load: between the warps of a block, and between blocks.
func (b *Backend) Steals() (inBlock, between uint64) {
	for _, s := range b.sides {
		inBlock, between = inBlock+s.run.stolen, between+s.run.mailed
	}
	return inBlock, between
}

// Handovers counts what devices got of the work of others: how often any, and how often what of each kind.
type Handovers struct{ All, Tasks, Left, Parked, Held uint64 }

// Add adds numbers.
func (h *Handovers) Add(of Handovers) {
	h.All, h.Tasks, h.Left, h.Parked, h.Held = h.All+of.All, h.Tasks+of.Tasks, h.Left+of.Left, h.Parked+of.Parked,
		h.Held+of.Held
}

// Least returns the least of the numbers.
func (h *Handovers) Least() uint64 { return min(h.All, h.Tasks, h.Left, h.Parked, h.Held) }

// Handovers returns the numbers since Load.
func (b *Backend) Handovers() (sum Handovers) {
	for _, s := range b.sides {
		n := s.run.received
		sum.Add(Handovers{n.all, n.tasks, n.left, n.parked, n.held})
	}
	return sum
}

// Layouts lets all mirrors catch up and returns, by device in use, the entries of its array, slot by slot. Empty slots
// are zero.
func (b *Backend) Layouts(ctx context.Context) (all [][]uint64, err error) {
	if err := b.catchUp(ctx, dyngraph.New); err != nil {
		return nil, err
	}
	for _, s := range b.sides {
		g, slots := s.mirror.Graph(), s.mirror.Slots()
		count, runs := make([]uint32, slots/kernels.LeafSlots), make([]uint64, slots/kernels.LeafSlots)
		nbr, ent := make([]uint32, slots), make([]uint32, slots)
		for _, x := range []fetch{{kernels.Bytes(count), g.Count}, {kernels.Bytes(runs), g.Runs},
			{kernels.Bytes(nbr), g.Nbr}, {kernels.Bytes(ent), g.Ent}} {
			if err := s.dev.Read(x.dst, x.src); err != nil {
				return nil, err
			}
		}
		layout := make([]uint64, 2*slots)
		for leaf, n := range count {
			row := (leaf + 1) * kernels.LeafSlots
			for i := range int(n) {
				row -= int(runs[leaf] >> i & 1)
				at := leaf*kernels.LeafSlots + i
				layout[2*at] = uint64(ent[row])<<32 | uint64(nbr[row])
				layout[2*at+1] = uint64(nbr[at])<<32 | uint64(ent[at])
			}
		}
		all = append(all, layout)
	}
	return all, nil
}

// BeforeCPU has f called before the CPU counts a whole graph beside the device.
func (b *Backend) BeforeCPU(f func(context.Context)) { b.beforeCPU = f }

// Sides returns the number of devices in use.
func (b *Backend) Sides() int { return len(b.sides) }

// Busy returns, by device in use, the time of its searches and sorts since Load in nanoseconds, and the number of
// launches.
func (b *Backend) Busy() (ns []int64, launches []uint64) {
	for _, s := range b.sides {
		ns, launches = append(ns, s.run.busy), append(launches, s.run.launches)
	}
	return ns, launches
}

// InTurn has the devices count launch by launch, one after the other: choose chooses the next among some, given how
// long each was busy with the search, in nanoseconds. With Options.Timeout a device without work waits for patience,
// and busy is as if all had worked at once, with the time that it waits and that handovers take.
func (b *Backend) InTurn(choose func(busy []int64) int) {
	b.inTurn = func(ctx context.Context, x *exchange, end func(i int, err error)) {
		base := make([]int64, len(x.of))
		for i, s := range x.t.all {
			base[i] = s.side.run.busy
		}
		now := func(i int) int64 { return x.t.all[i].side.run.busy - base[i] }
		// whom is a share that i, which has no work, can ask now.
		whom := func(i int) int {
			for v, s := range x.t.all {
				patient := b.opt.Timeout == nil || now(v) >= now(i)+int64(patience)
				if s.pass != nil && !x.of[v].spent && patient && !b.apart {
					return v
				}
			}
			return noShare
		}
		for !x.closed {
			var on []int
			var busy []int64
			works := false
			for i, s := range x.t.all {
				if s.pass != nil || whom(i) != noShare {
					on, busy, works = append(on, i), append(busy, now(i)), works || s.pass != nil
				}
			}
			if !works {
				return
			}
			i := on[choose(busy)]
			err := error(nil)
			if s := x.t.all[i]; s.pass != nil {
				err = s.launch(ctx)
			} else {
				v := whom(i)
				began := b.clock()
				err = x.fetch(i, v)
				took := b.clock() - began
				x.t.all[v].side.run.busy += took
				s.side.run.busy += max(0, now(v)-now(i))
			}
			if err != nil {
				end(i, err)
			}
		}
	}
}

// fetch has share i get work from share v, if that has enough.
func (x *exchange) fetch(i, v int) error {
	s, from := x.t.all[i], x.t.all[v]
	page, err := s.page()
	if err != nil {
		return err
	}
	alike, err := x.alike(i)
	if err != nil {
		return err
	}
	h := (*handover)(nil)
	if page != nil && alike[v] && from.suits(s) {
		if h, err = from.pass.handOver(page); err != nil {
			return from.side.of(err)
		}
	}
	if h == nil {
		x.of[v].spent = true
		return nil
	}
	x.of[i].spent = false
	return s.receive(h)
}

// Deep returns how many programs for counts have more levels than fit shared memory, and how many have pairs of leaves.
func (b *Backend) Deep() (deep, paired int) {
	for _, k := range b.table.programs {
		if k.Mode == kernels.ModeCount && k.Flat > kernels.FlatLevels {
			deep++
		}
		if slices.ContainsFunc(k.Leaf[:k.Groups], func(l kernels.Leaf) bool { return l.Pair != 0 }) {
			paired++
		}
	}
	return deep, paired
}
