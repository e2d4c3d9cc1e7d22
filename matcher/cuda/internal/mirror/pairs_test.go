//go:build cuda || emu

package mirror_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/internal/mirror"
	"motifd/matcher/matchertest"
)

// TestA29PairsOfEdgesThatGo plays batches that insert as many edges as they delete, so that the array would never be
// written anew for its size. The filter of pairs, which the twin compares, must not fill up with edges that have gone:
// most pairs without an edge stay out of it, unless it may have few bytes.
func TestA29PairsOfEdgesThatGo(t *testing.T) {
	matchertest.ForSeeds(t, 2+cudatest.Rounds/10, func(t *testing.T, rng *rand.Rand) {
		w := newTwin(rng, 300, 3)
		dev := cudatest.NewDevice(t, rng)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		few := rng.IntN(3) == 0
		if few {
			a.PairsMost(4 << rng.IntN(3))
		}
		for _, o := range w.batch(1000, 0) {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.play(t, a, 80, func(int) (int, int) { return 40, 40 })
		c, err := a.Read(0)
		check(t, err)
		set := 0
		for _, x := range c.Pairs {
			set += bits.OnesCount32(x)
		}
		t.Logf("%d entries, %d words, %d bits set", len(c.Entries), len(c.Pairs), set)
		if !few && set > 15*len(c.Pairs) { // twice as many pairs as it is made for set 13 of 32 bits, all 20
			t.Fatalf("of %d words of the filter %d bits are set, for %d edges", len(c.Pairs), set, len(c.Entries)/2)
		}
	})
}

// TestA29PairsStayOnTheDevice has the filter of a mapped graph when the graph has grown: it is on the device, with the
// words that it had, or with as many as its part has room for if other memory is left.
func TestA29PairsStayOnTheDevice(t *testing.T) {
	dev := cudatest.NewDevice(t, rand.New(rand.NewPCG(1, 1)))
	defer func() { check(t, dev.Close()) }()
	for _, x := range []struct {
		bytes, words int
		full         bool
	}{{1 << 20, 1 << 13, true}, {1 << 16, 1 << 12, true}, {1 << 20, 1 << 15, false}, {1 << 17, 1 << 13, false}} {
		near, far, words, err := mirror.GrowPairs(dev, x.bytes, 1<<16, 1<<18, x.full)
		check(t, err)
		if far != 0 || near < 4*words || words != x.words {
			t.Errorf("of %d bytes, %d words of the filter are in %d bytes near and %d far", x.bytes, words, near, far)
		}
	}
}
