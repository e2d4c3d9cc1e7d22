package groups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// Backend implements matcher.Backend around another one.
type Backend struct {
	matcher.Backend // the inner one
	opt             Options

	graph *dyngraph.Graph
	delta *dyngraph.Delta // of the staged batch

	programs map[*matcher.Plan]*program
	outcomes map[*matcher.Plan]*outcome // of the staged batch
	outer    []int                      // by the index of a plan of the inner backend: that in Prepare
	grouped  []int                      // the plans of queries with WITH
	plans    []*matcher.Plan
}

var _ matcher.Backend = (*Backend)(nil)

// Options configure a Backend.
type Options struct {
	// Clock gives nanoseconds, which limits of time need; nil measures none.
	Clock func() int64
	// HubDegree is the least number of edges of a vertex for which state is kept (default 64).
	HubDegree int
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.Clock == nil {
		o.Clock = func() int64 { return 0 }
	}
	if o.HubDegree == 0 {
		o.HubDegree = 64
	}
}

// New returns a backend that answers queries with WITH itself, and has the inner one answer the others.
func New(inner matcher.Backend, opt Options) *Backend {
	opt.EnsureDefaults()
	return &Backend{Backend: inner, opt: opt, programs: map[*matcher.Plan]*program{},
		outcomes: map[*matcher.Plan]*outcome{}}
}

// Capabilities implements matcher.Backend.
func (b *Backend) Capabilities() matcher.Capabilities {
	can := b.Backend.Capabilities()
	can.Groups = true
	can.Kept = b.kept
	if inner := can.Concern; inner != nil {
		can.Concern = func(note func(plan int, sign dyngraph.Sign)) {
			inner(func(plan int, sign dyngraph.Sign) { note(b.outer[plan], sign) })
			b.concern(note)
		}
	}
	if inner := can.Rehearse; inner != nil {
		can.Rehearse = func(ctx context.Context, reqs []matcher.Request) (bool, error) {
			reqs = slices.DeleteFunc(slices.Clone(reqs), func(r matcher.Request) bool {
				return r.Plan.Groups != nil
			})
			if len(reqs) == 0 {
				return false, nil
			}
			return inner(ctx, reqs)
		}
	}
	return can
}

// concern notes the queries with WITH in which a changed element fits some edge or vertex.
func (b *Backend) concern(note func(plan int, sign dyngraph.Sign)) {
	for _, at := range b.grouped {
		x := b.programs[b.plans[at]]
		if slices.ContainsFunc(b.delta.Net, func(n dyngraph.NetEdge) bool { return x.concerned(b.graph, &n) }) {
			note(at, dyngraph.Deleted)
			note(at, dyngraph.Inserted)
		}
	}
}

// concerned reports whether a changed element fits some element of the query.
func (x *program) concerned(g *dyngraph.Graph, n *dyngraph.NetEdge) bool {
	return x.fits(g, n) || slices.ContainsFunc(x.others, func(o *program) bool { return o.fits(g, n) })
}

// fits is concerned for the lengths of paths that the program has.
func (x *program) fits(g *dyngraph.Graph, n *dyngraph.NetEdge) bool {
	view := g.View(dyngraph.New)
	if n.Sign == dyngraph.Deleted {
		view = g.View(dyngraph.Old)
	}
	if slices.ContainsFunc(x.denied, func(d denial) bool { return d.Fits(n, view) }) {
		return true
	}
	if n.Vertex {
		for u, label := range x.pattern.Vertices {
			if n.Revised && matcher.LabelFits(label, view.Label(n.From)) && x.mayChange(g, u, n.From) {
				return true
			}
		}
		return false
	}
	from, to := view.Label(n.From), view.Label(n.To)
	for e, of := range x.g.Edges {
		if !matcher.LabelFits(x.pattern.Edges[e].Label, n.Label) || !x.meets(view, e, n.Edge) {
			continue
		}
		for _, reversed := range x.orientations(e) {
			a, z := from, to
			if reversed {
				a, z = to, from
			}
			if matcher.LabelFits(x.pattern.Vertices[of.From], a) && matcher.LabelFits(x.pattern.Vertices[of.To], z) {
				return true
			}
		}
	}
	return false
}

// meets reports whether a data edge meets the conditions on a pattern edge alone.
func (x *program) meets(view dyngraph.View, e int, d dyngraph.EdgeIndex) bool {
	var room [4]property.Value
	values := room[:0]
	for _, c := range x.ownEdge[e] {
		values = slices.Grow(values[:0], len(c.Reads))
		if !c.Meets(view, uint32(d), values[:len(c.Reads)]) {
			return false
		}
	}
	return true
}

