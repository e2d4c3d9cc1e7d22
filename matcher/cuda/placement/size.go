//go:build cuda || emu

package placement

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// Sizer estimates the work of requests: the number of pairs of a net edge and a matching order that it fits. It runs
// for every batch, also for the smallest, so it must be cheap: it looks up the labels of a sample of the net edges.
type Sizer struct {
	asked   map[*matcher.Plan]*asked
	emit    [3]bool      // by Want: some plan is searched for it in every batch that it fits
	last    [3]requested // by Want
	anchors matcher.Anchors[*asked]
	rounds  uint64 // number of different lists of requests so far
}

// asked is the number of requests for a plan in a round, by Want.
type asked struct {
	round [3]uint64
	times [3]int
	emits [3]bool // the plan is searched for it in every batch that it fits
}

// requested is the last list of requests for one Want, and its round. While the list stays the same, the counts by
// label that Size keeps in anchors stay valid.
type requested struct {
	plans []*matcher.Plan
	round uint64
}

// sampled is the maximum number of net edges whose labels are looked up. Not tuned.
const sampled = 1024

// Set replaces the plans.
func (z *Sizer) Set(plans []*matcher.Plan) {
	old := z.asked
	z.asked, z.emit, z.last = make(map[*matcher.Plan]*asked, len(plans)), [3]bool{}, [3]requested{}
	for _, p := range plans {
		if z.asked[p] != nil {
			continue
		}
		if z.asked[p] = old[p]; z.asked[p] == nil {
			z.asked[p] = &asked{}
		}
		a := z.asked[p]
		switch p.Query.Emit {
		case matcher.EmitDeltas:
			a.emits[matcher.WantRows], z.emit[matcher.WantRows] = true, true
		case matcher.EmitCounts:
			a.emits[matcher.WantCount], z.emit[matcher.WantCount] = true, true
		}
	}
	z.anchors.Set(plans, func(i, _ int) *asked { return z.asked[plans[i]] })
}

// Size estimates the work of the requests of, which have the same Want and whose plans are set. more is the work that
// is expected to follow in the batch: insertions are searched after deletions, except for existence.
func (z *Sizer) Size(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, reqs []matcher.Request,
	of []int) (size, more uint64) {
	want := reqs[of[0]].Want
	round := z.ask(want, reqs, of)
	view := g.View(dyngraph.New)
	step := max(1, len(d.Net)/sampled)
	for i := 0; i < len(d.Net); i += step {
		n := &d.Net[i]
		if n.Vertex || n.Sign != sign && sign == dyngraph.Inserted {
			continue
		}
		fits := z.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To))
		if fits.Mark[0] != round {
			fits.Mark[0], fits.Mark[1], fits.Note = round, 0, 0
			for _, f := range fits.List {
				if f.Of.round[want] == round {
					fits.Note += f.Of.times[want]
				}
				if f.Of.emits[want] {
					fits.Mark[1]++
				}
			}
			if !z.emit[want] {
				fits.Mark[1] = uint64(fits.Note)
			}
		}
		if n.Sign == sign {
			size += uint64(fits.Note)
		} else {
			more += fits.Mark[1]
		}
	}
	if want == matcher.WantAny {
		more = 0
	}
	return size * uint64(step), more * uint64(step)
}

// ask records the list of requests and returns its round.
func (z *Sizer) ask(want matcher.Want, reqs []matcher.Request, of []int) uint64 {
	last := &z.last[want]
	same := len(last.plans) == len(of)
	for k := 0; same && k < len(of); k++ {
		same = last.plans[k] == reqs[of[k]].Plan
	}
	if same {
		return last.round
	}
	z.rounds++
	last.plans, last.round = last.plans[:0], z.rounds
	for _, i := range of {
		last.plans = append(last.plans, reqs[i].Plan)
		a := z.asked[reqs[i].Plan]
		if a.round[want] != z.rounds {
			a.round[want], a.times[want] = z.rounds, 0
		}
		a.times[want]++
	}
	return z.rounds
}
