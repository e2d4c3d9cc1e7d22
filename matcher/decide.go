package matcher

import (
	"cmp"
	"fmt"
	"slices"

	"motifd/dyngraph"
)

// decide makes a decision about a query durable, before anything that it concerns is emitted (DESIGN S11).
func (s *stepper) decide(w *work, x Decision) error {
	q := w.state.Query
	x.Query, x.Version = q.Name, q.Version
	if x.Cause == CauseSpent {
		x.Cause = CauseSteps
	}
	if s.e.opt.Decide != nil {
		if err := s.e.opt.Decide(s.b.Number, x); err != nil {
			return fmt.Errorf("logging the decision to %s query %q: %w", x.Action, q.Name, err)
		}
	}
	w.decisions = append(w.decisions, x)
	w.note(&w.decisions[len(w.decisions)-1])
	return nil
}

// note takes account of a decision, made or obeyed.
func (w *work) note(x *Decision) {
	switch x.Action {
	case Suspend:
		if x.Order == AllOrders {
			w.leaving = x
		} else {
			w.suspended = x
		}
		return
	case NoTotal:
		if x.Sign == dyngraph.Inserted {
			w.sum.NoPositive = true
		} else {
			w.sum.NoNegative = true
		}
		return
	}
	w.sum.Skipped++
	w.sum.Cause = x.Cause
	if (x.Action == Skip || x.Action == SkipRest) && x.Kept > 0 && !x.Snapshot {
		if w.kept == nil {
			w.kept = make(map[groupOf]uint64)
		}
		w.kept[groupOf{x.Sign, x.Order}] = x.Kept
	}
	if x.Sign == dyngraph.Inserted || w.state.Query.Emit == EmitCounts {
		w.lossy = true
	}
}

// over decides what to do when a backend leaves a group out because it is beyond a limit.
func (s *stepper) over(w *work, sign dyngraph.Sign, order uint32, cause Cause) (stop bool, err error) {
	if x := w.suspended; x != nil && x.Sign == sign &&
		order >= x.Order { // it was stopped in front of the group, or inside
		return true, nil
	}
	x := Decision{Sign: sign, Order: order, Cause: cause}
	if w.order == order { // another variant's matches of the anchor are handed on, or some that were tested before
		if kept, cut := w.kept[groupOf{sign, order}]; cut && w.rows >= kept {
			return false, nil // they ended the group already
		}
		x.Kept = w.rows
	}
	switch {
	case cause == CauseOperator || w.state.Query.OverBudget == SuspendQuery:
		x.Action = Suspend
	case cause == CauseBatch || cause == CauseSpent:
		x.Action = SkipRest
	default:
		x.Action = Skip
	}
	if s.voidsMore(w, &x) {
		x.Action = Suspend
	}
	if err := s.decide(w, x); err != nil {
		return false, err
	}
	s.pending = append(s.pending, s.notices(w, &w.decisions[len(w.decisions)-1])...)
	s.sortNotices()
	return x.Action != Skip, s.flushNotices(sign, order, w.state.Query)
}

// voidsMore reports whether the notices of a decision about negatives would void matches that still hold: matches that
// map a pattern vertex to the revised vertex but do not end by its revision. Nothing would announce these anew.
func (s *stepper) voidsMore(w *work, x *Decision) bool {
	last := int(x.Order)
	switch {
	case x.Sign != dyngraph.Deleted || x.Action == Suspend:
		return false
	case w.state.Query.Groups != nil: // the anchor may be no element of the matches
		return true
	case len(w.state.Query.Negations) > 0 && (x.Action == SkipRest || s.d.Net[x.Order].Sign != x.Sign):
		return true // a blocker is not part of the match that it blocks: no notice can name the matches that end
	case x.Action == SkipRest:
		last = len(s.d.Net) - 1
	}
	for i := int(x.Order); i <= last; i++ {
		if n := &s.d.Net[i]; n.Revised && n.Sign == dyngraph.Deleted &&
			w.plan.mayHoldVertex(s.e.g.View(dyngraph.Old), n) && !w.plan.endsWith(s.e.g, n.From) {
			return true
		}
	}
	return false
}

// room returns the number of the next n rows of a group that decisions leave.
func (w *work) room(sign dyngraph.Sign, order uint32, n int) int {
	if kept, cut := w.kept[groupOf{sign, order}]; cut {
		n = int(min(uint64(n), kept-min(kept, w.rows)))
	}
	x := w.suspended
	switch {
	case x == nil || x.Sign != sign || order < x.Order:
		return n
	case order > x.Order:
		return 0
	}
	return int(min(uint64(n), x.Kept-w.rows))
}

