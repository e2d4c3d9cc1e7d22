package placement

// batchDecision is what was decided for the searches of one kind in a batch, and what they have taken.
type batchDecision struct {
	open bool
	w    Work // the first one, with the size of all
	d    decision
	cut  bool // it was a trial that took too long: the other side goes on
	anew bool // and has done all of it

	batch [2]float64 // nanoseconds, by side, that the batch has cost
	took  float64    // nanoseconds in all, catching up with other batches included
}

// Run has a search that stands by itself run on the side that is chosen. limit bounds it, in nanoseconds, 0 for no
// bound: when it is exceeded run says that it is not done, and is called once more, for the other side. Errors of run
// are returned at once.
func (p *Placement) Run(w Work, run func(s Side, limit int64) (cost Cost, done bool, err error)) error {
	err := p.Search(w, run)
	p.close(kindOf(w), err == nil)
	return err
}

// Decided tells whether a search of the batch, of the same kind, went before: then nothing is asked about the size of
// the work.
func (p *Placement) Decided(w Work) bool { return p.decisions[kindOf(w)].open }

// Search is Run for a search of a batch: those that follow in the batch, of the same kind, are done on the same side.
// End ends the batch.
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
		t.cut = limit < 1 // it was used up to the last
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

// End tells that a batch has ended; its searches count if it was committed.
func (p *Placement) End(committed bool) {
	for kind := range p.decisions {
		p.close(kind, committed)
	}
}

// note adds what a search of a batchDecision took on a side.
func (p *Placement) note(t *batchDecision, w *Work, s Side, reason Reason, cost Cost) {
	t.batch[s] += float64(cost.Search) + p.caughtUp(w, s, cost)
	t.took += float64(cost.Search + cost.CatchUp)
	if p.opt.Placed != nil {
		p.opt.Placed(*w, s, reason, cost)
	}
}

// close ends a batchDecision and learns from it, if it counts.
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

// learn enters what a batch cost on a side. The GPU's first one, if it was too slow, teaches nothing: it includes what
// is done once. It reports whether something was learnt.
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
