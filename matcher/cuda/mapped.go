//go:build cuda || emu

package cuda

import (
	"errors"

	"motifd/kernels"
)

// Where the graph does not fit a device, a part of it is in mapped memory of the host from then on, until Load: kernels
// read that part over the link (DESIGN A25). The memory of a device is divided as follows: what there is for each warp;
// shares for rows, tasks and the memo, whose divisors are here; the graph gets the rest, about half. The shares are not
// tuned.
const (
	rowShare   = 16 // of the device's memory: Options.RowMemory
	memoShare  = 4  // without a memo, counts with leaves are not made in blocks
	taskShare  = 32
	spareShare = 8 // for what is as large as a batch, copies, and what allocations waste
)

// taskSize is the size of a kernels.Task.
const taskSize = 12

// smaller reports whether an error is that a device has too little memory, and the graph takes less of it from now on.
func (b *Backend) smaller(err error) bool {
	var short *kernels.MemoryError
	if !errors.As(err, &short) || short.Host || b.lost {
		return false
	}
	all := 0
	for _, s := range b.sides {
		all += s.near
	}
	if b.mapped && all == 0 || b.mapGraph() != nil {
		return false
	}
	if b.opt.GraphPlaced != nil {
		b.opt.GraphPlaced(err, b.GraphPlace())
	}
	return true
}

// mapGraph bounds what the graph takes of all devices, or halves the bound.
func (b *Backend) mapGraph() error {
	first := !b.mapped
	b.mapped = true
	var failed error
	for _, s := range b.sides {
		if err := s.mapGraph(b, first); failed == nil {
			failed = err
		}
	}
	return failed
}

// leastNear is the least bound, in bytes. What halves to less is 0. Not tuned.
const leastNear = 64 << 10

// mapGraph bounds what the graph takes of the side's device, and gives the memory of searches back.
func (s *side) mapGraph(b *Backend, first bool) error {
	memory := int(s.dev.Info().Memory)
	ofWarps := s.run.shape(false, 0).Warps() *
		(kernels.ParkedSize + kernels.StateSize + kernels.FlatsSize(kernels.FlatLevels))
	switch {
	case !first:
		s.near /= 2
	case b.opt.GraphMemory > 0:
		s.near = b.opt.GraphMemory
	default:
		s.near = memory - memory/rowShare - memory/memoShare - memory/taskShare - memory/spareShare - ofWarps
	}
	if s.near < leastNear {
		s.near = 0
	}
	err := s.mirror.Map(s.near)
	if e := s.run.Free(); err == nil {
		err = e
	}
	s.run.opt.Memo = min(s.run.opt.Memo, memory/memoShare)
	s.run.opt.Tasks = min(s.run.opt.Tasks, max(1, memory/taskShare/taskSize))
	s.run.uploaded, s.run.kinds, s.run.short = false, nil, true
	return err
}

// GraphPlace tells in which memory the devices' graphs are, in bytes of all devices together.
type GraphPlace struct {
	Device uint64 // in their memory
	Mapped uint64 // in mapped memory of the host
}

// GraphPlace returns where the graph is.
func (b *Backend) GraphPlace() (p GraphPlace) {
	for _, s := range b.sides {
		if s.mirror != nil {
			near, far := s.mirror.Sizes()
			p.Device, p.Mapped = p.Device+uint64(near), p.Mapped+uint64(far)
		}
	}
	return p
}

// graphPlaced tells where the graph is after a search, if it does not fit the devices.
func (b *Backend) graphPlaced() {
	if b.mapped && b.opt.GraphPlaced != nil {
		b.opt.GraphPlaced(nil, b.GraphPlace())
	}
}