// Load implements matcher.Backend.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.graph = g
	clear(b.programs)
	return b.Backend.Load(g)
}

// Prepare implements matcher.Backend.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	b.plans, b.outer, b.grouped = plans, b.outer[:0], b.grouped[:0]
	known := b.programs
	b.programs = map[*matcher.Plan]*program{}
	var inner []*matcher.Plan
	for i, p := range plans {
		if p.Groups == nil {
			b.outer, inner = append(b.outer, i), append(inner, p)
			continue
		}
		b.grouped = append(b.grouped, i)
		if b.programs[p] = known[p]; b.programs[p] == nil {
			b.programs[p] = newProgram(p, b.opt.HubDegree)
		}
	}
	return b.Backend.Prepare(inner)
}

// Stage implements matcher.Backend.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	b.delta = d
	clear(b.outcomes)
	return b.Backend.Stage(d)
}

// Commit implements matcher.Backend. States of hubs that do not know of the batch are dropped.
func (b *Backend) Commit() error {
	for p, x := range b.programs {
		if x.shape == nil || len(x.shape.states) == 0 {
			continue
		}
		o := b.outcomes[p]
		switch {
		case o != nil && o.over == matcher.NoCause && !o.stateless:
			x.shape.settle()
		case o != nil || slices.ContainsFunc(b.delta.Net, func(n dyngraph.NetEdge) bool {
			return x.concerned(b.graph, &n)
		}):
			x.shape.touched = x.shape.touched[:0]
			clear(x.shape.states)
		}
	}
	b.delta = nil
	clear(b.outcomes)
	return b.Backend.Commit()
}

// Abort implements matcher.Backend.
func (b *Backend) Abort() error {
	for _, x := range b.programs {
		if x.shape != nil {
			x.shape.forget()
		}
	}
	b.delta = nil
	clear(b.outcomes)
	return b.Backend.Abort()
}

// answer is the answer to one request of a query with WITH.
type answer struct {
	request int
	left    []change // to be emitted, ascending
	over    matcher.Cause
	meter   matcher.Meter
	done    bool
	given   uint64
}

// Search implements matcher.Backend.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	if !slices.ContainsFunc(reqs, func(r matcher.Request) bool { return r.Plan.Groups != nil }) {
		return b.Backend.Search(ctx, sign, reqs, emit, over)
	}
	m := &merge{reqs: reqs, results: make([]matcher.Result, len(reqs)), emit: emit, over: over}
	var inner []matcher.Request
	var at []int
	for i := range reqs {
		if reqs[i].Plan.Groups == nil {
			inner, at = append(inner, reqs[i]), append(at, i)
			continue
		}
		a, err := b.answer(ctx, sign, &reqs[i], &m.results[i])
		if err != nil {
			return nil, fmt.Errorf("groups: query %q: %w", reqs[i].Plan.Query.Name, err)
		}
		a.request = i
		m.own = append(m.own, a)
	}
	if len(inner) > 0 {
		results, err := b.Backend.Search(ctx, sign, inner, func(g matcher.Group) error {
			g.Request = at[g.Request]
			if err := m.until(g.Order, g.Request); err != nil {
				return err
			}
			return emit(g)
		}, func(request int, order uint32, cause matcher.Cause) (bool, error) {
			if err := m.until(order, at[request]); err != nil {
				return false, err
			}
			return over(at[request], order, cause)
		})
		if err != nil {
			return nil, err
		}
		for i, r := range results {
			m.results[at[i]] = r
		}
	}
	return m.results, m.until(matcher.AllOrders, len(reqs))
}

// answer computes the answer to a request.
func (b *Backend) answer(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, r *matcher.Result) (*answer,
	error) {
	a := &answer{}
	if b.skipsAll(req) {
		return a, nil
	}
	o := b.outcomes[req.Plan]
	if o == nil {
		x := b.programs[req.Plan]
		if x == nil {
			return nil, errors.New("the plan was not prepared")
		}
		if cause := a.meter.Begin(req.Budget, req.Limit > 0); cause != matcher.NoCause {
			o = &outcome{over: cause}
		} else {
			work := &residual.Work{Ctx: ctx, Clock: b.opt.Clock}
			work.Begin(&a.meter)
			var err error
			if o, err = x.evaluate(b.graph, b.delta, work); err != nil {
				return nil, err
			}
		}
		r.Steps, r.SearchNS = o.steps, o.ns
		b.outcomes[req.Plan] = o
	}
	if o.over != matcher.NoCause {
		a.over = o.over
		if req.Want != matcher.WantRows {
			r.Over = o.over
			a.done = true
		}
		for order := range b.delta.Net {
			if !req.Skips(uint32(order)) {
				a.left = append(a.left, change{sign: sign, order: uint32(order)})
			}
		}
		return a, nil
	}
	for _, c := range o.changes {
		if c.sign == sign && !req.Skips(c.order) {
			a.left = append(a.left, c)
		}
	}
	if req.Want == matcher.WantRows {
		return a, nil
	}
	a.done = true
	n := uint64(len(a.left))
	if req.Want == matcher.WantAny && n > 0 {
		n = 1
		r.Witness = req.Plan.Query.Keys(a.left[0].row)
	}
	r.Count = matcher.CountOf(n)
	return a, nil
}