// leave suspends the queries that are to be suspended behind all records of the batch: nothing was searched for them,
// or all of their matches are published already.
func (s *stepper) leave() error {
	for i := range s.work {
		w := &s.work[i]
		if w.suspended != nil {
			continue
		}
		if w.leaving == nil && s.budget.armed.Load() && s.e.asked[w.state.Query.Name] {
			x := Decision{Sign: dyngraph.Inserted, Order: AllOrders, Action: Suspend, Cause: CauseOperator}
			if err := s.decide(w, x); err != nil {
				return err
			}
		}
		if w.leaving == nil {
			continue
		}
		w.suspended = w.leaving
		ev := Event{Kind: EventNotice, Query: w.state.Query, Sign: dyngraph.Inserted, View: s.view(dyngraph.Inserted),
			Notice: Notice{Reason: ReasonSuspended, Cause: w.leaving.Cause, End: true}}
		if err := s.put(w, &ev); err != nil {
			return err
		}
	}
	return nil
}

// ordered reports whether an operator's request to suspend the query has been decided.
func (w *work) ordered() bool {
	return slices.ContainsFunc(w.decisions, func(x Decision) bool { return x.Cause == CauseOperator })
}

// decided returns the decision about a request for a total of the sign, or nil.
func (w *work) decided(sign dyngraph.Sign, snapshot bool, action Action) *Decision {
	for i := range w.decisions {
		if x := &w.decisions[i]; x.Sign == sign && x.Snapshot == snapshot && x.Action == action {
			return x
		}
	}
	return nil
}

// limit restricts a request to the part that decisions leave of it.
func (w *work) limit(req *Request, sign dyngraph.Sign) {
	for i := range w.decisions {
		x := &w.decisions[i]
		switch {
		case x.Snapshot || x.Action == NoTotal || x.Order == AllOrders:
		case x.Action == Suspend && x.Sign < sign: // negatives come first
			req.Before = 0
		case x.Sign != sign:
		case x.Action == Skip && w.state.Query.Emit == EmitDeltas:
			if x.Kept == 0 {
				req.Skip = append(req.Skip, x.Order)
			}
		case x.Kept > 0:
			req.Before = min(req.Before, x.Order+1)
		default:
			req.Before = min(req.Before, x.Order)
		}
	}
	slices.Sort(req.Skip)
}

// notice is an event that tells of a decision, at its place among the groups of a sign.
type notice struct {
	w      *work
	order  uint32
	anchor bool // the notice has one: that of the order
	behind bool // it comes behind records of the order and the query, and not in their place
	Notice
}

// notices returns the notices of a decision about matches, in the order of anchors.
func (s *stepper) notices(w *work, x *Decision) []notice {
	n := notice{w: w, order: x.Order, anchor: true, behind: x.Kept > 0, Notice: Notice{Cause: x.Cause}}
	switch {
	case x.Action == Suspend:
		n.Reason = ReasonSuspended
	case x.Sign != dyngraph.Deleted:
		n.Reason, n.Rest = ReasonSkipped, x.Action == SkipRest
	case x.Action == Skip:
		n.Reason = ReasonEnded
	default:
		n.Reason = ReasonEnded
		var all []notice
		for i := int(x.Order); i < len(s.d.Net); i++ {
			if e := &s.d.Net[i]; e.Sign == dyngraph.Deleted && mayHold(w.plan, s.e.g.View(dyngraph.Old), e) {
				n.order = uint32(i)
				all = append(all, n)
			}
		}
		return all
	}
	return []notice{n}
}

// mayHold reports whether some match of the plan may hold an edge, going by labels, or a vertex whose change matters.
func mayHold(p *Plan, view dyngraph.View, n *dyngraph.NetEdge) bool {
	if len(p.Variants) > 0 {
		return slices.ContainsFunc(p.Variants, func(v *Plan) bool { return mayHold(v, view, n) })
	}
	if n.Vertex {
		return p.mayHoldVertex(view, n)
	}
	k := labelTriple{n.Labels[0], n.Label, n.Labels[1]}
	for o := range p.Anchored {
		want := anchorLabels(p, o)
		if want.admits(k) {
			return true
		}
	}
	return false
}

// collectNotices lists the notices of logged decisions about matches of a sign.
func (s *stepper) collectNotices(sign dyngraph.Sign) {
	s.pending = s.pending[:0]
	for i := range s.work {
		w := &s.work[i]
		if w.state.Query.Emit != EmitDeltas {
			continue
		}
		for k := range w.decisions {
			if x := &w.decisions[k]; x.Sign == sign && !x.Snapshot && x.Action != NoTotal && x.Order != AllOrders {
				s.pending = append(s.pending, s.notices(w, x)...)
			}
		}
	}
	s.sortNotices()
}

