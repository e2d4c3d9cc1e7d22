//go:build cuda || emu

package cuda

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// sizer estimates the work of requests: the pairs of a net edge and a matching order that it fits. That is done for every batch,
// also for the smallest, and so takes about as long as looking up the labels of some of its edges.
type sizer struct {
	asked   map[*matcher.Plan]*asked
	emit    [3][]*asked // by Want: the plans that are searched in this way in every batch that they fit
	anchors matcher.Anchors[*asked]
	rounds  uint64
}

// asked is how often a plan is requested in a round.
type asked struct {
	round uint64
	times int
}

// sampled bounds the net edges that are looked at.
const sampled = 1024

// set makes the sizer know these plans, and no others.
func (z *sizer) set(plans []*matcher.Plan) {
	old := z.asked
	z.asked, z.emit = make(map[*matcher.Plan]*asked, len(plans)), [3][]*asked{}
	for _, p := range plans {
		if z.asked[p] != nil {
			continue
		}
		if z.asked[p] = old[p]; z.asked[p] == nil {
			z.asked[p] = &asked{}
		}
		switch a := z.asked[p]; p.Query.Emit {
		case matcher.EmitDeltas:
			z.emit[matcher.WantRows] = append(z.emit[matcher.WantRows], a)
		case matcher.EmitCounts:
			z.emit[matcher.WantCount] = append(z.emit[matcher.WantCount], a)
		}
	}
	z.anchors.Set(plans, func(i, _ int) *asked { return z.asked[plans[i]] })
}

// size estimates the work of some of the requests, which want the same; their plans were set. It also tells how much is expected to be asked for
// later in the batch: insertions come after deletions, but for existence.
func (z *sizer) size(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, reqs []matcher.Request, of []int) (size, more uint64) {
	want := reqs[of[0]].Want
	z.rounds++
	for _, i := range of {
		z.asked[reqs[i].Plan].ask(z.rounds)
	}
	size = z.pairs(g, d, sign)
	if sign == dyngraph.Inserted || want == matcher.WantAny {
		return size, 0
	}
	z.rounds++
	for _, a := range z.emit[want] {
		a.ask(z.rounds)
	}
	if len(z.emit[want]) == 0 {
		for _, i := range of {
			z.asked[reqs[i].Plan].ask(z.rounds)
		}
	}
	return size, z.pairs(g, d, dyngraph.Inserted)
}

// ask notes one more request.
func (a *asked) ask(round uint64) {
	if a.round != round {
		a.round, a.times = round, 0
	}
	a.times++
}

// pairs estimates the pairs of a net edge of a sign and an order of what was asked in this round.
func (z *sizer) pairs(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign) uint64 {
	view := g.View(dyngraph.New)
	step := max(1, len(d.Net)/sampled)
	pairs := 0
	for i := 0; i < len(d.Net); i += step {
		n := &d.Net[i]
		if n.Sign != sign {
			continue
		}
		fits := z.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To))
		if fits.Mark[0] != z.rounds {
			fits.Mark[0], fits.Note = z.rounds, 0
			for _, f := range fits.List {
				if f.Of.round == z.rounds {
					fits.Note += f.Of.times
				}
			}
		}
		pairs += fits.Note
	}
	return uint64(pairs) * uint64(step)
}
