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

	d     *dyngraph.Delta
	work  []work
	modes [EmitExists + 1]bool // that some of the work has
}

// work is what a step does for one query that the batch may concern; the others cost nothing.
type work struct {
	*registered
	fits      concern
	sum       QuerySummary
	suspended *Suspension // obeyed or made in this step
	existed   existence
	result    *Result // of the last search, nil when the query was not asked for
}

// concern says what of a batch may concern a query: the bit of side 0 or 1 is set when net edges of that sign fit it.
type concern uint8

// noted is set in every concern, lest it be 0 when no net edge fits.
const noted concern = 1 << 2

func (c concern) side(sign dyngraph.Sign) bool { return c>>sideOf(sign)&1 != 0 }

// existence is what a step finds for an exists query.
type existence struct {
	decided bool
	exists  bool
	witness []uint32
}

// send hands an event on with its index.
func (s *stepper) send(ev *Event) error {
	ev.FirstIndex = s.sum.Records
	if err := s.emit(ev); err != nil {
		return err
	}
	s.sum.Records += uint64(ev.Records())
	return nil
}

// settled tells the receiver, unless that was done, that nothing more is emitted, and returns the error that the step ends with.
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
	return s.finish()
}

// finish updates the state of queries once the batch is committed.
func (s *stepper) finish() error {
	again, n := false, 0
	for i := range s.work {
		w := &s.work[i]
		if x := w.existed; x.decided {
			s.e.setWitness(w.registered, x.exists, x.witness)
		}
		if w.suspended != nil {
			s.e.setWitness(w.registered, false, nil)
			w.state.Suspended, w.plan = true, nil
			again = true
		}
		w.sum.Suspended = w.suspended
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
	if again {
		return s.e.prepare()
	}
	return nil
}

// tells reports whether there is anything to say of the query.
func (q *QuerySummary) tells() bool {
	return q.Emitted > 0 || q.SearchNS > 0 || !q.Positive.IsZero() || !q.Negative.IsZero() || q.Truncated || q.Suspended != nil
}

// search finds and emits the batch's results in the order of DESIGN S7 and S12: negatives, then positives; in either
// first counts and transitions by query name, then matches by anchor.
func (s *stepper) search() error {
	s.collect()
	if len(s.d.Net) == 0 {
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
		if err := s.ask(sign, EmitDeltas); err != nil {
			return err
		}
	}
	return nil
}

// sideOf returns the index of a sign in Fits.Mark, and its bit in a concern.
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
	concerner, knows := e.opt.Backend.(Concerner)
	if knows && len(s.d.Net) > 0 {
		concerner.Concern(func(plan int, sign dyngraph.Sign) { note(plan, 1<<sideOf(sign)) })
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
	for i := range s.b.Suspensions {
		x := &s.b.Suspensions[i]
		if r := e.queries[x.Query]; r != nil && !r.state.Removed && !r.state.Suspended && r.state.Query.Version == x.Version {
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
	for i := range s.b.Suspensions {
		x := &s.b.Suspensions[i]
		for k := range s.work {
			if q := s.work[k].state.Query; q.Name == x.Query && q.Version == x.Version {
				s.work[k].suspended = x
			}
		}
	}
}

// before returns the anchors that may be searched: those of a lower order (DESIGN S11).
func (w *work) before(sign dyngraph.Sign) uint32 {
	x := w.suspended
	switch {
	case x == nil || sign < x.Sign:
		return AllOrders
	case sign == x.Sign:
		return x.Order
	}
	return 0
}

// request makes the request for a query, or none when there is nothing of the sign to search, or nothing may be.
func (s *stepper) request(w *work, sign dyngraph.Sign) (Request, bool) {
	q := w.state.Query
	req := Request{Plan: w.plan, Before: w.before(sign)}
	switch q.Emit {
	case EmitDeltas:
		req.Limit, req.Total = q.MaxMatches, q.ExactTotal
	case EmitCounts:
		req.Want = WantCount
	case EmitExists:
		req.Want = WantAny
	}
	if !w.fits.side(sign) || req.Before == 0 || req.Want != WantRows && req.Before != AllOrders {
		return req, false
	}
	if q.WorkBudget > 0 && !s.b.Replayed && w.suspended == nil {
		req.Budget = max(1, q.WorkBudget-min(q.WorkBudget, w.sum.Steps))
	}
	return req, true
}

// suspend records that a query stops at a group, durably, before anything of the group or a later one is emitted.
func (s *stepper) suspend(w *work, sign dyngraph.Sign, order uint32) error {
	q := w.state.Query
	x := &Suspension{Query: q.Name, Version: q.Version, Sign: sign, Order: order}
	if s.e.opt.Suspend != nil {
		if err := s.e.opt.Suspend(s.b.Number, *x); err != nil {
			return fmt.Errorf("recording the suspension of query %q: %w", q.Name, err)
		}
	}
	w.suspended = x
	return nil
}

// ask searches the queries of one emit mode in one phase; matches are emitted as they come.
func (s *stepper) ask(sign dyngraph.Sign, mode Emit) error {
	if !s.modes[mode] {
		return nil
	}
	which, reqs := s.e.which[:0], s.e.reqs[:0]
	for i := range s.work {
		w := &s.work[i]
		w.result = nil
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
	ev := Event{Kind: EventMatches, Sign: sign, View: s.e.g.View(dyngraph.New)}
	if sign == dyngraph.Deleted {
		ev.View = s.e.g.View(dyngraph.Old)
	}
	results, err := s.e.opt.Backend.Search(s.ctx, sign, reqs, func(g Group) error {
		w := which[g.Request]
		ev.Query = w.state.Query
		ev.AnchorEdge = &s.d.Net[g.Order]
		ev.Anchor = &s.b.Updates[ev.AnchorEdge.Place]
		ev.Rows = g.Rows
		w.sum.Emitted += uint64(g.Rows.Len())
		return s.send(&ev)
	}, func(request int, order uint32) error { return s.suspend(which[request], sign, order) })
	if err != nil {
		return err
	}
	for k, w := range which {
		r := &results[k]
		w.result = r
		w.sum.Steps += r.Steps
		w.sum.SearchNS += r.SearchNS
		w.sum.Truncated = w.sum.Truncated || r.Truncated
		if mode == EmitExists {
			continue
		}
		if sign == dyngraph.Inserted {
			w.sum.Positive = r.Count
		} else {
			w.sum.Negative = r.Count
		}
	}
	return nil
}

// decideExistence finds the transitions of exists queries before anything is emitted, since the negative one depends
// on the positives (DESIGN S12).
func (s *stepper) decideExistence() error {
	if !s.modes[EmitExists] {
		return nil
	}
	e := s.e
	view := e.g.View(dyngraph.New)
	for i := range s.work {
		w := &s.work[i]
		if w.state.Query.Emit != EmitExists || !w.exists {
			continue
		}
		intact := true
		for _, x := range w.witness[len(w.state.Query.Vertices):] {
			intact = intact && view.Visible(dyngraph.EdgeIndex(x))
		}
		if intact {
			w.existed = existence{decided: true, exists: true, witness: w.witness} // nothing to search
		}
	}
	if err := s.ask(dyngraph.Inserted, EmitExists); err != nil {
		return err
	}
	for i := range s.work {
		w := &s.work[i]
		if w.state.Query.Emit != EmitExists || w.existed.decided || w.suspended != nil {
			continue
		}
		x := existence{decided: true}
		if w.result != nil {
			x.exists, x.witness = !w.result.Count.IsZero(), w.result.Witness
		}
		if !x.exists && w.exists {
			res, err := e.opt.Backend.Enumerate(s.ctx, dyngraph.New, w.plan, WantAny, 0, nil)
			if err != nil {
				return fmt.Errorf("searching a match of query %q: %w", w.state.Query.Name, err)
			}
			x.exists, x.witness = !res.Count.IsZero(), res.Witness
			w.sum.SearchNS += res.SearchNS
			w.sum.Steps += res.Steps
		}
		w.existed = x
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
		ev := Event{Query: w.state.Query, Sign: sign, View: s.e.g.View(dyngraph.New)}
		switch w.state.Query.Emit {
		case EmitCounts:
			if w.result == nil || w.result.Count.IsZero() {
				continue
			}
			ev.Kind, ev.Count = EventCount, w.result.Count
		case EmitExists:
			x := w.existed
			if !x.decided || x.exists == w.exists || x.exists != (sign == dyngraph.Inserted) {
				continue
			}
			ev.Kind = EventExists
			if sign == dyngraph.Inserted {
				w.sum.Positive = CountOf(1)
			} else {
				w.sum.Negative = CountOf(1)
			}
		default:
			continue
		}
		w.sum.Emitted++
		if err := s.send(&ev); err != nil {
			return err
		}
	}
	return nil
}