func (s *stepper) sortNotices() {
	slices.SortStableFunc(s.pending, func(a, b notice) int {
		return cmp.Or(cmp.Compare(a.order, b.order), compareNames(a.w.state.Query, b.w.state.Query))
	})
}

// flushNotices emits the notices that come before the group of an anchor and a query, or take its place.
func (s *stepper) flushNotices(sign dyngraph.Sign, order uint32, q *Query) error {
	for len(s.pending) > 0 {
		n := &s.pending[0]
		if n.order > order {
			return nil
		}
		if c := compareNames(n.w.state.Query, q); n.order == order && (c > 0 || c == 0 && n.behind) {
			return nil
		}
		s.pending = s.pending[1:]
		if err := s.sendNotice(sign, n); err != nil {
			return err
		}
	}
	return nil
}

// restNotices emits the notices that are left of a sign.
func (s *stepper) restNotices(sign dyngraph.Sign) error {
	for i := range s.pending {
		if err := s.sendNotice(sign, &s.pending[i]); err != nil {
			return err
		}
	}
	s.pending = s.pending[:0]
	return nil
}

func (s *stepper) sendNotice(sign dyngraph.Sign, n *notice) error {
	ev := Event{Kind: EventNotice, Query: n.w.state.Query, Sign: sign, Notice: n.Notice, View: s.view(sign)}
	if n.anchor {
		ev.AnchorEdge = &s.d.Net[n.order]
		ev.Anchor = s.anchor(ev.AnchorEdge)
	}
	return s.put(n.w, &ev)
}

// put emits an event of a query, unless the query is a shadow.
func (s *stepper) put(w *work, ev *Event) error {
	if ev.Query.Shadow {
		return nil
	}
	w.sum.Emitted += uint64(ev.Records())
	ev.output = nil
	if ev.Kind == EventMatches && w.budget != nil {
		ev.output = &w.budget.output
		w.budget.giving(ev.Records())
	}
	return s.send(ev)
}

// view returns the view that has the matches of a sign.
func (s *stepper) view(sign dyngraph.Sign) dyngraph.View {
	if sign == dyngraph.Deleted {
		return s.e.g.View(dyngraph.Old)
	}
	return s.e.g.View(dyngraph.New)
}

// putRows emits a group's rows, as far as the query's cap on positives and its sample want them.
func (s *stepper) putRows(w *work, ev *Event, order uint32) error {
	q := w.state.Query
	if q.Once != nil {
		return s.putOnce(w, ev, order)
	}
	cut := false
	if ev.Sign == dyngraph.Inserted && q.MaxMatches > 0 {
		n := uint64(ev.Rows.Len())
		left := q.MaxMatches - w.taken
		if cut = n > left; cut {
			ev.Rows = ev.Rows.Slice(0, int(left))
		}
		w.taken += min(n, left)
	}
	if err := s.sample(q, ev, w.budget); err != nil {
		return err
	}
	if ev.Rows.Len() > 0 {
		if err := s.put(w, ev); err != nil {
			return err
		}
	}
	return s.truncated(w, ev, order, cut)
}

// truncated tells, once in a batch, that the query's cap has cut its positives.
func (s *stepper) truncated(w *work, ev *Event, order uint32, cut bool) error {
	if !cut || w.sum.Truncated {
		return nil
	}
	w.sum.Truncated, w.lossy = true, true
	if ev.Snapshot {
		return s.snapshotNotice(w, ev.Sign, Notice{Reason: ReasonTruncated})
	}
	return s.sendNotice(ev.Sign, &notice{w: w, order: order, anchor: true, Notice: Notice{Reason: ReasonTruncated}})
}

// sample keeps the rows of an event that are in the query's sample.
func (s *stepper) sample(q *Query, ev *Event, budget *Budget) error {
	if q.Sample <= 1 {
		return nil
	}
	budget.sampled(ev.Rows.Len())
	kept := s.e.kept[:0]
	for i := range ev.Rows.Len() {
		row := ev.Rows.Row(i)
		in, err := s.e.opt.Sampled(ev.Pattern(), ev.View, row)
		if err != nil {
			return fmt.Errorf("the id of a match of query %q: %w", q.Name, err)
		}
		if in {
			kept = append(kept, row...)
		}
	}
	s.e.kept = kept
	ev.Rows.Data = kept
	return nil
}
