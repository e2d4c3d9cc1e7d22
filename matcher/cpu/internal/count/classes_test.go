package count

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
)

// TestFewLeavesAreCountedApart counts the ways to choose different candidates for two or three leaves, of up to as many
// classes, by inclusion and exclusion, by groups of candidates, and one by one.
func TestFewLeavesAreCountedApart(t *testing.T) {
	matchertest.ForSeeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		c := &Counter{worker: &work.Worker{Options: &work.Options{}, Matches: func() uint64 { return 0 }}}
		x := &c.classes
		var leaves [][]dyngraph.VertexID
		for most := 2 + rng.IntN(2); len(leaves) < most; {
			k := leafClass{leaves: 1 + rng.IntN(most-len(leaves)), plain: true}
			var l weighted
			for w := range dyngraph.VertexID(20) {
				if rng.IntN(3) > 0 {
					l.add(w, matcher.CountOf(1))
				}
			}
			x.classes, x.lists = append(x.classes, k), append(x.lists, l)
			for range k.leaves {
				leaves = append(leaves, l.nbr)
			}
		}
		var choose func(taken []dyngraph.VertexID) uint64
		choose = func(taken []dyngraph.VertexID) (n uint64) {
			if len(taken) == len(leaves) {
				return 1
			}
			for _, w := range leaves[len(taken)] {
				if !slices.Contains(taken, w) {
					n += choose(append(taken, w))
				}
			}
			return n
		}
		want := matcher.CountOf(choose(nil))
		require.Equal(t, want, c.countApart())
		x.group()
		require.Equal(t, want, x.count(func() bool { return true }))
	})
}
