package matcher

import (
	"fmt"

	"motifd/dyngraph"
)

// checkNegations refuses a query with negations where the backend has no search for them.
func (e *Engine) checkNegations(q *Query) error {
	if len(q.Negations) > 0 && !e.can.Negations {
		return fmt.Errorf("%w %q: backend %s does not search queries with NOT (..) or NOT EXISTS {..}", ErrQuery,
			q.Name, e.opt.Backend.Name())
	}
	return nil
}

// noteNegated notes the queries with negations: no index here tells what blocks their matches.
func (s *stepper) noteNegated() {
	if len(s.d.Net) == 0 {
		return
	}
	for _, r := range s.e.active {
		if len(r.state.Query.Negations) > 0 {
			s.e.note(r.at, 1<<sideOf(dyngraph.Deleted)|1<<sideOf(dyngraph.Inserted))
		}
	}
}

// unblocked reports whether the witness of an exists query, whose core holds, is blocked by no negation. Where that is
// not found out the witness counts as broken; so it does where a decision is to be obeyed that was made behind that.
func (s *stepper) unblocked(w *work) (bool, error) {
	switch q := w.state.Query; {
	case len(q.Negations) == 0:
		return true, nil
	case s.e.can.Unblocked == nil || w.decided(dyngraph.Inserted, false, Skip) != nil:
		return false, nil
	}
	is, err := s.e.can.Unblocked(s.ctx, w.plan, w.witness, s.budgetOf(w))
	if err != nil {
		return false, fmt.Errorf("testing the witness of query %q: %w", w.state.Query.Name, err)
	}
	return is, nil
}
