package cpu

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
		if got, want := new(leafCounter).injective(sets, goOn), matcher.CountOf(choices(sets, nil)); got != want {
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

// TestInjectiveSaturates: sizes whose products leave 128 bits are answered with MaxCount, not with a wrong number.
func TestInjectiveSaturates(t *testing.T) {
	big := make([]dyngraph.VertexID, 1<<21)
	for i := range big {
		big[i] = dyngraph.VertexID(i)
	}
	sets := [][]dyngraph.VertexID{big, big, big, big, big, big}
	if got := new(leafCounter).injective(sets, goOn); got != matcher.MaxCount {
		t.Fatalf("counted %s", got)
	}
}

func TestMulSaturates(t *testing.T) {
	two64 := matcher.Count{Hi: 1}
	for _, c := range []struct{ a, b, want matcher.Count }{
		{matcher.CountOf(3), matcher.CountOf(5), matcher.CountOf(15)},
		{two64, matcher.CountOf(7), matcher.Count{Hi: 7}},
		{matcher.CountOf(7), two64, matcher.Count{Hi: 7}},
		{two64, two64, matcher.MaxCount},
		{matcher.MaxCount, matcher.CountOf(2), matcher.MaxCount},
		{matcher.MaxCount, matcher.CountOf(1), matcher.MaxCount},
		{matcher.MaxCount, matcher.Count{}, matcher.Count{}},
		{matcher.Count{Lo: 1 << 63}, matcher.Count{Lo: 1 << 63}, matcher.Count{Hi: 1 << 62}},
	} {
		if got := mul(c.a, c.b); got != c.want {
			t.Errorf("%s * %s = %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
