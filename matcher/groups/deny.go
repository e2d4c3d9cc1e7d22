package groups

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// Negations beside WITH (DESIGN S25): a row that one of its stage's negations blocks in a view is no row of the stage
// there. A changed blocker leads to rows, whose groups the batch concerns, too. A row that is blocked in one view alone
// begins or ends in the batch; the changed elements of its blockers are its causes.

// denial is a negation, and for each of its leads the order that goes on from what the lead binds.
type denial struct {
	*residual.Negation
	way map[*residual.Lead]way
}

// way is an order from what a lead binds to the keys. Where edges lead there, it also binds all that the negation joins
// and reads (tells): then the row alone tells whether a change may block it.
type way struct {
	*residual.Order
	tells bool
}

// deny adds a negation to the program.
func (x *program) deny(of *matcher.Negation, plan *matcher.NegationPlan) {
	d := denial{residual.NewNegation(&x.pattern, of, plan.Conditions), make(map[*residual.Lead]way)}
	d.SetLabels(plan.VertexLabels, plan.EdgeLabels)
	for _, leads := range [][]residual.Lead{d.FromEdge, d.FromVertex} {
		for i := range leads {
			b := x.nothing()
			for _, v := range leads[i].Named {
				b.vertices[v] = true
			}
			goal := x.keys()
			for _, r := range d.Core() {
				if r.Edge {
					goal.edges[r.Index] = true
				} else {
					goal.vertices[r.Index] = true
				}
			}
			order := x.orderFrom(b, goal)
			d.way[&leads[i]] = way{order, !b.missing(goal)}
		}
	}
	x.denied = append(x.denied, d)
}

// asks reports whether some condition asks about a vertex.
func (x *program) asks(u int) bool {
	return !x.asked[u].Nothing() ||
		slices.ContainsFunc(x.denied, func(d denial) bool { return !d.Asked[u].Nothing() })
}

// matters reports whether the revision of a data vertex matters at a vertex (DESIGN S16): to the stages, or to one of
// their negations.
func (x *program) matters(g *dyngraph.Graph, u int, v dyngraph.VertexID) bool {
	return x.asked[u].Matters(g, v, nil) ||
		slices.ContainsFunc(x.denied, func(d denial) bool { return d.Matters(g, u, v) })
}

// collectDenied notes the keys of the groups of rows that a changed blocker leads to, and blocks where that is known.
func (b *batch) collectDenied(s *search, n *dyngraph.NetEdge) error {
	for i := range b.x.denied {
		d := &b.x.denied[i]
		s.lead.View, s.lead.Work = s.view, s.work
		s.test.View, s.test.Work = s.view, s.work
		if err := d.Changed(&s.lead, n, &s.room, func(c *residual.Change, row []uint32) error {
			s.clear()
			for _, v := range c.Named {
				if !s.bindVertex(v, row[v]) {
					return nil
				}
			}
			w := d.way[c.Lead]
			s.found = func() error {
				if w.tells {
					if may, err := d.With(&s.test, c, s.row, &s.tested); !may || err != nil {
						return err
					}
				}
				b.addKeys(s)
				return nil
			}
			return s.run(w.Order)
		}); err != nil {
			return err
		}
	}
	return nil
}

// blocked reports whether a negation blocks the row that is bound, in a view that has it.
func (s *search) blocked(view dyngraph.View) (bool, error) {
	for i := range s.x.denied {
		free, err := s.blockers(i, view, func([]uint32) (bool, error) { return false, nil })
		if err != nil || !free {
			return !free, err
		}
	}
	return false, nil
}

// blockers calls found with the rows of a negation for the row that is bound; more is false if found ended that.
func (s *search) blockers(i int, view dyngraph.View, found func([]uint32) (bool, error)) (more bool, err error) {
	s.test.View, s.test.Work, s.test.Found = view, s.work, found
	return s.x.denied[i].Rows(&s.test, s.row, &s.room)
}

// noteBlockers notes the changes of what blocks the row that is bound, if the row is one of the other view.
func (b *batch) noteBlockers(s *search, g *group) error {
	other := b.views[1-s.view.Which()].view
	if b.delta == nil || !s.holdsIn(other) {
		return nil
	}
	if is, err := s.blocked(other); is || err != nil {
		return err
	}
	which := s.view.Which()
	for i := range s.x.denied {
		d := &s.x.denied[i]
		if _, err := s.blockers(i, s.view, func(row []uint32) (bool, error) {
			d.EachOwn(row, func(a *matcher.Asked, v dyngraph.VertexID) {
				if order, ok := b.revised(uint32(v), which); ok && a.Matters(b.graph, v, nil) {
					g.note(order)
				}
			}, func(e dyngraph.EdgeIndex) {
				if order, ok := b.orderOf(e, which); ok {
					g.note(order)
				}
			})
			return true, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// holdsIn reports whether a view has the row that is bound, but for what blocks it.
func (s *search) holdsIn(view dyngraph.View) bool {
	for _, v := range s.vertices {
		if v != residual.None && !view.HasVertex(dyngraph.VertexID(v)) {
			return false
		}
	}
	for _, e := range s.edges {
		if e != residual.None && !view.Visible(dyngraph.EdgeIndex(e)) {
			return false
		}
	}
	n := len(s.vertices)
	for i := range s.x.pattern.Conditions {
		c := &s.x.pattern.Conditions[i]
		s.values = slices.Grow(s.values[:0], len(c.Reads))[:len(c.Reads)]
		if !slices.ContainsFunc(c.Elements, s.unbound) && !c.Holds(view, s.row[:n], s.row[n:], s.values) {
			return false
		}
	}
	return true
}

// unbound reports whether an element has no image.
func (s *search) unbound(r condition.Ref) bool {
	if r.Edge {
		return s.edges[r.Index] == residual.None
	}
	return s.vertices[r.Index] == residual.None
}
