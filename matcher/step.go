package matcher

import (
	"context"
	"fmt"
	"slices"

	"motifd/dyngraph"
)

// stepper is one Step.
type stepper struct {
	e    *Engine
	ctx  context.Context
	b    *Batch
	emit func(*Event) error
	sum  *Summary
	// settle is what Step was given; nil once it was called.
	settle func(error) error

	d       *dyngraph.Delta
	budget  *BatchBudget
	work    []work
	modes   [EmitExists + 1]bool // that some of the work has
	pending []notice             // of the sign at hand, that come later
}

// work is what a step does for one query that the batch may concern; the others cost nothing.
type work struct {
	*registered
	fits      concern
	sum       QuerySummary
	decisions []Decision // obeyed or made in this step
	suspended *Decision  // one of them
	leaving   *Decision  // one of them, that suspends the query behind the records of the batch
	lossy     bool       // positives were left out
	order     uint32     // of the group at hand
	rows      uint64     // of it, that were handed on
	given     uint64     // of all groups of the sign at hand
	taken     uint64     // positives emitted, or left out by the sample, of a query with a cap
	budget    *Budget    // nil before anything is searched
	existed   existence
	result    *Result // of the last search, nil when the query was not asked for
}

// concern says what of a batch may concern a query: the bit of side 0 or 1 is set when net edges of that sign fit it.
type concern uint8

// noted is set in every concern, lest it be 0 when no net edge fits.
const noted concern = 1 << 2

func (c concern) side(sign dyngraph.Sign) bool { return c>>sideOf(sign)&1 != 0 }

// send hands an event on with its index.
func (s *stepper) send(ev *Event) error {
	ev.Batch, ev.FirstIndex = s.b.Number, s.sum.Records
	if err := s.emit(ev); err != nil {
		return err
	}
	s.sum.Records += uint64(ev.Records())
	if s.sum.Records >= s.b.MeasureFrom {
		s.budget.Arm()
	}
	return nil
}

// budgetOf returns the budget of a query in this batch.
func (s *stepper) budgetOf(w *work) *Budget {
	if w.budget == nil {
		q := w.state.Query
		w.budget = NewBudget(s.e.opt.Limits, q.WorkBudget, s.budget)
		w.budget.Floor = q.OverBudget == SkipGroup
		if s.e.asked[q.Name] && !w.ordered() {
			w.budget.Stop()
		}
		s.e.running.budget(q.Name, w.budget)
	}
	return w.budget
}

// settled tells the receiver, unless that was done, that nothing more is emitted, and returns the error that the step
// ends with.
func (s *stepper) settled(err error) error {
	settle := s.settle
	if settle == nil {
		return err
	}
	s.settle = nil
	if serr := settle(err); serr != nil {
		return serr
	}
	return err
}

// phase tells that a phase begins.
func (s *stepper) phase(p Phase) {
	if f := s.e.opt.Phase; f != nil {
		f(s.b.Number, p)
	}
}

