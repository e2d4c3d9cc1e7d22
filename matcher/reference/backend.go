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
// Its steps are the candidates that it tries when it enumerates the whole view, none when the batch has no net edge of
// the sign, and one more for each row that it emits. A plan that exceeds its budget while enumerating has none of its
// groups; one that exceeds it later leaves out the groups whose rows are too many.
type Backend struct {
	graph *dyngraph.Graph
	delta *dyngraph.Delta // of the staged batch
}

var _ matcher.Backend = (*Backend)(nil)

// New returns a backend that must be loaded.
func New() *Backend { return &Backend{} }

// Capabilities implements matcher.Backend: groups and negations are found by recomputation.
func (b *Backend) Capabilities() matcher.Capabilities {
	return matcher.Capabilities{Groups: true, Negations: true}
}

// Name returns "reference".
func (b *Backend) Name() string { return "reference" }

// Load takes over the graph.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.graph, b.delta = g, nil
	return nil
}

// Prepare does nothing: each request brings its plan.
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

// answer is the answer to one request: its result, and the groups that are still to be emitted.
type answer struct {
	result matcher.Result
	groups []group
	given  uint64 // rows emitted
	meter  matcher.Meter
	done   bool // nothing more is emitted
}

// group holds the rows of one anchor, ascending: of a query with paths, one kind behind the other.
type group struct {
	order uint32
	kinds []kind
	over  matcher.Cause
}

// rows returns the number of rows.
func (g *group) rows() (n uint64) {
	for _, k := range g.kinds {
		n += uint64(len(k.rows))
	}
	return n
}

// Search finds the matches of the staged batch; see matcher.Backend.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
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
	}
	if err := b.emit(reqs, answers, emit, over); err != nil {
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
	q := req.Plan.Query
	if !b.anyNet(sign, q) {
		return nil
	}
	here, there := b.graph.View(dyngraph.New), b.graph.View(dyngraph.Old)
	if sign == dyngraph.Deleted {
		here, there = there, here
	}
	a.meter.Begin(req.Budget, req.Limit > 0)
	if q.Groups != nil {
		return b.findGroups(ctx, sign, req, a)
	}
	found, steps, err := kinds(ctx, here, q, &a.meter)
	a.result.Steps = steps
	switch {
	case errors.Is(err, errBudget) && req.Want != matcher.WantRows:
		a.result.Over, a.done = a.meter.Over(), true
		return nil
	case errors.Is(err, errBudget):
		for order, e := range b.delta.Net {
			if (e.Sign == sign || len(q.Negations) > 0) && !req.Skips(uint32(order)) {
				a.groups = append(a.groups, group{order: uint32(order), over: a.meter.Over()})
			}
		}
		return nil
	case err != nil:
		return err
	}
	others, _, err := kinds(ctx, there, q, nil)
	if err != nil {
		return err
	}
	for i, k := range found {
		rows := b.difference(k.of, k.rows, others[i].rows, req.Silence)
		groups, err := b.group(sign, &k, rows, req)
		if err != nil {
			return err
		}
		a.groups = append(a.groups, groups...)
	}
	a.groups = joined(a.groups)
	a.sum(req.Want, 0)
	return nil
}

// sum fills in the result where no rows are wanted; keys is the length of a witness in a row, 0 for all of it.
func (a *answer) sum(want matcher.Want, keys int) {
	if want == matcher.WantRows {
		return
	}
	a.done = true
	for _, g := range a.groups {
		a.result.Count = a.result.Count.Add(matcher.CountOf(g.rows()))
	}
	if want == matcher.WantAny && len(a.groups) > 0 {
		first := a.groups[0].kinds[0].rows[0]
		a.result.Count, a.result.Witness = matcher.CountOf(1), first[:cmp.Or(keys, len(first))]
	}
}

