package property

import "math/bits"

// Arithmetic takes int64, decimal and timestamp. A result beyond the int64 of its type's units is null, and so is a
// result of null or of another type. Each operation is exact and decides alone: a + b - c is null where a + b is
// beyond.

// Add returns a + b. A timestamp plus an int64 is a timestamp.
func Add(a, b Value) Value {
	t, ok := SumType(a.Type(), b.Type())
	if !ok {
		return Value{}
	}
	return sum(t, a, b, false)
}

// Sub returns a - b. The difference of timestamps is an int64, in milliseconds.
func Sub(a, b Value) Value {
	t, ok := DifferenceType(a.Type(), b.Type())
	if !ok {
		return Value{}
	}
	return sum(t, a, b, true)
}

// Mul returns a * b.
func Mul(a, b Value) Value {
	t, ok := ProductType(a.Type(), b.Type())
	if !ok {
		return Value{}
	}
	negative := (a.Whole() < 0) != (b.Whole() < 0)
	hi, lo := bits.Mul64(magnitude(a.Whole()), magnitude(b.Whole()))
	return fit(t, negative, hi, lo)
}

// Neg returns -a.
func Neg(a Value) Value {
	if !a.Type().Exact() {
		return Value{}
	}
	return fit(a.Type(), a.Whole() > 0, 0, magnitude(a.Whole()))
}

// SumType returns the type of a sum, and whether there is one.
func SumType(a, b Type) (Type, bool) {
	if a.Kind == Timestamp {
		a, b = b, a
	}
	if b.Kind == Timestamp {
		return b, a.Kind == Int64
	}
	return widest(a, b)
}

// DifferenceType returns the type of a difference, and whether there is one.
func DifferenceType(a, b Type) (Type, bool) {
	switch {
	case a.Kind == Timestamp && b.Kind == Timestamp:
		return Type{Kind: Int64}, true
	case a.Kind == Timestamp:
		return a, b.Kind == Int64
	}
	return widest(a, b)
}

// ProductType returns the type of a product, and whether there is one: its scale is the sum of the scales.
func ProductType(a, b Type) (Type, bool) {
	t, ok := widest(a, b)
	t.Scale = a.Scale + b.Scale
	return t, ok && t.Scale <= MaxScale
}

// widest returns the exact type that holds the values of both.
func widest(a, b Type) (Type, bool) {
	if !a.Exact() || !b.Exact() {
		return Type{}, false
	}
	if a.Kind == Decimal || b.Kind == Decimal {
		return Type{Decimal, max(a.Scale, b.Scale)}, true
	}
	return a, true
}

// sum adds b to a, or takes it off, in units of t.
func sum(t Type, a, b Value, minus bool) Value {
	aHi, aLo := bits.Mul64(magnitude(a.Whole()), powers[t.Scale-a.scale])
	bHi, bLo := bits.Mul64(magnitude(b.Whole()), powers[t.Scale-b.scale])
	aNegative, bNegative := a.Whole() < 0, (b.Whole() < 0) != minus
	if aNegative == bNegative {
		lo, carry := bits.Add64(aLo, bLo, 0)
		hi, _ := bits.Add64(aHi, bHi, carry) // below 2^124
		return fit(t, aNegative, hi, lo)
	}
	if compare128(aHi, aLo, bHi, bLo) < 0 {
		aHi, aLo, bHi, bLo, aNegative = bHi, bLo, aHi, aLo, bNegative
	}
	lo, borrow := bits.Sub64(aLo, bLo, 0)
	hi, _ := bits.Sub64(aHi, bHi, borrow)
	return fit(t, aNegative, hi, lo)
}

// fit returns the value of type t with these units, or null where they are beyond int64.
func fit(t Type, negative bool, hi, lo uint64) Value {
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative {
		return Value{}
	}
	if negative {
		lo = -lo
	}
	return Value{bits: lo, kind: t.Kind, scale: t.Scale}
}
