package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestIndexIsMadeWhenSomethingCounts: the index by label is made with the first batch that may concern a query that is
// counted by it or, lazily, by the first search that counts.
func TestIndexIsMadeWhenSomethingCounts(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 1).With(func(q *matcher.Query) { q.Emit = matcher.EmitCounts })
		b := New(Options{Threads: 1, Lazy: rng.IntN(2) == 0})
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, b)
		x.Stage(nil)
		require.Nil(t, b.index)
		x.Commit()
		changed := false
		for i, batch := range c.Batches {
			changed = len(x.Stage(batch).Net) > 0 && b.indexed > 0 && b.concerns || changed
			if !b.opt.Lazy && changed {
				require.NotNil(t, b.index)
			} else if i == 0 {
				require.Nil(t, b.index)
			}
			if rng.IntN(2) == 0 {
				x.Search(b, dyngraph.Inserted, x.Requests(func(_ int, r *matcher.Request) {
					r.Want, r.Before = matcher.WantCount, matcher.AllOrders
				}))
				if b.plans[x.Plans()[0]].countPlan != nil {
					require.NotNil(t, b.index)
				}
			}
			x.Commit()
		}
	})
}

// BenchmarkReadIndex indexes a graph of 400,000 vertices and 3,000,000 edges by label, by threads.
func BenchmarkReadIndex(b *testing.B) {
	p := newPowerLaw(1, 400_000, 3_000_000, 16, 1000)
	for _, threads := range []int{1, 2} {
		x := newBench(b, p.graph, shapeQuery(0), Options{Threads: threads})
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			for b.Loop() {
				x.b.index = nil
				x.b.labelIndex()
			}
		})
	}
}
