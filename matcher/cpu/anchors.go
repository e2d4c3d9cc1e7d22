package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// start is one oriented pattern edge of a request that net edges of some label triple fit.
type start struct {
	request int
	order   *order
}

// anchors finds, for a net edge, the oriented pattern edges of the requests that it fits (DESIGN A3). What a triple of labels
// fits in all registered plans is found once, and what of it was requested once a search.
type anchors struct {
	b      *Backend
	view   dyngraph.View
	rows   bool
	orders map[*compiled][]int // the requests, by plan
	found  map[triple][]start
}

// triple is a net edge's labels, by its ends.
type triple struct {
	from, edge, to dyngraph.LabelID
}

func (b *Backend) newAnchors(reqs []matcher.Request, use func(matcher.Request) bool, rows bool) *anchors {
	a := &anchors{b: b, view: b.g.View(dyngraph.New), rows: rows}
	for i, r := range reqs {
		if !use(r) {
			continue
		}
		if a.orders == nil {
			a.orders, a.found = make(map[*compiled][]int, len(reqs)), map[triple][]start{}
		}
		c := b.plans[r.Plan]
		a.orders[c] = append(a.orders[c], i)
	}
	return a
}

// of returns what n fits, in the order of the requests.
func (a *anchors) of(n *dyngraph.NetEdge) []start {
	k := triple{a.view.Label(n.From), n.Label, a.view.Label(n.To)}
	starts, ok := a.found[k]
	if ok {
		return starts
	}
	for _, f := range a.b.anchors.Of(k.from, k.edge, k.to).List {
		o := f.Of.count[f.Order]
		if a.rows {
			o = f.Of.rows[f.Order]
		}
		for _, r := range a.orders[f.Of] {
			starts = append(starts, start{r, o})
		}
	}
	slices.SortStableFunc(starts, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	a.found[k] = starts
	return starts
}
