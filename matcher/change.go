package matcher

import (
	"fmt"
	"strings"

	"motifd/dyngraph"
)

func compareNames(a, b *Query) int { return strings.Compare(a.Name, b.Name) }

// PrepareChange checks a query change and completes it with the version and what it replaces, before its intent is
// written (DESIGN S8). ErrUnchanged tells that nothing is to be done, ErrNoQuery that there is nothing to remove, and
// ErrQuery that the query is bad. The change passed in is not modified.
func (e *Engine) PrepareChange(ch *QueryChange) (*QueryChange, error) {
	c := *ch
	if c.Add == nil {
		r := e.queries[c.Remove]
		if r == nil || r.state.Removed {
			return nil, fmt.Errorf("%w: %q", ErrNoQuery, c.Remove)
		}
		c.Retract = e.opt.Upsert
		return &c, nil
	}
	q := *c.Add
	if err := q.Validate(e.g.Directed()); err != nil {
		return nil, err
	}
	if e.opt.Upsert && (q.Emit != EmitDeltas || q.Backfill != BackfillFull || q.MaxMatches != 0 || q.WorkBudget != 0) {
		return nil, fmt.Errorf("%w %q: output.mode upsert goes with emit: deltas, backfill: full, no max_matches_per_batch and no work_budget",
			ErrQuery, q.Name)
	}
	q.Version = 1
	c.Remove, c.Retract = "", false
	if r := e.queries[q.Name]; r != nil {
		if !r.state.Removed {
			if !r.state.Suspended && sameDefinition(r.state.Query, &q) {
				return nil, fmt.Errorf("%w: %q version %d", ErrUnchanged, q.Name, r.state.Query.Version)
			}
			c.Remove, c.Retract = q.Name, e.opt.Upsert
		}
		q.Version = r.state.Query.Version + 1
	}
	c.Add = &q
	return &c, nil
}

// sameDefinition reports whether two queries match and emit the same; texts, versions and origins may differ.
func sameDefinition(a, b *Query) bool {
	if len(a.Vertices) != len(b.Vertices) || len(a.Edges) != len(b.Edges) {
		return false
	}
	for i := range a.Vertices {
		if a.Vertices[i] != b.Vertices[i] {
			return false
		}
	}
	for i := range a.Edges {
		if a.Edges[i] != b.Edges[i] {
			return false
		}
	}
	return a.Unit == b.Unit && a.Emit == b.Emit && a.Backfill == b.Backfill && a.MaxMatches == b.MaxMatches &&
		a.ExactTotal == b.ExactTotal && a.WorkBudget == b.WorkBudget
}

// removed returns what is kept of a removed query: its name, and its version so that a later one is higher (DESIGN S6).
func removed(q *Query) QueryState {
	return QueryState{Query: &Query{Name: q.Name, Version: q.Version}, Removed: true}
}

// change registers or removes a query: a batch of its own, without updates (DESIGN S8).
func (s *stepper) change() (err error) {
	e, ch := s.e, s.b.Change
	name := ch.Remove
	if ch.Add != nil {
		name = ch.Add.Name
	}
	old := e.queries[name]
	if ch.Add == nil && (old == nil || old.state.Removed) {
		return fmt.Errorf("%w: %q", ErrNoQuery, name)
	}
	d, err := e.g.Stage(nil)
	if err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	var added *registered
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
		if added != nil {
			e.setWitness(added, false, nil)
		}
		if old == nil {
			delete(e.queries, name)
		} else {
			e.queries[name] = old
		}
		e.g.Abort()
		if perr := e.prepare(); perr != nil {
			err = fmt.Errorf("%w; then undoing: %w", err, perr)
		}
	}()
	retracted := old
	if ch.Retract && old.state.Suspended {
		// A suspended query has no plan, or one that the backend does not know.
		retracted = &registered{state: QueryState{Query: old.state.Query}}
		if err := e.plan(retracted); err != nil {
			return err
		}
		e.queries[name] = retracted
		if err := e.prepare(); err != nil {
			return err
		}
	}
	if err := e.opt.Backend.Stage(d); err != nil {
		return fmt.Errorf("staging in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = true
	if ch.Retract {
		if err := s.snapshot(retracted, dyngraph.Deleted); err != nil {
			return err
		}
	}
	if ch.Add == nil {
		e.queries[name] = &registered{state: removed(old.state.Query)}
	} else {
		added = &registered{state: QueryState{Query: ch.Add}}
		if err := e.plan(added); err != nil {
			return err
		}
		e.queries[name] = added
	}
	if err := e.opt.Backend.Commit(); err != nil {
		return fmt.Errorf("committing in backend %s: %w", e.opt.Backend.Name(), err)
	}
	staged = false
	if err := e.prepare(); err != nil {
		return err
	}
	if added != nil {
		if err := e.findWitness(s.ctx, added); err != nil {
			return err
		}
		if ch.Add.Backfill == BackfillFull {
			if err := s.snapshot(added, dyngraph.Inserted); err != nil {
				return err
			}
		}
	}
	if err := s.settled(nil); err != nil {
		return err
	}
	if old != nil {
		e.setWitness(old, false, nil)
	}
	s.sum.Effect = e.g.Effect()
	e.g.Commit()
	return nil
}

// snapshot emits M(G_n) of a query: as positives on registration, as negatives on a removal that retracts.
func (s *stepper) snapshot(r *registered, sign dyngraph.Sign) error {
	e, q := s.e, r.state.Query
	qs := QuerySummary{Query: q, Snapshot: true}
	ev := Event{Query: q, Sign: sign, Snapshot: true, View: e.g.View(dyngraph.New)}
	want := WantRows
	switch q.Emit {
	case EmitCounts:
		want = WantCount
	case EmitExists:
		want = WantAny
	}
	res, err := e.opt.Backend.Enumerate(s.ctx, dyngraph.New, r.plan, want, q.MaxMatches, func(rows Rows) error {
		ev.Kind, ev.Rows = EventMatches, rows
		qs.Emitted += uint64(rows.Len())
		return s.send(&ev)
	})
	if err != nil {
		return fmt.Errorf("snapshot of query %q: %w", q.Name, err)
	}
	total := res.Count
	qs.Truncated, qs.SearchNS, qs.Steps = res.Truncated, res.SearchNS, res.Steps
	if q.Emit != EmitDeltas && !total.IsZero() {
		ev.Kind, ev.Count = EventCount, total
		if q.Emit == EmitExists {
			ev.Kind = EventExists
		}
		qs.Emitted = 1
		if err := s.send(&ev); err != nil {
			return err
		}
	}
	if res.Truncated && q.ExactTotal {
		exact, err := e.opt.Backend.Enumerate(s.ctx, dyngraph.New, r.plan, WantCount, 0, nil)
		if err != nil {
			return fmt.Errorf("total of query %q: %w", q.Name, err)
		}
		total = exact.Count
	}
	if sign == dyngraph.Inserted {
		qs.Positive = total
	} else {
		qs.Negative = total
	}
	s.sum.Queries = append(s.sum.Queries, qs)
	return nil
}
