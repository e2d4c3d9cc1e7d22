package count

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
)

// fixture is a matcher.Backend that keeps what a counter reads and answers nothing itself.
type fixture struct {
	t      testing.TB
	g      *dyngraph.Graph
	filter *candidates.Filter
	staged bool
	listed []*matcher.Plan
	plans  map[*matcher.Plan]*Plan
}

func (b *fixture) Capabilities() matcher.Capabilities { return matcher.Capabilities{} }

func (b *fixture) Name() string { return "fixture" }

func (b *fixture) Load(g *dyngraph.Graph) error {
	b.g, b.filter = g, new(candidates.Filter)
	b.filter.Load(g)
	return nil
}

func (b *fixture) Prepare(plans []*matcher.Plan) error {
	b.filter.Prepare(plans)
	b.listed, b.plans = plans, map[*matcher.Plan]*Plan{}
	for _, p := range plans {
		b.plans[p] = NewPlan(p, b.filter, false)
	}
	return nil
}

func (b *fixture) Stage(d *dyngraph.Delta) error {
	if d.NewTriples && len(b.filter.Wake()) > 0 {
		require.NoError(b.t, b.Prepare(b.listed))
	}
	b.filter.Stage(d)
	b.staged = true
	return nil
}

func (b *fixture) Commit() error {
	b.filter.Commit()
	b.staged = false
	return nil
}

func (b *fixture) Abort() error {
	b.filter.Abort()
	b.staged = false
	return nil
}

func (b *fixture) Close() error { return nil }

func (b *fixture) Search(context.Context, dyngraph.Sign, []matcher.Request, func(matcher.Group) error,
	matcher.Exceeded) ([]matcher.Result, error) {
	return nil, errors.ErrUnsupported
}

func (b *fixture) Enumerate(context.Context, dyngraph.Which, *matcher.Plan, matcher.Want, uint64, *matcher.Budget,
	func(matcher.Rows) error) (matcher.Result, error) {
	return matcher.Result{}, errors.ErrUnsupported
}

// counter returns a counter over the graph as it is.
func (b *fixture) counter(stop *atomic.Bool) *Counter {
	w := &work.Worker{Stop: stop, Options: &work.Options{}, Matches: func() uint64 { return 0 }}
	c := &Counter{}
	c.Attach(w, b.g, b.filter)
	return c
}

// start makes the counter count a plan.
func (b *fixture) start(c *Counter, s *Plan) {
	c.Start(s, labeladj.New(b.g, s.Wildcards, b.staged, func(work func()) { work() }), nil)
}

// anchors returns the anchors of a plan that a net edge fits by its labels.
func (b *fixture) anchors(p *matcher.Plan, n *dyngraph.NetEdge) (fit []Anchor) {
	view := b.g.View(dyngraph.New)
	for i := range p.Anchored {
		o := &p.Anchored[i]
		a := Anchor{o.Edge, o.Steps[0].Vertex, o.Steps[1].Vertex}
		if matcher.LabelFits(p.EdgeLabels[a.Edge], n.Label) &&
			matcher.LabelFits(p.VertexLabels[a.From], view.Label(n.From)) &&
			matcher.LabelFits(p.VertexLabels[a.To], view.Label(n.To)) {
			fit = append(fit, a)
		}
	}
	return fit
}
