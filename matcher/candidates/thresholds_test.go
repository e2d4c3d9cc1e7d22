package candidates

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher/matchertest"
)

// TestThresholds plays the thresholds of a group against a look at all that was noted, while classes and columns come.
func TestThresholds(t *testing.T) {
	short, long := 0, 0
	matchertest.ForSeedsUntil(t, 10, func() bool { return short > 0 && long > 0 }, func(t *testing.T, rng *rand.Rand) {
		var c candidates
		var w thresholds
		var classes []class
		columns := 0
		for range 8 {
			columns += 1 + rng.IntN(5)
			for range rng.IntN(12) {
				x := class{test: c.put(1)}
				for _, col := range rng.Perm(columns)[:min(columns, 1+rng.IntN(mostShort+2))] {
					x.asks = append(x.asks, columnNeed{int32(col), uint32(1 + rng.IntN(4))})
					w.note(col, x.asks[len(x.asks)-1].count, len(classes))
				}
				classes = append(classes, x)
			}
			w.arrange(columns, classes)
			for col := range columns {
				for n := range 8 {
					var want, got []int32
					for i, x := range classes {
						if slices.Contains(x.asks, columnNeed{int32(col), uint32(n)}) {
							want = append(want, int32(i))
						}
					}
					for _, x := range w.of(uint32(col), uint8(n)) {
						got = append(got, x.class)
						if asks := classes[x.class].asks; x.asks == longAsks {
							long++
							if len(asks) <= mostShort {
								t.Fatalf("%v have room", asks)
							}
						} else {
							short++
							for i, a := range asks {
								if len(asks) != int(x.asks) || uint32(x.columns[i]) != uint32(a.column) ||
									uint32(x.counts[i]) != a.count {
									t.Fatalf("%v in short are %v", asks, x)
								}
							}
						}
					}
					if !slices.Equal(want, got) {
						t.Fatalf("classes %v watch for %d in column %d, want %v", got, n, col, want)
					}
				}
			}
		}
	})
}