// joined puts the groups of each anchor together, in their order.
func joined(groups []group) (all []group) {
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.order, b.order) })
	for _, g := range groups {
		if n := len(all); n > 0 && all[n-1].order == g.order {
			all[n-1].kinds = append(all[n-1].kinds, g.kinds...)
		} else {
			all = append(all, g)
		}
	}
	return all
}

// difference returns the rows that are not among the others, in their order. A row with an edge that the batch replaces
// differs from the same row among the others, which has another version of the edge (DESIGN S15). With a silence it is
// equal, unless it holds an edge that was ended.
func (b *Backend) difference(q *matcher.Query, rows, others []row, silence *matcher.Silence) []row {
	in := make(map[string]bool, len(others))
	for _, r := range others {
		in[r.key()] = true
	}
	replaced := make(map[uint32]bool)
	for order, n := range b.delta.Net {
		if n.Replaced && n.Sign == dyngraph.Deleted && (silence == nil || silence.Ended(uint32(order))) {
			replaced[uint32(n.Edge)] = true
		}
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		return in[r.key()] && !slices.ContainsFunc(r[len(q.Vertices):], func(e uint32) bool { return replaced[e] })
	})
}

// group sorts rows of a kind under their anchors (DESIGN S19). The candidates are the match's inserted (of one that
// disappears: deleted) edges, the revised vertices that matter where it maps them, and in a pattern of one vertex that
// vertex if it comes or goes. The anchor is the one of the highest (lowest) order. A match without any of them was
// turned by its negations; see turns. Anchors that the request skips are left out.
func (b *Backend) group(sign dyngraph.Sign, k *kind, rows []row, req *matcher.Request) ([]group, error) {
	q := k.of
	orders := make(map[uint32]uint32) // by edge index
	for order, e := range b.delta.Net {
		if e.Sign == sign && !e.Vertex {
			orders[uint32(e.Edge)] = uint32(order)
		}
	}
	vertices := make(map[uint32]uint32) // that come or go, for a pattern of one vertex
	for order, e := range b.delta.Net {
		if e.Sign == sign && e.Vertex && !e.Revised && len(q.Edges) == 0 {
			vertices[uint32(e.From)] = uint32(order)
		}
	}
	revised, err := newRevisions(b.graph, b.delta, sign, q)
	if err != nil {
		return nil, err
	}
	negated, err := negatedRevisions(b.graph, b.delta, sign, k.asked)
	if err != nil {
		return nil, err
	}
	turned, err := newTurns(b.graph, b.delta, sign, k.asked)
	if err != nil {
		return nil, err
	}
	anchored := make(map[uint32][]row)
	for _, r := range rows {
		anchor, found := uint32(0), false
		own := func(order uint32, ok bool) {
			if ok && (!found || (sign == dyngraph.Inserted) == (order > anchor)) {
				anchor, found = order, true
			}
		}
		for _, e := range r[len(q.Vertices):] {
			order, ok := orders[e]
			own(order, ok)
		}
		named := k.named(r)
		for u := range q.Vertices {
			own(revised.matters(u, r))
			for _, x := range negated {
				if u < len(k.asked.Vertices) {
					own(x.matters(u, named))
				}
			}
			order, ok := vertices[r[u]]
			own(order, ok)
		}
		if !found {
			anchor, found = turned.anchor(named)
		}
		if !found {
			return nil, errUnchanged(r)
		}
		if !req.Skips(anchor) {
			anchored[anchor] = append(anchored[anchor], r)
		}
	}
	var groups []group
	for order, rows := range anchored {
		groups = append(groups, group{order: order, kinds: []kind{{of: q, rows: rows}}})
	}
	return groups, nil
}

// emit puts the groups of all requests out by (anchor, request).
func (b *Backend) emit(reqs []matcher.Request, answers []answer, emit func(matcher.Group) error,
	over matcher.Exceeded) error {
	for order := range b.delta.Net {
		for i := range reqs {
			a := &answers[i]
			if reqs[i].Want != matcher.WantRows || len(a.groups) == 0 || a.groups[0].order != uint32(order) {
				continue
			}
			g := a.groups[0]
			a.groups = a.groups[1:]
			if err := a.give(i, &reqs[i], g, emit, over); err != nil {
				return err
			}
		}
	}
	return nil
}

