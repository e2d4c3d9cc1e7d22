package matcher

import "motifd/dyngraph"

// capOf returns the number of positives that a search for a query may find: one more than the query's cap, which tells
// that the cap was exceeded.
func capOf(q *Query) uint64 {
	if q.MaxMatches == 0 || q.MaxMatches+1 == 0 || q.Once != nil { // it is not known how many once drops
		return 0
	}
	return q.MaxMatches + 1
}

// request makes the request for a query. There is none if nothing of the sign is to be searched, or if a decision
// forbids it.
func (s *stepper) request(w *work, sign dyngraph.Sign) (Request, bool) {
	q := w.state.Query
	req := Request{Plan: w.plan, Before: AllOrders}
	switch q.Emit {
	case EmitDeltas:
		if sign == dyngraph.Inserted {
			req.Limit = capOf(q)
		}
	case EmitCounts:
		req.Want = WantCount
	case EmitExists:
		req.Want = WantAny
	}
	if q.Emit != EmitExists {
		req.Silence = s.silence(w, sign)
	}
	if q.Groups != nil && q.SilentExpiry {
		s.silentExpiry(&req)
	} else if q.SilentExpiry && s.d.Expired > 0 && (sign == dyngraph.Deleted || len(q.Negations) > 0) {
		// Expired edges are the first net edges. So they are the anchors of matches that hold one, and of matches that
		// begin because their last blockers expire. Counting knows no anchors.
		req.From, req.Want = uint32(s.d.Expired), WantRows
	}
	w.limit(&req, sign)
	if q.Once != nil && sign == dyngraph.Deleted || sign == dyngraph.Changed && !q.EmitsChanges() {
		return req, false
	}
	if !w.fits.side(sign) || req.Before == 0 || q.Emit != EmitDeltas && req.Before != AllOrders ||
		int(req.From) == len(s.d.Net) {
		return req, false
	}
	if sign == dyngraph.Deleted && q.SilentExpiry && q.IsVertex() && s.d.Isolated > 0 { // they are the last ones
		req.Before, req.Want = min(req.Before, uint32(len(s.d.Net)-s.d.Isolated)), WantRows
	}
	req.Budget = s.budgetOf(w)
	return req, true
}

// silentExpiry leaves out matches that are anchored at an edge that expires, or at a vertex that is removed because it
// has no edges. For a query with WITH such a change may also make a match.
func (s *stepper) silentExpiry(req *Request) {
	if s.d.Expired == 0 {
		return
	}
	req.From = uint32(s.d.Expired)
	if req.Want == WantCount {
		req.Want = WantRows
	}
}

// requests makes the requests of the queries of one emit mode for one phase, and tells which query each is of.
func (s *stepper) requests(sign dyngraph.Sign, mode Emit) (which []*work, reqs []Request) {
	which, reqs = s.e.which[:0], s.e.reqs[:0]
	for i := range s.work {
		w := &s.work[i]
		w.result, w.given, w.cut, w.order, w.over = nil, 0, false, AllOrders, NoCause
		if w.state.Query.Emit != mode || mode == EmitExists && w.existed.decided {
			continue
		}
		if req, ok := s.request(w, sign); ok {
			which, reqs = append(which, w), append(reqs, req)
		}
	}
	s.e.which, s.e.reqs = which, reqs
	return which, reqs
}

// ask searches the queries of one emit mode in one phase; matches are emitted as they come.
func (s *stepper) ask(sign dyngraph.Sign, mode Emit) error {
	if !s.modes[mode] {
		return nil
	}
	which, reqs := s.requests(sign, mode)
	if len(reqs) == 0 {
		return nil
	}
	ev := Event{Kind: EventMatches, Sign: sign, View: s.view(sign)}
	results, err := s.e.opt.Backend.Search(s.ctx, sign, reqs, func(g Group) error {
		if mode == EmitCounts {
			return nil // its Result tells
		}
		return s.emitGroup(which[g.Request], &ev, &g)
	}, func(request int, order uint32, cause Cause) (bool, error) {
		if mode != EmitDeltas { // its Result tells, but for a count that is found by enumeration
			which[request].over = cause
			return true, nil
		}
		return s.over(which[request], sign, order, cause)
	})
	if err != nil {
		return err
	}
	for k, w := range which {
		if err := s.take(w, sign, &results[k]); err != nil {
			return err
		}
	}
	return nil
}

