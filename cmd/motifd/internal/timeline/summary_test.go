package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestStages compares the sums with counting, unit of time by unit of time.
func TestStages(t *testing.T) {
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		var spans []span
		var searches [100]uint64 // batch that is searched then
		at := 0
		for n := uint64(1); n <= 4; n++ {
			from := at + rng.IntN(5)
			at = from + rng.IntN(20)
			for i := from; i < at; i++ {
				searches[i] = n
			}
			spans = append(spans, span{lane: laneStep, what: "search", batch: n, last: n,
				begin: time.Duration(from) * time.Second, end: time.Duration(at) * time.Second})
		}
		var total, other, own float64
		for range rng.IntN(6) {
			from, batch := rng.IntN(80), 1+rng.Uint64N(4)
			to, last := from+rng.IntN(20), batch+rng.Uint64N(2)
			s := span{lane: "l", what: "w", batch: batch, last: last, begin: time.Duration(from) * time.Second,
				end: time.Duration(to) * time.Second}
			share := 1.0
			if rng.IntN(2) == 0 && to > from {
				s.busy, share = (s.end-s.begin)/2, 0.5
			}
			spans = append(spans, s)
			total += share * float64(to-from)
			for i := from; i < to; i++ {
				switch n := searches[i]; {
				case n == 0:
				case batch <= n && n <= last:
					own += share
				default:
					other += share
				}
			}
		}
		slices.SortStableFunc(spans, func(a, b span) int { return int(a.begin - b.begin) })
		for _, s := range stages(spans) {
			if s.Lane == "l" {
				require.InDelta(t, total, s.TotalS, 1e-5)
				require.InDelta(t, other, s.OtherSearchS, 1e-5)
				require.InDelta(t, own, s.OwnSearchS, 1e-5)
			}
		}
	})
}
