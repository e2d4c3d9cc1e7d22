package matcher

import (
	"math/big"
	"math/bits"
)

// Count is an exact number of matches. Up to 128 bits it is Hi and Lo, and such Counts may be compared with ==. A
// larger number (stars of many leaves on large hubs have them), or a negative one, which only a sum under way can be,
// lies on the heap; Hi and Lo are then 0, and Cmp compares.
type Count struct {
	Hi, Lo uint64
	wide   *big.Int // never changed once it is set
}

// CountOf returns n as a Count.
func CountOf(n uint64) Count { return Count{Lo: n} }

// CountOfBig returns n as a Count.
func CountOfBig(n *big.Int) Count {
	if n.Sign() < 0 || n.BitLen() > 128 {
		return Count{wide: new(big.Int).Set(n)}
	}
	hi := new(big.Int).Rsh(n, 64).Uint64()
	return Count{Hi: hi, Lo: new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()}
}

// MaxCount is the largest number of 128 bits.
var MaxCount = Count{Hi: ^uint64(0), Lo: ^uint64(0)}

// Add returns c + d.
func (c Count) Add(d Count) Count {
	lo, carry := bits.Add64(c.Lo, d.Lo, 0)
	hi, over := bits.Add64(c.Hi, d.Hi, carry)
	if over != 0 || c.wide != nil || d.wide != nil {
		return CountOfBig(new(big.Int).Add(c.Big(), d.Big()))
	}
	return Count{Hi: hi, Lo: lo}
}

// Sub returns c - d.
func (c Count) Sub(d Count) Count {
	lo, borrow := bits.Sub64(c.Lo, d.Lo, 0)
	hi, under := bits.Sub64(c.Hi, d.Hi, borrow)
	if under != 0 || c.wide != nil || d.wide != nil {
		return CountOfBig(new(big.Int).Sub(c.Big(), d.Big()))
	}
	return Count{Hi: hi, Lo: lo}
}

// Mul returns c * d.
func (c Count) Mul(d Count) Count {
	hi, lo := bits.Mul64(c.Lo, d.Lo)
	if c.Hi|d.Hi == 0 && c.wide == nil && d.wide == nil {
		return Count{Hi: hi, Lo: lo}
	}
	return CountOfBig(new(big.Int).Mul(c.Big(), d.Big()))
}

// Quo returns c / d, rounded towards 0. It panics when d is 0.
func (c Count) Quo(d Count) Count {
	if d == CountOf(1) {
		return c
	}
	return CountOfBig(new(big.Int).Quo(c.Big(), d.Big()))
}

// IsZero reports whether c is 0.
func (c Count) IsZero() bool { return c == Count{} }

// Cmp compares c and d: -1, 0 or +1.
func (c Count) Cmp(d Count) int {
	switch {
	case c.wide != nil || d.wide != nil:
		return c.Big().Cmp(d.Big())
	case c.Hi < d.Hi || c.Hi == d.Hi && c.Lo < d.Lo:
		return -1
	case c == d:
		return 0
	}
	return 1
}

// IsWide reports whether Hi and Lo do not hold c.
func (c Count) IsWide() bool { return c.wide != nil }

// Uint64 returns c, and whether it fits.
func (c Count) Uint64() (n uint64, fits bool) { return c.Lo, c.Hi == 0 && c.wide == nil }

// Big returns c as a big integer, which is the caller's.
func (c Count) Big() *big.Int {
	if c.wide != nil {
		return new(big.Int).Set(c.wide)
	}
	b := new(big.Int).SetUint64(c.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(c.Lo))
}

// String returns c in decimal.
func (c Count) String() string { return c.Big().String() }

// MarshalJSON writes c as a JSON number, however long.
func (c Count) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }
