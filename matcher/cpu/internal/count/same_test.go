package count

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestSameEdges compares the edges that quotients identify with those found pair by pair.
func TestSameEdges(t *testing.T) {
	same, sets := 0, 0
	seen := func() bool { return same > 0 && sets > 0 }
	matchertest.ForSeedsUntil(t, 200, seen, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
		q := matchertest.RandomQuery(rng, "q", directed, matchertest.RandomLabels(rng))
		p, err := plan.New().Plan(q, g)
		require.NoError(t, err)
		f := new(candidates.Filter)
		f.Load(g)
		f.Prepare([]*matcher.Plan{p})
		s := NewPlan(p, f, false)
		if s == nil {
			return
		}
		sets += len(s.sets)
		for _, q := range s.Quotients {
			of := q.BlockOf
			for i, got := range s.sameEdges(&partition{blockOf: of}, ^uint32(0)) {
				var want []int
				for k := range s.rank {
					e, d := &p.Query.Edges[i], &p.Query.Edges[k]
					if s.setOf[i] < 0 && s.setOf[k] < 0 && p.EdgeLabels[i] == p.EdgeLabels[k] &&
						(of[e.From] == of[d.From] && of[e.To] == of[d.To] ||
							!directed && of[e.From] == of[d.To] && of[e.To] == of[d.From]) {
						want = append(want, k)
					}
				}
				require.Equal(t, want, got, "edge %d of %+v in blocks %v", i, p.Query.Edges, of)
				if len(want) > 1 {
					same++
				}
			}
		}
	})
}
