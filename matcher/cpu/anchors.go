package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// start is one oriented pattern edge of a request that a net edge fits.
type start struct {
	request int
	order   *order
}

// anchors finds, for a net edge, the oriented pattern edges of the requests that it fits (DESIGN A3). What labels fit in all
// registered plans is found once, what of it was requested once a search; of that, what the candidate bits of the ends
// admit.
type anchors struct {
	b      *Backend
	view   dyngraph.View
	reqs   []matcher.Request
	rows   bool
	orders []*compiled // what is requested; a plan may be there several times
	round  uint64
	found  [][]start // by Fits.Note: what is requested of it
	used   int       // of b.starts
}

// asked are the requests for a plan in one round.
type asked struct {
	round    uint64
	requests []int
}

// maxStarts bounds the room that is kept for what is found.
const maxStarts = 1 << 16

// newAnchors returns the anchors of the requests that use selects, for rows or for counts. It holds until the next call.
func (b *Backend) newAnchors(reqs []matcher.Request, use func(matcher.Request) bool, rows bool) *anchors {
	b.rounds++
	if len(b.starts) > maxStarts {
		b.starts = nil
	}
	a := &anchors{b: b, view: b.g.View(dyngraph.New), reqs: reqs, rows: rows, round: b.rounds}
	for i, r := range reqs {
		if !use(r) {
			continue
		}
		c := b.plans[r.Plan]
		if c.asked.round != a.round {
			c.asked.round, c.asked.requests = a.round, c.asked.requests[:0]
		}
		c.asked.requests = append(c.asked.requests, i)
		a.orders = append(a.orders, c)
	}
	return a
}

// of returns what n fits, in the order of the requests.
func (a *anchors) of(n *dyngraph.NetEdge) []start {
	starts := a.requested(a.b.anchors.Of(a.view.Label(n.From), n.Label, a.view.Label(n.To)))
	if len(starts) == 0 {
		return nil
	}
	bits, words := a.b.filter.Bits(), a.b.filter.Words()
	from, to := bits[int(n.From)*words:], bits[int(n.To)*words:]
	if len(a.b.starts)-a.used < len(starts) {
		a.b.starts, a.used = make([]start, max(2*len(a.b.starts), 4*len(starts))), 0
	}
	fit := a.b.starts[a.used:a.used]
	for _, s := range starts {
		// Whoever has a budget pays for every attempt.
		if x, y := &s.order.steps[0], &s.order.steps[1]; from[x.word]&x.mask != 0 && to[y.word]&y.mask != 0 ||
			a.reqs[s.request].Budget > 0 {
			fit = append(fit, s)
		}
	}
	a.used += len(fit)
	return fit[:len(fit):len(fit)]
}

// requested returns what of the fits is requested, in the order of the requests.
func (a *anchors) requested(fits *matcher.Fits[*compiled]) []start {
	if fits.Mark[0] == a.round {
		return a.found[fits.Note]
	}
	var starts []start
	for _, f := range fits.List {
		if f.Of.asked.round != a.round {
			continue
		}
		o := f.Of.count[f.Order]
		if a.rows {
			if o = f.Of.rows[f.Order]; o == nil {
				continue // another order's rows have it
			}
		}
		for _, r := range f.Of.asked.requests {
			starts = append(starts, start{r, o})
		}
	}
	slices.SortStableFunc(starts, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	fits.Mark[0], fits.Note = a.round, len(a.found)
	a.found = append(a.found, starts)
	return starts
}
