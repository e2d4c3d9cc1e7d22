package program

import (
	"math"
	"math/big"
	"math/bits"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// Sum confines a value x by a bound of a weighted sum: X times x and the weighted values of Of are at most Most.
type Sum struct {
	X    int64
	Of   []Weight
	Most Wide
}

// Weight is a value, by its number, with its factor.
type Weight struct {
	Value int
	By    int64
}

// Wide is an integer of 128 bits.
type Wide struct {
	hi int64
	lo uint64
}

// narrow narrows an interval of x, given all other values by their numbers.
func (s *Sum) narrow(r *Range, values []int64) {
	left := s.Most
	for i := range s.Of {
		left.subtract(s.Of[i].By, values[s.Of[i].Value])
	}
	if s.X > 0 {
		if most, beyond := left.divide(s.X); beyond == 0 {
			r.Most = min(r.Most, most)
		} else if beyond < 0 {
			*r = nothing
		}
		return
	}
	// x >= left / X, rounded up: -(left / -X) rounded down.
	if most, beyond := left.divide(-s.X); beyond == 0 && most > math.MinInt64 {
		r.Least = max(r.Least, -most)
	} else if beyond < 0 || beyond == 0 { // -most is beyond int64
		*r = nothing
	}
}

// subtract takes a * b off.
func (w *Wide) subtract(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, lo, 0)
	w.hi -= h + int64(borrow)
}

// divide returns w / d rounded down, for a positive d, or whether that is below int64 (-1) or above (1).
func (w *Wide) divide(d int64) (quotient int64, beyond int) {
	if n := int64(w.lo); w.hi == n>>63 {
		q := n / d
		if n%d < 0 {
			q--
		}
		return q, 0
	}
	hi, lo := uint64(w.hi), w.lo
	if w.hi < 0 { // -w - 1: the quotient is then its complement
		hi, lo = ^hi, ^lo
	}
	high := hi / uint64(d)
	low, _ := bits.Div64(hi%uint64(d), lo, uint64(d))
	if high > 0 || low > math.MaxInt64 {
		if w.hi < 0 {
			return 0, -1
		}
		return 0, 1
	}
	if w.hi < 0 {
		return ^int64(low), 0
	}
	return int64(low), 0
}

// wideOf returns a number below 2^127.
func wideOf(n *big.Int) Wide {
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)) // of the two's complement
	return Wide{new(big.Int).Rsh(n, 64).Int64(), low.Uint64()}
}

// linear is a bound of a weighted sum of the values of a matrix.
type linear struct {
	of   []Weight
	most Wide
}

// addSums adds a condition as bounds of weighted sums; false if it cannot be said so. Each of its values is of another
// edge: of two values of one edge, mapped at once, neither could confine the other.
func (d *differences) addSums(c *matcher.Condition) bool {
	all, ok := c.Linears()
	if !ok || len(c.Elements) < len(c.Reads) {
		return false
	}
	at := make([]int, len(c.Reads))
	for i, r := range c.Reads {
		at[i] = d.at(value{r.Element.Index, r.Column})
	}
	for _, l := range all {
		d.sums = append(d.sums, linearOf(l, at))
	}
	return true
}

func linearOf(l condition.Linear, at []int) linear {
	s := linear{most: wideOf(l.Most)}
	for _, w := range l.Weights {
		s.of = append(s.of, Weight{at[w.Slot], w.By})
	}
	return s
}

// sumLimit returns what a bound says of value x, given all others that it reads; false if it does not read x.
func (s *linear) sumLimit(x int) (l Limit, ok bool) {
	sum := &Sum{Most: s.most}
	for _, w := range s.of {
		if w.Value == x {
			sum.X = w.By
		} else {
			sum.Of = append(sum.Of, w)
		}
	}
	if sum.X == 0 {
		return l, false
	}
	if len(sum.Of) > 0 {
		return Limit{Kind: OfSum, Sum: sum}, true
	}
	r := Everything
	sum.narrow(&r, nil)
	switch {
	case r.IsEmpty():
		return Limit{Kind: OfSum, Sum: sum}, true
	case sum.X > 0:
		return Limit{Kind: Below, By: r.Most}, true
	}
	return Limit{Kind: Above, By: r.Least}, true
}

// addSumLimits adds what bounds of weighted sums say of a reading of step i of an order: those whose other values are
// mapped before it. at and back are those of readings.
func (d *differences) addSumLimits(r *reading, at []int, i int, back map[int]int) {
	for k := range d.sums {
		l, ok := d.sums[k].sumLimit(r.value)
		beside := false
		for _, w := range d.sums[k].of {
			edge := d.values[w.Value].edge
			other, here := back[edge]
			if w.Value == r.value {
				continue
			}
			ok = ok && at[edge] <= i && !(here && other >= r.back)
			beside = beside || here && other >= 0
		}
		switch {
		case !ok:
		case beside:
			r.beside = append(r.beside, l)
		default:
			r.limits = append(r.limits, l)
		}
	}
}

// number replaces the values of a matrix by those of an order.
func (s *Sum) number(b *conditionsBuilder, d *differences) {
	for i := range s.Of {
		s.Of[i].Value = b.number(d.values[s.Of[i].Value])
	}
}
