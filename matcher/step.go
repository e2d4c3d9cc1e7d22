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

	d *dyngraph.Delta
	// by query, in the order of e.active
	query     []QuerySummary
	suspended []*Suspension // obeyed or made in this step
	existed   []existence
}

// existence is what a step finds for an exists query.
type existence struct {
	changed bool
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

// updates steps over a batch of updates.
func (s *stepper) updates() (err error) {
	e := s.e
	if s.d, err = e.g.Stage(s.b.Updates); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	undo, err := e.replan(s.d)
	staged := false
	defer func() {
		if err == nil {
			return
		}
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
	if err := e.opt.Backend.Stage(s.d); err != nil {
		return fmt.Errorf("staging in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = true
	if err := s.search(); err != nil {
		return err
	}
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
	e := s.e
	again := false
	for i, r := range e.active {
		if x := s.existed[i]; x.changed {
			r.exists, r.witness = x.exists, x.witness
		}
		if s.suspended[i] != nil {
			r.state.Suspended, r.plan = true, nil
			again = true
		}
		qs := &s.query[i]
		qs.Suspended = s.suspended[i]
		if !qs.Positive.IsZero() || !qs.Negative.IsZero() || qs.Truncated || qs.Suspended != nil || qs.Emitted > 0 ||
			qs.SearchNS > 0 {
			s.sum.Queries = append(s.sum.Queries, *qs)
		}
	}
	if again {
		return e.prepare(nil)
	}
	return nil
}

// search finds and emits the batch's results in the order of DESIGN S7 and S12: negatives, then positives; in either
// first counts and transitions by query name, then matches by anchor.
func (s *stepper) search() error {
	n := len(s.e.active)
	s.query, s.suspended, s.existed = make([]QuerySummary, n), make([]*Suspension, n), make([]existence, n)
	for i, r := range s.e.active {
		s.query[i].Query = r.state.Query
	}
	for i := range s.b.Suspensions {
		for k, r := range s.e.active {
			x := &s.b.Suspensions[i]
			if x.Query == r.state.Query.Name && x.Version == r.state.Query.Version {
				s.suspended[k] = x
			}
		}
	}
	if len(s.d.Net) == 0 {
		return nil
	}
	if err := s.decideExistence(); err != nil {
		return err
	}
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		counts, err := s.ask(sign, EmitCounts)
		if err != nil {
			return err
		}
		if err := s.sendTotals(sign, counts); err != nil {
			return err
		}
		if _, err := s.ask(sign, EmitDeltas); err != nil {
			return err
		}
	}
	return nil
}

// before returns the anchors that may be searched: those of a lower order (DESIGN S11).
func (s *stepper) before(i int, sign dyngraph.Sign) uint32 {
	x := s.suspended[i]
	switch {
	case x == nil || sign < x.Sign:
		return AllOrders
	case sign == x.Sign:
		return x.Order
	}
	return 0
}

// request makes the request for query i, or none when nothing of the sign may be searched.
func (s *stepper) request(i int, sign dyngraph.Sign) (Request, bool) {
	r := s.e.active[i]
	q := r.state.Query
	req := Request{Plan: r.plan, Before: s.before(i, sign)}
	switch q.Emit {
	case EmitDeltas:
		req.Limit, req.Total = q.MaxMatches, q.ExactTotal
	case EmitCounts:
		req.Want = WantCount
	case EmitExists:
		req.Want = WantAny
	}
	if req.Before == 0 || req.Want != WantRows && req.Before != AllOrders {
		return req, false
	}
	if q.WorkBudget > 0 && !s.b.Replayed && s.suspended[i] == nil {
		req.Budget = max(1, q.WorkBudget-min(q.WorkBudget, s.query[i].Steps))
	}
	return req, true
}

// suspend records that query i stops at a group, durably, before anything of the group or a later one is emitted.
func (s *stepper) suspend(i int, sign dyngraph.Sign, order uint32) error {
	q := s.e.active[i].state.Query
	x := &Suspension{Query: q.Name, Version: q.Version, Sign: sign, Order: order}
	if s.e.opt.Suspend != nil {
		if err := s.e.opt.Suspend(s.b.Number, *x); err != nil {
			return fmt.Errorf("recording the suspension of query %q: %w", q.Name, err)
		}
	}
	s.suspended[i] = x
	return nil
}

// ask searches all queries of one emit mode in one phase; matches are emitted as they come. It returns the results by
// query.
func (s *stepper) ask(sign dyngraph.Sign, mode Emit) ([]Result, error) {
	var which []int
	var reqs []Request
	for i, r := range s.e.active {
		if r.state.Query.Emit != mode || mode == EmitExists && s.existed[i].changed {
			continue
		}
		if req, ok := s.request(i, sign); ok {
			which, reqs = append(which, i), append(reqs, req)
		}
	}
	all := make([]Result, len(s.e.active))
	if len(reqs) == 0 {
		return all, nil
	}
	ev := Event{Kind: EventMatches, Sign: sign, View: s.e.g.View(dyngraph.New)}
	if sign == dyngraph.Deleted {
		ev.View = s.e.g.View(dyngraph.Old)
	}
	results, err := s.e.opt.Backend.Search(s.ctx, sign, reqs, func(g Group) error {
		i := which[g.Request]
		ev.Query = s.e.active[i].state.Query
		ev.AnchorEdge = &s.d.Net[g.Order]
		ev.Anchor = &s.b.Updates[ev.AnchorEdge.Place]
		ev.Rows = g.Rows
		s.query[i].Emitted += uint64(g.Rows.Len())
		return s.send(&ev)
	}, func(request int, order uint32) error { return s.suspend(which[request], sign, order) })
	if err != nil {
		return nil, err
	}
	for k, i := range which {
		r := &results[k]
		all[i] = *r
		qs := &s.query[i]
		qs.Steps += r.Steps
		qs.SearchNS += r.SearchNS
		qs.Truncated = qs.Truncated || r.Truncated
		if mode == EmitExists {
			continue
		}
		if sign == dyngraph.Inserted {
			qs.Positive = r.Count
		} else {
			qs.Negative = r.Count
		}
	}
	return all, nil
}

// decideExistence finds the transitions of exists queries before anything is emitted, since the negative one depends
// on the positives (DESIGN S12).
func (s *stepper) decideExistence() error {
	e := s.e
	view := e.g.View(dyngraph.New)
	for i, r := range e.active {
		if r.state.Query.Emit != EmitExists || !r.exists {
			continue
		}
		intact := true
		for _, x := range r.witness[len(r.state.Query.Vertices):] {
			intact = intact && view.Visible(dyngraph.EdgeIndex(x))
		}
		if intact {
			// Nothing to search: mark the query as decided, without a change.
			s.existed[i] = existence{changed: true, exists: true, witness: r.witness}
		}
	}
	found, err := s.ask(dyngraph.Inserted, EmitExists)
	if err != nil {
		return err
	}
	for i, r := range e.active {
		if r.state.Query.Emit != EmitExists || s.existed[i].changed || s.suspended[i] != nil {
			continue
		}
		x := existence{changed: true, exists: !found[i].Count.IsZero(), witness: found[i].Witness}
		if !x.exists && r.exists {
			res, err := e.opt.Backend.Enumerate(s.ctx, dyngraph.New, r.plan, WantAny, 0, nil)
			if err != nil {
				return fmt.Errorf("searching a match of query %q: %w", r.state.Query.Name, err)
			}
			x.exists, x.witness = !res.Count.IsZero(), res.Witness
			s.query[i].SearchNS += res.SearchNS
			s.query[i].Steps += res.Steps
		}
		s.existed[i] = x
	}
	return nil
}

// sendTotals emits the counts and transitions of one sign, by query name.
func (s *stepper) sendTotals(sign dyngraph.Sign, counts []Result) error {
	for i, r := range s.e.active {
		ev := Event{Query: r.state.Query, Sign: sign, View: s.e.g.View(dyngraph.New)}
		switch r.state.Query.Emit {
		case EmitCounts:
			if counts[i].Count.IsZero() {
				continue
			}
			ev.Kind, ev.Count = EventCount, counts[i].Count
		case EmitExists:
			x := s.existed[i]
			if !x.changed || x.exists == r.exists || x.exists != (sign == dyngraph.Inserted) {
				continue
			}
			ev.Kind = EventExists
			if sign == dyngraph.Inserted {
				s.query[i].Positive = CountOf(1)
			} else {
				s.query[i].Negative = CountOf(1)
			}
		default:
			continue
		}
		s.query[i].Emitted++
		if err := s.send(&ev); err != nil {
			return err
		}
	}
	return nil
}