// updates steps over a batch of updates.
func (s *stepper) updates() (err error) {
	e := s.e
	s.phase(PhaseStage)
	if s.d, err = e.g.Stage(s.b.Updates); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	s.phase(PhasePlan)
	undo, err := e.replan(s.d)
	staged := false
	defer func() {
		if err == nil {
			return
		}
		err = s.settled(err)
		if staged {
			if aerr := e.opt.Backend.Abort(); aerr != nil {
				err = fmt.Errorf("%w; then undoing: %w", err, aerr)
			}
		}
		e.g.Abort()
		if undo != nil {
			if uerr := undo(); uerr != nil {
				err = fmt.Errorf("%w; then undoing: %w", err, uerr)
			}
		}
	}()
	if err != nil {
		return err
	}
	s.phase(PhaseFilter)
	if err := e.opt.Backend.Stage(s.d); err != nil {
		return fmt.Errorf("staging in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = true
	s.phase(PhaseSearch)
	if err := s.search(); err != nil {
		return err
	}
	if err := s.settled(nil); err != nil {
		return err
	}
	s.phase(PhaseApply)
	if err := e.opt.Backend.Commit(); err != nil {
		return fmt.Errorf("committing in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = false
	s.sum.NetInserted, s.sum.NetDeleted = s.d.Inserted(), s.d.Deleted()
	s.sum.Effect = e.g.Effect()
	e.g.Commit()
	s.finish()
	return nil
}

// finish updates the state of queries once the batch is committed. It cannot fail: a backend that has to learn of a
// suspension does so in the next step.
func (s *stepper) finish() {
	n := 0
	for i := range s.work {
		w := &s.work[i]
		if x := w.existed; x.decided {
			s.e.setWitness(w.registered, x.exists, x.witness)
			s.announce(w.registered, x.unsure)
		}
		if w.suspended != nil {
			s.e.suspend(w.registered, w.suspended)
			s.sum.QueriesChanged = true
		}
		s.summarize(w)
		if w.sum.tells() {
			n++
		}
	}
	if n > 0 {
		s.sum.Queries = make([]QuerySummary, 0, n)
	}
	for i := range s.work {
		if qs := &s.work[i].sum; qs.tells() {
			s.sum.Queries = append(s.sum.Queries, *qs)
		}
	}
}

// summarize notes in state and summary of a query that it is lossy or suspended.
func (s *stepper) summarize(w *work) {
	if w.lossy && w.state.LossySince == 0 {
		w.state.LossySince = s.b.Number
		s.sum.QueriesChanged = true
	}
	if w.suspended != nil {
		x := *w.suspended
		w.sum.Suspended = &x
	}
	w.sum.LossySince = w.state.LossySince
}

// tells reports whether there is anything to say of the query.
func (q *QuerySummary) tells() bool {
	return q.Emitted > 0 || q.SearchNS > 0 || !q.Positive.IsZero() || !q.Negative.IsZero() || q.Truncated ||
		q.Suspended != nil ||
		q.Skipped > 0 || q.NoPositive || q.NoNegative
}

// search finds and emits the batch's results in the order of DESIGN S7 and S12: negatives, then positives; in either
// first counts and transitions by query name, then matches by anchor.
func (s *stepper) search() error {
	s.collect()
	if len(s.d.Net) == 0 && len(s.b.Decisions) == 0 && len(s.e.asked) == 0 {
		return nil
	}
	if err := s.decideExistence(); err != nil {
		return err
	}
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		if err := s.ask(sign, EmitCounts); err != nil {
			return err
		}
		if err := s.sendTotals(sign); err != nil {
			return err
		}
		s.collectNotices(sign)
		if err := s.ask(sign, EmitDeltas); err != nil {
			return err
		}
		if err := s.restNotices(sign); err != nil {
			return err
		}
	}
	if err := s.leave(); err != nil {
		return err
	}
	return s.countTotals()
}

// sideOf returns the index of a sign in AnchorEntry.Mark, and its bit in a concern.
func sideOf(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

// collect finds the queries that the batch may concern, by name (DESIGN A3): those with an oriented edge that some net
// edge fits, those whose witness breaks, and those whose suspension is to be obeyed.
func (s *stepper) collect() {
	e := s.e
	e.round++
	found := e.found[:0]
	note := func(at int, c concern) {
		if e.concerned[at] == 0 {
			found = append(found, at)
		}
		e.concerned[at] |= c | noted
	}
	knows := e.can.Concern != nil
	if knows && len(s.d.Net) > 0 {
		e.can.Concern(func(plan int, sign dyngraph.Sign) { note(plan, 1<<sideOf(sign)) })
	}
	view := e.g.View(dyngraph.New)
	for i := range s.d.Net {
		n := &s.d.Net[i]
		if !knows {
			side := sideOf(n.Sign)
			if fits := e.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To)); fits.Mark[side] != e.round {
				fits.Mark[side] = e.round
				for _, f := range fits.List {
					note(f.Of.at, 1<<side)
				}
			}
		}
		if n.Sign == dyngraph.Deleted && len(e.witnesses) > 0 {
			for _, r := range e.witnesses[n.Edge] {
				note(r.at, 0)
			}
		}
	}
	for i := range s.b.Decisions {
		x := &s.b.Decisions[i]
		if r := e.queries[x.Query]; r != nil && !r.state.Removed && !r.state.Suspended &&
			r.state.Query.Version == x.Version {
			note(r.at, 0)
		}
	}
	for _, r := range e.active {
		if r.lost || e.asked[r.state.Query.Name] || r.unsure() && s.touches(r) {
			note(r.at, 0)
		}
	}
	if 16*len(found) > len(e.active) {
		found = found[:0]
		for at, c := range e.concerned {
			if c != 0 {
				found = append(found, at)
			}
		}
	} else {
		slices.Sort(found)
	}
	if e.found = found; cap(e.work) < len(found) {
		e.work = make([]work, len(found)+len(found)/2)
	}
	s.work = e.work[:len(found)]
	for i, at := range found {
		r := e.active[at]
		s.work[i] = work{registered: r, fits: e.concerned[at], sum: QuerySummary{Query: r.state.Query}}
		s.modes[r.state.Query.Emit] = true
		e.concerned[at] = 0
	}
	s.budget.Divide(len(s.work))
	for k := range s.work {
		s.obey(&s.work[k])
	}
}

// touches reports whether some net edge fits the query's plan, going by labels. A query that is not sure is decided
// anew then: a backend that knows better than labels what a batch changes does not know what was left undecided.
func (s *stepper) touches(r *registered) bool {
	view := s.e.g.View(dyngraph.New)
	return slices.ContainsFunc(s.d.Net, func(n dyngraph.NetEdge) bool { return mayHold(r.plan, view, &n) })
}

// obey takes account of the decisions about a query that the batch brings along.
func (s *stepper) obey(w *work) {
	q := w.state.Query
	for i := range s.b.Decisions {
		if x := &s.b.Decisions[i]; x.Query == q.Name && x.Version == q.Version {
			w.decisions = append(w.decisions, *x)
		}
	}
	for i := range w.decisions {
		w.note(&w.decisions[i])
	}
}

// capOf returns how many positives of a query are asked for: one more than are wanted tells that there are more.
func capOf(q *Query) uint64 {
	if q.MaxMatches == 0 || q.MaxMatches+1 == 0 {
		return 0
	}
	return q.MaxMatches + 1
}

// request makes the request for a query, or none when there is nothing of the sign to search, or nothing may be.
func (s *stepper) request(w *work, sign dyngraph.Sign) (Request, bool) {
	q := w.state.Query
	req := Request{Plan: w.plan, Before: AllOrders}
	switch q.Emit {
	case EmitDeltas:
		if sign == dyngraph.Inserted {
			req.Limit = capOf(q)
		}
	case EmitCounts:
		req.Want = WantCount
	case EmitExists:
		req.Want = WantAny
	}
	w.limit(&req, sign)
	if !w.fits.side(sign) || req.Before == 0 || req.Want != WantRows && req.Before != AllOrders {
		return req, false
	}
	req.Budget = s.budgetOf(w)
	return req, true
}

// ask searches the queries of one emit mode in one phase; matches are emitted as they come.
func (s *stepper) ask(sign dyngraph.Sign, mode Emit) error {
	if !s.modes[mode] {
		return nil
	}
	which, reqs := s.e.which[:0], s.e.reqs[:0]
	for i := range s.work {
		w := &s.work[i]
		w.result, w.given, w.order = nil, 0, AllOrders
		if w.state.Query.Emit != mode || mode == EmitExists && w.existed.decided {
			continue
		}
		if req, ok := s.request(w, sign); ok {
			which, reqs = append(which, w), append(reqs, req)
		}
	}
	s.e.which, s.e.reqs = which, reqs
	if len(reqs) == 0 {
		return nil
	}
	ev := Event{Kind: EventMatches, Sign: sign, View: s.view(sign)}
	results, err := s.e.opt.Backend.Search(s.ctx, sign, reqs, func(g Group) error {
		w := which[g.Request]
		if w.order != g.Order {
			w.order, w.rows = g.Order, 0
		}
		if w.suspended == nil && w.budget.Stopped() {
			if err := s.stop(w, sign, g.Order); err != nil {
				return err
			}
		}
		n := w.room(sign, g.Order, g.Rows.Len())
		if n == 0 {
			return nil
		}
		w.rows += uint64(n)
		w.given += uint64(n)
		if err := s.flushNotices(sign, g.Order, w.state.Query); err != nil {
			return err
		}
		ev.Query = w.state.Query
		ev.AnchorEdge = &s.d.Net[g.Order]
		ev.Anchor = &s.b.Updates[ev.AnchorEdge.UpdateIndex]
		ev.Rows = g.Rows.Slice(0, n)
		if ev.LossySince = 0; sign == dyngraph.Deleted {
			ev.LossySince = w.state.LossySince
		}
		return s.putRows(w, &ev, g.Order)
	}, func(request int, order uint32, cause Cause) (bool, error) {
		if reqs[request].Want != WantRows { // its Result tells
			return true, nil
		}
		return s.over(which[request], sign, order, cause)
	})
	if err != nil {
		return err
	}
	for k, w := range which {
		r := &results[k]
		w.result = r
		w.sum.Steps += r.Steps
		w.sum.SearchNS += r.SearchNS
		if r.Over != NoCause && mode != EmitExists {
			if err := s.overTotal(w, sign, r.Over); err != nil {
				return err
			}
		}
		if x := w.suspended; mode == EmitDeltas && x != nil && x.Sign == sign {
			r.Count = CountOf(w.given)
		}
		if mode != EmitExists {
			w.found(sign, r.Count)
		}
	}
	return nil
}

// found notes the number of matches of a sign.
func (w *work) found(sign dyngraph.Sign, n Count) {
	if q := w.state.Query; sign == dyngraph.Inserted {
		if most := CountOf(q.MaxMatches); q.MaxMatches > 0 && q.Emit == EmitDeltas && n.Cmp(most) > 0 {
			n = most
		}
		w.sum.Positive = n
	} else {
		w.sum.Negative = n
	}
}
