package matcher

import "motifd/dyngraph"

// overTotal decides about a count, or about whether there is a match, that is not known within the limits.
func (s *stepper) overTotal(w *work, sign dyngraph.Sign, cause Cause) error {
	x := Decision{Sign: sign, Cause: cause, Action: Skip}
	if cause == CauseOperator || w.state.Query.OverBudget == SuspendQuery {
		x.Action = Suspend
	}
	return s.decide(w, x)
}

// countTotals counts the positives of queries with ExactTotal of which some were left out.
func (s *stepper) countTotals() error {
	which, reqs := s.e.which[:0], s.e.reqs[:0]
	for i := range s.work {
		w := &s.work[i]
		left := w.decided(dyngraph.Inserted, false, Skip) != nil || w.decided(dyngraph.Inserted, false, SkipRest) != nil
		if !w.state.Query.ExactTotal || w.suspended != nil || !w.sum.Truncated && !left ||
			w.decided(dyngraph.Inserted, false, NoTotal) != nil {
			continue
		}
		which = append(which, w)
		reqs = append(reqs, Request{Plan: w.plan, Before: AllOrders, Want: WantCount,
			Silence: s.silence(w, dyngraph.Inserted), Budget: s.budgetOf(w)})
	}
	s.e.which, s.e.reqs = which, reqs
	if len(reqs) == 0 {
		return nil
	}
	results, err := s.e.opt.Backend.Search(s.ctx, dyngraph.Inserted, reqs, func(Group) error { return nil },
		func(int, uint32, Cause) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	for k, w := range which {
		w.sum.Steps += results[k].Steps
		w.sum.SearchNS += results[k].SearchNS
		if cause := results[k].Over; cause == NoCause {
			w.sum.Positive = results[k].Count
		} else if err := s.decide(w, Decision{Sign: dyngraph.Inserted, Action: NoTotal, Cause: cause}); err != nil {
			return err
		}
	}
	return nil
}

// sendTotals emits the counts and transitions of one sign, by query name.
func (s *stepper) sendTotals(sign dyngraph.Sign) error {
	if !s.modes[EmitCounts] && !s.modes[EmitExists] {
		return nil
	}
	for i := range s.work {
		w := &s.work[i]
		q := w.state.Query
		if q.Emit == EmitDeltas {
			continue
		}
		if x := w.totalDecision(sign); x != nil {
			if err := s.put(w, s.totalNotice(w, x)); err != nil {
				return err
			}
			continue
		}
		var ev *Event
		switch q.Emit {
		case EmitCounts:
			if w.result == nil || w.result.Count.IsZero() {
				continue
			}
			ev = &Event{Kind: EventCount, Count: w.result.Count}
		case EmitExists:
			x := w.existed
			if !x.decided || x.exists == w.exists || sign == dyngraph.Changed ||
				x.exists != (sign == dyngraph.Inserted) {
				continue
			}
			ev = &Event{Kind: EventExists}
			w.found(sign, CountOf(1))
		}
		if w.suspended == nil &&
			w.budget.Stopped() { // the total was found while a record in front of it was still a published one
			if err := s.overTotal(w, sign, CauseOperator); err != nil {
				return err
			}
			w.found(sign, Count{})
			w.existed = existence{}
			ev = &Event{Kind: EventNotice, Notice: Notice{Reason: ReasonSuspended, Cause: CauseOperator}}
		}
		ev.Query, ev.Sign, ev.View = q, sign, s.e.g.View(dyngraph.New)
		if err := s.put(w, ev); err != nil {
			return err
		}
	}
	return nil
}

// totalNotice returns the event that takes the place of a count or a transition which a decision leaves out.
func (s *stepper) totalNotice(w *work, x *Decision) *Event {
	n := Notice{Reason: ReasonSkipped, Cause: x.Cause}
	if x.Action == Suspend {
		n.Reason = ReasonSuspended
	}
	return &Event{Kind: EventNotice, Query: w.state.Query, Sign: x.Sign, View: s.e.g.View(dyngraph.New), Notice: n}
}

// totalDecision returns the decision that takes the place of a count or a transition, or nil.
func (w *work) totalDecision(sign dyngraph.Sign) *Decision {
	for i := range w.decisions {
		if x := &w.decisions[i]; x.Sign == sign && !x.Snapshot && x.Action != NoTotal && x.Order != AllOrders {
			return x
		}
	}
	return nil
}