// emitGroup emits what may be emitted of a group of matches, in an event that groups use one after the other.
func (s *stepper) emitGroup(w *work, ev *Event, g *Group) error {
	if w.order != g.Order {
		w.order, w.rows = g.Order, 0
	}
	if w.suspended == nil && w.budget.Stopped() {
		if err := s.cut(w, ev.Sign, g.Order, Suspend, CauseOperator); err != nil {
			return err
		}
	}
	n := w.room(ev.Sign, g.Order, g.Rows.Len())
	w.cut = w.cut || n < g.Rows.Len()
	if n == 0 {
		return nil
	}
	if err := s.flushNotices(ev.Sign, g.Order, w.state.Query); err != nil {
		return err
	}
	ev.Query = w.state.Query
	ev.AnchorEdge = &s.d.Net[g.Order]
	ev.Anchor = s.anchor(ev.AnchorEdge)
	if ev.LossySince = 0; ev.Sign != dyngraph.Inserted {
		ev.LossySince = w.state.LossySince
	}
	for at := 0; at < n; {
		k := w.budget.fits(w.rows, n-at)
		if k == 0 {
			w.cut = true
			return s.cutOutput(w, ev.Sign, g.Order)
		}
		w.rows += uint64(k)
		w.given += uint64(k)
		ev.Rows = g.Rows.Slice(at, at+k)
		if err := s.putRows(w, ev, g.Order); err != nil {
			return err
		}
		at += k
	}
	return nil
}

// take takes the result of a query's search in one phase.
func (s *stepper) take(w *work, sign dyngraph.Sign, r *Result) error {
	w.result = r
	w.sum.Steps += r.Steps
	w.sum.SearchNS += r.SearchNS
	if r.Over == NoCause {
		r.Over = w.over
	}
	mode := w.state.Query.Emit
	if mode == EmitExists {
		return nil
	}
	if r.Over != NoCause {
		if err := s.overTotal(w, sign, r.Over); err != nil {
			return err
		}
	}
	if x := w.suspended; mode == EmitDeltas && (w.cut || x != nil && x.Sign == sign) {
		r.Count = CountOf(w.given)
	}
	w.found(sign, r.Count)
	return nil
}

// anchor returns the update of a net edge.
func (s *stepper) anchor(n *dyngraph.NetEdge) *dyngraph.Update {
	v := s.e.g.View(dyngraph.Old)
	switch n.UpdateIndex {
	case dyngraph.AtExpiry:
	case dyngraph.AtIsolation:
		return &dyngraph.Update{Op: dyngraph.ExpireVertex, Key: v.Key(n.From), Label: v.LabelName(v.Label(n.From))}
	default:
		return &s.b.Updates[n.UpdateIndex]
	}
	return &dyngraph.Update{Op: dyngraph.ExpireEdge, From: v.Key(n.From), To: v.Key(n.To), Label: v.LabelName(n.Label),
		Attr: v.Attr(n.Edge)}
}

// found notes the number of matches of a sign.
func (w *work) found(sign dyngraph.Sign, n Count) {
	switch q := w.state.Query; sign {
	case dyngraph.Inserted:
		most := CountOf(q.MaxMatches).Add(CountOf(w.sum.Once))
		if q.MaxMatches > 0 && q.Emit == EmitDeltas && n.Cmp(most) > 0 {
			n = most
		}
		w.sum.Positive = n
	case dyngraph.Changed:
		w.sum.Changed = n
	default:
		w.sum.Negative = n
	}
}
