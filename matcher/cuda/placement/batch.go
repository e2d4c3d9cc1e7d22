package placement

// batchDecision is what was decided for the searches of one kind in a batch, and what they have taken.
type batchDecision struct {
	open bool
	w    Work // the first one, with the size of all
	d    decision
	cut  bool // it was a trial that took too long: the other side goes on
	anew bool // and has done all of it

	batch [2]float64 // nanoseconds, by side, that the batch has cost
	took  [2]float64 // catching up with others included
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
	catchUp, own := float64(cost.CatchUp), 0.0
	if w.Behind[s] > 0 && catchUp > 0 {
		all := float64(w.Behind[s])
		own = catchUp * float64(min(w.Own[s], w.Behind[s])) / all
		p.lag[s].each += lagWeight * (catchUp/all - p.lag[s].each)
	}
	t.batch[s] += float64(cost.Search) + own
	t.took[s] += float64(cost.Search) + catchUp
	if p.lag[s].left { // the trial's fault
		t.took[s] -= catchUp - own
		p.spent += catchUp - own
	}
	p.lag[s].left = false
	if s == CPU && w.Behind[CPU] > 0 {
		p.forgone = 0
	}
	if p.opt.Placed != nil {
		p.opt.Placed(*w, s, reason, cost)
	}
}

// close ends a batchDecision and learns from it, if it counts.
func (p *Placement) close(kind int, counts bool) {
	t := &p.decisions[kind]
	if !t.open || !counts {
		t.open = false
		return
	}
	t.open = false
	s := t.d.side
	p.learn(t, s, !t.cut, t.d.instead)
	took := t.took[CPU] + t.took[GPU]
	instead := took
	if t.anew {
		p.learn(t, s.other(), true, 0)
		instead = t.took[s.other()]
	} else if t.d.instead > 0 {
		instead = min(took, t.d.instead)
	}
	p.spent += took - instead
	p.useful += instead
	p.recent[p.next%len(p.recent)] = instead
	p.next++
	if t.d.reason == Exploring {
		p.explored(t.w, s)
		if other := s.other(); t.took[other] == 0 && t.w.Own[other] == t.w.Behind[other] {
			p.lag[other].left = true
		}
	}
}

// learn takes note of what a batch cost on a side. The first one there, if it was too slow, teaches nothing: what is
// done once may be to blame, and how long that takes is not known. Taken for slow, the side would not be tried with
// larger batches before twice as much could be lost.
func (p *Placement) learn(t *batchDecision, s Side, done bool, instead float64) {
	c, r, size := p.cell(t.w)
	took := t.batch[s]
	if p.once(&t.w, s) > 0 {
		p.warm[kindOf(t.w)] = true
		if !done || took > instead {
			return
		}
	}
	// One that was cut off counts with what it took till then, which was too much already.
	c.side[s].add(max(1, took), float64(t.w.Size), done)
	r.known[s] |= 1 << size
}
