package placement

import "motifd/matcher"

// Side is a place where a search can run: the CPU or the GPU.
type Side uint8

// The sides.
const (
	CPU Side = iota
	GPU
)

// String returns "cpu" or "gpu".
func (s Side) String() string { return [...]string{"cpu", "gpu"}[s] }

func (s Side) other() Side { return 1 - s }

// Work describes a search.
type Work struct {
	Want matcher.Want
	// Whole is true for the search of a whole graph (not of a batch), which has its own curves.
	Whole bool
	// Size is the estimated work: the number of pairs of an update and a matching order that it fits; for a whole graph
	// the number of edges. More is the size of the searches that are expected to follow in the same batch.
	Size, More uint64
	// Behind is the backlog of each side's copy of the graph before it searches: of the device's mirror in bytes, of
	// the CPU's index for counting in entries. Own is the part that belongs to this batch, which is part of its cost.
	Behind, Own [2]uint64
}

// Cost is the time of a search on one side, in nanoseconds.
type Cost struct {
	Search  int64
	CatchUp int64 // to catch up with the graph, including this batch
	// Rest is true if the other side had done a part of the work before.
	Rest bool
}

// Reason says why a search runs on its side.
type Reason string

// The reasons.
const (
	Cheaper    Reason = "cheaper"    // its estimate is lower
	Unmeasured Reason = "unmeasured" // neither side is measured: large work goes to the GPU
	Exploring  Reason = "exploring"  // a trial of the side that is not cheaper, or not measured
	Behind     Reason = "behind"     // the other side is cheaper, but catching up still costs more than it would save
	Repeated   Reason = "repeated"   // a trial on the other side exceeded its limit
)

// Options configure a Placement.
type Options struct {
	// Fill is the minimum estimated work at which a search goes to the GPU while neither side was measured. 0 is
	// 262,144, which takes some 50 ms on a CPU.
	Fill uint64
	// Explore is the maximum share of all search time that trials may lose. 0 is 0.04.
	Explore float64
	// Hysteresis is the share by which the other side must be cheaper before work moves there. 0 is 0.05.
	Hysteresis float64
	// Rehearse is the maximum time of the searches of warm-up benchmarks, in nanoseconds; see Rehearsed. 0 is none.
	Rehearse int64
	// Device has the measured fixed costs of the device.
	Device Calibration
	// Placed, if not nil, is called after every search.
	Placed func(w Work, side Side, reason Reason, cost Cost)
}

// Calibration is the fixed costs of a device, in nanoseconds.
type Calibration struct {
	RoundTrip float64 // a small copy to the device, a kernel, and a small copy back; 0 is 50,000
	Byte      float64 // one byte of a large copy to the device; 0 is 0.5
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

// Placement decides between CPU and GPU (DESIGN A11). It decides once for every kind of work in a batch, at its first
// search, because each side does some work once for a batch. It has one owner.
type Placement struct {
	opt       Options
	kinds     [kindsOfWork]kind
	decisions [kindsOfWork]batchDecision
	catchUp   [2]curve // by Side: time by Work.Behind

	all      float64    // nanoseconds of all searches
	spent    float64    // nanoseconds that trials have lost
	recent   [4]float64 // nanoseconds of the latest searches
	searches int
	warm     [kindsOfWork]bool // the GPU has done a search, and with it the one-time work

	warmup float64 // nanoseconds left for warm-up benchmarks
	cold   bool    // in the current batch the GPU has done a kind of work for the first time
}

const (
	kindsOfWork = 6

	firstPause, lastPause = 16, 1024 // searches between two trials
	// lookAhead is the assumed minimum number of searches of a stream.
	lookAhead = 56
	// patience is the limit of a trial as a multiple of the expected time. A lower limit would cut off trials by noise.
	patience = 1.5
	// perWork is the assumed cost of a unit of work on the CPU before anything was measured, in nanoseconds.
	perWork = 200
	// perEntry is the assumed cost of an entry of the CPU's index, in nanoseconds.
	perEntry = 250
	// roundTrips is the minimum time of a search on the GPU, in round trips: the programs, a kernel, its end, the
	// results.
	roundTrips = 4
	// firstTime and firstRows are the assumed one-time cost of the GPU's first search of a kind, in nanoseconds. Rows
	// need memory to be allocated.
	firstTime, firstRows = 15e6, 45e6
)

// kind is the measurements and the current side of one kind of work.
type kind struct {
	curves [2]curve // by Side
	side   Side     // the latest choice
	chosen bool     // side is set
	// missed is the net time that the other side would have saved since the latest choice, in nanoseconds.
	missed float64
	trials [classes]trial
}

// take sets the side of a kind of work. missed counts from the last move.
func (k *kind) take(s Side) {
	if !k.chosen || k.side != s {
		k.side, k.chosen, k.missed = s, true, 0
	}
}

// trial says when a class of work is tried again on the side that is not in use.
type trial struct {
	searches int     // of the class
	due      int     // number of searches at which the next trial is due
	pause    int     // searches between the last two trials
	instead  float64 // cost of the side in use at the last trial, in nanoseconds
}

// New returns a Placement without measurements of searches.
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

// kindOf returns the index of the kind of work.
func kindOf(w Work) int {
	if w.Whole {
		return int(w.Want) + kindsOfWork/2
	}
	return int(w.Want)
}
