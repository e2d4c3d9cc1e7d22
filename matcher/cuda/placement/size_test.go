//go:build cuda || emu

package placement_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestSizesAgainstAll plays the estimates of work against a look at every order of every plan, while plans come and go
// and the same requests, others, and others for the same plans follow each other. The batches are so small that all
// net edges are looked at.
func TestSizesAgainstAll(t *testing.T) {
	found, foreseen := 0, 0
	enough := func() bool { return found > 0 && foreseen > 0 }
	matchertest.ForSeedsUntil(t, 40, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) { q.Emit = matcher.Emit(rng.IntN(3)) })
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries)
		var sizer placement.Sizer
		var plans []*matcher.Plan
		for _, batch := range c.Batches {
			delta := bench.Stage(batch)
			// Plans may be others after every batch with new labels.
			keep := func(p *matcher.Plan) bool { return slices.Contains(bench.Plans(), p) }
			if plans == nil || rng.IntN(4) == 0 || !slices.ContainsFunc(plans, keep) {
				plans = slices.DeleteFunc(slices.Clone(bench.Plans()),
					func(*matcher.Plan) bool { return rng.IntN(4) == 0 })
				sizer.Set(plans)
			}
			var reqs []matcher.Request
			for range 8 {
				if rng.IntN(4) == 0 { // all are gone, and come back
					sizer.Set(nil)
					sizer.Set(plans)
				}
				if len(reqs) == 0 || rng.IntN(2) == 0 {
					want := matcher.Want(rng.IntN(3))
					if reqs = nil; rng.IntN(4) > 0 {
						for _, p := range plans {
							for range rng.IntN(3) {
								reqs = append(reqs, matcher.Request{Plan: p, Want: want})
							}
						}
					}
				}
				var of []int
				for i := range reqs {
					if rng.IntN(4) > 0 {
						of = append(of, i)
					}
				}
				if len(of) == 0 {
					continue
				}
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					size, more := sizer.Size(bench.Graph, delta, sign, reqs, of)
					wantSize, wantMore := sizeOfAll(bench.Graph, delta, sign, plans, reqs, of)
					if size != wantSize || more != wantMore {
						t.Fatalf("sign %d, want %d: %d and %d more, not %d and %d more", sign, reqs[of[0]].Want, size,
							more, wantSize, wantMore)
					}
					found, foreseen = found+int(size), foreseen+int(more)
				}
			}
			bench.Commit()
		}
	})
}

// sizeOfAll is Sizer.Size by a look at every order.
func sizeOfAll(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, plans []*matcher.Plan, reqs []matcher.Request,
	of []int) (size, more uint64) {
	want := reqs[of[0]].Want
	var now, later []*matcher.Plan
	for _, i := range of {
		now = append(now, reqs[i].Plan)
	}
	for _, p := range plans {
		if p.Query.Emit == matcher.EmitDeltas && want == matcher.WantRows || p.Query.Emit == matcher.EmitCounts &&
			want == matcher.WantCount {
			later = append(later, p)
		}
	}
	if later == nil {
		later = now
	}
	if sign == dyngraph.Inserted || want == matcher.WantAny {
		later = nil
	}
	return fitting(g, d, sign, now), fitting(g, d, dyngraph.Inserted, later)
}

// fitting counts the pairs of a net edge of a sign and an order of a plan that it fits by its labels.
func fitting(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, plans []*matcher.Plan) (n uint64) {
	view := g.View(dyngraph.New)
	for _, p := range plans {
		for i := range p.Anchored {
			o := &p.Anchored[i]
			for _, e := range d.Net {
				if e.Sign == sign && matcher.LabelFits(p.VertexLabels[o.Steps[0].Vertex], view.Label(e.From)) &&
					matcher.LabelFits(p.EdgeLabels[o.Edge], e.Label) &&
					matcher.LabelFits(p.VertexLabels[o.Steps[1].Vertex], view.Label(e.To)) {
					n++
				}
			}
		}
	}
	return n
}