// give emits one group, as far as the request's limit and budget allow.
func (a *answer) give(
	i int,
	req *matcher.Request,
	g group,
	emit func(matcher.Group) error,
	over matcher.Exceeded,
) error {
	if a.done {
		return nil
	}
	shown := g.rows()
	if req.Limit > 0 {
		shown = min(shown, req.Limit-a.given)
	}
	if g.over == matcher.NoCause {
		if g.over = a.meter.Begin(req.Budget, req.Limit > 0); g.over == matcher.NoCause {
			a.meter.Spend(shown, shown, 0)
			g.over = a.meter.Over()
		}
	}
	if g.over != matcher.NoCause {
		stop, err := over(i, g.order, g.over)
		a.done = stop
		return err
	}
	a.result.Steps += shown
	a.given += shown
	a.done = req.Limit > 0 && a.given == req.Limit
	a.result.Truncated = a.done
	a.result.Count = a.result.Count.Add(matcher.CountOf(shown))
	return give(g.kinds, shown, func(rows matcher.Rows) error {
		return emit(matcher.Group{Request: i, Order: g.order, Rows: rows})
	})
}

// give hands on the first rows, kind by kind.
func give(kinds []kind, first uint64, emit func(matcher.Rows) error) error {
	for _, k := range kinds {
		rows := k.rows[:min(uint64(len(k.rows)), first)]
		if first -= uint64(len(rows)); len(rows) == 0 {
			continue
		}
		if err := emit(flatten(k.of, rows)); err != nil {
			return err
		}
	}
	return nil
}

func flatten(q *matcher.Query, rows []row) matcher.Rows {
	flat := matcher.Rows{Vertices: len(q.Vertices), Edges: len(q.Edges), Extra: q.Extra()}
	if q.VariantOf() != nil {
		flat.Of = q
	}
	for _, r := range rows {
		flat.Data = append(flat.Data, r...)
	}
	return flat
}

// all is matches for every query.
func all(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) ([]kind, uint64, error) {
	if q.Groups == nil {
		return kinds(ctx, view, q, meter)
	}
	groups, steps, err := groupsOf(ctx, q, meter, view)
	if err != nil {
		return nil, steps, err
	}
	var rows []row
	for _, g := range groups[0] {
		if g.holds {
			rows = append(rows, g.shown)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return compareKeys(view, q, a, b) })
	return []kind{{of: q, rows: rows}}, steps, nil
}

// Enumerate finds the matches of the plan's query in a view; see matcher.Backend.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	if b.graph == nil {
		return matcher.Result{}, errNotLoaded
	}
	var meter matcher.Meter
	meter.Begin(budget, limit > 0)
	found, steps, err := all(ctx, b.graph.View(which), p.Query, &meter)
	if errors.Is(err, errBudget) {
		return matcher.Result{Steps: steps, Over: meter.Over()}, nil
	}
	if err != nil {
		return matcher.Result{}, fmt.Errorf("reference: query %q: %w", p.Query.Name, err)
	}
	every := group{kinds: slices.DeleteFunc(found, func(k kind) bool { return len(k.rows) == 0 })}
	n := every.rows()
	res := matcher.Result{Steps: steps, Count: matcher.CountOf(n)}
	switch {
	case want == matcher.WantAny && n > 0:
		first := every.kinds[0].rows[0]
		res.Count, res.Witness = matcher.CountOf(1), first[:len(first)-p.Query.Extra()]
		return res, nil
	case want != matcher.WantRows:
		return res, nil
	}
	if limit > 0 && n > limit {
		n, res.Truncated = limit, true
		res.Count = matcher.CountOf(limit)
	}
	return res, give(every.kinds, n, emit)
}
