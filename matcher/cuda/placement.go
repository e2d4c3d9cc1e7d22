package cuda

import (
	"math"
	"math/bits"

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
	// Size is the estimated work: the pairs of an update and a matching order that it fits; for a whole graph its edges.
	Size uint64
	// Behind is how many bytes the device's mirror would have to catch up with; Own, how many of them are this batch's.
	Behind, Own uint64
}

// Cost is what a search took on one side, in nanoseconds.
type Cost struct {
	Search, CatchUp int64
}

// Reason says why a search was placed where it was.
type Reason string

// The reasons.
const (
	Cheaper    Reason = "cheaper"    // by what was measured
	Unmeasured Reason = "unmeasured" // nothing is known: by whether the work would fill the device
	Exploring  Reason = "exploring"  // to measure the side that was not cheaper, or never tried
	Behind     Reason = "behind"     // the GPU would be cheaper, were its mirror not that far behind
	Repeated   Reason = "repeated"   // an exploration took too long: done again on the other side
)

// PlacementOptions configure a Placement.
type PlacementOptions struct {
	// Fill is the estimated work from which on a search that nothing is known about is the GPU's. 0 is 4096.
	Fill uint64
	// Explore bounds what exploring may cost, as a share of all the time that was spent so far. 0 is 0.04.
	Explore float64
	// Hysteresis is the share by which the other side has to be cheaper before work moves there. 0 is 0.05.
	Hysteresis float64
	// Placed is told of every search: where it ran, why, and what it took. It may be nil.
	Placed func(w Work, side Side, reason Reason, cost Cost)
}

// EnsureDefaults fills in defaults.
func (o *PlacementOptions) EnsureDefaults() {
	if o.Fill == 0 {
		o.Fill = 4096
	}
	if o.Explore <= 0 {
		o.Explore = 0.04
	}
	if o.Hysteresis <= 0 {
		o.Hysteresis = 0.05
	}
}

// Placement decides, search by search, between CPU and GPU (DESIGN A11). Of every kind of work, and size of it by powers of
// four, it keeps for either side a moving average of what a unit of work took. The side that is cheaper is taken; the other
// is tried now and then, for no longer than the cheaper one would take, and within a share of all time. It has one owner.
type Placement struct {
	opt   PlacementOptions
	cells [kindsOfWork][sizes]cell

	total, spent float64 // nanoseconds of all searches, and of those what exploring has lost
	forgone      float64 // what the GPU would have saved since it fell behind
	invested     float64 // what catching up has cost and the GPU has not saved since
	horizon      float64 // searches in which it is hoped to, by how that went before
	perByte      float64 // nanoseconds of catching up
	warm         bool    // the GPU has searched: the first time includes what is done once
}

const (
	kindsOfWork = 6
	sizes       = 33
	weight      = 0.1 // of the latest measurement

	firstPause, lastPause = 16, 1024 // searches of a cell between two explorations
	// patience is how much longer than the other side an unproven one may take: shorter ones would be cut off by noise.
	patience = 1.5
	// firstPerByte is what catching up is taken to cost before it was measured: 2 GB/s. firstPerWork is the same for the CPU's
	// search.
	firstPerByte = 0.5
	firstPerWork = 200

	// forBeginning is what the GPU's first search may take for what is done once.
	forBeginning = 50e6

	firstHorizon, lastHorizon = 8, 32
)

// cell is what is known of one kind and size of work.
type cell struct {
	side       [2]average
	taken      Side // the latest choice
	chosen     bool
	searches   int
	due, pause int // of exploration, in searches
}

// average is a moving average of nanoseconds, and of them per unit of work.
type average struct {
	n         int
	cost, per float64
	proven    bool // the latest one was not cut off
}

func (a *average) add(cost, size float64) {
	w := max(weight, 1/float64(a.n+1))
	if per := cost / size; per > 4*a.per || per < a.per/4 { // not noise: something has changed
		w = max(w, 0.5)
	}
	a.n++
	a.cost += w * (cost - a.cost)
	a.per += w * (cost/size - a.per)
}

