package groups

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestMemberChanges asks for the changes of a window, and compares with what a look at all changes gives.
func TestMemberChanges(t *testing.T) {
	matchertest.ForSeeds(t, 50, func(t *testing.T, rng *rand.Rand) {
		var c memberChanges
		for range rng.IntN(40) {
			c.add(rng.Int64N(30), rng.Uint32N(100))
		}
		all := slices.Clone(c.all)
		c.end()
		for range 100 {
			from, to := rng.Int64N(32)-1, rng.Int64N(32)-1
			var want []uint32
			for _, x := range all {
				if from <= x.ts && x.ts <= to {
					want = append(want, x.order)
				}
			}
			first, end := c.between(from, to)
			if from <= to {
				require.Len(t, want, end-first)
			}
			if len(want) > 0 {
				require.Equal(t, orderSpan{slices.Min(want), slices.Max(want)}, c.orders(first, end))
			} else {
				require.GreaterOrEqual(t, first, end)
			}
		}
	})
}

// TestTimeListStages plays batches of insertions and deletions, and compares a list with a sorted slice of what is
// there.
func TestTimeListStages(t *testing.T) {
	matchertest.ForSeeds(t, 50, func(t *testing.T, rng *rand.Rand) {
		var l timeList
		var there []entry
		edges := uint32(0)
		for range 20 {
			var inserted, deleted []entry
			behind, last := true, int64(-1)
			if n := len(l.entries); n > 0 {
				last = l.entries[n-1].ts
			}
			for range rng.IntN(8) {
				e := entry{ts: rng.Int64N(20), edge: edges}
				if rng.IntN(4) == 0 && len(there) > 0 { // another version of an edge
					e.edge = there[rng.IntN(len(there))].edge
				}
				edges++
				behind = behind && e.ts > last
				inserted = append(inserted, e)
			}
			rng.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
			deleted = append(deleted, there[:rng.IntN(1+len(there))]...)
			there = append(there[len(deleted):], inserted...)
			if got := l.stage(slices.Clone(inserted), deleted); behind {
				require.True(t, got)
			}
			require.True(t, slices.IsSorted(l.changed))
			require.Len(t, l.changed, len(inserted)+len(deleted))
			l.settle()
			l.compact()
			slices.SortFunc(there, func(a, b entry) int { return a.compare(&b) })
			var got []entry
			for _, e := range l.entries {
				if e.state != gone {
					got = append(got, entry{ts: e.ts, edge: e.edge})
				}
			}
			require.Equal(t, len(there), len(got))
			for i := range got {
				require.Equal(t, there[i], got[i])
			}
		}
	})
}
