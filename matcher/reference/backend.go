package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Backend implements matcher.Backend by recomputation.
//
// Its steps are the candidates that it tries when it enumerates the whole view, none when the batch has no net edge
// of the sign, and one more for each row that it emits. A plan that exceeds its budget while enumerating stops at the
// first net edge of the sign; one that exceeds it later, at the group whose rows are too many.
type Backend struct {
	graph *dyngraph.Graph
	delta *dyngraph.Delta // of the staged batch
}

var _ matcher.Backend = (*Backend)(nil)

// New returns a backend that must be loaded.
func New() *Backend { return &Backend{} }

// Name returns "reference".
func (b *Backend) Name() string { return "reference" }

// Load takes over the graph.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.graph, b.delta = g, nil
	return nil
}

// Prepare does nothing: what is needed of a plan comes with each request.
func (b *Backend) Prepare([]*matcher.Plan) error { return nil }

// Stage takes note of the staged batch; the delta is read until Commit or Abort.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	b.delta = d
	return nil
}

// Commit ends the batch.
func (b *Backend) Commit() error {
	b.delta = nil
	return nil
}

// Abort ends the batch.
func (b *Backend) Abort() error { return b.Commit() }

// Close does nothing.
func (b *Backend) Close() error { return nil }

var errNotLoaded = errors.New("reference: no graph is loaded")

// answer is what one request is answered with: its result, and the groups that are still to be emitted.
type answer struct {
	result matcher.Result
	groups []group
	given  uint64 // rows emitted
	done   bool   // nothing more is emitted
}

// group holds the rows of one anchor, ascending.
type group struct {
	order uint32
	rows  []row
}

// Search finds the matches of the staged batch; see matcher.Backend.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, suspend func(request int, order uint32) error) ([]matcher.Result, error) {
	switch {
	case b.graph == nil:
		return nil, errNotLoaded
	case b.delta == nil:
		return nil, errors.New("reference: no batch is staged")
	}
	answers := make([]answer, len(reqs))
	for i := range reqs {
		if err := b.find(ctx, sign, &reqs[i], &answers[i]); err != nil {
			return nil, fmt.Errorf("reference: query %q: %w", reqs[i].Plan.Query.Name, err)
		}
		if a := &answers[i]; a.result.Suspended {
			if err := suspend(i, a.result.SuspendedAt); err != nil {
				return nil, err
			}
		}
	}
	if err := b.emit(reqs, answers, emit, suspend); err != nil {
		return nil, err
	}
	results := make([]matcher.Result, len(reqs))
	for i := range answers {
		results[i] = answers[i].result
	}
	return results, nil
}

// find computes the groups of one request, and all of the result that does not depend on emitting them.
func (b *Backend) find(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, a *answer) error {
	first := slices.IndexFunc(b.delta.Net, func(e dyngraph.NetEdge) bool { return e.Sign == sign })
	if first < 0 {
		return nil
	}
	q := req.Plan.Query
	here, there := b.graph.View(dyngraph.New), b.graph.View(dyngraph.Old)
	if sign == dyngraph.Deleted {
		here, there = there, here
	}
	rows, steps, err := matches(ctx, here, q, req.Budget)
	a.result.Steps = steps
	if errors.Is(err, errBudget) {
		a.result.Suspended, a.done = true, true
		if req.Want == matcher.WantRows {
			a.result.SuspendedAt = uint32(first)
		}
		return nil
	}
	if err != nil {
		return err
	}
	others, _, err := matches(ctx, there, q, 0)
	if err != nil {
		return err
	}
	a.groups, err = b.group(sign, q, difference(rows, others), req.Before)
	if err != nil {
		return err
	}
	if req.Want == matcher.WantRows {
		return nil
	}
	a.done = true
	for _, g := range a.groups {
		a.result.Count = a.result.Count.Add(matcher.CountOf(uint64(len(g.rows))))
	}
	if req.Want == matcher.WantAny && len(a.groups) > 0 {
		a.result.Count, a.result.Witness = matcher.CountOf(1), a.groups[0].rows[0]
	}
	return nil
}

// difference returns the rows that are not among the others, in their order.
func difference(rows, others []row) []row {
	in := make(map[string]bool, len(others))
	for _, r := range others {
		in[r.key()] = true
	}
	return slices.DeleteFunc(rows, func(r row) bool { return in[r.key()] })
}

