package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// start is one oriented pattern edge of a request that net edges of some label triple fit.
type start struct {
	request int
	order   *order
}

// triple is a net edge's labels, by its ends.
type triple struct {
	from, edge, to dyngraph.LabelID
}

// anchors finds, for a net edge, the oriented pattern edges of the requests that it fits (DESIGN A3): every distinct
// triple of labels is looked up in all orders once, so that cost grows with what fits.
type anchors struct {
	view   dyngraph.View
	orders []start
	byKind map[triple][]start
}

func (b *Backend) newAnchors(reqs []matcher.Request, use func(matcher.Request) bool, rows bool) *anchors {
	a := &anchors{view: b.g.View(dyngraph.New), byKind: map[triple][]start{}}
	for i, r := range reqs {
		if !use(r) {
			continue
		}
		orders := b.plans[r.Plan].count
		if rows {
			orders = b.plans[r.Plan].rows
		}
		for _, o := range orders {
			a.orders = append(a.orders, start{i, o})
		}
	}
	slices.SortStableFunc(a.orders, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	return a
}

// of returns what n fits, in the order of the requests.
func (a *anchors) of(n *dyngraph.NetEdge) []start {
	k := triple{a.view.Label(n.From), n.Label, a.view.Label(n.To)}
	s, ok := a.byKind[k]
	if !ok {
		for _, o := range a.orders {
			p := o.order.plan
			if plan.Fits(p.EdgeLabels[o.order.anchor], k.edge) &&
				plan.Fits(p.VertexLabels[o.order.steps[0].vertex], k.from) &&
				plan.Fits(p.VertexLabels[o.order.steps[1].vertex], k.to) {
				s = append(s, o)
			}
		}
		a.byKind[k] = s
	}
	return s
}
