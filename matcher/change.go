package matcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"motifd/dyngraph"
)

func compareNames(a, b *Query) int { return strings.Compare(a.Name, b.Name) }

// PrepareChange checks a query change and completes it with the version and what it replaces, before its intent is
// written (DESIGN S8). An *UnchangedError tells that nothing is to be done, ErrNoQuery that there is nothing to remove,
// and ErrQuery that the query is bad. The change passed in is not modified.
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
	if err := q.eachWhole(func(q *Query) error {
		_, err := q.Resolve(e.g)
		return err
	}); err != nil {
		return nil, err
	}
	if err := e.checkNegations(&q); err != nil {
		return nil, err
	}
	if q.Groups != nil && !e.can.Groups {
		return nil, fmt.Errorf("%w %q: it has WITH, which the backend %s does not answer; wrap it by groups.New",
			ErrQuery, q.Name, e.opt.Backend.Name())
	}
	if e.opt.Upsert && (q.Emit != EmitDeltas || q.Backfill != BackfillFull || q.MaxMatches != 0) {
		return nil, fmt.Errorf("%w %q: output.mode upsert goes with emit: deltas, backfill: full and no "+
			"max_matches_per_batch",
			ErrQuery, q.Name)
	}
	if e.opt.Upsert && q.SilentExpiry {
		return nil, fmt.Errorf("%w %q: output.mode upsert does not go with on_expiry: silent", ErrQuery, q.Name)
	}
	if e.opt.Upsert && q.SilentChange {
		return nil, fmt.Errorf("%w %q: output.mode upsert does not go with on_change: silent", ErrQuery, q.Name)
	}
	if e.opt.Upsert && q.Once != nil {
		return nil, fmt.Errorf("%w %q: output.mode upsert does not go with once, since matches that have ended would "+
			"stay in the topic", ErrQuery, q.Name)
	}
	q.Version = 1
	c.Remove, c.Retract = "", false
	r := e.queries[q.Name]
	if r == nil || r.state.Removed { // one that is there keeps its name
		if err := CheckNewName(q.Name); err != nil {
			return nil, err
		}
	}
	if r != nil {
		if !r.state.Removed {
			if !r.state.Suspended && SameDefinition(r.state.Query, &q) {
				return nil, &UnchangedError{q.Name, r.state.Query.Version}
			}
			c.Remove, c.Retract = q.Name, e.opt.Upsert
		}
		q.Version = r.state.Query.Version + 1
	}
	known := r != nil && !r.state.Removed && SameDefinition(r.state.Query, &q)
	if !e.g.Options().EdgeIDs && !known { // one that is resumed stays as it is
		if err := q.CheckCompeting(e.g.Directed()); err != nil {
			return nil, err
		}
	}
	c.Add = &q
	return &c, nil
}

// SameDefinition reports whether two queries match and emit the same; texts, versions and origins may differ.
func SameDefinition(a, b *Query) bool {
	return samePattern(a, b) && sameGroups(a.Groups, b.Groups) &&
		a.MatchMode == b.MatchMode && a.Unit == b.Unit && a.Emit == b.Emit && a.Backfill == b.Backfill &&
		a.MaxMatches == b.MaxMatches &&
		a.ExactTotal == b.ExactTotal && a.WorkBudget == b.WorkBudget && a.OverBudget == b.OverBudget &&
		max(a.Sample, 1) == max(b.Sample, 1) && a.Shadow == b.Shadow &&
		a.SilentExpiry == b.SilentExpiry && a.SilentChange == b.SilentChange && sameConditions(a, b) &&
		(!a.EmitsChanges() || slices.Equal(a.Groups.Shown, b.Groups.Shown)) &&
		sameOnce(a.Once, b.Once) && sameNegations(a, b)
}

// samePattern reports whether two queries have equal vertices and edges.
func samePattern(a, b *Query) bool {
	if len(a.Vertices) != len(b.Vertices) || len(a.Edges) != len(b.Edges) {
		return false
	}
	for i, v := range a.Vertices {
		if w := b.Vertices[i]; v.Name != w.Name || v.Labels().Key() != w.Labels().Key() {
			return false
		}
	}
	for i, e := range a.Edges {
		if f := b.Edges[i]; e.Name != f.Name || e.From != f.From || e.To != f.To || e.Either != f.Either ||
			e.Labels().Key() != f.Labels().Key() || !sameHops(e.Hops, f.Hops) {
			return false
		}
	}
	return true
}

