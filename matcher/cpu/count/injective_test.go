package count

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestInjectiveAgainstEnumeration plays inclusion and exclusion against trying every choice.
func TestInjectiveAgainstEnumeration(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		sets := make([][]dyngraph.VertexID, 1+rng.IntN(maxTogether+2))
		for i := range sets {
			for v := range dyngraph.VertexID(1 + rng.IntN(7)) {
				if rng.IntN(3) > 0 {
					sets[i] = append(sets[i], v)
				}
			}
		}
		if got, want := new(injectiveCounter).count(sets, goOn), matcher.CountOf(choices(sets, nil)); got != want {
			t.Fatalf("sets %v: counted %s, there are %s", sets, got, want)
		}
	}
}

func choices(sets [][]dyngraph.VertexID, taken []dyngraph.VertexID) uint64 {
	if len(sets) == 0 {
		return 1
	}
	n := uint64(0)
	for _, v := range sets[0] {
		if !slices.Contains(taken, v) {
			n += choices(sets[1:], append(taken[:len(taken):len(taken)], v))
		}
	}
	return n
}

func goOn() bool { return true }

// TestInjectiveIsExactBeyond128Bits: sizes whose products leave 128 bits, with an intersection smaller than either.
func TestInjectiveIsExactBeyond128Bits(t *testing.T) {
	big := make([]dyngraph.VertexID, 1<<21)
	for i := range big {
		big[i] = dyngraph.VertexID(i)
	}
	sets := [][]dyngraph.VertexID{big, big, big, big, big, big[:1<<20]}
	want := matcher.CountOf(1 << 20) // the narrow set chooses first
	for taken := uint64(1); taken < 6; taken++ {
		want = want.Mul(matcher.CountOf(1<<21 - taken))
	}
	if got := new(injectiveCounter).count(sets, goOn); got.Cmp(want) != 0 {
		t.Fatalf("counted %s, there are %s", got, want)
	}
}
