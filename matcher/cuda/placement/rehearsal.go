package placement

import "math"

// rehearsal is what is left of the time for searches that nobody waits for. What a side makes of the whole graph
// before its first one is no part of it.
type rehearsal struct {
	left float64 // nanoseconds
	cold bool    // something of the batch in hand was searched on the GPU for the first time
}

// RehearsalLeft returns for how many nanoseconds rehearsals may search yet.
func (p *Placement) RehearsalLeft() int64 { return int64(p.rehearsal.left) }

// Rehearsed tells what a batch took on a side for nobody, in all; done is false when it was cut off. It counts for
// what is expected, as a batch's does, and is charged to no account. The GPU's first search is not: what is done once
// is a part of it.
func (p *Placement) Rehearsed(w Work, s Side, cost Cost, done bool) {
	w.Size = max(1, w.Size)
	behind, own := float64(w.Behind[s]), float64(min(w.Own[s], w.Behind[s]))
	took := float64(cost.Search)
	if behind > 0 {
		took += float64(cost.CatchUp) * own / behind
	}
	p.rehearsal.left -= took
	if p.once(&w, s) > 0 {
		p.warm[kindOf(w)], p.rehearsal.cold = true, true
		return
	}
	// What a small batch takes to follow says little of what many entries take.
	if behind > own {
		p.lag[s].each += lagWeight * (float64(cost.CatchUp)/behind - p.lag[s].each)
	}
	p.curves[kindOf(w)][s].add(float64(w.Size), max(1, took), done)
}

// GoOn ends a batch of a rehearsal, which took so many nanoseconds, and tells whether there is time for one of four
// times as many updates.
func (p *Placement) GoOn(took int64) bool {
	cold := p.rehearsal.cold
	p.rehearsal.cold = false
	if cold {
		return p.rehearsal.left > 0
	}
	return p.rehearsal.left > 8*float64(took)
}

// curve is what rehearsed batches took, by their work: a side has a part that does not depend on the work, so that
// what a unit takes differs between sizes that are measured as one.
type curve struct {
	points []point // ascending by work
	cut    point   // the least that was cut off, after that time; no work if none was
}

type point struct {
	work, cost float64
	n          int
}

func (c *curve) empty() bool { return len(c.points) == 0 && c.cut.work == 0 }

// add enters a batch. One of nearly as much work as the last one counts as another of that.
func (c *curve) add(work, cost float64, done bool) {
	if !done {
		if c.cut.work == 0 || cost/work > c.cut.cost/c.cut.work {
			c.cut = point{work, cost, 1}
		}
		return
	}
	if k := len(c.points); k > 0 && work < 2*c.points[k-1].work {
		p := &c.points[k-1]
		p.n++
		p.work += (work - p.work) / float64(p.n)
		p.cost += (cost - p.cost) / float64(p.n)
		return
	}
	c.points = append(c.points, point{work, cost, 1})
}

// at tells what some work may take: between two points on the line between them, beyond the last on that through the
// last two, and before the first as much as that. More takes no less.
func (c *curve) at(work float64) estimate {
	k := len(c.points)
	if cut := c.cut; cut.work > 0 && (work >= cut.work || k == 0) { // a proportional part, at least
		v := cut.cost * work / cut.work
		return estimate{any: true, tried: true, low: v, guess: v, high: math.Inf(1)}
	}
	i := 0 // of the first point that is not before it
	for i < k && c.points[i].work < work {
		i++
	}
	a, b := c.points[max(0, min(i, k-1)-1)], c.points[min(i, k-1)]
	v := b.cost
	if a.work < b.work && work > a.work {
		v = a.cost + max(0, b.cost-a.cost)/(b.work-a.work)*(work-a.work)
	}
	return estimate{any: true, tried: true, proven: true, low: v, guess: v, high: v,
		error: noise * v / math.Sqrt(float64(b.n))}
}
