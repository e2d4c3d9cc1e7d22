package condition

import (
	"fmt"
	"math"

	"motifd/dyngraph/property"
)

// possible returns what a comparison may come to, and why it is never true. It knows two things: that the same
// expression on both sides is equal or null, and that an int64, a decimal and a timestamp have a least value, a
// greatest one and a step.
func possible(relation Relation, a, b *term) (outcomes, string) {
	if a.code != constant && b.code != constant {
		if text := a.format(slotKey); text == b.format(slotKey) {
			if relation.holds(0) {
				return only(True) | only(Unknown), ""
			}
			return only(False) | only(Unknown), "both sides are the same"
		}
		return anyOutcome, ""
	}
	if a.code == constant {
		a, b, relation = b, a, relation.Mirror()
	}
	why := fmt.Sprintf("no %v compares so with %v", a.typ, b.value)
	if !a.typ.Exact() && a.typ.Kind != property.Timestamp {
		return anyOutcome, ""
	}
	if a.aggregated() { // it has no least value, and no greatest one
		if relation == Eq && b.value.Type().Exact() && !onGrid(a.typ.Scale, b.value) {
			return only(False) | only(Unknown), why
		}
		return anyOutcome, ""
	}
	may := only(Unknown)
	if reachable(relation, a.typ, b.value) {
		may |= only(True)
	}
	if reachable(relation.negation(), a.typ, b.value) {
		may |= only(False)
	}
	return may, why
}

// reachable reports whether some value of an exact type or timestamp stands in the relation to c.
func reachable(relation Relation, t property.Type, c property.Value) bool {
	least, greatest := property.Units(math.MinInt64, t.Scale), property.Units(math.MaxInt64, t.Scale)
	if t.Kind == property.Timestamp {
		least, greatest = property.Time(math.MinInt64), property.Time(math.MaxInt64)
	}
	lo, _ := property.Compare(least, c)
	hi, _ := property.Compare(greatest, c)
	switch relation {
	case Lt, Le:
		return relation.holds(lo)
	case Gt, Ge:
		return relation.holds(hi)
	case Eq:
		return lo <= 0 && hi >= 0 && onGrid(t.Scale, c)
	}
	return true // Ne: there are two values
}

// onGrid reports whether c is a whole number of units of the scale.
func onGrid(scale uint8, c property.Value) bool {
	units := c.Whole()
	for s := c.Type().Scale; s > scale; s-- {
		if units%10 != 0 {
			return false
		}
		units /= 10
	}
	return true
}

// negation returns the relation that holds where r does not.
func (r Relation) negation() Relation {
	switch r {
	case Eq:
		return Ne
	case Ne:
		return Eq
	case Lt:
		return Ge
	case Le:
		return Gt
	case Gt:
		return Le
	}
	return Lt
}
