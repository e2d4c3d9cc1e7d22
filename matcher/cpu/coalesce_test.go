package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS7CoalescedSearchPutsOutTheSame: anchors that are searched together put out what each puts out by itself.
func TestS7CoalescedSearchPutsOutTheSame(t *testing.T) {
	together := 0
	matchertest.ForSeeds(t, 60, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 6)
		each, all := New(Options{Threads: 1, SpillDir: t.TempDir()}), eager(t, 1+rng.IntN(3), 64<<rng.IntN(12))
		each.apart = true
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, each, all)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			for _, p := range x.Plans() {
				for _, o := range all.plans[p].rows {
					if o == nil {
						together++
					}
				}
			}
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(each, sign, requests), x.Search(all, sign, requests))
			}
			x.Commit()
		}
	})
	require.Positive(t, together)
}

// BenchmarkCoalesced reports how much faster the rows of rings without labels come when their anchors, which are all alike, are
// searched together.
func BenchmarkCoalesced(b *testing.B) {
	p := newPowerLaw(1, 20_000, 100_000, 1, 2000)
	for n := 3; n <= 5; n++ {
		q := &matcher.Query{Name: "ring", Version: 1}
		for i := range n {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i)})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % n, Either: true})
		}
		b.Run(fmt.Sprint("ring of ", n), func(b *testing.B) {
			us := p.stream[:2000>>(2*(n-3))]
			least := [2]time.Duration{time.Hour, time.Hour}
			var counts [2]uint64
			for b.Loop() {
				for i := range 2 {
					x := newBench(b, p.graph, q, Options{Threads: 1, SpillDir: b.TempDir()})
					x.b.apart = i == 0
					x.prepare(q)
					done := x.stage(us)
					began := time.Now()
					counts[i], _ = x.rows(func(matcher.Group) error { return nil }).Count.Uint64()
					least[i] = min(least[i], time.Since(began))
					done()
				}
				require.Equal(b, counts[0], counts[1])
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(counts[0]), "matches")
			b.ReportMetric(least[0].Seconds()/least[1].Seconds(), "apart/together")
		})
	}
}
