package negation

import (
	"errors"

	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// total answers a request for a number, or for whether there is a match: rows are enumerated and counted.
func (s *search) total(i int) error {
	r, req, res, b := &s.state[i], &s.reqs[i], &s.results[i], s.b
	over := func(cause matcher.Cause) { res.Over, res.Count, res.Witness = cause, matcher.Count{}, nil }
	if req.Before == 0 {
		return nil
	}
	if cause := r.meter.Begin(req.Budget, true); cause != matcher.NoCause {
		over(cause)
		return nil
	}
	found := func(rows matcher.Rows) error {
		res.Count = res.Count.Add(matcher.CountOf(uint64(rows.Len())))
		if rows.Len() > 0 && req.Want == matcher.WantAny {
			res.Count, res.Witness = matcher.CountOf(1), append([]uint32(nil), rows.Row(0)...)
			return errEnough
		}
		return nil
	}
	// ended takes the error of a search, and tells whether it was the last one.
	ended := func(err error) (bool, error) {
		switch {
		case errors.Is(err, residual.ErrBudget):
			over(r.meter.Over())
			return true, nil
		case errors.Is(err, errEnough):
			return true, nil
		}
		return err != nil, err
	}
	if !r.x.revised {
		results, err := b.Backend.Search(s.ctx, s.sign, []matcher.Request{s.inner(i)}, func(g matcher.Group) error {
			kept, err := s.test(i, g.Rows)
			if err != nil {
				return err
			}
			return found(kept)
		}, func(_ int, _ uint32, cause matcher.Cause) (bool, error) {
			over(cause)
			return true, nil
		})
		if end, err := ended(err); end {
			return err
		}
		res.Steps += results[0].Steps
		res.SearchNS += results[0].SearchNS
		if res.Over != matcher.NoCause {
			res.Count = matcher.Count{}
			return nil
		}
	}
	here, _ := b.views(s.sign)
	for order := range b.d.Net {
		own := b.d.Net[order].Sign == s.sign
		if own && !r.x.revised || req.Skips(uint32(order)) {
			continue
		}
		if !b.mayBegin(r.x, s.sign, uint32(order)) {
			continue
		}
		c := b.newCollector(r.x, here, req.Budget, !own)
		err := s.find(i, uint32(order), c)
		if err == nil {
			err = c.each(s.ctx, found)
		}
		c.drop()
		if end, err := ended(err); end {
			return err
		}
	}
	return nil
}
