//go:build cuda || emu

package cuda

import (
	"context"
	"fmt"
	"time"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/internal/mirror"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/internal/candidates"
)

// Options configure a Backend.
type Options struct {
	// Device runs the kernels. The Backend owns it and closes it.
	Device kernels.Device
	// More are further devices, which the Backend owns, too. Each has a copy of the graph and does a part of a search.
	More []kernels.Device
	// CPU configures the CPU backend, which does the work that the device does not do. Both share one candidate filter,
	// which the CPU backend changes; New sets CPU.Filter.
	CPU cpu.Options
	// Shape is the grid of the search; zero fills the device once.
	Shape kernels.Shape
	// Placement decides which of the searches that the device can do it does; it needs a Clock. nil: all of them.
	Placement *placement.Placement
	// RowMemory is the device memory, in bytes, for rows that are found and sorted. A wave of anchors with more rows is
	// sorted in parts, which are merged. 0 is a sixteenth of the device's memory, at most 8 GiB.
	RowMemory int
	// Memo is the maximum size, in bytes, of the memo of a search: for a vertex, the number of neighbours that leaves
	// can be mapped to. 0 is 4 GiB, negative is no memo. Pairs of leaves have a memo of an eighth of it, beside it.
	Memo int
	// Slice is the number of turns that a warp makes in one launch, so that a search can be interrupted. 0 is 1<<18.
	Slice int
	// Tasks is the maximum number of tasks on the device, of 12 bytes each. A search for counts has room for as many
	// again, which blocks of matches leave. 0 is 1<<24. A wave of rows may have more tasks.
	Tasks int
	// Mapped has a part of the graph be in mapped memory of the host, even if all of it fits the devices. GraphMemory
	// is the device memory that it may take then, in bytes; 0 is all that other uses leave.
	Mapped      bool
	GraphMemory int
	// Narrow is the number of steps for each vertex and pattern edge from which on it pays to make a space for the rows
	// of a whole graph (DESIGN A27); 0 is a default.
	Narrow float64
	// Rarer is the ratio of the candidates of a pattern's first vertex to those of its rarest, for each device, from
	// which on a search for the rows of a whole graph begins at the rarest (DESIGN A27). 0 is a default.
	Rarer float64
	// Ranges has the device's array have ranges of vertices however few slots it has, and no window of more than
	// 1<<Ranges leaves be spread. 0: it has ranges if its slots are more than numbers of 32 bits. Tests set it.
	Ranges int
	// NoSteal turns off work stealing inside a block, NoMail the exchange of work between blocks.
	NoSteal, NoMail bool
	// NoFlat makes counts one task at a time, not in blocks of matches.
	NoFlat bool
	// Apart searches every oriented pattern edge by itself, also edges that an automorphism maps to one another.
	Apart bool
	// Clock returns nanoseconds from any origin; nil measures nothing.
	Clock func() int64
	// Timeout returns a context that ends with context.DeadlineExceeded after a time, as context.WithTimeout does.
	// With it Placement ends a trial of one side that lasts longer than the other side would; nil lets trials end by
	// themselves.
	Timeout func(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc)
	// Trace records the work of the first device with its times; nil records nothing.
	Trace *device.Trace
	// Dropped is called when a device fails and others are left: its number (0 is Device, 1 is More[0]), an error that
	// kernels.OfDevice accepts, and the number of devices left. These finish the current search, without emitting
	// results twice, and do all later ones. nil tells nobody.
	Dropped func(device int, err error, left int)
	// GraphPlaced is called with a reason when a device has too little memory for the graph, so that a part of it, or a
	// larger one, will be in mapped memory of the host; and with nil after each search of such a graph. nil tells
	// nobody.
	GraphPlaced func(why error, of GraphPlace)
	// Lost is called once when the last device fails, with an error that kernels.OfDevice accepts. The CPU backend then
	// finishes the current search, without emitting results twice, and does all later ones. Without Lost the search
	// returns the error.
	Lost func(error)
}

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	o.CPU.EnsureDefaults()
	if o.Clock == nil {
		o.Placement = nil
	}
	if o.RowMemory <= 0 {
		least := o.Device.Info().Memory
		for _, d := range o.More {
			least = min(least, d.Info().Memory)
		}
		o.RowMemory = int(min(8<<30, least/16))
	}
	if o.Memo == 0 {
		o.Memo = 4 << 30
	}
	if o.Narrow == 0 {
		o.Narrow = narrowFrom
	}
	if o.Rarer == 0 {
		o.Rarer = rarer
	}
	if o.Slice <= 0 {
		o.Slice = 1 << 18
	}
	if o.Tasks <= 0 {
		o.Tasks = 1 << 24
	}
}

