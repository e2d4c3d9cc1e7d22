package matcher

import (
	"math/big"
	"math/bits"
)

// Count is an exact number of matches, 128 bits wide.
type Count struct {
	Hi, Lo uint64
}

// CountOf returns n as a Count.
func CountOf(n uint64) Count { return Count{Lo: n} }

// MaxCount is the largest Count. A number that does not fit is answered with it, and whatever reports it says
// `truncated` (DESIGN S11): only products of many leaves on huge hubs come near.
var MaxCount = Count{^uint64(0), ^uint64(0)}

// Add returns c + d, at most MaxCount.
func (c Count) Add(d Count) Count {
	lo, carry := bits.Add64(c.Lo, d.Lo, 0)
	hi, over := bits.Add64(c.Hi, d.Hi, carry)
	if over != 0 {
		return MaxCount
	}
	return Count{hi, lo}
}

// IsZero reports whether c is 0.
func (c Count) IsZero() bool { return c.Hi == 0 && c.Lo == 0 }

// Cmp compares c and d: -1, 0 or +1.
func (c Count) Cmp(d Count) int {
	switch {
	case c.Hi < d.Hi || c.Hi == d.Hi && c.Lo < d.Lo:
		return -1
	case c == d:
		return 0
	}
	return 1
}

// Big returns c as a big integer.
func (c Count) Big() *big.Int {
	b := new(big.Int).SetUint64(c.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(c.Lo))
}

// String returns c in decimal.
func (c Count) String() string { return c.Big().String() }

// MarshalJSON writes c as a JSON number, however long.
func (c Count) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }
