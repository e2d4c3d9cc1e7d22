package labeladj

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
)

// TestChangesAreSorted sorts changes of few and of many vertices as comparing them does.
func TestChangesAreSorted(t *testing.T) {
	var x changeSorter
	long := 0
	matchertest.ForSeedsUntil(t, 200, func() bool { return long > 3 }, func(t *testing.T, rng *rand.Rand) {
		n, vertices := rng.IntN(400), 1+rng.IntN(1<<(1+rng.IntN(24)))
		if rng.IntN(20) == 0 {
			n += manyChanges
			long++
		}
		changes := make([]change, n)
		for i := range changes {
			changes[i] = change{
				v: dyngraph.VertexID(rng.IntN(vertices)), at: uint32(i), op: operation(rng.IntN(3)),
				entry: entry{kind: uint32(rng.IntN(3)), nbr: dyngraph.VertexID(rng.IntN(4))},
			}
		}
		byAll := func(a, b change) int { return cmp.Or(compareChanges(a, b), cmp.Compare(a.at, b.at)) }
		want := slices.Clone(changes)
		slices.SortFunc(want, byAll)
		x.sort(changes, vertices)
		require.True(t, slices.IsSortedFunc(changes, compareChanges))
		slices.SortFunc(changes, byAll) // those that are alike come in any order
		require.Equal(t, want, changes)
	})
}
