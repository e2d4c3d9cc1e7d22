package negation

import (
	"context"
	"errors"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// search is one Search with requests for queries with negations.
type search struct {
	b       *Backend
	ctx     context.Context
	sign    dyngraph.Sign
	reqs    []matcher.Request
	results []matcher.Result
	emit    func(matcher.Group) error
	over    matcher.Exceeded
	state   []request
	denied  []int  // the requests for queries with negations
	next    uint32 // order of the first net element whose groups here are not all emitted
	at      int    // of the next such group, the request: an index into denied
}

// request is the state of one request in a search.
type request struct {
	x      *query        // nil for a query without negations
	done   bool          // nothing more of it is emitted
	given  uint64        // rows emitted
	meter  matcher.Meter // of the group at hand
	order  uint32        // of the group that filters at hand
	begun  bool          // such a group is
	stored []stored      // groups of a request with a limit, from the inner backend
	kept   uint64        // rows of these
}

// stored is a group of the inner backend, filtered, or one that is beyond its budget.
type stored struct {
	order uint32
	taken int // rows of the core that were tested
	rows  []uint32
	cause matcher.Cause
}

// errEnough ends a search of the inner backend of which nothing more is wanted.
var errEnough = errors.New("enough is found")

// Search implements matcher.Backend.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	if !b.negated(reqs) {
		return b.Backend.Search(ctx, sign, reqs, emit, over)
	}
	s := &search{b: b, ctx: ctx, sign: sign, reqs: reqs, emit: emit, over: over,
		results: make([]matcher.Result, len(reqs)), state: make([]request, len(reqs))}
	for i := range reqs {
		x := b.queries[reqs[i].Plan]
		if x == nil {
			continue
		}
		s.state[i].x = x
		s.denied = append(s.denied, i)
		if reqs[i].Want != matcher.WantRows {
			s.state[i].done = true
			if err := s.total(i); err != nil {
				return nil, err
			}
		} else if reqs[i].Limit > 0 && !x.revised {
			if err := s.store(i); err != nil {
				return nil, err
			}
		}
	}
	return s.results, s.run()
}

// inner returns the request of the inner backend for one with negations.
func (s *search) inner(i int) matcher.Request {
	r := s.reqs[i]
	r.Plan, r.Want, r.Limit, r.Silence = s.state[i].x.core, matcher.WantRows, 0, nil
	return r
}

// nothing is a request that finds nothing.
func nothing(r matcher.Request) matcher.Request {
	r.Before, r.Want, r.Silence = 0, matcher.WantRows, nil
	return r
}

// run searches all requests together, and merges what the inner backend finds with what is found here.
func (s *search) run() error {
	inner := make([]matcher.Request, len(s.reqs))
	some := false
	for i := range s.reqs {
		switch x := s.state[i].x; {
		case x == nil:
			inner[i] = s.reqs[i]
			some = true
		case s.state[i].done || s.reqs[i].Limit > 0 || x.revised:
			inner[i] = nothing(s.inner(i))
		default:
			inner[i] = s.inner(i)
			some = true
		}
	}
	if some {
		results, err := s.b.Backend.Search(s.ctx, s.sign, inner, s.filter, s.exceeded)
		if err != nil {
			return err
		}
		for i := range results {
			if s.state[i].x == nil {
				s.results[i] = results[i]
				continue
			}
			s.results[i].Steps += results[i].Steps
			s.results[i].SearchNS += results[i].SearchNS
		}
	}
	return s.flush(uint32(len(s.b.d.Net)), 0)
}

// filter hands on a group of the inner backend, behind those here that come before it.
func (s *search) filter(g matcher.Group) error {
	if err := s.flush(g.Order, g.Request); err != nil {
		return err
	}
	r := &s.state[g.Request]
	if r.x == nil {
		return s.emit(g)
	}
	if r.done {
		return nil
	}
	if !r.begun || r.order != g.Order {
		r.begun, r.order = true, g.Order
		if cause := r.meter.Begin(s.reqs[g.Request].Budget, true); cause != matcher.NoCause {
			return s.leaveOut(g.Request, g.Order, cause)
		}
	} else if r.meter.Over() != matcher.NoCause {
		return nil // the rest of a group that is beyond its budget
	}
	kept, err := s.test(g.Request, g.Rows)
	if errors.Is(err, residual.ErrBudget) {
		return s.leaveOut(g.Request, g.Order, r.meter.Over())
	}
	if err != nil {
		return err
	}
	return s.give(g.Request, g.Order, kept)
}

