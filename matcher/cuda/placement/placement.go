package placement

import (
	"math"
	"math/bits"
	"slices"

	"motifd/matcher"
)

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
	Behind     Reason = "behind"     // the other side would be cheaper, were it not that far behind
	Repeated   Reason = "repeated"   // an exploration took too long: done again on the other side
)

// Options configure a Placement.
type Options struct {
	// Fill is the estimated work from which on a search that nothing is known about is the GPU's. 0 is 262,144: some
	// hundredths of a second on a CPU.
	Fill uint64
	// Explore bounds what exploring may cost, as a share of all the time that was spent so far. 0 is 0.04.
	Explore float64
	// Hysteresis is the share by which the other side has to be cheaper before work moves there. 0 is 0.05.
	Hysteresis float64
	// Rehearse bounds what rehearsals search, in nanoseconds; see Rehearsed. 0 is none.
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
// asked for, since either side does some things once for a batch. Of every kind, and size of it by powers of four, it
// keeps for either side a moving average of what a unit of work took: the searches of a batch, and its part in what the
// side keeps of the graph. What a side that sat out batches has to catch up with comes on top. The side that is cheaper
// is taken. The other is tried when that is earned: what a trial may cost, the graph's way to the device included, is a
// small share of what searches have cost so far, and a trial ends when that is used up. So the CPU's searches pay for
// the first one on the GPU, and where batches are so small that the GPU's round trips alone take longer there is none.
// Nor does a side come back from further behind, or let the CPU fall further behind while in doubt, than such a share
// pays for: see behind. It has one owner.
type Placement struct {
	opt       Options
	rows      [kindsOfWork]row
	curves    [kindsOfWork][2]curve // by Side
	decisions [kindsOfWork]batchDecision

	useful float64 // nanoseconds of all searches, where they were done without exploring
	spent  float64 // nanoseconds that exploring has lost beyond that
	owed   float64 // nanoseconds that the CPU by itself would have taken less, by what is known of it; trials apart
	// nanoseconds that the CPU would have saved since it was left, had it followed: by what is known of it
	forgone float64
	recent  [4]float64
	next    int // of recent
	lag     [2]lag
	warm    [kindsOfWork]bool // the GPU has searched: the first time includes what is done once

	rehearsal rehearsal
}

// lag is what is known of a side's catching up.
type lag struct {
	each float64 // nanoseconds for a unit of Work.Behind
	left bool    // it sat out nothing but a trial of the other side
}

const (
	kindsOfWork = 6
	sizes       = 33
	weight      = 0.02 // of the latest measurement of work
	lagWeight   = 0.1  // of the latest measurement of an entry or a byte to catch up with: there are few

	firstPause, lastPause = 16, 1024 // searches of a cell between two explorations
	// doubt is the number of standard errors that may be an error.
	doubt = 2
	// noise is the spread that measurements are taken to have, as a share, before it was measured.
	noise = 0.2
	// patience is how much longer than the other side one that was measured before may take when it is tried again:
	// less would be cut off by noise.
	patience = 1.5
	// perWork is what a unit of work is taken to cost on the CPU before anything was measured.
	perWork = 200
	// perEntry is what an entry of the CPU's index is taken to cost.
	perEntry = 250
	// roundTrips is the least that a search on the GPU takes: programs, a kernel, its end, the numbers.
	roundTrips = 4
	// firstTime and firstRows are what the GPU's first search of a kind takes for what is done once, and what that is
	// for rows: memory.
	firstTime, firstRows = 15e6, 45e6
	// lookAhead is the number of searches that a stream is taken to have at least, when the latest ones are all alike.
	lookAhead = 56
)

// row is what is known of one kind of work.
type row struct {
	cells [sizes]cell
	known [2]uint64 // by Side: the sizes that were measured, one bit each
}

// cell is what is known of one kind and size of work.
type cell struct {
	side       [2]average
	taken      Side // the latest choice
	chosen     bool
	searches   int
	due, pause int // of exploration, in searches
}

// New returns a Placement that knows nothing but the device.
func New(opt Options) *Placement {
	opt.EnsureDefaults()
	p := &Placement{opt: opt, rehearsal: rehearsal{left: float64(opt.Rehearse)}}
	p.lag[CPU] = lag{each: perEntry}
	p.lag[GPU] = lag{each: opt.Device.Byte}
	return p
}

// decision is a choice; a trial's would have cost instead on the other side.
type decision struct {
	side    Side
	reason  Reason
	limit   float64 // nanoseconds, 0 for none
	instead float64
}

func kindOf(w Work) int {
	if w.Whole {
		return int(w.Want) + kindsOfWork/2
	}
	return int(w.Want)
}

func (p *Placement) cell(w Work) (c *cell, r *row, size int) {
	r = &p.rows[kindOf(w)]
	size = bits.Len64(w.Size) / 2
	return &r.cells[size], r, size
}

func (p *Placement) decide(w Work) decision {
	c, r, size := p.cell(w)
	c.searches++
	curves := &p.curves[kindOf(w)]
	est := [2]estimate{estimated(r, &curves[CPU], size, CPU, w.Size), estimated(r, &curves[GPU], size, GPU, w.Size)}
	cpu, gpu := &est[CPU], &est[GPU]
	best := CPU
	switch {
	case !cpu.usable() && !gpu.usable():
		// More than this is not risked on what was never seen.
		if limit := float64(w.Size) * perWork; w.Size >= p.opt.Fill && !cpu.any && !gpu.tried {
			return decision{side: GPU, reason: Unmeasured, limit: limit, instead: limit}
		}
		return decision{side: CPU, reason: Unmeasured}
	case !cpu.usable():
		best = GPU
	case !gpu.tried || !gpu.proven: // what other sizes took is a reason to try it, in a trial
	case c.chosen:
		best = c.taken
		if est[best.other()].guess < est[best].guess*(1-p.opt.Hysteresis) {
			best = best.other()
		}
	case gpu.guess < cpu.guess:
		best = GPU
	}
	c.taken, c.chosen = best, true
	instead := est[best].guess
	if !est[best].proven {
		instead = est[best].low // of which one can be sure
	}
	d := decision{side: best, reason: Cheaper}
	if est[best.other()].any {
		d = p.behind(&w, [2]float64{cpu.guess, gpu.guess}, best, !cpu.usable() || sure(&est[best], &est[best.other()]))
	}
	if d.reason == Cheaper {
		if limit := p.trial(w, c, est[best.other()], instead, best.other()); limit > 0 {
			return decision{best.other(), Exploring, limit, instead}
		}
	}
	if est[best.other()].any {
		p.owe(&w, d.side, gpu.guess-cpu.guess)
	}
	if d.side == GPU && best == GPU { // which the CPU would have to follow to be there for others
		p.forgone = max(0, p.forgone-float64(w.Own[CPU])*p.lag[CPU].each)
	}
	return d
}

// backlog is what it takes a side to catch up with the batches before.
func (p *Placement) backlog(w *Work, s Side) float64 {
	return float64(w.Behind[s]-min(w.Own[s], w.Behind[s])) * p.lag[s].each
}

// sure tells whether a side was measured to be cheaper than the other beyond doubt.
func sure(a, b *estimate) bool {
	return a.proven && a.guess+doubt*math.Hypot(a.error, b.error) < b.guess
}

// behind decides where a side is cheaper, but may have to catch up with what it sat out. Coming back is paid for by
// what is gained at once, by what may be lost, and the CPU's also once that much was forgone. What the CPU has to catch
// up with grows faster than what a GPU loses that is a little worse, so that waiting for the loss to reach it would pay
// twice what is dear already: unless the GPU is surely cheaper, the CPU comes back while that can be paid for. Where
// averages are right within doubt's errors, the choice takes no more than the CPU by itself and the share that may be
// lost.
func (p *Placement) behind(w *Work, takes [2]float64, s Side, sure bool) decision {
	back := [2]float64{p.backlog(w, CPU), p.backlog(w, GPU)}
	if p.lag[s].left { // for a trial of the other one, which has paid for that
		back[s] = 0
	}
	gain, left := max(0, takes[s.other()]+back[s.other()]-takes[s]), max(0, p.left())
	// What coming back to the CPU takes after one more batch on the GPU, what that loses included, and an error as
	// large as that batch.
	missed := p.missed(w, CPU)
	later := back[CPU] + 2*missed + back[GPU] + max(0, takes[GPU]-takes[CPU])
	switch {
	case s == CPU && back[CPU] > max(gain, left, p.forgone):
		p.forgone += gain
		return decision{side: GPU, reason: Behind}
	case s == GPU && (back[GPU] > max(gain, left) || !sure && missed > 0 && back[CPU] <= left && left < later):
		return decision{side: CPU, reason: Behind}
	}
	return decision{side: s, reason: Cheaper}
}

// owe notes what a batch on a side takes more than the CPU by itself would have; what the GPU saves pays for that.
func (p *Placement) owe(w *Work, s Side, more float64) {
	if !p.lag[s].left {
		p.owed += p.backlog(w, s)
	}
	if s == GPU {
		p.owed = max(0, p.owed+more)
	}
}

// left is what may be lost now.
func (p *Placement) left() float64 { return p.earned() - p.spent - p.owed }

// earned is what exploring may have lost by now: a share of the time that was spent usefully, or that will be if
// searches go on as the latest ones.
func (p *Placement) earned() float64 {
	sure := p.useful
	if p.next >= len(p.recent) {
		sure = max(sure, lookAhead*slices.Min(p.recent[:]))
	}
	return p.opt.Explore * sure
}

// trial returns how long a side may take that the better one's cost is known instead of, in nanoseconds; 0 when it is
// not to be tried.
func (p *Placement) trial(w Work, c *cell, e estimate, instead float64, s Side) float64 {
	promising := e.any && e.guess < instead/2 // the better one is so no more
	least := p.least(s)
	if !e.tried {
		least = max(least, e.low)
	}
	if c.searches < c.due && !promising || least >= instead {
		return 0
	}
	limit := instead
	if e.any {
		limit *= patience
	}
	once := p.once(&w, s)
	left := p.earned() - p.spent - once - float64(w.Behind[s])*p.lag[s].each - p.missed(&w, s.other())
	// A little may do: where nothing is known, the better the side is, the less it takes to see that. What was cut off
	// once gets twice as much. A first search that is cut off teaches nothing.
	if left < min(limit, 2*max(least, e.low)) || left < limit && e.any && e.proven || left < limit/2 && once > 0 {
		return 0
	}
	return min(limit, left) + once
}

// once is what a side is taken to do once when it searches for the first time.
func (p *Placement) once(w *Work, s Side) float64 {
	switch {
	case s == CPU || p.warm[kindOf(*w)]:
		return 0
	case w.Want == matcher.WantRows:
		return firstRows
	}
	return firstTime
}

// missed is what it takes a side later that it sits out the batch: about half of what it would have taken now, as what
// was in a batch need not be told from what was before.
func (p *Placement) missed(w *Work, s Side) float64 { return float64(w.Own[s]) * p.lag[s].each / 2 }

// least is what a search takes on a side at least.
func (p *Placement) least(s Side) float64 {
	if s == GPU {
		return roundTrips * p.opt.Device.RoundTrip
	}
	return 0
}

// explored sets when a side is tried next: the worse it is, the later.
func (p *Placement) explored(w Work, s Side) {
	c, r, size := p.cell(w)
	curves := &p.curves[kindOf(w)]
	tried, other := estimated(r, &curves[s], size, s, w.Size), estimated(r, &curves[s.other()], size, s.other(), w.Size)
	switch {
	case !tried.usable() && tried.low < other.guess: // cut off before it was seen to be worse
		c.pause = 0
	case tried.guess < 1.2*other.guess:
		c.pause = firstPause
	case tried.guess < 2*other.guess:
		c.pause = min(lastPause, 2*max(firstPause, c.pause))
	default:
		c.pause = min(lastPause, 4*max(firstPause, c.pause))
	}
	c.due = c.searches + c.pause
}
