package property_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/matchertest"
)

// rational returns the mathematical value of a number.
func rational(v property.Value) *big.Rat {
	switch v.Type().Kind {
	case property.Float64:
		return new(big.Rat).SetFloat64(v.Float64())
	case property.Decimal:
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type().Scale)), nil)
		return new(big.Rat).SetFrac(big.NewInt(v.Whole()), unit)
	}
	return new(big.Rat).SetInt64(v.Whole())
}

// edge draws integers near the places where something changes.
func edge(rng *rand.Rand) int64 {
	n := int64(rng.IntN(9) - 4)
	switch rng.IntN(6) {
	case 0:
		return math.MaxInt64 - rng.Int64N(4)
	case 1:
		return math.MinInt64 + rng.Int64N(4)
	case 2:
		return n + 1<<53
	case 3:
		return int64(uint64(rng.Uint64()) >> rng.IntN(64))
	case 4:
		p := int64(1)
		for range rng.IntN(19) {
			p *= 10
		}
		return p + n
	}
	return n
}

func float(t testing.TB, f float64) property.Value {
	v, err := property.Float(f)
	require.NoError(t, err)
	return v
}

func number(t testing.TB, rng *rand.Rand) property.Value {
	switch n := edge(rng); rng.IntN(4) {
	case 0:
		return property.Int(n)
	case 1:
		f := float64(n)
		for range rng.IntN(3) {
			f = math.Nextafter(f, math.Inf(2*rng.IntN(2)-1))
		}
		return float(t, f)
	case 2:
		f := math.Float64frombits(rng.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = math.SmallestNonzeroFloat64
		}
		return float(t, f)
	default:
		return property.Units(n, uint8(rng.IntN(property.MaxScale+1)))
	}
}

// TestCompareMatchesRationals plays Compare against math/big.
func TestCompareMatchesRationals(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		for range 5000 {
			a, b := number(t, rng), number(t, rng)
			if rng.IntN(3) == 0 && b.Type().Kind == property.Float64 { // near each other
				f, _ := rational(a).Float64()
				b = float(t, f)
			}
			got, ok := property.Compare(a, b)
			require.True(t, ok)
			require.Equal(t, rational(a).Cmp(rational(b)), got, "%v %v with %v %v", a.Type(), a, b.Type(), b)
		}
	})
}

// TestArithmeticMatchesRationals plays Add, Sub, Mul and Neg against math/big.
func TestArithmeticMatchesRationals(t *testing.T) {
	nulls, fit := 0, 0
	seen := func() bool { return nulls > 100 && fit > 100 }
	matchertest.ForSeedsUntil(t, 20, seen, func(t *testing.T, rng *rand.Rand) {
		for range 2000 {
			a, b := number(t, rng), number(t, rng)
			if !a.Type().Exact() || !b.Type().Exact() {
				require.True(t, property.Add(a, b).IsNull() && property.Sub(a, b).IsNull() &&
					property.Mul(a, b).IsNull())
				continue
			}
			ra, rb := rational(a), rational(b)
			widest := max(a.Type().Scale, b.Type().Scale)
			check := func(what string, got property.Value, want *big.Rat, scale uint8) {
				units := new(big.Rat).Mul(want, new(big.Rat).SetInt(
					new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
				require.True(t, units.IsInt())
				if scale > property.MaxScale || !units.Num().IsInt64() {
					nulls++
					require.True(t, got.IsNull(), "%v %s %v is %v", a, what, b, got)
					return
				}
				fit++
				require.False(t, got.IsNull(), "%v %s %v", a, what, b)
				require.Equal(t, scale, got.Type().Scale)
				require.Zero(t, want.Cmp(rational(got)), "%v %s %v is %v", a, what, b, got)
			}
			check("+", property.Add(a, b), new(big.Rat).Add(ra, rb), widest)
			check("-", property.Sub(a, b), new(big.Rat).Sub(ra, rb), widest)
			check("*", property.Mul(a, b), new(big.Rat).Mul(ra, rb), a.Type().Scale+b.Type().Scale)
			check("-", property.Neg(a), new(big.Rat).Neg(ra), a.Type().Scale)
		}
	})
}

// TestTextMatchesRationals reads random numbers and compares them with what math/big reads.
func TestTextMatchesRationals(t *testing.T) {
	good, refused := 0, 0
	seen := func() bool { return good > 100 && refused > 100 }
	matchertest.ForSeedsUntil(t, 20, seen, func(t *testing.T, rng *rand.Rand) {
		for range 2000 {
			text := randomNumber(rng)
			typ := []property.Type{{Kind: property.Int64}, {Kind: property.Timestamp},
				{Kind: property.Decimal, Scale: uint8(rng.IntN(19))}}[rng.IntN(3)]
			want, ok := new(big.Rat).SetString(text)
			require.True(t, ok)
			units := new(big.Rat).Mul(want, new(big.Rat).SetInt(
				new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Scale)), nil)))
			got, err := property.FromJSON(typ, []byte(text))
			if !units.IsInt() || !units.Num().IsInt64() {
				refused++
				require.ErrorIs(t, err, property.ErrValue, text)
				continue
			}
			good++
			require.NoError(t, err, "%s as %v", text, typ)
			require.Equal(t, typ, got.Type())
			require.Equal(t, units.Num().Int64(), got.Whole(), text)
			require.Equal(t, want.FloatString(int(typ.Scale)), got.String())
			again, err := property.FromText(typ, got.String())
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
	})
}

func randomNumber(rng *rand.Rand) string {
	var b strings.Builder
	if rng.IntN(3) == 0 {
		b.WriteByte('-')
	}
	digits := func(n int) {
		for range n {
			b.WriteByte("0123456789009"[rng.IntN(13)])
		}
	}
	if rng.IntN(3) == 0 {
		b.WriteByte('0')
	} else {
		b.WriteByte('1' + byte(rng.IntN(9)))
		digits(rng.IntN(20))
	}
	if rng.IntN(2) == 0 {
		b.WriteByte('.')
		digits(1 + rng.IntN(4))
		b.WriteString(strings.Repeat("0", rng.IntN(20)))
	}
	if rng.IntN(3) == 0 {
		b.WriteString([]string{"e", "E", "e+", "e-"}[rng.IntN(4)])
		digits(1)
	}
	return b.String()
}
