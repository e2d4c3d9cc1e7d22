package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS12WideEdgesCountAsEnumerationDoes counts patterns with edges of any label, of either direction and parallel
// ones, in small graphs with several edges between two vertices, by quotients and with the vertices kept apart, from
// batches that are committed or not and in whole graphs. It compares with the reference.
func TestS12WideEdgesCountAsEnumerationDoes(t *testing.T) {
	counted, grown := uint64(0), 0
	seen := func() bool { return counted > 0 && grown > 0 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{
			Directed: rng.IntN(2) == 0,
			Vertices: 3 + rng.IntN(5),
			Edges:    8 + rng.IntN(18),
			Messages: 40,
			Full:     true,
			Labels: matchertest.Labels{
				Vertex: []string{"", "A", "B"}[:1+rng.IntN(3)],
				Edge:   []string{"T", "U", "", "V"}[:2+rng.IntN(3)],
			},
		}
		msgs := matchertest.RandomStream(rng, shape)
		const mostSteps = 20_000 // that the reference may take for the whole graph
		var queries []*matcher.Query
		for i := 0; len(queries) < 4; i++ {
			q := matchertest.WideQueryOf(
				rng,
				2+rng.IntN(min(5, shape.Vertices-1)),
				fmt.Sprintf("q%04d", i),
				shape.Directed,
				shape.Labels,
			)
			q.Emit, q.Unit = matcher.EmitCounts, matcher.Unit(rng.IntN(2))
			ref := reference.New()
			x := matchertest.NewBench(t, shape.Directed, matchertest.BarePlanner{}, []*matcher.Query{q}, ref)
			x.Stage(msgs[:shape.Edges])
			n := x.Search(ref, dyngraph.Inserted, x.Requests(func(_ int, r *matcher.Request) {
				r.Want, r.Budget = matcher.WantCount, matcher.NewBudget(matcher.Limits{}, mostSteps, nil)
			})).Results[0]
			if n.Over == matcher.NoCause && (!n.Count.IsZero() || i > 20) {
				queries = append(queries, q)
			}
		}
		ref, fast := reference.New(), New(Options{Threads: 1 + rng.IntN(2), Lazy: rng.IntN(2) == 0})
		fast.views.Force = rng.IntN(2) == 0
		x := matchertest.NewBench(t, shape.Directed, plan.New(), queries, ref, fast)
		search := func() {
			reqs := x.Requests(func(_ int, r *matcher.Request) {
				r.Want, r.Before = matcher.WantCount,
					matcher.AllOrders
			})
			for _, p := range x.Plans() {
				require.NotNil(t, fast.plans[p].countPlan)
			}
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				fast.strategy = []count.Strategy{count.Auto, count.ByQuotients, count.Injective}[rng.IntN(3)]
				want, got := x.Search(ref, sign, reqs).Results, x.Search(fast, sign, reqs).Results
				for i, r := range reqs {
					require.Equal(
						t,
						want[i].Count.String(),
						got[i].Count.String(),
						"sign %d: %+v %+v",
						sign,
						r.Plan.Query.Vertices,
						r.Plan.Query.Edges,
					)
					counted += want[i].Count.Lo
					if fast.viewsAt(fast.plans[r.Plan], &r, fast.phase+uint64(program.SignIndex(sign))) != nil &&
						!want[i].Count.IsZero() {
						grown++
					}
				}
			}
		}
		batches := append([][]dyngraph.Message{msgs[:shape.Edges]}, matchertest.Cut(rng, msgs[shape.Edges:])...)
		for _, batch := range batches[:min(len(batches), 12)] {
			if rng.IntN(4) == 0 {
				x.Stage(batch)
				search()
				x.Abort()
			}
			x.Stage(batch)
			search()
			x.Commit()
			for _, p := range x.Plans() {
				want, err := ref.Enumerate(t.Context(), dyngraph.New, p, matcher.WantCount, 0, nil, nil)
				require.NoError(t, err)
				fast.strategy = []count.Strategy{count.Auto, count.ByQuotients, count.Injective}[rng.IntN(3)]
				got, err := fast.Enumerate(t.Context(), dyngraph.New, p, matcher.WantCount, 0, nil, nil)
				require.NoError(t, err)
				require.Equal(t, want.Count.String(), got.Count.String(), "%+v %+v", p.Query.Vertices, p.Query.Edges)
			}
		}
	})
}