func sameHops(a, b *Hops) bool { return a == b || a != nil && b != nil && *a == *b }

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
		w := &work{registered: retracted, sum: QuerySummary{Query: retracted.state.Query}}
		s.obey(w)
		if err := s.snapshot(w, dyngraph.Deleted); err != nil {
			return err
		}
		// Matches that broke while the query was suspended are not in the graph, and have no tombstones.
		if old.state.Suspended && w.snapshotCut(dyngraph.Deleted) == nil {
			if err := s.snapshotNotice(w, dyngraph.Deleted, Notice{Reason: ReasonEnded}); err != nil {
				return err
			}
		}
		s.sum.Queries = append(s.sum.Queries, w.sum)
	}
	if ch.Add == nil {
		e.queries[name] = &registered{state: removed(old.state.Query)}
	} else {
		added = &registered{state: QueryState{Query: ch.Add}}
		if ch.Add.Once != nil {
			added.memory = newOnceMemory(nil)
			added.memory.clock = greatestIn(e.g.View(dyngraph.New))
		}
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
		if err := s.begin(added); err != nil {
			return err
		}
	}
	if err := s.settled(nil); err != nil {
		return err
	}
	if old != nil {
		e.setWitness(old, false, nil)
		if old.memory != nil {
			old.memory.clear(old.state.Query, s.onceChange)
		}
	}
	if added != nil && added.memory != nil && !added.state.Suspended {
		clock := added.memory.clock
		added.memory.clock = OnceTime{}
		added.memory.advance(ch.Add, clock, s.noted, s.onceChange)
	}
	s.sum.Effect = e.g.Effect()
	e.g.Commit()
	if ch.Add == nil {
		delete(e.asked, name)
	}
	s.sum.QueriesChanged = true
	return nil
}

// begin searches the graph for a query that is being registered: for a witness, and with a backfill for its matches.
func (s *stepper) begin(added *registered) error {
	w := &work{registered: added, sum: QuerySummary{Query: added.state.Query}}
	s.obey(w)
	if added.state.Query.Emit == EmitExists {
		if err := s.findExistence(w, true); err != nil {
			return err
		}
		s.e.setWitness(added, w.existed.exists, w.existed.witness)
		s.announce(added, w.existed.unsure)
		if x := w.totalDecision(dyngraph.Inserted); x != nil {
			if err := s.put(w, s.totalNotice(w, x)); err != nil {
				return err
			}
		}
	}
	if added.state.Query.Backfill == BackfillFull && (w.suspended == nil || w.suspended.Snapshot) {
		if err := s.snapshot(w, dyngraph.Inserted); err != nil {
			return err
		}
	}
	s.noted = w.once.noted
	s.summarize(w)
	w.noteRecordBytes()
	if w.suspended != nil {
		s.e.suspend(added, w.suspended)
	}
	if w.sum.tells() || added.state.Query.Backfill == BackfillFull {
		s.sum.Queries = append(s.sum.Queries, w.sum)
	}
	return nil
}

// errCut ends the emission of a snapshot that was interrupted.
var errCut = errors.New("the snapshot was cut")