// minRows is the minimum number of rows in the row buffer: those of 32 lanes, and some.
const minRows = 64

// Backend implements matcher.Backend.
type Backend struct {
	opt      Options
	sides    []*side // whose devices work, and the last one, always
	gone     []*side // whose devices have failed
	cpu      *cpu.Backend
	g        *dyngraph.Graph
	filter   *candidates.Filter // shared with cpu, which changes it
	delta    *dyngraph.Delta
	plans    map[*matcher.Plan]*compiled
	table    *table                 // of the prepared plans
	kinds    *kinds                 // of the staged batch; made when the device first searches it
	matters  map[*matcher.Plan]bool // whether the staged batch revises vertices that matter for a plan, once asked
	fits     placement.Sizer
	progress *matcher.Progress
	rare     rareSearches
	catchUps uint64 // how often the mirrors have caught up
	apart    bool   // sides hand over nothing, as one had no memory for it
	lost     bool   // the last device has failed and is no longer used
	mapped   bool   // the graph does not fit the devices: a part of it is in mapped memory of the host

	// Mean number of rows of a task of a batch, for deletions and insertions; negative: unknown.
	rate     [2]float64
	early    int64 // time of Stage in nanoseconds, until it is added to the cost of a search
	caughtUp int64 // time of the last catchUp in nanoseconds
	// inTurn, if not nil, has the sides search one after the other. end is to be told of errors. Tests and benchmarks
	// set it.
	inTurn func(ctx context.Context, x *exchange, end func(i int, err error))
	// beforeCPU, if not nil, is called before the CPU counts a whole graph beside the device. Tests set it.
	beforeCPU func(context.Context)
}

// New returns a backend without a graph.
func New(opt Options) *Backend {
	opt.EnsureDefaults()
	opt.CPU.Lazy, opt.CPU.Filter = true, &candidates.Filter{Whole: true}
	return &Backend{opt: opt, sides: newSides(&opt), cpu: cpu.New(opt.CPU), filter: opt.CPU.Filter, table: newTable()}
}

// Capabilities implements matcher.Backend.
func (b *Backend) Capabilities() matcher.Capabilities {
	can := matcher.Capabilities{TellProgress: b.TellProgress}
	if b.rehearses() {
		can.Rehearse = b.Rehearse
	}
	return can
}

// TellProgress sets the receiver of the progress of searches. For rows that the device finds, progress is the anchors
// whose rows are handed out.
func (b *Backend) TellProgress(p *matcher.Progress) {
	b.progress = p
	b.cpu.TellProgress(p)
}

// Name implements matcher.Backend.
func (b *Backend) Name() string { return "cuda" }

// beyond stands for the programs of a plan that the device cannot search (matcher.Plan.NotOnGPU).
var beyond = &compiled{}

// A program has room for as many edges as a device searches.
var _ [kernels.MaxBacks - matcher.MaxGPUEdges]struct{}

// Load implements matcher.Backend. The mirrors are filled by the first search.
func (b *Backend) Load(g *dyngraph.Graph) error {
	if err := b.release(); err != nil {
		return err
	}
	if err := b.cpu.Load(g); err != nil {
		return err
	}
	b.g, b.delta, b.mapped, b.apart = g, nil, false, false
	for _, s := range b.sides {
		s.load(b)
	}
	b.plans, b.fits = map[*matcher.Plan]*compiled{}, placement.Sizer{}
	if b.opt.Mapped {
		return b.mapGraph()
	}
	return nil
}