// NewPlacement returns a Placement that knows nothing.
func NewPlacement(opt PlacementOptions) *Placement {
	opt.EnsureDefaults()
	return &Placement{opt: opt, perByte: firstPerByte, horizon: firstHorizon}
}

// Run has a search run on the side that is chosen. limit bounds it, in nanoseconds, 0 for no bound: when it is exceeded run
// says that it is not done, and is called once more, for the other side. Errors of run are returned at once.
func (p *Placement) Run(w Work, run func(s Side, limit int64) (cost Cost, done bool, err error)) error {
	w.Size = max(w.Size, 1)
	d := p.decide(w)
	cost, done, err := run(d.side, d.limit)
	if err != nil {
		return err
	}
	cold := d.side == GPU && !p.warm
	took := p.measured(w, d.side, cost, done)
	p.placed(w, d.side, d.reason, cost)
	if !done {
		again, _, err := run(d.side.other(), 0)
		if err != nil {
			return err
		}
		took += p.measured(w, d.side.other(), again, true)
		p.placed(w, d.side.other(), Repeated, again)
	}
	if d.reason == Exploring {
		if !cold { // what is done once is not for exploring to pay
			p.spent += max(0, took-d.instead)
		}
		p.explored(w, d.side)
	}
	return nil
}

func (p *Placement) placed(w Work, s Side, r Reason, c Cost) {
	if p.opt.Placed != nil {
		p.opt.Placed(w, s, r, c)
	}
}

// decision is a choice; an exploration's would have cost instead on the other side.
type decision struct {
	side    Side
	reason  Reason
	limit   int64
	instead float64
}

func (p *Placement) cell(w Work) (c *cell, row *[sizes]cell, size int) {
	kind := int(w.Want)
	if w.Whole {
		kind += kindsOfWork / 2
	}
	row = &p.cells[kind]
	size = bits.Len64(w.Size) / 2
	return &row[size], row, size
}

func (p *Placement) decide(w Work) decision {
	c, row, size := p.cell(w)
	c.searches++
	est := [2]estimate{estimated(row, size, CPU, w.Size), estimated(row, size, GPU, w.Size)}
	cpu, gpu := &est[CPU], &est[GPU]
	best := CPU
	switch {
	case !cpu.proven && !gpu.proven:
		// The CPU takes no more than in proportion to the work; the GPU may, so it has to show what it takes.
		limit, first := float64(w.Size)*firstPerWork, w.Size >= p.opt.Fill
		if cpu.any {
			limit = cpu.high
			first = gpu.guess < cpu.guess && gpu.any || !gpu.any && first
		}
		if first {
			if !p.warm {
				limit += forBeginning
			}
			return decision{side: GPU, reason: Unmeasured, limit: int64(patience * limit)}
		}
		return decision{side: CPU, reason: Unmeasured}
	case !cpu.proven:
		best = GPU
	case !gpu.proven:
	case c.chosen:
		best = c.taken
		if est[best.other()].guess < est[best].guess*(1-p.opt.Hysteresis) {
			best = best.other()
		}
	case gpu.guess < cpu.guess:
		best = GPU
	}
	c.taken, c.chosen = best, true
	backlog := float64(w.Behind-min(w.Own, w.Behind)) * p.perByte
	if side := best.other(); p.dueFor(c, est[side], est[best].guess, side, backlog) {
		return decision{side, Exploring, int64(patience * est[best].guess), est[best].guess}
	}
	if best == CPU || !cpu.any {
		return decision{side: best, reason: Cheaper}
	}
	gain := max(0, cpu.guess-gpu.guess)
	switch paying := p.invested > 0; {
	case gain < backlog && p.forgone+gain*p.horizon < backlog:
		p.forgone += gain
		return decision{side: CPU, reason: Behind}
	case gain < backlog:
		if paying { // the last one has not paid
			p.horizon = max(1, p.horizon/2)
		}
		p.invested = backlog - gain
	case paying:
		if p.invested -= gain - backlog; p.invested <= 0 {
			p.horizon = min(lastHorizon, 2*p.horizon)
		}
	}
	return decision{side: GPU, reason: Cheaper}
}

