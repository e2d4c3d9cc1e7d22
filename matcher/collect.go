package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// concern says which signs of a batch may concern a query: bit 0 or 1 is set when net edges of that sign fit it.
type concern uint8

// noted is set in every concern, so that it is not 0 when no net edge fits.
const noted concern = 1 << 2

// side reports whether net edges of the sign fit. For the sign Changed both count: either may change a match that goes
// on.
func (c concern) side(sign dyngraph.Sign) bool {
	if sign == dyngraph.Changed {
		return c&^noted != 0
	}
	return c>>sideOf(sign)&1 != 0
}

// sideOf returns the index of a sign in AnchorEntry.Mark, and its bit in a concern.
func sideOf(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

// collect lists, by name, the queries that the batch may concern (DESIGN A3): queries with an oriented edge that a net
// edge fits, exists queries with a broken witness, and queries that the batch log suspends.
func (s *stepper) collect() {
	e := s.e
	e.round++
	e.found = e.found[:0]
	if e.can.Concern == nil {
		s.noteFitting()
		s.noteGroups()
		s.noteNegated()
	} else if len(s.d.Net) > 0 {
		e.can.Concern(func(plan int, sign dyngraph.Sign) { e.note(plan, 1<<sideOf(sign)) })
	}
	if len(e.witnesses) > 0 {
		for i := range s.d.Net {
			if n := &s.d.Net[i]; n.Sign == dyngraph.Deleted {
				for _, r := range e.witnesses[changedBy(n)] {
					e.note(r.at, 0)
				}
			}
		}
	}
	for i := range s.b.Decisions {
		x := &s.b.Decisions[i]
		if r := e.queries[x.Query]; r != nil && !r.state.Removed && !r.state.Suspended &&
			r.state.Query.Version == x.Version {
			e.note(r.at, 0)
		}
	}
	for _, r := range e.active {
		if r.lost || e.asked[r.state.Query.Name] || r.unsure() && s.touches(r) {
			e.note(r.at, 0)
		}
	}
	s.takeNoted()
}

// note adds signs to the concern of an active query.
func (e *Engine) note(at int, c concern) {
	if e.concerned[at] == 0 {
		e.found = append(e.found, at)
	}
	e.concerned[at] |= c | noted
}

// noteFitting notes the queries that net edges fit, going by labels, and those in which the revision of a vertex may
// matter.
func (s *stepper) noteFitting() {
	e := s.e
	view := e.g.View(dyngraph.New)
	for i := range s.d.Net {
		n := &s.d.Net[i]
		side := sideOf(n.Sign)
		if n.Vertex {
			for x := range e.revised.Of(view.Label(n.From), n.Revised) {
				if x.asked.Begins(e.g, n) {
					e.note(x.of.at, 1<<side)
				}
			}
		} else if fits := e.anchors.Of(n.Labels[0], n.Label, n.Labels[1]); fits.Mark[side] != e.round {
			fits.Mark[side] = e.round
			for _, f := range fits.List {
				e.note(f.Of.at, 1<<side)
			}
		}
	}
}

// noteGroups notes the queries with WITH: no index tells what concerns them.
func (s *stepper) noteGroups() {
	if len(s.d.Net) == 0 {
		return
	}
	for _, r := range s.e.active {
		if r.state.Query.Groups != nil {
			s.e.note(r.at, 1<<sideOf(dyngraph.Deleted)|1<<sideOf(dyngraph.Inserted))
		}
	}
}

// takeNoted makes the work of the step from the queries that were noted.
func (s *stepper) takeNoted() {
	e := s.e
	if 16*len(e.found) > len(e.active) {
		e.found = e.found[:0]
		for at, c := range e.concerned {
			if c != 0 {
				e.found = append(e.found, at)
			}
		}
	} else {
		slices.Sort(e.found)
	}
	if n := len(e.found); cap(e.work) < n {
		e.work = make([]work, n+n/2)
	}
	s.work = e.work[:len(e.found)]
	for i, at := range e.found {
		r := e.active[at]
		s.work[i] = work{registered: r, fits: e.concerned[at], sum: QuerySummary{Query: r.state.Query}}
		s.modes[r.state.Query.Emit] = true
		e.concerned[at] = 0
	}
	s.budget.Divide(len(s.work))
	for k := range s.work {
		s.obey(&s.work[k])
	}
}

// touches reports whether some net edge fits the query's plan, going by labels. If so, a query that was left undecided
// is decided anew. A backend that knows better than labels what a batch changes does not know of this.
func (s *stepper) touches(r *registered) bool {
	if q := r.state.Query; q.Groups != nil || len(q.Negations) > 0 {
		return len(s.d.Net) > 0
	}
	view := s.e.g.View(dyngraph.New)
	return slices.ContainsFunc(s.d.Net, func(n dyngraph.NetEdge) bool { return mayHold(r.plan, view, &n) })
}

// obey applies the logged decisions of the batch about a query.
func (s *stepper) obey(w *work) {
	q := w.state.Query
	for i := range s.b.Decisions {
		if x := &s.b.Decisions[i]; x.Query == q.Name && x.Version == q.Version {
			w.decisions = append(w.decisions, *x)
		}
	}
	for i := range w.decisions {
		w.note(&w.decisions[i])
	}
}
