package matcher

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
)

// existence is the result of a step for an exists query.
type existence struct {
	decided bool
	exists  bool
	witness []uint32
	unsure  bool // the search was beyond a limit: exists has the answer that was announced before
}

// decideExistence finds the transitions of exists queries before anything is emitted, since the negative one depends
// on the positives (DESIGN S12).
func (s *stepper) decideExistence() error {
	if !s.modes[EmitExists] {
		return nil
	}
	view := s.e.g.View(dyngraph.New)
	for i := range s.work {
		w := &s.work[i]
		if w.state.Query.Emit != EmitExists {
			continue
		}
		if err := s.findLost(w); err != nil {
			return err
		}
		if w.witness == nil {
			continue
		}
		intact := false
		if w.state.Query.Groups != nil {
			if w.decided(dyngraph.Inserted, false, Skip) != nil {
				continue // it is not found out
			}
			var err error
			if intact, err = s.holds(w); err != nil {
				return err
			}
		} else if w.intact(view, s.d) {
			var err error
			if intact, err = s.unblocked(w); err != nil {
				return err
			}
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
		if w.state.Query.Emit == EmitExists && !w.existed.decided && w.suspended == nil {
			if err := s.findExistence(w, w.exists || w.unsure()); err != nil {
				return err
			}
		}
	}
	return nil
}

// findLost suspends a query of which it was not found out within the limits at start whether it has a match. Where
// records of the batch are published already, which rest on that, the search is made without limits instead.
func (s *stepper) findLost(w *work) error {
	if !w.lost || w.suspended != nil {
		return nil
	}
	if s.b.MeasureFrom == 0 {
		x := Decision{Sign: dyngraph.Deleted, Action: Suspend, Cause: CauseTime}
		if s.e.asked[w.state.Query.Name] {
			x.Cause = CauseOperator
		}
		return s.decide(w, x)
	}
	res, err := s.e.opt.Backend.Enumerate(s.ctx, dyngraph.Old, w.plan, WantAny, 0, nil, nil)
	if err != nil {
		return fmt.Errorf("searching a match of query %q: %w", w.state.Query.Name, err)
	}
	w.lost = false
	s.e.setWitness(w.registered, !res.Count.IsZero(), res.Witness)
	return nil
}

// intact reports whether the witness is a match still: its edges are there and, where the query has conditions, the
// same versions of them (DESIGN S15); where it depends on vertices, these are there and none is revised.
func (w *work) intact(view dyngraph.View, d *dyngraph.Delta) bool {
	q := w.state.Query
	if q.dependsOnVertices() {
		for _, x := range w.witness[:q.verticesOf(w.witness)] {
			v := dyngraph.VertexID(x)
			if _, revised := d.RevisionOf(v); revised || !view.HasVertex(v) {
				return false
			}
		}
	}
	conditioned := q.Conditioned()
	for _, x := range w.witness[q.verticesOf(w.witness):] {
		e := dyngraph.EdgeIndex(x)
		if !view.Visible(e) {
			return false
		}
		if conditioned {
			if _, _, changed := view.Graph().Staged(e); changed {
				return false
			}
		}
	}
	return true
}

// holds reports whether the witness of a query with WITH is a match still: it is none of those that end. Where these
// are beyond a limit it is not known, and the witness counts as broken.
func (s *stepper) holds(w *work) (bool, error) {
	q := w.state.Query
	if !w.fits.side(dyngraph.Deleted) {
		return true, nil
	}
	req := Request{Plan: w.plan, Before: AllOrders, Budget: s.budgetOf(w)}
	keys := len(q.Vertices) + len(q.Edges)
	broken := false
	results, err := s.e.opt.Backend.Search(s.ctx, dyngraph.Deleted, []Request{req}, func(g Group) error {
		for i := range g.Rows.Len() {
			broken = broken || slices.Equal(g.Rows.Row(i)[:keys], w.witness[:keys])
		}
		return nil
	}, func(int, uint32, Cause) (bool, error) {
		broken = true
		return true, nil
	})
	if err != nil {
		return false, fmt.Errorf("searching the ends of matches of query %q: %w", q.Name, err)
	}
	w.sum.SearchNS += results[0].SearchNS
	w.sum.Steps += results[0].Steps
	return !broken, nil
}

// findExistence decides about one exists query, whose witness broke or that had none, once the positives were searched.
// everywhere tells that a match may be there that the batch did not make.
func (s *stepper) findExistence(w *work, everywhere bool) error {
	x := existence{decided: true}
	over := NoCause
	if w.result != nil {
		x.exists, x.witness, over = !w.result.Count.IsZero(), w.result.Witness, w.result.Over
	}
	obeyed := w.decided(dyngraph.Inserted, false, Skip) != nil
	if !obeyed && over == NoCause && !x.exists && everywhere {
		res, err := s.e.opt.Backend.Enumerate(s.ctx, dyngraph.New, w.plan, WantAny, 0, s.budgetOf(w), nil)
		if err != nil {
			return fmt.Errorf("searching a match of query %q: %w", w.state.Query.Name, err)
		}
		x.exists, x.witness, over = !res.Count.IsZero(), res.Witness, res.Over
		w.sum.SearchNS += res.SearchNS
		w.sum.Steps += res.Steps
	}
	if over != NoCause {
		if err := s.overTotal(w, dyngraph.Inserted, over); err != nil {
			return err
		}
		if w.suspended != nil {
			return nil
		}
	}
	if obeyed || over != NoCause {
		x = existence{decided: true, exists: w.exists, unsure: true}
	}
	w.existed = x
	return nil
}

// unsure tells that what was announced of an exists query may not hold: deciding it was beyond a limit.
func (r *registered) unsure() bool { return r.state.Announced != nil }

// announce keeps what was announced of an exists query, while nothing decides whether it still holds.
func (s *stepper) announce(r *registered, unsure bool) {
	if unsure == (r.state.Announced != nil) && (!unsure || *r.state.Announced == r.exists) {
		return
	}
	if r.state.Announced = nil; unsure {
		exists := r.exists
		r.state.Announced = &exists
	}
	s.sum.QueriesChanged = true
}
