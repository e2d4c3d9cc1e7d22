package placement

// batchDecision is the decision for the searches of one kind in a batch, and their cost.
type batchDecision struct {
	open bool
	w    Work // the first search, with the size of all
	d    decision
	cut  bool // the decision was a trial that exceeded its limit: the other side continues
	anew bool // the other side has done all of the batch's work

	batch [2]float64 // cost of the batch by side, in nanoseconds
	took  float64    // all time, including catching up with other batches, in nanoseconds
}

// Run runs a search that belongs to no batch on the side that it chooses. limit is the time limit of run in
// nanoseconds; 0 is none. If run exceeds it, run returns done false and is called again for the other side. An error of
// run is returned at once.
func (p *Placement) Run(w Work, run func(s Side, limit int64) (cost Cost, done bool, err error)) error {
	err := p.Search(w, run)
	p.close(kindOf(w), err == nil)
	return err
}

// Decided reports whether the side is already decided for this kind of work in the batch. If so, the size of the work
// is not needed.
func (p *Placement) Decided(w Work) bool { return p.decisions[kindOf(w)].open }

// Search is Run for a search of a batch. Later searches of the same kind in the batch run on the same side. End ends
// the batch.
func (p *Placement) Search(w Work, run func(s Side, limit int64) (cost Cost, done bool, err error)) error {
	w.Size = max(w.Size, 1)
	t := &p.decisions[kindOf(w)]
	first := !t.open
	if first {
		*t = batchDecision{open: true, w: w}
		t.w.Size += w.More
		t.d = p.decide(t.w)
	}
	side, reason, limit := t.d.side, t.d.reason, 0.0
	if t.d.limit > 0 && !t.cut {
		limit = t.d.limit - t.batch[side]
		t.cut = limit < 1 // earlier searches have used up the limit
	}
	if t.cut {
		side, reason, limit = side.other(), Repeated, 0
	}
	cost, done, err := run(side, int64(limit))
	if err != nil {
		return err
	}
	p.note(t, &w, side, reason, cost)
	if done {
		return nil
	}
	t.cut = true
	if cost, _, err = run(side.other(), 0); err != nil {
		return err
	}
	t.anew = first && !cost.Rest
	p.note(t, &w, side.other(), Repeated, cost)
	return nil
}

// End ends a batch. Its measurements are used if it was committed.
func (p *Placement) End(committed bool) {
	for kind := range p.decisions {
		p.close(kind, committed)
	}
}

// note adds the cost of a search to its batchDecision.
func (p *Placement) note(t *batchDecision, w *Work, s Side, reason Reason, cost Cost) {
	t.batch[s] += float64(cost.Search) + p.caughtUp(w, s, cost)
	t.took += float64(cost.Search + cost.CatchUp)
	if p.opt.Placed != nil {
		p.opt.Placed(*w, s, reason, cost)
	}
}

// close ends a batchDecision and, if counts is true, enters its cost in the curves.
func (p *Placement) close(kind int, counts bool) {
	t := &p.decisions[kind]
	open := t.open
	if t.open = false; !open || !counts {
		return
	}
	s := t.d.side
	learnt := p.learn(t, s, !t.cut)
	if t.anew {
		p.learn(t, s.other(), true)
	}
	p.all += t.took
	p.recent[p.searches%len(p.recent)] = t.took
	p.searches++
	switch {
	case t.anew:
		p.spent += t.batch[s]
	case t.d.instead > 0:
		p.spent += max(0, t.took-t.d.instead)
	}
	if learnt && t.d.reason == Exploring {
		p.tried(&t.w, t.batch[s], t.d.instead, !t.cut)
	}
}

// learn enters the cost of a batch on a side in its curve, and reports whether it did. A slow first batch on the GPU is
// not entered, because it includes one-time work.
func (p *Placement) learn(t *batchDecision, s Side, done bool) bool {
	if p.once(&t.w, s) > 0 {
		p.warm[kindOf(t.w)] = true
		if !done || t.batch[s] > t.d.instead {
			return false
		}
	}
	p.kinds[kindOf(t.w)].curves[s].add(float64(t.w.Size), t.batch[s], done)
	return true
}
