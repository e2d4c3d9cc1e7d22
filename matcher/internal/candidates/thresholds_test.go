package candidates

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher/matchertest"
)

// TestThresholds plays the thresholds of a group against a look at all that was noted, while classes and columns come.
func TestThresholds(t *testing.T) {
	found := false
	matchertest.ForSeedsUntil(t, 10, func() bool { return found }, func(t *testing.T, rng *rand.Rand) {
		var w thresholds
		var classes []class
		columns := 0
		for range 8 {
			columns += 1 + rng.IntN(5)
			for range rng.IntN(12) {
				var x class
				for _, col := range rng.Perm(columns)[:min(columns, 1+rng.IntN(6))] {
					x.asks = append(x.asks, columnNeed{int32(col), uint32(1 + rng.IntN(4))})
					w.note(col, x.asks[len(x.asks)-1].count, len(classes))
				}
				classes = append(classes, x)
			}
			w.arrange(columns)
			for col := range columns {
				for n := range 8 {
					var want []int32
					for i, x := range classes {
						if slices.Contains(x.asks, columnNeed{int32(col), uint32(n)}) {
							want = append(want, int32(i))
						}
					}
					found = found || len(want) > 0
					if got := w.of(uint32(col), uint8(n)); !slices.Equal(want, got) {
						t.Fatalf("classes %v watch for %d in column %d, want %v", got, n, col, want)
					}
				}
			}
		}
	})
}