// Prepare implements matcher.Backend.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	if err := b.cpu.Prepare(plans); err != nil {
		return err
	}
	b.plans = make(map[*matcher.Plan]*compiled, len(plans))
	t := newTable()
	for _, p := range plans {
		if b.plans[p] == nil {
			if b.plans[p] = beyond; isOn(p) {
				b.plans[p] = compile(p, b.g.View(dyngraph.New), b.filter, t, b.opt)
			}
		}
	}
	for _, s := range b.sides {
		s.mirror.BitsStale = true
		s.mirror.Reads(len(t.where.intervals) > 0, t.where.ofEdges, t.where.ofVertices)
		s.run.table, s.run.uploaded = t, false
	}
	b.table, b.rate = t, [2]float64{-1, -1}
	if b.opt.Placement != nil {
		b.fits.Set(plans)
	}
	return nil
}

// Stage implements matcher.Backend.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	b.delta, b.kinds, b.matters = d, nil, map[*matcher.Plan]bool{}
	if !b.lost {
		b.stage(d)
	}
	woken := b.filter.Woken()
	err := b.cpu.Stage(d) // finds candidates, while the device may be updating the array
	if b.filter.Woken() != woken {
		for _, s := range b.sides {
			s.mirror.BitsStale = true
		}
	}
	return err
}

// Commit implements matcher.Backend.
func (b *Backend) Commit() error {
	b.end(mirror.Committed)
	return b.cpu.Commit()
}

// Abort implements matcher.Backend.
func (b *Backend) Abort() error {
	b.end(mirror.Aborted)
	return b.cpu.Abort()
}

func (b *Backend) end(how mirror.Outcome) {
	if b.opt.Placement != nil {
		b.opt.Placement.End(how == mirror.Committed)
	}
	if b.delta != nil && !b.lost {
		for _, s := range b.sides {
			s.mirror.Ended(b.delta, how)
		}
	}
	b.delta = nil
	b.traced()
}

// traced hands on the recorded trace. The trace of a failed device is lost.
func (b *Backend) traced() {
	if !b.lost {
		b.opt.Trace.Flush()
	}
}

// failed reports whether the CPU takes over after an error: for this search, if a device has too little memory and
// later searches will take less; or for good, if the last device has failed and Options.Lost is set.
func (b *Backend) failed(err error) bool {
	return b.smaller(err) || b.lose(err)
}

// lose gives up the last device if err is its failure and Options.Lost is set, and reports whether it has.
func (b *Backend) lose(err error) bool {
	if b.opt.Lost == nil || !kernels.OfDevice(err) {
		return false
	}
	if !b.lost {
		b.lost = true
		b.first().abandon()
		b.opt.Lost(err)
	}
	return true
}

// Close implements matcher.Backend. A device that fails now is told of as one that fails in a search.
func (b *Backend) Close() error {
	err := b.release()
	for _, s := range b.gone {
		_ = s.dev.Close() // that it failed is told already
	}
	errs := make([]error, len(b.sides))
	for i, s := range b.sides {
		errs[i] = s.of(s.dev.Close())
	}
	if e := b.outlive(errs); err == nil && e != nil && !b.lose(e) {
		err = e
	}
	if e := b.cpu.Close(); err == nil {
		err = e
	}
	return err
}

// release frees the memory of all devices.
func (b *Backend) release() error {
	errs := make([]error, len(b.sides))
	for i, s := range b.sides {
		errs[i] = s.of(s.Free())
	}
	if err := b.outlive(errs); err != nil && !b.lose(err) {
		return err
	}
	return nil
}

func (b *Backend) clock() int64 {
	if b.opt.Clock == nil {
		return 0
	}
	return b.opt.Clock()
}

func unprepared(p *matcher.Plan) error {
	return fmt.Errorf("query %q was searched without being prepared", p.Query.Name)
}
