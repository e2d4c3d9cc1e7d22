package placement

import (
	"math"
	"slices"

	"motifd/matcher"
)

// decision is a choice. A trial has a time limit, and the cost of the work on the other side.
type decision struct {
	side    Side
	reason  Reason
	limit   float64 // nanoseconds; 0 for none
	instead float64 // nanoseconds
}

// decide chooses a side for the work of a batch: the side with the lower estimate, unless catching up costs more than
// it saves. In that case the work stays until the net savings missed so far pay for catching up. So the time lost
// before a move is at most about the cost of the move (ski rental).
func (p *Placement) decide(w Work) decision {
	k, size := &p.kinds[kindOf(w)], float64(w.Size)
	t := &k.trials[classOf(size)]
	t.searches++
	var est, off [2]float64
	var how [2]knowledge
	for s := range est {
		est[s], off[s], how[s] = k.curves[s].at(size)
	}
	switch {
	case how[CPU] != estimated && how[GPU] != estimated:
		if how[CPU] == nothing && how[GPU] == nothing && w.Size >= p.opt.Fill {
			limit := size * perWork
			return decision{side: GPU, reason: Unmeasured, limit: limit + p.once(&w, GPU), instead: limit}
		}
		k.take(CPU)
		return decision{side: CPU, reason: Unmeasured}
	case how[CPU] != estimated:
		k.take(GPU)
	case how[GPU] != estimated:
		k.take(CPU)
	case k.chosen:
	case (est[CPU]-est[GPU])*horizon > p.backlog(&w, GPU)-p.backlog(&w, CPU):
		k.take(GPU)
	default:
		k.take(CPU)
	}
	cur, other, reason := k.side, k.side.other(), Cheaper
	if how[other] == estimated {
		saving, back := est[cur]-est[other], p.backlog(&w, other)
		k.missed = max(0, k.missed+saving)
		switch {
		case saving <= max(p.opt.Hysteresis*est[cur], sure*math.Hypot(off[CPU], off[GPU])):
		case k.missed > back, saving > back+p.sitOut(&w, cur):
			k.take(other)
			return decision{side: other, reason: Cheaper}
		default:
			reason = Behind
		}
	}
	if limit := p.trial(&w, k, est, how[other]); limit > 0 {
		return decision{other, Exploring, limit, est[cur]}
	}
	return decision{side: cur, reason: reason}
}

// sure is by how many standard errors the other side must be cheaper before work moves there. A single exception makes
// a difference of less: it raises the average and its standard error by the same.
const sure = 1.2

// horizon is the assumed number of batches of a stream that are like the first one.
const horizon = 16

// backlog returns the time that a side takes to catch up with the batches before this one, in nanoseconds.
func (p *Placement) backlog(w *Work, s Side) float64 {
	own := min(w.Own[s], w.Behind[s])
	return max(0, p.toCatchUp(s, w.Behind[s])-p.toCatchUp(s, own))
}

// sitOut returns the time that a side will take to catch up with this batch if it does not search it. It is about half
// of what it takes now, because later the batch is part of the graph.
func (p *Placement) sitOut(w *Work, s Side) float64 {
	own := min(w.Own[s], w.Behind[s])
	return max(0, p.toCatchUp(s, w.Behind[s]+own)-p.toCatchUp(s, w.Behind[s])) / 2
}

// toCatchUp returns the time that a side takes to catch up with an amount (Work.Behind), in nanoseconds.
func (p *Placement) toCatchUp(s Side, behind uint64) float64 {
	if behind == 0 {
		return 0
	}
	v, _, _ := p.catchUp[s].at(float64(behind))
	return v
}

// caughtUp enters the time that a side took to catch up in its curve, and returns the part for this batch.
func (p *Placement) caughtUp(w *Work, s Side, cost Cost) (own float64) {
	took := float64(cost.CatchUp)
	if w.Behind[s] == 0 || took == 0 {
		return took
	}
	p.catchUp[s].add(float64(w.Behind[s]), took, true)
	all := p.toCatchUp(s, w.Behind[s])
	return took * p.toCatchUp(s, min(w.Own[s], w.Behind[s])) / all
}

// trial returns the time limit of a trial of the side that is not in use, in nanoseconds; 0 is no trial. All trials
// together may lose the share Options.Explore of all time.
func (p *Placement) trial(w *Work, k *kind, est [2]float64, how knowledge) (limit float64) {
	cur, other := k.side, k.side.other()
	t := &k.trials[classOf(float64(w.Size))]
	least := 0.0
	if other == GPU {
		least = roundTrips * p.opt.Device.RoundTrip
	}
	if t.searches < t.due && est[cur] < 2*t.instead || est[cur] <= least {
		return 0
	}
	once := p.once(w, other)
	left := p.earned() - p.spent - once - p.backlog(w, other) - p.sitOut(w, cur)
	if how == estimated {
		if left < max(0, min(patience*est[cur], est[other])-est[cur]) {
			return 0
		}
		return patience*est[cur] + once
	}
	// A first trial may be short. After one that was cut off, the next has twice the time.
	if how == atLeast {
		least = max(least, est[other])
	}
	if left < min(patience*est[cur], 2*least) || left < est[cur]/2 && once > 0 {
		return 0
	}
	return min(patience*est[cur], left) + once
}

// earned returns the time that trials may have lost by now, in nanoseconds: a share of all time, or of the time of the
// next lookAhead searches if they are like the last ones.
func (p *Placement) earned() float64 {
	all := p.all
	if p.searches >= len(p.recent) {
		all = max(all, lookAhead*slices.Min(p.recent[:]))
	}
	return p.opt.Explore * all
}

// once returns the assumed one-time cost of the first search of a side, in nanoseconds.
func (p *Placement) once(w *Work, s Side) float64 {
	switch {
	case s == CPU || p.warm[kindOf(*w)]:
		return 0
	case w.Want == matcher.WantRows:
		return firstRows
	}
	return firstTime
}

// tried sets when the class of a trial is tried again: the slower the side, the later.
func (p *Placement) tried(w *Work, took, instead float64, done bool) {
	t := &p.kinds[kindOf(*w)].trials[classOf(float64(w.Size))]
	t.instead = instead
	switch {
	case !done && took < instead: // cut off before it was seen to be worse
		t.pause = 0
	case took < 1.2*instead:
		t.pause = firstPause
	case took < 2*instead:
		t.pause = min(lastPause, 2*max(firstPause, t.pause))
	default:
		t.pause = min(lastPause, 4*max(firstPause, t.pause))
	}
	t.due = t.searches + t.pause
}
