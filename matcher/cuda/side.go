//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/internal/mirror"
)

// side is a device, its copy of the graph, and its memory and streams for searches. All sides have the same graph: they
// stage and catch up together. The anchors of a search are dealt to them.
type side struct {
	number int // of the device in Options: 0 is Device, 1 is More[0]
	dev    kernels.Device
	mirror *mirror.Mirror // nil before Load
	run    runner
	near   int // bytes of the device that the mirror may take, if the graph does not fit

	mu     sync.Mutex // of what follows
	layout uint64     // mirror.Mirror.Layout
	asOf   uint64     // the Backend.catchUps that it is of
}

// layoutAt returns the mirror's Layout after a number of calls of catchUp. Any goroutine may call it during a search.
func (s *side) layoutAt(catchUps uint64) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asOf == catchUps {
		return s.layout, nil
	}
	sum, err := s.mirror.Layout()
	if err == nil {
		s.layout, s.asOf = sum, catchUps
	}
	return sum, s.of(err)
}

// newSides returns the sides of the devices in opt.
func newSides(opt *Options) (all []*side) {
	for i, d := range append([]kernels.Device{opt.Device}, opt.More...) {
		all = append(all, &side{number: i, dev: kernels.Checked(d)})
	}
	if opt.Trace != nil {
		opt.Trace.Dev = all[0].dev
	}
	return all
}

// load gives a side an empty copy of the graph of b.
func (s *side) load(b *Backend) {
	var trace *device.Trace
	if s.number == 0 {
		trace = b.opt.Trace
	}
	s.mirror = mirror.New(s.dev, b.g, b.filter, b.opt.CPU.Threads, trace)
	if b.opt.Ranges > 0 {
		s.mirror.Divide(b.opt.Ranges)
	}
	s.run.init(s.dev, b.opt)
	s.run.trace = trace
}

// Free frees all memory on the device.
func (s *side) Free() error {
	if s.mirror == nil {
		return nil
	}
	err := s.mirror.Free()
	if e := s.run.Free(); err == nil {
		err = e
	}
	s.mirror = nil
	return err
}

// failure is the error of a side's device.
type failure struct {
	side *side
	err  error
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the error, which kernels.OfDevice accepts.
func (f *failure) Unwrap() error { return f.err }

// of returns an error of the device as a failure of the side, and others as they are, also failures of another side.
func (s *side) of(err error) error {
	if f := (*failure)(nil); !kernels.OfDevice(err) || errors.As(err, &f) {
		return err
	}
	return &failure{s, err}
}

// first is the side whose mirror stands for all in estimates.
func (b *Backend) first() *side { return b.sides[0] }

// stage tells all mirrors of a staged batch, concurrently: each sends the edges to its device.
func (b *Backend) stage(d *dyngraph.Delta) {
	began := b.clock()
	device.InParallel(len(b.sides), func(i int) { b.sides[i].mirror.Stage(d) })
	b.early = b.clock() - began
}

// catchUp lets all mirrors catch up, concurrently, and measures the time. A side that fails is given up if others are
// left.
func (b *Backend) catchUp(ctx context.Context, which dyngraph.Which) error {
	began := b.clock()
	b.catchUps++
	errs := make([]error, len(b.sides))
	for again := true; again; {
		device.InParallel(len(b.sides), func(i int) {
			s := b.sides[i]
			errs[i] = s.of(s.mirror.CatchUp(ctx, b.delta, which))
		})
		again = slices.ContainsFunc(errs, b.smaller)
	}
	err := b.outlive(errs)
	b.caughtUp = b.clock() - began
	return err
}

// stoppable says whether the searches that begin from now on may be stopped (job.turns).
func (b *Backend) stoppable(stops bool) {
	for _, s := range b.sides {
		s.run.stops = stops
	}
}

// outlive gives up the sides that errs has a failure of, as long as another is left, and returns the error that ends a
// search: nil if the sides that are left go on.
func (b *Backend) outlive(errs []error) (first error) {
	for _, err := range errs {
		if !b.dropped(err) && (first == nil || first == context.Canceled && err != nil) {
			first = err
		}
	}
	return first
}

// dropped reports whether an error is the failure of a side, and others are left. It gives up that side, once.
func (b *Backend) dropped(err error) bool {
	var f *failure
	if !errors.As(err, &f) {
		return false
	}
	i := slices.Index(b.sides, f.side)
	switch {
	case i < 0: // another side has told it
		return true
	case len(b.sides) == 1:
		return false
	}
	b.sides = slices.Delete(slices.Clone(b.sides), i, i+1)
	b.gone = append(b.gone, f.side)
	f.side.abandon()
	if b.opt.Dropped != nil {
		b.opt.Dropped(f.side.number, f.err, len(b.sides))
	}
	return true
}

// abandon frees what a failed device still frees, which helps other processes.
func (s *side) abandon() {
	if s.mirror != nil { // nothing is loaded, or all is freed
		_ = s.mirror.Free()
		_ = s.run.Free()
	}
}
