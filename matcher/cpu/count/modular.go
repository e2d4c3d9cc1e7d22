package count

import (
	"math/bits"

	"motifd/matcher"
)

// mulMod multiplies modulo 2^128.
func mulMod(a, b matcher.Count) matcher.Count {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return matcher.Count{Hi: hi + a.Hi*b.Lo + a.Lo*b.Hi, Lo: lo}
}

// negate returns the negative modulo 2^128, in two's complement.
func negate(a matcher.Count) matcher.Count {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, a.Hi, borrow)
	return matcher.Count{Hi: hi, Lo: lo}
}

// addMod adds modulo 2^128.
func addMod(a, b matcher.Count) matcher.Count {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(a.Hi, b.Hi, carry)
	return matcher.Count{Hi: hi, Lo: lo}
}