// dueFor tells whether a side is to be explored, when the better one is known to cost so much.
func (p *Placement) dueFor(c *cell, e estimate, instead float64, s Side, backlog float64) bool {
	promising := e.any && e.guess < instead/2 // the better one is so no more
	switch {
	case !e.tried && e.any && e.high < instead:
		return true
	case c.searches < c.due && !promising, !e.proven && e.low >= patience*instead:
		return false
	}
	risk := patience * instead
	if s == GPU {
		risk += backlog
	}
	share := p.opt.Explore
	if promising {
		share *= 3
	}
	if !p.warm { // loading the graph is a risk taken once, and the sooner the better
		share *= 2
	}
	return p.spent+risk <= share*p.total
}

// explored sets when a side is tried next: the worse it is, the later.
func (p *Placement) explored(w Work, s Side) {
	c, row, size := p.cell(w)
	tried, other := estimated(row, size, s, w.Size), estimated(row, size, s.other(), w.Size)
	switch {
	case tried.guess < 1.2*other.guess:
		c.pause = firstPause
	case tried.guess < 2*other.guess:
		c.pause = min(lastPause, 2*max(firstPause, c.pause))
	default:
		c.pause = min(lastPause, 4*max(firstPause, c.pause))
	}
	c.due = c.searches + c.pause
}

// measured takes note of what a search took, and returns all of it.
func (p *Placement) measured(w Work, s Side, cost Cost, done bool) float64 {
	c, _, _ := p.cell(w)
	took := float64(cost.Search + cost.CatchUp)
	p.total += took
	search := float64(cost.Search)
	if s == GPU {
		if w.Behind > 0 && cost.CatchUp > 0 {
			p.perByte += weight * (float64(cost.CatchUp)/float64(w.Behind) - p.perByte)
			search += float64(cost.CatchUp) * float64(min(w.Own, w.Behind)) / float64(w.Behind)
		}
		p.forgone = 0
		if !p.warm {
			p.warm = true
			return took
		}
	}
	// One that was cut off counts with what it took till then, which was too much already.
	c.side[s].add(max(1, search), float64(w.Size))
	c.side[s].proven = done
	return took
}

// estimate is what a search may take on one side.
type estimate struct {
	any              bool // anything is known
	tried, proven    bool // just this kind and size was searched; it was not cut off
	low, guess, high float64
}

// estimated tells what a size of work takes on a side. Where that size was not measured it goes by the nearest that were: more work
// takes no less, and at most as much more as it is more work.
func estimated(row *[sizes]cell, size int, s Side, work uint64) estimate {
	if a := row[size].side[s]; a.n > 0 {
		v := a.per * float64(work)
		return estimate{any: true, tried: true, proven: a.proven, low: v, guess: v, high: v}
	}
	low, high := 0.0, math.Inf(1)
	for i := size - 1; i >= 0; i-- {
		if a := row[i].side[s]; a.n > 0 {
			if low = a.cost; a.proven {
				high = a.per * float64(work)
			}
			break
		}
	}
	for i := size + 1; i < sizes; i++ {
		if a := row[i].side[s]; a.n > 0 {
			if low = max(low, a.per*float64(work)); a.proven {
				high = min(high, a.cost)
			}
			break
		}
	}
	if math.IsInf(high, 1) {
		return estimate{low: low}
	}
	high = max(low, high)
	return estimate{any: true, low: low, guess: math.Sqrt(max(1, low) * max(1, high)), high: high}
}
