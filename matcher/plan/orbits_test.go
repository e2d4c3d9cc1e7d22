package plan_test

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

// TestCoalesce compares the classes of anchors with those that all automorphisms of a pattern make, one by one.
func TestCoalesce(t *testing.T) {
	classes := 0
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		q := matchertest.RandomQuery(rng, "q", directed, matchertest.RandomLabels(rng))
		p, err := plan.New().Plan(q, dyngraph.NewGraph(dyngraph.Options{Directed: directed}))
		require.NoError(t, err)
		group := matchertest.Automorphisms(q)
		images, own := plan.Coalesce(p)
		takes := func(a matchertest.Automorphism, x, y *matcher.Order) bool {
			return a.Edges[x.Edge] == y.Edge && a.Vertices[x.Steps[0].Vertex] == y.Steps[0].Vertex &&
				a.Vertices[x.Steps[1].Vertex] == y.Steps[1].Vertex
		}
		representative := make([]int, len(p.Anchored))
		for i := range representative {
			representative[i] = i
		}
		for r, list := range images {
			for _, m := range list {
				require.True(t, own[r])
				require.False(t, own[m.Order])
				representative[m.Order] = r
				a := matchertest.Automorphism{Vertices: m.Vertices, Edges: m.Edges}
				require.True(t, takes(a, &p.Anchored[r], &p.Anchored[m.Order]))
				require.Contains(t, texts(group), fmt.Sprint(a))
				classes++
			}
		}
		for i := range p.Anchored {
			for k := range p.Anchored {
				alike := false
				for _, a := range group {
					alike = alike || takes(a, &p.Anchored[i], &p.Anchored[k])
				}
				require.Equal(t, alike, representative[i] == representative[k], "orders %d and %d of %+v", i, k, q)
			}
		}
	})
	require.Positive(t, classes)
}

func texts(group []matchertest.Automorphism) (all []string) {
	for _, a := range group {
		all = append(all, fmt.Sprint(a))
	}
	return all
}
