package property

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// powers are those of ten below 2^63.
var powers = func() (p [MaxScale + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// number is the text of a number, taken apart: digits * 10^exp, without zeros at the end of the digits.
type number struct {
	negative bool
	digits   []byte // '0' to '9', without zeros at either end; none for 0
	exp      int    // clamped to +-maxExp
	decimals int    // as written: what stands behind the point, less the exponent
}

// maxExp is beyond every exponent that a value can have, and far from the end of int.
const maxExp = 1 << 40

var errNumber = errors.New("is not a number as JSON writes it")

// scanNumber reads a number by the grammar of JSON.
func scanNumber(s string) (number, error) {
	var n number
	i := 0
	if i < len(s) && s[i] == '-' {
		n.negative = true
		i++
	}
	digits := func() int {
		from := i
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			n.digits = append(n.digits, s[i])
			i++
		}
		return i - from
	}
	from := i
	if whole := digits(); whole == 0 || whole > 1 && s[from] == '0' {
		return n, errNumber
	}
	if i < len(s) && s[i] == '.' {
		i++
		if n.decimals = digits(); n.decimals == 0 {
			return n, errNumber
		}
	}
	n.exp = -n.decimals
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		exp, ok := exponent(s[i+1:])
		if !ok {
			return n, errNumber
		}
		i = len(s)
		n.exp, n.decimals = n.exp+exp, n.decimals-exp
	}
	if i < len(s) {
		return n, errNumber
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == '0' {
		n.digits = n.digits[:len(n.digits)-1]
		n.exp++
	}
	for len(n.digits) > 0 && n.digits[0] == '0' {
		n.digits = n.digits[1:]
	}
	if len(n.digits) == 0 {
		n.negative = false
	}
	return n, nil
}

func exponent(s string) (int, bool) {
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	if s == "" {
		return 0, false
	}
	exp := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		exp = min(10*exp+int(c-'0'), maxExp)
	}
	if negative {
		exp = -exp
	}
	return exp, true
}

var (
	errBeyond   = errors.New("is beyond 64 bits")
	errDecimals = errors.New("has more decimals")
)

// units returns the number as a count of units of 10^-scale. It fails if that is no whole number.
func (n number) units(scale int) (int64, error) {
	if len(n.digits) == 0 {
		return 0, nil
	}
	zeros := n.exp + scale
	if zeros < 0 {
		return 0, errDecimals
	}
	if zeros > MaxScale || len(n.digits) > MaxScale+1 {
		return 0, errBeyond
	}
	var u uint64 // at most 19 digits: below 2^64
	for _, c := range n.digits {
		u = 10*u + uint64(c-'0')
	}
	over, u := bits.Mul64(u, powers[zeros])
	switch {
	case over != 0 || u > 1<<63 || u == 1<<63 && !n.negative:
		return 0, errBeyond
	case n.negative:
		return -int64(u), nil // -2^63 as well: the conversion wraps
	}
	return int64(u), nil
}

// Number reads a number literal of a condition: an int64 where it has neither point nor exponent, else the decimal
// with the decimals that it is written with. What no decimal holds is the nearest float64.
func Number(s string) (Value, error) {
	n, err := scanNumber(s)
	if err != nil {
		return Value{}, fmt.Errorf("%q %w", cut(s), err)
	}
	scale := max(n.decimals, 0)
	if scale <= MaxScale {
		if u, err := n.units(scale); err == nil {
			if scale == 0 {
				return Int(u), nil
			}
			return Units(u, uint8(scale)), nil
		}
	}
	if !strings.ContainsAny(s, ".eE") {
		return Value{}, fmt.Errorf("%s is beyond int64", cut(s))
	}
	return nearest(s)
}

// nearest returns the float64 next to a number.
func nearest(s string) (Value, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, fmt.Errorf("%s is beyond float64", cut(s))
	}
	return Float(f)
}

// Rounded returns the float64 nearest to an int64 or decimal: what a literal with a fraction means beside a float64.
func (v Value) Rounded() Value {
	f, err := strconv.ParseFloat(v.String(), 64)
	if err != nil { // cannot be: 64 bits are within float64
		return Value{}
	}
	r, err := Float(f)
	if err != nil {
		return Value{}
	}
	return r
}
