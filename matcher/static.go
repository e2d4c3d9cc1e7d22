package matcher

import (
	"context"
	"fmt"

	"motifd/dyngraph"
)

// Static searches the graph as it is, between steps, for queries that need not be registered. Nothing changes. It is
// used in this order: Plan for each query, Prepare, Search, Close; in between no step is taken.
type Static struct {
	e     *Engine
	plans []*Plan
}

// Static returns a Static without queries.
func (e *Engine) Static() (*Static, error) {
	if err := e.current(); err != nil {
		return nil, err
	}
	return &Static{e: e}, nil
}

// Plan plans another query. Search names it by the number of those before.
func (s *Static) Plan(q *Query) error {
	if err := s.e.checkNegations(q); err != nil {
		return err
	}
	p, err := s.e.opt.Planner.Plan(q, s.e.g)
	if err != nil {
		return fmt.Errorf("planning query %q: %w", q.Name, err)
	}
	s.plans = append(s.plans, p)
	return nil
}

// Prepare makes the queries known to the backend, which makes their candidate bits together.
func (s *Static) Prepare() error {
	e, plans := s.e, s.plans
	for _, r := range e.active {
		plans = append(plans, r.plan)
	}
	e.unprepared = true // until the backend knows the registered queries alone again
	if err := e.opt.Backend.Prepare(plans); err != nil {
		return fmt.Errorf("preparing backend %s: %w", e.opt.Backend.Name(), err)
	}
	return nil
}

// Search is Backend.Enumerate for a query.
func (s *Static) Search(ctx context.Context, query int, want Want, limit uint64, budget *Budget,
	emit func(Rows) error) (Result, error) {
	return s.e.opt.Backend.Enumerate(ctx, dyngraph.New, s.plans[query], want, limit, budget, emit)
}

// Close makes the registered queries known to the backend again. Without it the next step does so.
func (s *Static) Close() error { return s.e.current() }
