package neighbors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
)

// randomList has n members below bound, ascending.
func randomList(rng *rand.Rand, n, bound int) (l []dyngraph.VertexID) {
	for _, w := range rng.Perm(bound)[:min(n, bound)] {
		l = append(l, dyngraph.VertexID(w))
	}
	slices.Sort(l)
	return l
}

// meetPlainly tries every pair.
func meetPlainly(a, b []dyngraph.VertexID) (inA, inB []uint32) {
	for i, w := range a {
		for j, x := range b {
			if w == x {
				inA, inB = append(inA, uint32(i)), append(inB, uint32(j))
			}
		}
	}
	return inA, inB
}

// TestIntersectionAgainstEveryPair plays every way to find what two lists have in common against trying every pair.
func TestIntersectionAgainstEveryPair(t *testing.T) {
	matchertest.ForSeeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		var m Intersecter
		for range 10 {
			bound := 1 + rng.IntN(2000>>rng.IntN(10))
			a := randomList(rng, rng.IntN(1+bound>>rng.IntN(6)), bound)
			b := randomList(rng, rng.IntN(1+bound>>rng.IntN(6)), bound)
			if shift := dyngraph.VertexID(rng.Uint32()); rng.IntN(4) == 0 && shift < dyngraph.NoVertex-2000 {
				for _, l := range [][]dyngraph.VertexID{a, b} {
					for i := range l {
						l[i] += shift
					}
				}
			}
			wantA, wantB := meetPlainly(a, b)
			same := func(way string, inA, inB []uint32) {
				t.Helper()
				if !slices.Equal(inA, wantA) || !slices.Equal(inB, wantB) {
					t.Fatalf("%s of %v and %v: at %v and %v, want %v and %v", way, a, b, inA, inB, wantA, wantB)
				}
			}
			inA, inB := m.Of(a, b)
			same("the chosen way", inA, inB)
			var common []dyngraph.VertexID
			for _, k := range wantA {
				common = append(common, a[k])
			}
			own := slices.Clone(a) // which is written over
			if got := Common(own, own, b); !slices.Equal(got, common) {
				t.Fatalf("Common of %v and %v: %v, want %v", a, b, got, common)
			}
			for _, way := range []struct {
				name      string
				intersect func(a, b []dyngraph.VertexID, inA, inB []uint32) int
				fits      bool
			}{{"gallop", gallop, true}, {"mergeBlocks", mergeBlocks, len(b) >= readBlock}} {
				if way.fits {
					inA, inB := make([]uint32, len(a)), make([]uint32, len(a))
					n := way.intersect(a, b, inA, inB)
					same(way.name, inA[:n], inB[:n])
				}
			}
		}
	})
}
