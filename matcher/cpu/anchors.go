package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/truths"
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
	reqs   []matcher.Request
	rows   bool
	leader []int       // by request: see Backend.leaders
	orders []*compiled // the orders that are requested; a plan may be there several times
	round  uint64
	found  []requested // by AnchorEntry.Note: what is requested of it
	used   int         // of b.starts
}

// requested holds the searches that begin at a net edge of some labels.
type requested struct {
	starts []start
	used   int           // how often it was looked at
	index  *truths.Index // of the tests, where there are many and it is used often
}

// indexAt is the number of times that starts are read before they get an index: making it costs about as much.
const indexAt = 8

// asked are the requests for a plan in one round.
type asked struct {
	round    uint64
	requests []int
}

// maxStarts bounds the room that is kept for what is found.
const maxStarts = 1 << 16

// newAnchors returns the anchors of the requests that use selects, for rows or for counts. What it finds
// holds until the next call, unless Backend.starts was taken.
func (b *Backend) newAnchors(reqs []matcher.Request, use func(request int) bool, rows bool,
	leader []int) *anchors {
	b.rounds++
	if len(b.starts) > maxStarts {
		b.starts = nil
	}
	a := &b.seeks
	clear(a.orders) // of plans that may be gone
	*a = anchors{b: b, reqs: reqs, rows: rows, leader: leader, orders: a.orders[:0], round: b.rounds,
		found: a.found[:0]}
	for i := range reqs {
		if !use(i) {
			continue
		}
		c := b.plans[reqs[i].Plan]
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
	if n.Vertex {
		return a.revised(n)
	}
	r := a.requested(a.b.anchors.Of(n.Labels[0], n.Label, n.Labels[1]))
	starts := r.starts
	if len(starts) == 0 {
		return nil
	}
	if r.used++; r.used == indexAt && len(starts) > manyFits {
		r.index = newIndex(len(starts), func(k int) *truths.Test { return starts[k].order.AnchorTest })
	}
	bits, words := a.b.filter.Bits(), a.b.filter.Words()
	from, to := bits[int(n.From)*words:], bits[int(n.To)*words:]
	a.room(len(starts))
	fit := a.b.starts[a.used:a.used]
	for k := range a.b.maybe(r.index, len(starts), uint32(i)) {
		s := starts[k]
		if x, y := &s.order.Steps[0], &s.order.Steps[1]; x.Passes(from) && y.Passes(to) &&
			a.b.meets(s.order.AnchorTest, uint32(i)) {
			fit = append(fit, s)
		}
	}
	a.used += len(fit)
	return fit[:len(fit):len(fit)]
}

// revised returns the orders that begin with a revised vertex where it matters, in the order of the requests. A version
// that does not meet the conditions on it alone costs nothing more.
func (a *anchors) revised(n *dyngraph.NetEdge) (starts []start) {
	a.b.eachRevised(n, func(c *compiled, at int) {
		if c.asked.round != a.round {
			return
		}
		o := c.revised[at].count
		if a.rows {
			o = c.revised[at].rows
		}
		for _, r := range c.asked.requests {
			starts = append(starts, start{r, o})
		}
	})
	slices.SortStableFunc(starts, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	return starts
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
		pairs, places := g.In(phase), g.Orders[phase&1]
		if len(pairs) == 0 {
			continue
		}
		fits := a.b.fitsOf(g)
		for k, together := 0, 1; k < len(fits); k += together {
			f := &fits[k].Of
			orders := f.c.count
			if together = 1; f.c.each != nil { // lists that one order of a net edge reads are read by the others, too
				orders = f.c.each
				for k+together < len(fits) && fits[k+together].Of.c == f.c {
					together++
				}
			}
			if f.how == byGroup && !f.hasViews && together == 1 && !a.b.anyFits(f, g, int(phase&1)) {
				continue // without a look at the plan
			}
			if f.c.asked.round != a.round {
				continue
			}
			for _, r := range f.c.asked.requests {
				ts, grown := tasks[r], a.b.viewsAt(f.c, &a.reqs[r], phase) != nil
				for i, p := range pairs {
					order := uint32(0)
					if len(places) > 0 { // some plan needs them, or the label has parallel edges
						order = places[i]
					}
					for j := k; j < k+together; j++ {
						o := orders[fits[j].Order]
						x, y := &o.Steps[0], &o.Steps[1]
						if grown || x.Test.Of(bits[int(p.From)*words:]) && y.Test.Of(bits[int(p.To)*words:]) &&
							a.b.meets(o.AnchorTest, order) {
							ts = append(ts, task{o: o, NetPair: p, net: order, label: g.Edge})
						}
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
func (a *anchors) requested(fits *matcher.AnchorEntry[anchorOrder]) *requested {
	if fits.Mark[0] == a.round {
		return &a.found[fits.Note]
	}
	var starts []start
	for _, f := range fits.List {
		c := f.Of.c
		if c.asked.round != a.round {
			continue
		}
		o := c.count[f.Order]
		if a.rows {
			o = c.rows[f.Order]
		}
		for _, r := range c.asked.requests {
			s := start{r, o}
			if a.leader != nil && a.leader[r] >= 0 {
				s = start{a.leader[r], c.lengths.trees[c.length][f.Order]}
			}
			if s.order != nil { // otherwise another order's search has it
				starts = append(starts, s)
			}
		}
	}
	slices.SortStableFunc(starts, func(x, y start) int { return cmp.Compare(x.request, y.request) })
	fits.Mark[0], fits.Note = a.round, len(a.found)
	a.found = append(a.found, requested{starts: starts})
	return &a.found[fits.Note]
}
