package property

import (
	"cmp"
	"math"
	"math/bits"
	"strings"
)

// Comparable reports whether values of the two types have an order: numbers among themselves, and other types with
// themselves.
func Comparable(a, b Type) bool {
	return a.Numeric() && b.Numeric() || a.Kind == b.Kind && a.Kind != Null
}

// Compare returns -1, 0 or 1 as a is before, equal to or after b. Numbers compare by their mathematical values,
// whatever their types. It returns false where one is null, or where the types have no order.
func Compare(a, b Value) (int, bool) {
	switch {
	case a.kind == Null || b.kind == Null:
		return 0, false
	case a.kind == b.kind && a.scale == b.scale:
		switch a.kind {
		case String:
			return strings.Compare(a.text, b.text), true
		case Float64:
			return cmp.Compare(a.Float64(), b.Float64()), true
		}
		return cmp.Compare(int64(a.bits), int64(b.bits)), true
	case !a.Type().Numeric() || !b.Type().Numeric():
		return 0, false
	case b.kind == Float64:
		return compareFloat(a, b.Float64()), true
	case a.kind == Float64:
		return -compareFloat(b, a.Float64()), true
	}
	return compareScaled(a, b), true
}

// compareScaled compares integers and decimals of different scales: a * 10^(scale of b) with b * 10^(scale of a).
func compareScaled(a, b Value) int {
	if s := cmp.Compare(sign(a.Whole()), sign(b.Whole())); s != 0 {
		return s
	}
	common := min(a.scale, b.scale)
	aHi, aLo := bits.Mul64(magnitude(a.Whole()), powers[b.scale-common])
	bHi, bLo := bits.Mul64(magnitude(b.Whole()), powers[a.scale-common])
	return compare128(aHi, aLo, bHi, bLo) * sign(a.Whole())
}

// compareFloat compares u / 10^s with f = m * 2^e as |u| with |m| * 10^s * 2^e.
func compareFloat(v Value, f float64) int {
	u := v.Whole()
	fs := 0
	if f != 0 {
		fs = 1
		if f < 0 {
			fs = -1
		}
	}
	if s := cmp.Compare(sign(u), fs); s != 0 || fs == 0 {
		return s
	}
	mantissa, e := split(math.Abs(f))
	hi, lo := bits.Mul64(mantissa, powers[v.scale]) // below 2^113
	return compareShifted(magnitude(u), hi, lo, e) * fs
}

// split returns m and e with f = m * 2^e, for a finite f that is not negative.
func split(f float64) (m uint64, e int) {
	b := math.Float64bits(f)
	m, e = b&(1<<52-1), int(b>>52)
	if e == 0 {
		return m, -1074
	}
	return m | 1<<52, e - 1075
}

// compareShifted compares n with the 128 bits p = (hi, lo), not 0, times 2^e.
func compareShifted(n, hi, lo uint64, e int) int {
	length := 64 + bits.Len64(hi)
	if hi == 0 {
		length = bits.Len64(lo)
	}
	switch {
	case length+e > 64: // p * 2^e >= 2^64 > n
		return -1
	case e >= 0: // hi is 0, and p * 2^e below 2^64
		return cmp.Compare(n, lo<<e)
	}
	var whole uint64 // of p * 2^e; it is below 2^64
	var rest bool
	switch shift := uint(-e); {
	case shift >= 128:
		rest = true
	case shift >= 64:
		whole, rest = hi>>(shift-64), lo != 0 || hi&(1<<(shift-64)-1) != 0
	default:
		whole, rest = hi<<(64-shift)|lo>>shift, lo&(1<<shift-1) != 0
	}
	if c := cmp.Compare(n, whole); c != 0 || !rest {
		return c
	}
	return -1
}

func compare128(aHi, aLo, bHi, bLo uint64) int {
	if c := cmp.Compare(aHi, bHi); c != 0 {
		return c
	}
	return cmp.Compare(aLo, bLo)
}

func sign(n int64) int { return cmp.Compare(n, 0) }

// magnitude returns |n|, of the least int64 as well.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
