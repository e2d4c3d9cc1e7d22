package count

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestIsomorphicQuotientsAreWeighedTogether compares the weights of quotients of random trees and rings with those that
// come of trying every way to match blocks.
func TestIsomorphicQuotientsAreWeighedTogether(t *testing.T) {
	merged := 0
	matchertest.ForSeedsUntil(t, 60, func() bool { return merged > 0 }, func(t *testing.T, rng *rand.Rand) {
		labels := matchertest.Labels{Vertex: []string{"A", "B", "C"}[:1+rng.IntN(3)],
			Edge: []string{"T", "U"}[:1+rng.IntN(2)]}
		directed := rng.IntN(2) == 0
		q := matchertest.RandomTree(rng, "q", 2+rng.IntN(5), directed, labels)
		if rng.IntN(2) == 0 {
			q = matchertest.RandomCycle(rng, "q", 3+rng.IntN(4), directed, labels)
		}
		b := &fixture{t: t}
		x := matchertest.NewBench(t, directed, plan.New(), []*matcher.Query{q}, b)
		x.Stage(matchertest.RandomStream(rng,
			matchertest.Shape{Directed: directed, Vertices: 12, Edges: 60, Messages: 60, Full: true, Labels: labels}))
		x.Commit()
		require.NoError(t, b.Prepare(x.Plans()))
		s := b.plans[x.Plans()[0]]
		if s == nil || s.Quotients == nil {
			return
		}
		got := Weights(s)
		for i, q := range s.Quotients {
			first, sum := true, Weight{}
			for k, p := range s.Quotients {
				if sameButForNames(s, p, q) {
					first = first && k >= i
					sum = sum.add(Weight{p.factor, p.negative})
				}
			}
			if !first {
				sum = Weight{}
				merged++
			}
			require.Equal(t, sum.Factor, got[i].Factor, "quotient %d", i)
			require.True(t, sum.Factor.IsZero() || sum.Negative == got[i].Negative, "quotient %d", i)
		}
	})
	require.True(t, Weight{matcher.CountOf(2), true}.add(Weight{matcher.CountOf(2), false}).Factor.IsZero())
}

// sameButForNames tries every way to match the blocks of two quotients.
func sameButForNames(s *Plan, a, b *Quotient) bool {
	n := len(a.BlockOf)
	blocks := func(q *Quotient) (of []int) {
		for m := q.Blocks; m != 0; m &= m - 1 {
			of = append(of, bits.TrailingZeros32(m))
		}
		return of
	}
	x, y := blocks(a), blocks(b)
	if len(x) != len(y) {
		return false
	}
	type kind struct{ dir, label any }
	edges := func(q *Quotient, u, v int) (of []kind) {
		for _, e := range q.Edges[v] {
			if q.BlockOf[e.From] == u {
				of = append(of, kind{e.Dir, e.Label})
			}
		}
		return of
	}
	to := make([]int, n)
	var try func(left []int) bool
	try = func(left []int) bool {
		if len(left) == 0 {
			for _, u := range x {
				if s.Label(a.Members[u]) != s.Label(b.Members[to[u]]) {
					return false
				}
				for _, v := range x {
					of := edges(b, to[u], to[v])
					for _, e := range edges(a, u, v) {
						at := slices.Index(of, e)
						if at < 0 {
							return false
						}
						of = slices.Delete(of, at, at+1)
					}
					if len(of) > 0 {
						return false
					}
				}
			}
			return true
		}
		for i := range left {
			to[x[len(x)-len(left)]] = left[i]
			if try(slices.Delete(slices.Clone(left), i, i+1)) {
				return true
			}
		}
		return false
	}
	return try(y)
}
