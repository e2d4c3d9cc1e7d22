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
	rewritten := 0
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
		rewritten += w.rewritten
		c, err := a.Read(0)
		check(t, err)
		set := 0
		for _, x := range c.Pairs {
			set += bits.OnesCount32(x)
		}
		t.Logf("%d entries, %d words, %d bits set, rewritten %d times", len(c.Entries), len(c.Pairs), set, w.rewritten)
		if !few && set > 18*len(c.Pairs) { // 0.56 of 32: of four bits an edge that was added since
			t.Fatalf("of %d words of the filter %d bits are set, for %d edges", len(c.Pairs), set, len(c.Entries)/2)
		}
	})
	if rewritten == 0 {
		t.Fatal("no array was written anew")
	}
}