// snapshot emits M(G_n) of a query: as positives on registration, as negatives on a removal that retracts.
func (s *stepper) snapshot(w *work, sign dyngraph.Sign) error {
	e, q := s.e, w.state.Query
	w.sum.Snapshot = true
	ev := Event{Query: q, Sign: sign, Snapshot: true, View: e.g.View(dyngraph.New)}
	if q.Emit != EmitDeltas {
		return s.snapshotTotal(w, ev)
	}
	limit, kept := uint64(0), ^uint64(0)
	if sign == dyngraph.Inserted {
		limit = capOf(q)
	}
	cut := w.snapshotCut(sign)
	if cut != nil {
		if kept = cut.Kept; limit == 0 || kept < limit {
			limit = kept
		}
	}
	res, emitted := Result{}, uint64(0)
	budget := s.budgetOf(w)
	if kept > 0 {
		var err error
		res, err = e.opt.Backend.Enumerate(s.ctx, dyngraph.New, w.plan, WantRows, limit, budget, func(rows Rows) error {
			for at, n := 0, rows.Len(); at < n; {
				k := n - at
				if cut == nil {
					if k = budget.fits(emitted, k); k == 0 || budget.Stopped() {
						return errCut
					}
				}
				emitted += uint64(k)
				ev.Kind, ev.Rows = EventMatches, rows.Slice(at, at+k)
				if err := s.putRows(w, &ev, 0); err != nil {
					return err
				}
				at += k
			}
			return nil
		})
		if errors.Is(err, errCut) {
			if res.Over, err = CauseOutput, nil; budget.Stopped() {
				res.Over = CauseOperator
			}
		}
		if err != nil {
			return fmt.Errorf("snapshot of query %q: %w", q.Name, err)
		}
	}
	w.sum.SearchNS += res.SearchNS
	w.sum.Steps += res.Steps
	if cut == nil && res.Over != NoCause {
		x := Decision{Sign: sign, Snapshot: true, Cause: res.Over, Action: Skip, Kept: emitted}
		if sign == dyngraph.Inserted && (res.Over == CauseOperator || q.OverBudget == SuspendQuery) {
			x.Action = Suspend
		}
		if err := s.decide(w, x); err != nil {
			return err
		}
		cut = &w.decisions[len(w.decisions)-1]
	}
	w.found(sign, CountOf(emitted))
	if cut != nil {
		n := Notice{Reason: ReasonSkipped, Cause: cut.Cause}
		switch {
		case cut.Action == Suspend:
			n.Reason = ReasonSuspended
		case sign == dyngraph.Deleted:
			n.Reason = ReasonEnded
		}
		return s.snapshotNotice(w, sign, n)
	}
	if w.sum.Truncated && q.ExactTotal {
		return s.snapshotCount(w, sign)
	}
	return nil
}

// snapshotNotice emits a notice about a snapshot as a whole.
func (s *stepper) snapshotNotice(w *work, sign dyngraph.Sign, n Notice) error {
	return s.put(w, &Event{Kind: EventNotice, Query: w.state.Query, Sign: sign, Snapshot: true,
		View: s.e.g.View(dyngraph.New), Notice: n})
}

// snapshotCut returns the decision by which a snapshot ends early, or nil.
func (w *work) snapshotCut(sign dyngraph.Sign) *Decision {
	for _, action := range []Action{Suspend, Skip} {
		if x := w.decided(sign, true, action); x != nil {
			return x
		}
	}
	return nil
}

// snapshotTotal emits the snapshot of a query for counts or existence.
func (s *stepper) snapshotTotal(w *work, ev Event) error {
	q := w.state.Query
	if q.Emit == EmitExists {
		if !w.exists {
			return nil
		}
		ev.Kind = EventExists
		w.found(ev.Sign, CountOf(1))
		return s.put(w, &ev)
	}
	if err := s.snapshotCount(w, ev.Sign); err != nil {
		return err
	}
	n := w.sum.Positive
	if ev.Sign == dyngraph.Deleted {
		n = w.sum.Negative
	}
	switch x := w.decided(ev.Sign, true, NoTotal); {
	case x != nil:
		ev.Kind, ev.Notice = EventNotice, Notice{Reason: ReasonSkipped, Cause: x.Cause}
		w.sum.Skipped++
		w.sum.Cause = x.Cause
		w.lossy = w.lossy || ev.Sign == dyngraph.Inserted
	case n.IsZero():
		return nil
	default:
		ev.Kind, ev.Count = EventCount, n
	}
	return s.put(w, &ev)
}

// snapshotCount counts the matches of a query that is being registered or removed.
func (s *stepper) snapshotCount(w *work, sign dyngraph.Sign) error {
	if w.decided(sign, true, NoTotal) != nil {
		return nil
	}
	res, err := s.e.opt.Backend.Enumerate(s.ctx, dyngraph.New, w.plan, WantCount, 0, s.budgetOf(w), nil)
	if err != nil {
		return fmt.Errorf("total of query %q: %w", w.state.Query.Name, err)
	}
	w.sum.SearchNS += res.SearchNS
	w.sum.Steps += res.Steps
	if res.Over != NoCause {
		return s.decide(w, Decision{Sign: sign, Snapshot: true, Action: NoTotal, Cause: res.Over})
	}
	if sign == dyngraph.Inserted {
		w.sum.Positive = res.Count
	} else {
		w.sum.Negative = res.Count
	}
	return nil
}
