package negation

import (
	"errors"
	"math"

	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// firstLimit is the number of core rows that are requested at first for each row that a request with a limit wants;
// moreLimit is the factor by which that grows while too few of them are left.
const (
	firstLimit = 2
	moreLimit  = 8
	mostLimit  = math.MaxUint64 / moreLimit
)

// store finds the rows of a request with a limit that the inner backend has, and keeps them until their turn comes: at
// most as many as the limit. The inner backend is asked for a prefix of the core's rows, and for a longer one while
// that holds too few matches; so the cost is in proportion to the rows of the core up to the last one that is told.
func (s *search) store(i int) error {
	r, req := &s.state[i], &s.reqs[i]
	for limit := firstLimit * min(req.Limit, mostLimit/firstLimit); ; limit = min(limit, mostLimit) * moreLimit {
		inner := s.inner(i)
		inner.Limit = limit
		again, rows := len(r.stored), 0 // groups of a shorter prefix come again, and rows of the one at hand
		order := uint32(0)
		results, err := s.b.Backend.Search(s.ctx, s.sign, []matcher.Request{inner}, func(g matcher.Group) error {
			if g.Order != order {
				order, rows = g.Order, 0
			}
			before := rows
			rows += g.Rows.Len()
			if err := s.keep(i, g, before); err != nil {
				return err
			}
			if r.kept >= req.Limit {
				return errEnough
			}
			return nil
		}, func(_ int, order uint32, cause matcher.Cause) (bool, error) {
			last := len(r.stored) - 1
			switch {
			case last < 0 || r.stored[last].order < order:
				r.stored = append(r.stored, stored{order: order, cause: cause})
			case r.stored[last].order == order && last == again-1: // it was cut by the limit, and goes no further
				s.void(i, last, cause)
			}
			return isLast(cause), nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
		s.results[i].Steps += results[0].Steps
		s.results[i].SearchNS += results[0].SearchNS
		if !results[0].Truncated {
			return nil
		}
	}
}

// void drops the rows of a stored group, which is beyond its budget.
func (s *search) void(i, group int, cause matcher.Cause) {
	r := &s.state[i]
	g := &r.stored[group]
	r.kept -= uint64(len(g.rows) / (r.x.vertices + r.x.edges))
	g.cause, g.rows = cause, nil
}

// isLast reports whether no later group of a query is searched behind one that is beyond this limit.
func isLast(cause matcher.Cause) bool {
	return cause == matcher.CauseBatch || cause == matcher.CauseSpent || cause == matcher.CauseOperator
}

// keep tests rows of a group against the negations, and stores those that are matches. before is the number of rows of
// the group that came earlier. Rows that were tested already are left out.
func (s *search) keep(i int, g matcher.Group, before int) error {
	r := &s.state[i]
	last := len(r.stored) - 1
	if last >= 0 && g.Order < r.stored[last].order {
		return nil
	}
	if last < 0 || r.stored[last].order != g.Order {
		r.stored = append(r.stored, stored{order: g.Order, cause: r.meter.Begin(s.reqs[i].Budget, true)})
		last++
	}
	x := &r.stored[last]
	if x.cause != matcher.NoCause || before+g.Rows.Len() <= x.taken {
		return nil
	}
	rows := g.Rows.Slice(max(0, x.taken-before), g.Rows.Len())
	x.taken = before + g.Rows.Len()
	kept, err := s.test(i, rows)
	if errors.Is(err, residual.ErrBudget) {
		s.void(i, last, r.meter.Over())
		return nil
	}
	x.rows = append(x.rows, kept.Data...)
	r.kept += uint64(kept.Len())
	return err
}

// restore emits the next stored group.
func (s *search) restore(i int) error {
	r := &s.state[i]
	g := r.stored[0]
	r.stored = r.stored[1:]
	if g.cause != matcher.NoCause {
		return s.leaveOut(i, g.order, g.cause)
	}
	return s.give(i, g.order, matcher.Rows{Vertices: r.x.vertices, Edges: r.x.edges, Data: g.rows})
}
