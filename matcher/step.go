package matcher

import (
	"context"
	"fmt"

	"motifd/dyngraph"
)

// stepper is one Step.
type stepper struct {
	e    *Engine
	ctx  context.Context
	b    *Batch
	emit func(*Event) error
	sum  *Summary
	// settle is the callback that Step was given; nil once it was called.
	settle func(error) error

	d       *dyngraph.Delta
	budget  *BatchBudget
	noted   []OnceKey // by the positives of a query that is being registered
	work    []work
	modes   [EmitExists + 1]bool // that some of the work has
	pending []notice             // of the sign at hand, that come later
}

// work is the state of one query that the batch may concern; the others cost nothing.
type work struct {
	*registered
	fits      concern
	sum       QuerySummary
	decisions []Decision         // obeyed or made in this step
	suspended *Decision          // one of them
	leaving   *Decision          // one of them, that suspends the query behind the records of the batch
	lossy     bool               // positives were left out
	over      Cause              // of a count that is found by enumeration
	order     uint32             // of the group at hand
	rows      uint64             // of it, that were handed on
	given     uint64             // of all groups of the sign at hand
	cut       bool               // of a group of the sign at hand, a part was left out
	kept      map[groupOf]uint64 // of groups of which a part is left out, the rows that are handed on; nil for none
	taken     uint64             // positives emitted, or left out by the sample, of a query with a cap
	budget    *Budget            // nil before anything is searched
	once      onceStep
	existed   existence
	result    *Result // of the last search, nil when the query was not asked for
}

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
		w.budget.begin(w.registered, s.e.opt.Upsert)
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
	e.g.SetHorizons(s.b.Horizons)
	e.g.ExpireIsolated(s.b.Isolated)
	e.g.ListVertices(e.single)
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
	s.sum.Expired, s.sum.Late, s.sum.Unnamed = s.d.Expired, s.d.Late, s.d.Unnamed
	s.sum.Revised, s.sum.Absent = len(s.d.Revised), s.d.Absent
	s.sum.Effect = e.g.Effect()
	e.g.Commit()
	s.finish()
	return nil
}

// finish updates the state of queries once the batch is committed. It cannot fail: a backend that has to learn of a
// suspension does so in the next step.
func (s *stepper) finish() {
	s.settleOnce()
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
		w.noteRecordBytes()
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
	return q.Emitted > 0 || q.SearchNS > 0 || !q.Positive.IsZero() || !q.Negative.IsZero() || !q.Changed.IsZero() ||
		q.Truncated || q.Suspended != nil || q.Once > 0 || q.Skipped > 0 || q.NoPositive || q.NoNegative
}

// search finds and emits the batch's results in the order of DESIGN S7, S12 and S24: negatives, changed matches, then
// positives; in each first counts and transitions by query name, then matches by anchor.
func (s *stepper) search() error {
	s.collect()
	if len(s.d.Net) == 0 && len(s.b.Decisions) == 0 && len(s.e.asked) == 0 {
		return nil
	}
	if err := s.decideExistence(); err != nil {
		return err
	}
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Changed, dyngraph.Inserted} {
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
