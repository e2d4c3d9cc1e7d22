package negation

import (
	"context"
	"errors"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// Enumerate implements matcher.Backend: the rows of the core, less those that are blocked. Rows are tested while they
// are handed on: a search that is beyond its budget there has emitted those before.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	x := b.queries[p]
	if x == nil {
		return b.Backend.Enumerate(ctx, which, p, want, limit, budget, emit)
	}
	e := &enumeration{b: b, ctx: ctx, x: x, view: b.g.View(which), want: want, limit: limit, emit: emit}
	if want == matcher.WantRows {
		e.steps = limit
	} else if want == matcher.WantAny {
		e.steps = 1
	}
	if cause := e.meter.Begin(budget, true); cause != matcher.NoCause {
		return matcher.Result{Over: cause}, nil
	}
	steps, ns := b.work.Steps, b.work.NS
	res, err := e.run(which, budget)
	res.Steps += b.work.Steps - steps
	res.SearchNS += b.work.NS - ns
	return res, err
}

// enumeration is one Enumerate of a query with negations.
type enumeration struct {
	b     *Backend
	ctx   context.Context
	x     *query
	view  dyngraph.View
	want  matcher.Want
	limit uint64
	steps uint64 // rows that are wanted, 0 for all
	emit  func(matcher.Rows) error
	meter matcher.Meter

	tested, skip uint64 // rows of the core: by all searches, and of the search at hand
	res          matcher.Result
}

// run enumerates the core: a prefix where few rows are wanted, and a longer one while that holds too few.
func (e *enumeration) run(which dyngraph.Which, budget *matcher.Budget) (matcher.Result, error) {
	inner := uint64(0)
	if e.steps > 0 {
		inner = firstLimit * min(e.steps, mostLimit/firstLimit)
	}
	for {
		e.skip = 0
		res, err := e.b.Backend.Enumerate(e.ctx, which, e.x.core, matcher.WantRows, inner, budget, e.rows)
		switch {
		case errors.Is(err, errEnough):
			return e.res, nil
		case errors.Is(err, residual.ErrBudget):
			return e.over(e.meter.Over()), nil
		case err != nil:
			return e.res, err
		}
		e.res.Steps += res.Steps
		e.res.SearchNS += res.SearchNS
		e.res.FilterNS += res.FilterNS
		e.res.OrderNS += res.OrderNS
		if res.Over != matcher.NoCause {
			return e.over(res.Over), nil
		}
		if !res.Truncated {
			return e.res, nil
		}
		inner = min(inner, mostLimit) * moreLimit
	}
}

// over returns the result of an enumeration that a limit ends.
func (e *enumeration) over(cause matcher.Cause) matcher.Result {
	e.res.Over, e.res.Count, e.res.Witness = cause, matcher.Count{}, nil
	return e.res
}

// rows takes rows of the core, of which those that were tested under a shorter prefix are passed over.
func (e *enumeration) rows(rows matcher.Rows) error {
	b := e.b
	from := min(uint64(rows.Len()), e.tested-min(e.tested, e.skip))
	e.skip += uint64(rows.Len())
	rows = rows.Slice(int(from), rows.Len())
	kept := matcher.Rows{Vertices: rows.Vertices, Edges: rows.Edges}
	b.begin(e.ctx, &e.meter)
	for i := range rows.Len() {
		row := rows.Row(i)
		is, err := b.blocked(e.x, e.view, row)
		if err != nil {
			return err
		}
		if e.tested++; !is {
			kept.Data = append(kept.Data, row...)
		}
		if e.want == matcher.WantAny && !is {
			break
		}
	}
	if err := b.work.Spend(0); err != nil {
		return err
	}
	return e.take(kept)
}

// take counts matches, and hands on as many as are wanted.
func (e *enumeration) take(rows matcher.Rows) error {
	switch e.want {
	case matcher.WantAny:
		if rows.Len() == 0 {
			return nil
		}
		e.res.Count, e.res.Witness = matcher.CountOf(1), append([]uint32(nil), rows.Row(0)...)
		return errEnough
	case matcher.WantCount:
		e.res.Count = e.res.Count.Add(matcher.CountOf(uint64(rows.Len())))
		return nil
	}
	given := e.res.Count.Add(matcher.CountOf(uint64(rows.Len())))
	enough := false
	if e.limit > 0 && given.Cmp(matcher.CountOf(e.limit)) > 0 { // one more tells that there are more
		n, _ := e.res.Count.Uint64()
		rows = rows.Slice(0, int(e.limit-n))
		given, enough, e.res.Truncated = matcher.CountOf(e.limit), true, true
	}
	e.res.Count = given
	if rows.Len() > 0 {
		if err := e.emit(rows); err != nil {
			return err
		}
	}
	if enough {
		return errEnough
	}
	return nil
}
