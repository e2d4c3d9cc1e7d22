package cpu

import (
	"math/big"
	"math/bits"

	"motifd/matcher"
)

// mulMod multiplies modulo 2^128.
func mulMod(a, b matcher.Count) matcher.Count {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return matcher.Count{Hi: hi + a.Hi*b.Lo + a.Lo*b.Hi, Lo: lo}
}

// mul multiplies; a product of 2^128 or more is matcher.MaxCount.
func mul(a, b matcher.Count) matcher.Count {
	over := a.Hi != 0 && b.Hi != 0
	if !over {
		x, y := a, b
		if y.Hi != 0 {
			x, y = y, x
		}
		hi, lo := bits.Mul64(x.Lo, y.Lo)
		h2, l2 := bits.Mul64(x.Hi, y.Lo)
		sum, carry := bits.Add64(hi, l2, 0)
		if h2 == 0 && carry == 0 {
			return matcher.Count{Hi: sum, Lo: lo}
		}
	}
	if a.IsZero() || b.IsZero() {
		return matcher.Count{}
	}
	return matcher.MaxCount
}

func negate(a matcher.Count) matcher.Count {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, a.Hi, borrow)
	return matcher.Count{Hi: hi, Lo: lo}
}

// addMod adds modulo 2^128: terms may be negative, in two's complement.
func addMod(a, b matcher.Count) matcher.Count {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(a.Hi, b.Hi, carry)
	return matcher.Count{Hi: hi, Lo: lo}
}

// orbits divides a count of embeddings by the number of automorphisms. They act freely on embeddings, and a whole orbit
// appears or disappears at once, so the quotient is exact.
func orbits(c, automorphisms matcher.Count) matcher.Count {
	if automorphisms == matcher.CountOf(1) || c == matcher.MaxCount {
		return c
	}
	q := new(big.Int).Quo(c.Big(), automorphisms.Big())
	hi := new(big.Int).Rsh(q, 64)
	return matcher.Count{Hi: hi.Uint64(), Lo: new(big.Int).And(q, new(big.Int).SetUint64(^uint64(0))).Uint64()}
}
