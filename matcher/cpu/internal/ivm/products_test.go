package ivm

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
)

// TestProductsChangeAsTheirFactorsDo changes the numbers of random views, some of them several times in a row, and
// compares what is listed of their product with the product itself.
func TestProductsChangeAsTheirFactorsDo(t *testing.T) {
	small, large := 0, 0
	seen := func() bool { return small > 0 && large > 0 }
	matchertest.ForSeedsUntil(t, 300, seen, func(t *testing.T, rng *rand.Rand) {
		const vertices = 8
		phase := rng.Uint64()
		var of []*treeView
		for len(of) < 6 && (len(of) == 0 || rng.IntN(4) > 0) {
			if len(of) > 0 && rng.IntN(3) == 0 {
				of = append(of, of[len(of)-1])
				continue
			}
			br := &treeView{built: true, phase: phase}
			br.grow(vertices)
			width := []int{2, 8, 30, 62}[rng.IntN(4)]
			for v := range dyngraph.VertexID(vertices) {
				*br.cell(v) = cell{rng.Uint64N(1 << width), uint32(rng.IntN(3)), uint32(phase) - uint32(rng.IntN(2))}
			}
			for v := range dyngraph.VertexID(vertices) {
				if by := rng.Uint64N(1 << width); rng.IntN(3) == 0 && (phase&1 != 0 || by <= br.cell(v).n) {
					br.add(v, by, phase&1 != 0)
				}
			}
			of = append(of, br)
		}
		product := func(v dyngraph.VertexID, number func(*treeView) uint64) *big.Int {
			n := big.NewInt(1)
			for _, br := range of {
				n.Mul(n, new(big.Int).SetUint64(number(br)))
			}
			return n
		}
		want := new(big.Int)
		for v := range dyngraph.VertexID(vertices) {
			now := product(v, func(br *treeView) uint64 { return br.cell(v).n })
			was := product(v, func(br *treeView) uint64 { return br.before(v, br.cell(v).n) })
			want.Add(want, now.Abs(now.Sub(now, was)))
		}
		k := Maintainer{scratch: &scratch{}}
		got := (&treeSum{views: of}).change(&k)
		require.Equal(t, want.String(), got.String())
		small, large = small+len(k.deltas), large+len(k.large)
	})
}
