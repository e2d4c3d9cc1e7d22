package program

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// extreme draws numbers that are small, or near the ends of int64.
func extreme(rng *rand.Rand) int64 {
	n := rng.Int64N(7) - 3
	switch rng.IntN(4) {
	case 0:
		return math.MaxInt64 - n&7
	case 1:
		return math.MinInt64 + n&7
	case 2:
		return math.MaxInt64/2 + n
	}
	return n
}

// TestA16LimitsAreExact plays limits against big integers, at the ends of int64, too.
func TestA16LimitsAreExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	fits := func(n *big.Int) bool { return n.Cmp(least) >= 0 && n.Cmp(most) <= 0 }
	met, refused := 0, 0
	for range 100_000 {
		x, y := extreme(rng), extreme(rng)
		l := Limit{Kind: LimitKind(rng.IntN(4)), By: extreme(rng)}
		l.By = max(l.By, math.MinInt64+1) // as the matrix has them
		less := new(big.Int).Sub(big.NewInt(x), big.NewInt(y))
		var want bool
		switch by := big.NewInt(l.By); l.Kind {
		case AtMost:
			want = less.Cmp(by) <= 0
		case AtLeast:
			want = new(big.Int).Neg(less).Cmp(by) <= 0
		case SubtractOld:
			want = fits(less)
		case SubtractFrom:
			want = fits(less.Neg(less))
		}
		r := Everything
		l.Narrow(&r, []int64{y})
		// An interval that is saturated holds the nearest int64, beyond which x cannot be.
		got := !r.IsEmpty() && r.Has(x)
		if got != want {
			t.Fatalf("%+v of x %d, y %d: %t, want %t", l, x, y, got, want)
		}
		if want {
			met++
		} else {
			refused++
		}
	}
	require.Positive(t, met)
	require.Positive(t, refused)
}

// TestA16ClosureSaysNothingNew closes random matrices: what meets the given bounds meets those that follow.
func TestA16ClosureSaysNothingNew(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	checked, followed := 0, 0
	for range 3000 {
		d := &differences{}
		n := 2 + rng.IntN(4)
		for i := range n {
			d.at(value{edge: i})
		}
		for range 1 + rng.IntN(5) {
			if a, b := rng.IntN(n), rng.IntN(n); a != b {
				d.bound(a, b, max(extreme(rng), math.MinInt64+2))
			}
		}
		holds := func(x []int64, most [][]bound) bool {
			for a := range most {
				for b, m := range most[a] {
					less := new(big.Int).Sub(big.NewInt(x[a]), big.NewInt(x[b]))
					if m.there && less.Cmp(big.NewInt(m.by)) > 0 {
						return false
					}
				}
			}
			return true
		}
		var given [][]bound
		for _, row := range d.most {
			given = append(given, append([]bound(nil), row...))
		}
		d.close()
		for a := range given {
			for b := range given[a] {
				if d.most[a][b] != given[a][b] {
					followed++
				}
			}
		}
		for range 20 {
			x := make([]int64, n)
			for i := range x {
				x[i] = extreme(rng)
			}
			if holds(x, given) {
				checked++
				require.True(t, holds(x, d.most), "given %v, closed %v, values %v", given, d.most, x)
			} else {
				require.False(t, holds(x, d.most))
			}
		}
	}
	require.Positive(t, checked)
	require.Positive(t, followed)
}

// TestSumsAreExact plays bounds of weighted sums against big integers: of one value, two and three.
func TestSumsAreExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	weight := func() int64 {
		n := rng.Int64N(6) - 3
		if rng.IntN(3) == 0 {
			n = rng.Int64N(1<<32-1) - (1<<31 - 1)
		}
		if n == 0 {
			n = 1
		}
		return n
	}
	var met, refused [4]int
	for range 200_000 {
		n := 1 + rng.IntN(3)
		values, s, sum := make([]int64, n), linear{}, new(big.Int)
		for i := range values {
			values[i] = extreme(rng)
			by := weight()
			s.of = append(s.of, Weight{i, by})
			sum.Add(sum, new(big.Int).Mul(big.NewInt(values[i]), big.NewInt(by)))
		}
		most := new(big.Int).Add(sum, big.NewInt(rng.Int64N(7)-3)) // close to the sum
		switch rng.IntN(4) {
		case 0:
			most.SetInt64(extreme(rng))
		case 1:
			most.Mul(big.NewInt(extreme(rng)), big.NewInt(1<<36))
		}
		s.most = wideOf(most)
		x := rng.IntN(n)
		l, ok := s.sumLimit(x)
		require.True(t, ok)
		r := Everything
		l.Narrow(&r, values)
		got, want := !r.IsEmpty() && r.Has(values[x]), sum.Cmp(most) <= 0
		if got != want {
			t.Fatalf("%+v of %v at most %v, value %d: %t, want %t", s.of, values, most, x, got, want)
		}
		if want {
			met[n]++
		} else {
			refused[n]++
		}
	}
	for n := 1; n <= 3; n++ {
		require.Positive(t, min(met[n], refused[n]))
	}
}
