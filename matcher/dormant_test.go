package matcher_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// keptPlans plans a query once, as the engine does as long as its labels are known.
type keptPlans struct {
	matcher.Planner
	of map[*matcher.Query]*matcher.Plan
}

func (k keptPlans) Plan(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	if p := k.of[q]; p != nil {
		return p, nil
	}
	p, err := k.Planner.Plan(q, g)
	if err == nil && !slices.Contains(p.VertexLabels, matcher.UnknownLabel) &&
		!slices.Contains(p.EdgeLabels, matcher.UnknownLabel) {
		k.of[q] = p
	}
	return p, err
}

// TestPlansWhoseEdgesComeLate registers patterns with edges of labels that no data edge has, so that their plans are
// dormant, and has the stream bring these in some batch, which is aborted now and then: from that batch on their
// matches are those of the reference, in every mode.
func TestPlansWhoseEdgesComeLate(t *testing.T) {
	dormant, woken := 0, uint64(0)
	enough := func() bool { return dormant > 100 && woken > 20 }
	matchertest.ForSeedsUntil(t, 30, enough,
		func(t *testing.T, rng *rand.Rand) {
			labels := matchertest.Labels{Vertex: []string{"A", "B", "C", "D"}[:2+rng.IntN(3)],
				Edge: []string{"T", "U"}[:1+rng.IntN(2)]}
			shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 10 + rng.IntN(10), Edges: 8, Messages: 150,
				Full: true, Labels: labels}
			c := matchertest.RandomCase(rng, 8)
			for _, q := range c.Queries {
				for i := range q.Vertices {
					q.Vertices[i].Label, q.Vertices[i].AnyOf = labels.Vertex[rng.IntN(len(labels.Vertex))], nil
				}
				for i := range q.Edges {
					q.Edges[i].Label, q.Edges[i].AnyOf = labels.Edge[rng.IntN(len(labels.Edge))], nil
					q.Edges[i].Either = q.Edges[i].Either || !shape.Directed
				}
			}
			filter := new(candidates.Filter)
			ref, fast := reference.New(), cpu.New(
				cpu.Options{Threads: 1 + rng.IntN(4), TempFiles: tempfile.In(t.TempDir()),
					Filter: filter})
			bench := matchertest.NewBench(t, shape.Directed, keptPlans{plan.New(), map[*matcher.Query]*matcher.Plan{}},
				c.Queries, ref, fast)
			for _, batch := range matchertest.Cut(rng, matchertest.RandomStream(rng, shape)) {
				for range 1 + rng.IntN(2) {
					delta := bench.Stage(batch)
					requests := bench.Requests(func(_ int, r *matcher.Request) {
						randomRequest(rng, r,
							len(delta.Net))
					})
					for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
						compareAnswers(t, bench, sign, requests, bench.Search(ref, sign, requests),
							bench.Search(fast, sign, requests))
					}
					for _, p := range bench.Plans() {
						if filter.Dormant(p) {
							dormant++
						}
					}
					bench.Abort()
				}
				bench.Stage(batch)
				bench.Commit()
				checkEnumerate(t, bench, rng, ref, fast)
			}
			woken += filter.Woken()
		})
}