// skipsAll reports whether a request wants no anchor of the batch.
func (b *Backend) skipsAll(req *matcher.Request) bool {
	for order := range b.delta.Net {
		if !req.Skips(uint32(order)) {
			return false
		}
	}
	return true
}

// merge emits the rows of queries with WITH among those of the inner backend, by anchor and query.
type merge struct {
	reqs    []matcher.Request
	results []matcher.Result
	own     []*answer
	emit    func(matcher.Group) error
	over    matcher.Exceeded
	rows    []uint32
}

// until emits the groups that come before an anchor and a request.
func (m *merge) until(order uint32, request int) error {
	for {
		var next *answer
		for _, a := range m.own {
			if !a.done && len(a.left) > 0 && (next == nil ||
				cmp.Or(cmp.Compare(a.left[0].order, next.left[0].order), cmp.Compare(a.request, next.request)) < 0) {
				next = a
			}
		}
		if next == nil || cmp.Or(cmp.Compare(next.left[0].order, order), cmp.Compare(next.request, request)) >= 0 {
			return nil
		}
		if err := m.give(next); err != nil {
			return err
		}
	}
}

// give emits the next group of an answer, as far as limit and budget allow.
func (m *merge) give(a *answer) error {
	req, r := &m.reqs[a.request], &m.results[a.request]
	order, n := a.left[0].order, 1
	for n < len(a.left) && a.left[n].order == order {
		n++
	}
	all := a.left[:n]
	a.left = a.left[n:]
	cause := a.over
	if cause == matcher.NoCause {
		if req.Limit > 0 && uint64(n) > req.Limit-a.given {
			all = all[:req.Limit-a.given]
		}
		if cause = a.meter.Begin(req.Budget, req.Limit > 0); cause == matcher.NoCause {
			a.meter.Spend(0, uint64(len(all)), 0)
			cause = a.meter.Over()
		}
	}
	if cause != matcher.NoCause {
		stop, err := m.over(a.request, order, cause)
		a.done = stop
		return err
	}
	a.given += uint64(len(all))
	a.done = req.Limit > 0 && a.given == req.Limit
	r.Truncated = a.done
	r.Count = r.Count.Add(matcher.CountOf(uint64(len(all))))
	if len(all) == 0 {
		return nil
	}
	m.rows = m.rows[:0]
	for _, c := range all {
		m.rows = append(m.rows, c.row...)
	}
	return m.emit(matcher.Group{Request: a.request, Order: order, Rows: req.Plan.Query.Rows(m.rows)})
}

// Enumerate implements matcher.Backend.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	if p.Groups == nil {
		return b.Backend.Enumerate(ctx, which, p, want, limit, budget, emit)
	}
	x := b.programs[p]
	if x == nil {
		x = newProgram(p, b.opt.HubDegree)
	}
	var group matcher.Meter
	if cause := group.Begin(budget, limit > 0); cause != matcher.NoCause {
		return matcher.Result{Over: cause}, nil
	}
	work := &residual.Work{Ctx: ctx, Clock: b.opt.Clock}
	work.Begin(&group)
	rows, err := x.enumerate(b.graph, which, want == matcher.WantAny, work)
	res := matcher.Result{Steps: work.Steps, SearchNS: work.NS}
	if err == nil {
		group.Spend(0, uint64(len(rows)), 0)
		if group.Over() != matcher.NoCause {
			err = residual.ErrBudget
		}
	}
	switch {
	case errors.Is(err, residual.ErrBudget):
		res.Over = group.Over()
		return res, nil
	case err != nil:
		return res, fmt.Errorf("groups: query %q: %w", p.Query.Name, err)
	}
	n := uint64(len(rows))
	if want == matcher.WantAny && n > 0 {
		n, res.Witness = 1, p.Query.Keys(rows[0])
	}
	if want == matcher.WantRows && limit > 0 && n > limit {
		n, res.Truncated = limit, true
	}
	res.Count = matcher.CountOf(n)
	if want != matcher.WantRows || n == 0 {
		return res, nil
	}
	return res, emit(p.Query.Rows(slices.Concat(rows[:n]...)))
}
