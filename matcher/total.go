package matcher

import (
	"context"
	"fmt"
	"time"
)

// Total counts the matches of a query that need not be registered in the graph as it is, between steps. Nothing
// changes. limit bounds the search time, summed over threads, of a backend that has a clock; known is false when that
// was not enough. ctx ends it, with its cause wrapped in the error.
func (e *Engine) Total(ctx context.Context, q *Query, limit time.Duration) (n Count, known bool, err error) {
	s, err := e.Static(q)
	if err != nil {
		return Count{}, false, err
	}
	if err := s.Prepare(); err != nil {
		return Count{}, false, err
	}
	res, err := s.Search(ctx, WantCount, 0, NewBudget(Limits{QueryTime: limit}, 0, nil), nil)
	if err != nil {
		return Count{}, false, fmt.Errorf("counting the matches of query %q: %w", q.Name, err)
	}
	if err := s.Close(); err != nil {
		return Count{}, false, err
	}
	return res.Count, res.Over == NoCause, nil
}
