package matcher

import (
	"context"
	"fmt"

	"motifd/dyngraph"
)

// Static searches the graph as it is, between steps, for a query that need not be registered. Nothing changes. It is
// used in this order: Prepare, Search, Close; in between no step is taken.
type Static struct {
	e    *Engine
	plan *Plan
}

// Static plans a query.
func (e *Engine) Static(q *Query) (*Static, error) {
	if !e.beside || e.outdated {
		if err := e.current(); err != nil {
			return nil, err
		}
	}
	if err := e.checkNegations(q); err != nil {
		return nil, err
	}
	p, err := e.opt.Planner.Static(q, e.g)
	if err != nil {
		return nil, fmt.Errorf("planning query %q: %w", q.Name, err)
	}
	return &Static{e, p}, nil
}

// Prepare makes the query known to the backend, which makes its candidate bits.
func (s *Static) Prepare() error {
	e, plans := s.e, []*Plan{s.plan}
	for _, r := range e.active {
		plans = append(plans, r.plan)
	}
	e.unprepared, e.beside = true, false // until the backend knows the registered queries alone again
	if err := e.opt.Backend.Prepare(plans); err != nil {
		return fmt.Errorf("preparing backend %s: %w", e.opt.Backend.Name(), err)
	}
	e.beside = true
	return nil
}

// Search is Backend.Enumerate for the query.
func (s *Static) Search(ctx context.Context, want Want, limit uint64, budget *Budget, emit func(Rows) error) (
	Result, error) {
	return s.e.opt.Backend.Enumerate(ctx, dyngraph.New, s.plan, want, limit, budget, emit)
}

// Close makes the registered queries known to the backend again. Without it the next step does so.
func (s *Static) Close() error { return s.e.current() }
