package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestStatic compares plans without orders for batches with whole plans: nothing else differs.
func TestStatic(t *testing.T) {
	matchertest.ForSeeds(t, 100, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		q := matchertest.RandomQuery(rng, "q", directed, matchertest.RandomLabels(rng))
		g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
		whole, err := New().Plan(q, g)
		require.NoError(t, err)
		static, err := New().Static(q, g)
		require.NoError(t, err)
		require.True(t, whole.ForBatches())
		require.False(t, static.ForBatches())
		require.Empty(t, static.Classes)
		whole.Anchored, whole.Classes, whole.Alike, whole.Revised = nil, nil, nil, nil
		require.Equal(t, whole.Static(), static.Static())
		whole.Static, static.Static, whole.Text, static.Text = nil, nil, nil, nil
		require.Equal(t, whole, static)
	})
}

// TestSymmetryOfFew has patterns whose vertices refinement tells apart counted as having one automorphism, unless they
// have parallel edges.
func TestSymmetryOfFew(t *testing.T) {
	apart, parallel := 0, 0
	seen := func() bool { return apart > 0 && parallel > 0 }
	matchertest.ForSeedsUntil(t, 300, seen, func(t *testing.T, rng *rand.Rand) {
		q := matchertest.RandomQuery(rng, "q", true, matchertest.RandomLabels(rng))
		p, err := New().Static(q, dyngraph.NewGraph(dyngraph.Options{Directed: true}))
		require.NoError(t, err)
		m := newMapper(p, p.Query.Conditions)
		if distinct(m.apart(m.seed)) < len(q.Vertices) {
			return
		}
		if m.parallel {
			parallel++
		} else {
			apart++
		}
		all := matchertest.Automorphisms(q)
		require.Equal(t, matcher.CountOf(uint64(len(all))).String(), p.Automorphisms.String())
	})
}
