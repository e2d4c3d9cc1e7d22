package matcher_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestCountAgainstBig plays Count against math/big, around the edges of 64 and 128 bits.
func TestCountAgainstBig(t *testing.T) {
	matchertest.ForSeeds(t, 4, func(t *testing.T, rng *rand.Rand) {
		some := func() matcher.Count {
			n := new(big.Int).Lsh(big.NewInt(1), []uint{0, 1, 63, 64, 65, 127, 128, 129, 300}[rng.IntN(9)])
			return matcher.CountOfBig(n.Add(n, big.NewInt(rng.Int64N(5)-2)))
		}
		for range 5000 {
			a, b := some(), some()
			x, y := a.Big(), b.Big()
			check := func(op string, got matcher.Count, want *big.Int) {
				t.Helper()
				if got.Big().Cmp(want) != 0 || got.Cmp(matcher.CountOfBig(want)) != 0 ||
					got.IsZero() != (want.Sign() == 0) {
					t.Fatalf("%s %s %s = %s, want %s", a, op, b, got, want)
				}
				if narrow := want.Sign() >= 0 && want.BitLen() <= 128; narrow != (got == matcher.CountOfBig(want)) {
					t.Fatalf("%s %s %s: narrow is %v", a, op, b, narrow)
				}
			}
			check("+", a.Add(b), new(big.Int).Add(x, y))
			check("-", a.Sub(b), new(big.Int).Sub(x, y))
			check("*", a.Mul(b), new(big.Int).Mul(x, y))
			if y.Sign() != 0 {
				check("/", a.Quo(b), new(big.Int).Quo(x, y))
			}
			if a.Cmp(b) != x.Cmp(y) {
				t.Fatalf("%s compared with %s: %d", a, b, a.Cmp(b))
			}
			if n, fits := a.Uint64(); fits != x.IsUint64() || fits && n != x.Uint64() {
				t.Fatalf("%s as 64 bits: %d, %v", a, n, fits)
			}
		}
	})
}
