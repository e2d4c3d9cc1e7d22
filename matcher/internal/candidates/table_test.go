package candidates

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestTableCounts plays a group's counts against plain numbers that pass the bound of a byte in both directions, while
// columns and members are added.
func TestTableCounts(t *testing.T) {
	passed := 0
	matchertest.ForSeedsUntil(t, 3, func() bool { return passed > 0 },
		func(t *testing.T, rng *rand.Rand) { passed += playTable(t, rng) })
}

// playTable returns how many counts are large in the end.
func playTable(t *testing.T, rng *rand.Rand) (passed int) {
	var g table
	var want [][]uint32 // by row and column
	for round := range 12 {
		for range 1 + rng.IntN(3) {
			g.enter(dyngraph.VertexID(len(want)))
			want = append(want, make([]uint32, 64))
		}
		for range 1 + rng.IntN(3) {
			g.column(plan.Column{Nbr: dyngraph.LabelID(len(g.columns))})
		}
		up := round%3 < 2
		for range 3000 {
			at, col := rng.IntN(len(want)), rng.IntN(len(g.columns))
			step := uint32(1)
			if n := &want[at][col]; *n > 0 && (rng.IntN(4) == 0) == up {
				step = ^uint32(0)
			}
			before := want[at][col]
			want[at][col] += step
			was, is := g.add(at*g.stride+col, step)
			if uint32(was) != min(before, manyCount) || uint32(is) != min(want[at][col], manyCount) {
				t.Fatalf("count %d from %d to %d: got %d to %d", col, before, want[at][col], was, is)
			}
		}
		for at := range want {
			for col := range g.columns {
				n := want[at][col]
				if ok := g.satisfied(uint32(at), []columnNeed{{int32(col), min(n, 64)}}); !ok {
					t.Fatalf("a count of %d is not %d", n, min(n, 64))
				}
				if n < 64 && g.satisfied(uint32(at), []columnNeed{{int32(col), n + 1}}) {
					t.Fatalf("a count of %d is %d", n, n+1)
				}
			}
		}
	}
	for _, n := range g.many {
		if n >= manyCount {
			passed++
		}
	}
	if passed != len(g.many) {
		t.Fatalf("%d counts are large, of %d", passed, len(g.many))
	}
	return passed
}