// test returns the rows of the core that are matches, under the request's meter.
func (s *search) test(i int, rows matcher.Rows) (matcher.Rows, error) {
	r, b := &s.state[i], s.b
	kept := matcher.Rows{Vertices: rows.Vertices, Edges: rows.Edges}
	steps, ns := b.work.Steps, b.work.NS
	b.begin(s.ctx, &r.meter)
	defer func() {
		s.results[i].Steps += b.work.Steps - steps
		s.results[i].SearchNS += b.work.NS - ns
	}()
	for k := range rows.Len() {
		row := rows.Row(k)
		keep, err := b.keeps(r.x, s.sign, s.reqs[i].Silence, row)
		if err != nil {
			return kept, err
		}
		if keep {
			kept.Data = append(kept.Data, row...)
		}
	}
	return kept, b.work.Spend(0)
}

// give emits rows of a group, as far as the request's limit allows.
func (s *search) give(i int, order uint32, rows matcher.Rows) error {
	r, res := &s.state[i], &s.results[i]
	if limit := s.reqs[i].Limit; limit > 0 && uint64(rows.Len()) >= limit-r.given {
		rows = rows.Slice(0, int(limit-r.given))
		r.done, res.Truncated = true, true
	}
	n := uint64(rows.Len())
	r.given += n
	res.Count = res.Count.Add(matcher.CountOf(n))
	if n == 0 {
		return nil
	}
	return s.emit(matcher.Group{Request: i, Order: order, Rows: rows})
}

// exceeded is told by the inner backend of a group that is beyond its budget.
func (s *search) exceeded(request int, order uint32, cause matcher.Cause) (stop bool, err error) {
	if err := s.flush(order, request); err != nil {
		return false, err
	}
	if s.state[request].x == nil {
		return s.over(request, order, cause)
	}
	err = s.leaveOut(request, order, cause)
	return s.state[request].done, err
}

// leaveOut leaves out a group of a query with negations that is beyond its budget, and tells of it.
func (s *search) leaveOut(request int, order uint32, cause matcher.Cause) error {
	if s.state[request].done {
		return nil
	}
	stop, err := s.over(request, order, cause)
	s.state[request].done = s.state[request].done || stop
	return err
}

// find adds what is found here of one group to a collector, under the request's meter.
func (s *search) find(i int, order uint32, c *collector) (err error) {
	r, b := &s.state[i], s.b
	steps, ns := b.work.Steps, b.work.NS
	b.begin(s.ctx, &r.meter)
	if b.d.Net[order].Sign == s.sign {
		err = b.owned(r.x, s.sign, s.reqs[i].Silence, order, c)
	} else {
		err = b.turned(r.x, s.sign, order, c)
	}
	if err == nil {
		err = b.work.Spend(0)
	}
	s.results[i].Steps += b.work.Steps - steps
	s.results[i].SearchNS += b.work.NS - ns
	return err
}

// flush emits the groups that are found here and come before a group of an order and a request.
func (s *search) flush(order uint32, request int) error {
	for s.next < order || s.next == order && s.denied[s.at] < request {
		i, o := s.denied[s.at], s.next
		if s.at++; s.at == len(s.denied) {
			s.at, s.next = 0, s.next+1
		}
		if s.state[i].done {
			continue
		}
		if err := s.group(i, o); err != nil {
			return err
		}
	}
	return nil
}

// group emits what is found here of one group: it is stored, it is anchored at a change that turned negations, or the
// batch revises vertices that matter for the query.
func (s *search) group(i int, order uint32) error {
	r, req, b := &s.state[i], &s.reqs[i], s.b
	if len(r.stored) > 0 && r.stored[0].order == order {
		return s.restore(i)
	}
	own := b.d.Net[order].Sign == s.sign
	if own && !r.x.revised || req.Skips(order) {
		return nil
	}
	if !b.mayBegin(r.x, s.sign, order) {
		return nil
	}
	if cause := r.meter.Begin(req.Budget, req.Limit > 0); cause != matcher.NoCause {
		return s.leaveOut(i, order, cause)
	}
	here, _ := b.views(s.sign)
	c := b.newCollector(r.x, here, req.Budget, !own)
	defer c.drop()
	err := s.find(i, order, c)
	if err == nil {
		err = c.each(s.ctx, func(rows matcher.Rows) error {
			if r.done {
				return nil
			}
			return s.give(i, order, rows)
		})
	}
	if errors.Is(err, residual.ErrBudget) {
		return s.leaveOut(i, order, r.meter.Over())
	}
	return err
}
