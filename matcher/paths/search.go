package paths

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher"
)

// search is one search of the inner backend.
type search struct {
	reqs    []matcher.Request // as asked
	parts   []matcher.Request
	of      []int // by part: the index of its request
	answers []answer
	emit    func(matcher.Group) error
	over    matcher.Exceeded
}

// answer is the state of a request so far.
type answer struct {
	given  uint64 // rows that were handed on
	order  uint32 // the last anchor of which something was handed on or left out
	rows   uint64 // handed on, of that anchor
	left   bool   // the rest of that anchor is left out
	closed bool   // nothing more is wanted
}

// at begins another anchor.
func (a *answer) at(order uint32) {
	if a.order != order {
		a.order, a.rows, a.left = order, 0, false
	}
}

// Search implements matcher.Backend.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	if !hasPaths(reqs) {
		return b.Backend.Search(ctx, sign, reqs, emit, over)
	}
	s := &search{reqs: reqs, answers: make([]answer, len(reqs)), emit: emit, over: over}
	for i := range s.answers {
		s.answers[i].order = matcher.AllOrders
	}
	s.parts, s.of = expand(reqs)
	found, err := b.Backend.Search(ctx, sign, s.parts, s.group, s.exceeded)
	if err != nil {
		return nil, err
	}
	return s.results(found), nil
}

// group hands a group of a part on, as far as its request wants it. When one variant's group of an anchor is left out,
// so are those of the others that come behind: what is decided about is the query's group.
func (s *search) group(g matcher.Group) error {
	part := g.Request
	g.Request = s.of[part]
	a, req := &s.answers[g.Request], &s.reqs[g.Request]
	if s.parts[part].Plan == req.Plan {
		return s.emit(g)
	}
	a.at(g.Order)
	if a.closed || a.left {
		return nil
	}
	g.Rows.Of = s.parts[part].Plan.Query
	n, full := uint64(g.Rows.Len()), false
	if req.Limit > 0 {
		n = min(n, req.Limit-a.given)
	} else if room := req.Budget.Room(a.rows); n > room {
		n, full = room, true
	}
	g.Rows = g.Rows.Slice(0, int(n))
	a.given += n
	a.rows += n
	a.closed = req.Limit > 0 && a.given == req.Limit
	if n > 0 {
		if err := s.emit(g); err != nil {
			return err
		}
	}
	if full {
		_, err := s.exceeded(part, g.Order, matcher.CauseMatches)
		return err
	}
	return nil
}

// exceeded tells of a group that is left out, once for all variants.
func (s *search) exceeded(part int, order uint32, cause matcher.Cause) (stop bool, err error) {
	request := s.of[part]
	a := &s.answers[request]
	a.at(order)
	if a.closed || a.left {
		return a.closed, nil
	}
	a.left = true
	a.closed, err = s.over(request, order, cause)
	return a.closed, err
}

// results returns what the parts found as results of the requests.
func (s *search) results(found []matcher.Result) []matcher.Result {
	results := make([]matcher.Result, len(s.reqs))
	for part, r := range found {
		request := s.of[part]
		if s.parts[part].Plan == s.reqs[request].Plan {
			results[request] = r
			continue
		}
		join(&results[request], &r, s.reqs[request].Want)
	}
	for i := range results {
		if a, req := &s.answers[i], &s.reqs[i]; len(req.Plan.Variants) > 0 && req.Want == matcher.WantRows {
			results[i].Count = matcher.CountOf(a.given)
			results[i].Truncated = req.Limit > 0 && a.given == req.Limit
		}
	}
	return results
}

// join adds what another variant found. A witness of one is the query's, whatever the others would have cost.
func join(r, of *matcher.Result, want matcher.Want) {
	r.Steps += of.Steps
	r.SearchNS += of.SearchNS
	r.FilterNS += of.FilterNS
	r.OrderNS += of.OrderNS
	switch {
	case want == matcher.WantAny && !r.Count.IsZero():
	case want == matcher.WantAny && !of.Count.IsZero():
		r.Count, r.Witness, r.Over = of.Count, of.Witness, matcher.NoCause
	case r.Over != matcher.NoCause:
	case of.Over != matcher.NoCause:
		r.Count, r.Over = matcher.Count{}, of.Over
	default:
		r.Count = r.Count.Add(of.Count)
	}
}

// Enumerate implements matcher.Backend: the variants one after the other, by lengths.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	if len(p.Variants) == 0 {
		return b.Backend.Enumerate(ctx, which, p, want, limit, budget, emit)
	}
	var all matcher.Result
	given := uint64(0)
	for _, v := range p.Variants {
		left := uint64(0)
		if limit > 0 {
			left = max(1, limit-given) // with nothing left, one more row tells that there are more
		}
		r, err := b.Backend.Enumerate(ctx, which, v, want, left, budget, func(rows matcher.Rows) error {
			if limit > 0 && given == limit {
				all.Truncated = true
				return nil
			}
			rows.Of = v.Query
			given += uint64(rows.Len())
			return emit(rows)
		})
		if err != nil {
			return r, err
		}
		all.Truncated = all.Truncated || r.Truncated
		join(&all, &r, want)
		if all.Over != matcher.NoCause && want != matcher.WantAny || want == matcher.WantAny && !all.Count.IsZero() ||
			all.Truncated {
			break
		}
	}
	if want == matcher.WantRows {
		all.Count = matcher.CountOf(given)
	}
	return all, nil
}
