package matcher

import (
	"context"
	"fmt"
	"time"

	"motifd/dyngraph"
)

// Total counts the matches of a query that need not be registered in the graph as it is, between steps. Nothing
// changes. limit bounds the search time, summed over threads, of a backend that has a clock; known is false when that
// was not enough. ctx ends it, with its cause wrapped in the error.
func (e *Engine) Total(ctx context.Context, q *Query, limit time.Duration) (n Count, known bool, err error) {
	if err := e.current(); err != nil {
		return Count{}, false, err
	}
	if err := e.checkNegations(q); err != nil {
		return Count{}, false, err
	}
	p, err := e.opt.Planner.Plan(q, e.g)
	if err != nil {
		return Count{}, false, fmt.Errorf("planning query %q: %w", q.Name, err)
	}
	plans := []*Plan{p}
	for _, r := range e.active {
		plans = append(plans, r.plan)
	}
	e.unprepared = true // until the backend knows the registered queries alone again
	if err := e.opt.Backend.Prepare(plans); err != nil {
		return Count{}, false, fmt.Errorf("preparing backend %s: %w", e.opt.Backend.Name(), err)
	}
	budget := NewBudget(Limits{QueryTime: limit}, 0, nil)
	res, err := e.opt.Backend.Enumerate(ctx, dyngraph.New, p, WantCount, 0, budget, nil)
	if err != nil {
		return Count{}, false, fmt.Errorf("counting the matches of query %q: %w", q.Name, err)
	}
	if err := e.prepare(); err != nil {
		return Count{}, false, err
	}
	return res.Count, res.Over == NoCause, nil
}
