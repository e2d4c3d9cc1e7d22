package negation

import (
	"context"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// rooms is memory for searches of negations, one by depth of nesting.
type rooms struct {
	test, outer, inner residual.Search
	row                []uint32 // of a test
	begin              []uint32 // of a search that begins
	values             []property.Value
}

// blocked reports whether some negation has a row for a row of the core in a view that has the core row.
func (b *Backend) blocked(x *query, view dyngraph.View, row []uint32) (bool, error) {
	for i := range x.negations {
		free, err := b.rowsOf(x, i, view, row, func([]uint32) (bool, error) { return false, nil })
		if err != nil || !free {
			return !free, err
		}
	}
	return false, nil
}

// rowsOf calls found with each row of a negation for a row of the core; more is false if found ended that.
func (b *Backend) rowsOf(x *query, i int, view dyngraph.View, row []uint32,
	found func([]uint32) (bool, error)) (more bool, err error) {
	s := &b.room.test
	s.View, s.Work, s.Admit, s.Found = view, &b.work, nil, found
	return x.negations[i].Rows(s, row, &b.room.row)
}

// coreHolds reports whether a view has a row of the core of the other view: its elements are there, with the values
// that the core demands.
func (b *Backend) coreHolds(x *query, view dyngraph.View, row []uint32) bool {
	for _, v := range row[:x.vertices] {
		if !view.HasVertex(dyngraph.VertexID(v)) {
			return false
		}
	}
	for _, e := range row[x.vertices:] {
		if !view.Visible(dyngraph.EdgeIndex(e)) {
			return false
		}
	}
	for i := range x.core.Conditions {
		c := &x.core.Conditions[i]
		b.room.values = slices.Grow(b.room.values[:0], len(c.Reads))[:len(c.Reads)]
		if !c.Holds(view, row[:x.vertices], row[x.vertices:], b.room.values) {
			return false
		}
	}
	return residual.Within(view, x.core.Query.Within, row[x.vertices:])
}

// holds reports whether a view has the match that a row of the core is in the other view.
func (b *Backend) holds(x *query, view dyngraph.View, row []uint32) (bool, error) {
	if !b.coreHolds(x, view, row) {
		return false, nil
	}
	is, err := b.blocked(x, view, row)
	return !is, err
}

// views returns the view in which matches of a sign hold, and the other one.
func (b *Backend) views(sign dyngraph.Sign) (here, there dyngraph.View) {
	here, there = b.g.View(dyngraph.New), b.g.View(dyngraph.Old)
	if sign == dyngraph.Deleted {
		return there, here
	}
	return here, there
}

// keeps reports whether a row of the core with own changes, which the searched view has and the other one has not with
// the same versions of edges, is a match that is to be told.
func (b *Backend) keeps(x *query, sign dyngraph.Sign, silence *matcher.Silence, row []uint32) (bool, error) {
	here, there := b.views(sign)
	if is, err := b.blocked(x, here, row); is || err != nil {
		return false, err
	}
	if silence == nil || b.ended(x, silence, row) {
		return true, nil
	}
	is, err := b.holds(x, there, row)
	return !is, err
}

// ended reports whether a row has a replaced edge with whose old version a notice has voided it.
func (b *Backend) ended(x *query, silence *matcher.Silence, row []uint32) bool {
	for _, e := range row[x.vertices:] {
		if _, order, changed := b.g.Staged(dyngraph.EdgeIndex(e)); changed && b.d.Net[order].Replaced &&
			silence.Ended(order) {
			return true
		}
	}
	return false
}

// unblocked implements matcher.Capabilities.Unblocked.
func (b *Backend) unblocked(ctx context.Context, p *matcher.Plan, row []uint32, budget *matcher.Budget) (bool, error) {
	x := b.queries[p]
	if x == nil {
		return true, nil
	}
	var m matcher.Meter
	if m.Begin(budget, true) != matcher.NoCause {
		return false, nil
	}
	b.begin(ctx, &m)
	is, err := b.blocked(x, b.g.View(dyngraph.New), row)
	if err == nil {
		err = b.work.Spend(0)
	}
	if errors.Is(err, residual.ErrBudget) {
		return false, nil
	}
	return !is && err == nil, err
}

// begin starts what is measured by a meter, which may be nil.
func (b *Backend) begin(ctx context.Context, m *matcher.Meter) {
	b.work.Ctx, b.work.Clock = ctx, b.opt.Clock
	b.work.Begin(m)
}

// unchanged admits elements of the core that the batch does not change: no own change of a match.
func (b *Backend) unchanged(x *query) func(condition.Ref, uint32) bool {
	return func(r condition.Ref, image uint32) bool {
		if r.Edge {
			_, _, changed := b.g.Staged(dyngraph.EdgeIndex(image))
			return !changed
		}
		return !b.changes(x, r.Index, dyngraph.VertexID(image))
	}
}

// changes reports whether the batch changes a vertex so that this is an own change of matches that map a core vertex to
// it.
func (b *Backend) changes(x *query, u int, v dyngraph.VertexID) bool {
	if x.edges == 0 && b.g.View(dyngraph.Old).HasVertex(v) != b.g.View(dyngraph.New).HasVertex(v) {
		return true
	}
	_, revised := b.d.RevisionOf(v)
	return revised && x.matters(b.g, u, v)
}
