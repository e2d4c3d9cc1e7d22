package placement

import "motifd/matcher"

// Side is where a search runs.
type Side uint8

// The sides.
const (
	CPU Side = iota
	GPU
)

// String returns "cpu" or "gpu".
func (s Side) String() string { return [...]string{"cpu", "gpu"}[s] }

func (s Side) other() Side { return 1 - s }

// Work is a search as Placement sees it.
type Work struct {
	Want matcher.Want
	// Whole tells that a whole graph is enumerated, and not a batch searched: that is measured apart.
	Whole bool
	// Size is the estimated work: the pairs of an update and a matching order that it fits; for a whole graph its
	// edges. More is that of the searches of the same batch that are expected to follow.
	Size, More uint64
	// Behind is, by side, with how much that what it keeps of the graph has to catch up before it searches: the
	// device's mirror in bytes, the CPU's index for counting in entries. Own is how much of that is this batch's, and
	// so belongs to what the batch costs there.
	Behind, Own [2]uint64
}

// Cost is what a search took on one side, in nanoseconds: to catch up with the graph, this batch included, and to
// search.
type Cost struct {
	Search, CatchUp int64
	// Rest tells that the other side had done a part of the work before.
	Rest bool
}

// Reason says why a search was placed where it was.
type Reason string

// The reasons.
const (
	Cheaper    Reason = "cheaper"    // by what was measured
	Unmeasured Reason = "unmeasured" // nothing is known: by whether the work would fill the device
	Exploring  Reason = "exploring"  // to measure the side that was not cheaper, or never tried
	Behind     Reason = "behind"     // the other side is cheaper, but catching up costs more than it has saved by now
	Repeated   Reason = "repeated"   // an exploration took too long: done again on the other side
)

// Options configure a Placement.
type Options struct {
	// Fill is the minimum estimated work at which a search goes to the GPU while neither side was measured. 0 is
	// 262,144: some hundredths of a second on a CPU.
	Fill uint64
	// Explore bounds what exploring may cost, as a share of all the time that was spent so far. 0 is 0.04.
	Explore float64
	// Hysteresis is the share by which the other side has to be cheaper before work moves there. 0 is 0.05.
	Hysteresis float64
	// Rehearse bounds the searches of warm-up benchmarks, in nanoseconds; see Rehearsed. 0 is none.
	Rehearse int64
	// Device is what is known of the device before it has searched.
	Device Calibration
	// Placed is told of every search: where it ran, why, and what it took. It may be nil.
	Placed func(w Work, side Side, reason Reason, cost Cost)
}

// Calibration is what was measured of a device, in nanoseconds.
type Calibration struct {
	RoundTrip float64 // a small copy there, a kernel, and a small copy back; 0 is 50,000
	Byte      float64 // a byte of a large copy there; 0 is 0.5
}

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	if o.Fill == 0 {
		o.Fill = 1 << 18
	}
	if o.Explore <= 0 {
		o.Explore = 0.04
	}
	if o.Hysteresis <= 0 {
		o.Hysteresis = 0.05
	}
	if o.Device.RoundTrip <= 0 {
		o.Device.RoundTrip = 50e3
	}
	if o.Device.Byte <= 0 {
		o.Device.Byte = 0.5
	}
}

// Placement decides between CPU and GPU (DESIGN A11): for every kind of work in a batch, once, when its first search is
// asked for, since either side does some things once for a batch. It has one owner.
type Placement struct {
	opt       Options
	kinds     [kindsOfWork]kind
	decisions [kindsOfWork]batchDecision
	catchUp   [2]curve // by Side: time by Work.Behind

	all      float64    // nanoseconds of all searches
	spent    float64    // nanoseconds that trials have lost
	recent   [4]float64 // nanoseconds of the latest searches
	searches int
	warm     [kindsOfWork]bool // the GPU has searched: the first search includes what is done once

	warmup float64 // nanoseconds left for warm-up benchmarks
	cold   bool    // something of the batch in hand was searched on the GPU for the first time
}

const (
	kindsOfWork = 6

	firstPause, lastPause = 16, 1024 // searches between two trials
	// lookAhead is the number of searches that a stream is taken to have at least, when the latest ones are all alike.
	lookAhead = 56
	// patience is how much longer than expected a trial may take: less would be cut off by noise.
	patience = 1.5
	// perWork is the assumed cost of a unit of work on the CPU before anything was measured, in nanoseconds.
	perWork = 200
	// perEntry is the assumed cost of an entry of the CPU's index, in nanoseconds.
	perEntry = 250
	// roundTrips is the least that a search on the GPU takes: programs, a kernel, its end, the numbers.
	roundTrips = 4
	// firstTime and firstRows are the nanoseconds of the GPU's first search of a kind for what is done once; rows need
	// memory.
	firstTime, firstRows = 15e6, 45e6
)

// kind is what is known of one kind of work.
type kind struct {
	curves [2]curve // by Side
	side   Side     // the latest choice
	chosen bool
	// missed is the net time that the other side would have saved since the latest choice, in nanoseconds.
	missed float64
	trials [classes]trial
}

// take puts the kind of work on a side. The savings missed count from a move.
func (k *kind) take(s Side) {
	if !k.chosen || k.side != s {
		k.side, k.chosen, k.missed = s, true, 0
	}
}

// trial is when a class of work is tried again on the side that is not in use.
type trial struct {
	searches, due, pause int
	instead              float64 // cost of the side in use at the latest trial, in nanoseconds
}

// New returns a Placement that knows nothing but the device.
func New(opt Options) *Placement {
	opt.EnsureDefaults()
	p := &Placement{opt: opt, warmup: float64(opt.Rehearse)}
	const much = 1 << 30
	p.catchUp[CPU].add(1, perEntry, true)
	p.catchUp[CPU].add(much, much*perEntry, true)
	p.catchUp[GPU].add(1, opt.Device.RoundTrip, true)
	p.catchUp[GPU].add(much, opt.Device.RoundTrip+much*opt.Device.Byte, true)
	return p
}

func kindOf(w Work) int {
	if w.Whole {
		return int(w.Want) + kindsOfWork/2
	}
	return int(w.Want)
}
