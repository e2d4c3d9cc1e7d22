package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// start is one oriented pattern edge of a request that a net edge fits.
type start struct {
	request int
	order   *program.Order
}

// anchors finds, for a net edge, the oriented pattern edges of the requests that it fits (DESIGN A3). What labels fit
// in all registered plans is found once, what of it was requested once a search; of that, what the candidate bits of
// the ends admit.
type anchors struct {
	b      *Backend
	view   dyngraph.View
	reqs   []matcher.Request
	rows   bool
	orders []*compiled // what is requested; a plan may be there several times
	round  uint64
	found  [][]start // by AnchorEntry.Note: what is requested of it
	used   int       // of b.starts
}

// asked are the requests for a plan in one round.
type asked struct {
	round    uint64
	requests []int
}

// maxStarts bounds the room that is kept for what is found.
const maxStarts = 1 << 16

// newAnchors returns the anchors of the requests that use selects, for rows or for counts. What it finds
// holds until the next call, unless Backend.starts was taken.
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

// of returns what net edge i fits, in the order of the requests.
func (a *anchors) of(i int) []start {
	n := &a.b.delta.Net[i]
	starts := a.requested(a.b.anchors.Of(a.view.Label(n.From), n.Label, a.view.Label(n.To)))
	if len(starts) == 0 {
		return nil
	}
	bits, words := a.b.filter.Bits(), a.b.filter.Words()
	from, to := bits[int(n.From)*words:], bits[int(n.To)*words:]
	a.room(len(starts))
	fit := a.b.starts[a.used:a.used]
	for _, s := range starts {
		if x, y := &s.order.Steps[0], &s.order.Steps[1]; x.Passes(from) && y.Passes(to) &&
			a.b.meets(s.order.AnchorOwn(), n) {
			fit = append(fit, s)
		}
	}
	a.used += len(fit)
	return fit[:len(fit):len(fit)]
}

// room makes room for n more starts.
func (a *anchors) room(n int) {
	if len(a.b.starts)-a.used < n {
		a.b.starts, a.used = make([]start, max(2*len(a.b.starts), 4*n)), 0
	}
}

// groupTasks appends the tasks of the requests, in any order.
func (a *anchors) groupTasks(phase uint64, tasks [][]task) {
	if len(a.orders) == 0 {
		return
	}
	bits, words := a.b.filter.Bits(), a.b.filter.Words()
	for _, g := range a.b.nets.Touched {
		pairs := g.In(phase)
		if len(pairs) == 0 {
			continue
		}
		fits := a.b.anchors.Of(g.From, g.Edge, g.To).List
		many := len(fits) > manyFits
		for k := range fits {
			f := &fits[k].Of
			if many && f.how == byGroup && !f.hasViews && !a.b.anyFits(f, pairs) {
				continue // without a look at the plan
			}
			if f.c.asked.round != a.round {
				continue
			}
			o := f.c.count[fits[k].Order]
			for _, r := range f.c.asked.requests {
				req := &a.reqs[r]
				grown := a.b.viewsAt(req, phase) != nil
				ts, x, y := tasks[r], &o.Steps[0], &o.Steps[1]
				for i, p := range pairs {
					if grown || x.Test.Of(bits[int(p.From)*words:]) && y.Test.Of(bits[int(p.To)*words:]) {
						ts = append(ts, task{o: o, NetPair: p, net: uint32(i), label: g.Edge})
					}
				}
				tasks[r] = ts
			}
		}
	}
}

// edgeTasks appends the tasks of the requests, in the order of the net edges.
func (a *anchors) edgeTasks(sign dyngraph.Sign, tasks [][]task) {
	for i := range a.b.delta.Net {
		n := &a.b.delta.Net[i]
		if n.Sign != sign {
			continue
		}
		for _, s := range a.of(i) {
			if uint32(i) < a.reqs[s.request].Before {
				tasks[s.request] = append(
					tasks[s.request],
					task{o: s.order, NetPair: program.NetPair{From: n.From, To: n.To}, net: uint32(i), label: n.Label},
				)
			}
		}
	}
}

// requested returns what of the fits is requested, in the order of the requests.
func (a *anchors) requested(fits *matcher.AnchorEntry[anchorOrder]) []start {
	if fits.Mark[0] == a.round {
		return a.found[fits.Note]
	}
	var starts []start
	for _, f := range fits.List {
		c := f.Of.c
		if c.asked.round != a.round {
			continue
		}
		o := c.count[f.Order]
		if a.rows {
			if o = c.rows[f.Order]; o == nil {
				continue // another order's rows have it
			}
		}
		for _, r := range c.asked.requests {
			starts = append(starts, start{r, o})
		}
	}
	slices.SortStableFunc(starts, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	fits.Mark[0], fits.Note = a.round, len(a.found)
	a.found = append(a.found, starts)
	return starts
}
