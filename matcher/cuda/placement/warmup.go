package placement

// RehearsalLeft returns the time left for warm-up benchmarks, in nanoseconds.
func (p *Placement) RehearsalLeft() int64 { return int64(p.warmup) }

// Rehearsed enters the cost of a batch of a warm-up benchmark on a side, for both signs. done is false if it was cut
// off. The GPU's first search is not entered, because it includes one-time work.
func (p *Placement) Rehearsed(w Work, s Side, cost Cost, done bool) {
	w.Size = max(1, w.Size)
	took := float64(cost.Search) + p.caughtUp(&w, s, cost)
	p.warmup -= took
	if p.once(&w, s) > 0 {
		p.warm[kindOf(w)], p.cold = true, true
		return
	}
	p.kinds[kindOf(w)].curves[s].add(float64(w.Size), took, done)
}

// GoOn ends a batch of a warm-up benchmark; took is its time in nanoseconds. It reports whether there is time for a
// batch with four times as many updates.
func (p *Placement) GoOn(took int64) bool {
	cold := p.cold
	p.cold = false
	if cold {
		return p.warmup > 0
	}
	return p.warmup > 8*float64(took)
}
