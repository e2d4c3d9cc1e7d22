//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"slices"
	"time"

	"motifd/matcher"
)

// The device does not meter groups one by one: many are searched at once. A search there may take the time that its requests have left, and
// give no group with more rows than it may have. When that does not do, the CPU backend goes on from the first anchor whose rows were not
// handed out: it finds the groups that are beyond their budgets, and searches the others.

// patient returns a context that ends when the time that requests have left is over.
func (s *batchSearch) patient(ctx context.Context, of []int) (context.Context, context.CancelFunc) {
	left := time.Duration(0)
	for _, i := range of {
		if p := s.reqs[i].Budget.Patience(); p > 0 && (left == 0 || p < left) {
			left = p
		}
	}
	if left == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, left)
}

// impatient tells that a search failed since its time was over, and nothing else was the matter.
func impatient(ctx, within context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && within.Err() != nil && ctx.Err() == nil
}

// goOn has the CPU backend search for rows from an anchor on.
func (s *batchSearch) goOn(ctx context.Context, of []int, from uint32, e *emitter) error {
	sub := slices.Clone(requestsOf(s.reqs, of))
	for k, i := range of {
		r := &sub[k]
		if r.Limit > 0 {
			r.Limit -= e.emitted[i]
		}
		if e.closed[i] || s.reqs[i].Limit > 0 && r.Limit == 0 {
			r.Before = 0
			continue
		}
		skip := make([]uint32, 0, int(from)+len(r.Skip))
		for order := range from {
			skip = append(skip, order)
		}
		for _, order := range r.Skip {
			if order >= from {
				skip = append(skip, order)
			}
		}
		r.Skip = skip
	}
	got, err := s.b.cpu.Search(ctx, s.sign, sub, func(g matcher.Group) error {
		g.Request = of[g.Request]
		return s.emit(g)
	}, func(k int, order uint32, cause matcher.Cause) (bool, error) { return s.over(of[k], order, cause) })
	if err != nil {
		return err
	}
	for k, i := range of {
		r := &s.results[i]
		r.Count, r.Truncated = r.Count.Add(got[k].Count), r.Truncated || got[k].Truncated
		r.Steps, r.SearchNS = got[k].Steps, got[k].SearchNS
	}
	return nil
}