// group sorts rows under their anchors: of a match that appears its inserted edge of the highest order, of one that
// disappears its deleted edge of the lowest (DESIGN A2). Anchors from before on are left out.
func (b *Backend) group(sign dyngraph.Sign, q *matcher.Query, rows []row, before uint32) ([]group, error) {
	orders := make(map[uint32]uint32) // by edge index
	for order, e := range b.delta.Net {
		if e.Sign == sign {
			orders[uint32(e.Edge)] = uint32(order)
		}
	}
	anchored := make(map[uint32][]row)
	for _, r := range rows {
		anchor, found := uint32(0), false
		for _, e := range r[len(q.Vertices):] {
			order, ok := orders[e]
			if ok && (!found || (sign == dyngraph.Inserted) == (order > anchor)) {
				anchor, found = order, true
			}
		}
		if !found {
			return nil, fmt.Errorf("the match %v is in one graph only, but the batch changed none of its edges", r)
		}
		if before == matcher.AllOrders || anchor < before {
			anchored[anchor] = append(anchored[anchor], r)
		}
	}
	var groups []group
	for order, rows := range anchored {
		groups = append(groups, group{order, rows})
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.order, b.order) })
	return groups, nil
}

// emit puts the groups of all requests out by (anchor, request).
func (b *Backend) emit(reqs []matcher.Request, answers []answer, emit func(matcher.Group) error,
	suspend func(int, uint32) error) error {
	for order := range b.delta.Net {
		for i := range reqs {
			a := &answers[i]
			if reqs[i].Want != matcher.WantRows || len(a.groups) == 0 || a.groups[0].order != uint32(order) {
				continue
			}
			rows := a.groups[0].rows
			a.groups = a.groups[1:]
			if err := a.give(i, &reqs[i], uint32(order), rows, emit, suspend); err != nil {
				return err
			}
		}
	}
	return nil
}

// give emits one group, as far as the request's limit and budget allow.
func (a *answer) give(i int, req *matcher.Request, order uint32, rows []row, emit func(matcher.Group) error,
	suspend func(int, uint32) error) error {
	if a.result.Suspended || a.done && !req.Total {
		return nil
	}
	shown := rows
	cut := req.Limit > 0 && uint64(len(rows)) > req.Limit-a.given
	if cut {
		shown = rows[:req.Limit-a.given]
	}
	if steps := a.result.Steps + uint64(len(shown)); req.Budget > 0 && steps > req.Budget {
		a.result.Suspended, a.result.SuspendedAt = true, order
		return suspend(i, order)
	}
	a.result.Steps += uint64(len(shown))
	a.given += uint64(len(shown))
	if cut {
		a.result.Truncated, a.done = true, true
	}
	counted := len(shown)
	if req.Total {
		counted = len(rows)
	}
	a.result.Count = a.result.Count.Add(matcher.CountOf(uint64(counted)))
	if len(shown) == 0 {
		return nil
	}
	return emit(matcher.Group{Request: i, Order: order, Rows: flatten(req.Plan.Query, shown)})
}

func flatten(q *matcher.Query, rows []row) matcher.Rows {
	flat := matcher.Rows{Vertices: len(q.Vertices), Edges: len(q.Edges)}
	for _, r := range rows {
		flat.Data = append(flat.Data, r...)
	}
	return flat
}

// Enumerate finds the matches of the plan's query in a view; see matcher.Backend.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	emit func(matcher.Rows) error) (matcher.Result, error) {
	if b.graph == nil {
		return matcher.Result{}, errNotLoaded
	}
	rows, steps, err := matches(ctx, b.graph.View(which), p.Query, 0)
	if err != nil {
		return matcher.Result{}, fmt.Errorf("reference: query %q: %w", p.Query.Name, err)
	}
	res := matcher.Result{Steps: steps, Count: matcher.CountOf(uint64(len(rows)))}
	switch {
	case want == matcher.WantAny && len(rows) > 0:
		res.Count, res.Witness = matcher.CountOf(1), rows[0]
		return res, nil
	case want != matcher.WantRows || len(rows) == 0:
		return res, nil
	}
	if limit > 0 && uint64(len(rows)) > limit {
		rows, res.Truncated = rows[:limit], true
		res.Count = matcher.CountOf(limit)
	}
	return res, emit(flatten(p.Query, rows))
}
