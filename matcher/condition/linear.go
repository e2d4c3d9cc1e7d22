package condition

import (
	"math"
	"math/big"

	"motifd/dyngraph/property"
)

// Linear bounds a weighted sum of whole numbers: the sum of By times the value of Slot is at most Most, exactly,
// whatever int64 holds.
type Linear struct {
	Weights []Weight // each slot once
	Most    *big.Int // below 2^MostBits
}

// Weight is a slot of the condition with its factor.
type Weight struct {
	Slot int
	By   int64 // below 2^31, and not 0
}

// What a Linear holds at most: then the sum of all products with an int64 is below 2^(MostBits+1).
const (
	MostBits   = 100
	weightBits = 31
	maxWeights = 8
)

// Linears returns what the condition says as bounds of weighted sums: it is true if and only if all values are there
// and all bounds hold. Some of the bounds keep what is computed within int64. ok is false if it cannot be said so.
func (c *Condition) Linears() (all []Linear, ok bool) {
	if c.root.code != compare || c.root.relation == Ne {
		return nil, false
	}
	l := &linearizer{c: c}
	left, ok := l.value(c.root.args[0])
	right, also := l.value(c.root.args[1])
	if !ok || !also {
		return nil, false
	}
	scale := max(c.root.args[0].typ.Scale, c.root.args[1].typ.Scale)
	left.scale(tenTo(scale - c.root.args[0].typ.Scale))
	right.scale(tenTo(scale - c.root.args[1].typ.Scale))
	less := left.plus(right, -1) // left - right
	relation := c.root.relation
	if relation == Lt || relation == Le || relation == Eq {
		l.atMost(less, relation == Lt)
	}
	if relation == Gt || relation == Ge || relation == Eq {
		less.scale(big.NewInt(-1))
		l.atMost(less, relation == Gt)
	}
	return l.all, !l.failed
}

// affine is a weighted sum of slots and a constant, in units of its term's type.
type affine struct {
	by       []*big.Int // by slot
	constant *big.Int
}

func (a *affine) scale(by *big.Int) {
	for _, n := range append(a.by, a.constant) {
		n.Mul(n, by)
	}
}

// plus returns a + sign * b.
func (a *affine) plus(b *affine, sign int64) *affine {
	add := func(x, y *big.Int) *big.Int {
		y = new(big.Int).Mul(y, big.NewInt(sign))
		return y.Add(x, y)
	}
	sum := &affine{constant: add(a.constant, b.constant)}
	for i := range a.by {
		sum.by = append(sum.by, add(a.by[i], b.by[i]))
	}
	return sum
}

type linearizer struct {
	c      *Condition
	all    []Linear
	failed bool
}

// value returns what a term computes, and adds the bounds within which no part of it is beyond int64.
func (l *linearizer) value(t *term) (a *affine, ok bool) {
	if !t.typ.Exact() && t.typ.Kind != property.Timestamp {
		return nil, false
	}
	a = &affine{constant: new(big.Int)}
	for range l.c.Slots {
		a.by = append(a.by, new(big.Int))
	}
	switch t.code {
	case constant:
		a.constant.SetInt64(t.value.Whole())
		return a, true
	case read:
		a.by[l.c.slotAt(t)].SetInt64(1)
		return a, true
	}
	var args []*affine
	for _, arg := range t.args {
		v, ok := l.value(arg)
		if !ok {
			return nil, false
		}
		args = append(args, v)
	}
	switch t.code {
	case neg:
		a = args[0]
		a.scale(big.NewInt(-1))
	case add, sub:
		for i, v := range args {
			v.scale(tenTo(t.typ.Scale - t.args[i].typ.Scale))
		}
		a = args[0].plus(args[1], map[code]int64{add: 1, sub: -1}[t.code])
	case mul:
		switch {
		case t.args[0].isConstant():
			a = args[1]
			a.scale(args[0].constant)
		case t.args[1].isConstant():
			a = args[0]
			a.scale(args[1].constant)
		default:
			return nil, false
		}
	}
	l.withinInt64(a)
	return a, true
}

// withinInt64 adds the bounds of what int64 has to hold.
func (l *linearizer) withinInt64(a *affine) {
	over := a.plus(&affine{by: a.by, constant: new(big.Int)}, 0)
	over.constant.Sub(a.constant, big.NewInt(math.MaxInt64))
	l.atMost(over, false)
	under := a.plus(&affine{by: a.by, constant: new(big.Int)}, 0)
	under.scale(big.NewInt(-1))
	under.constant.Add(under.constant, big.NewInt(math.MinInt64))
	l.atMost(under, false)
}

// atMost adds the bound that a is at most 0, or less than 0.
func (l *linearizer) atMost(a *affine, less bool) {
	b := Linear{Most: new(big.Int).Neg(a.constant)}
	if less {
		b.Most.Sub(b.Most, big.NewInt(1))
	}
	greatest := new(big.Int) // of the sum
	for i, by := range a.by {
		if by.Sign() == 0 {
			continue
		}
		l.failed = l.failed || by.BitLen() > weightBits
		b.Weights = append(b.Weights, Weight{i, by.Int64()})
		extreme := big.NewInt(math.MaxInt64)
		if by.Sign() < 0 {
			extreme.SetInt64(math.MinInt64)
		}
		greatest.Add(greatest, extreme.Mul(extreme, by))
	}
	if greatest.Cmp(b.Most) <= 0 {
		return // it always holds
	}
	l.failed = l.failed || len(b.Weights) == 0 || len(b.Weights) > maxWeights || b.Most.BitLen() > MostBits
	l.all = append(l.all, b)
}
