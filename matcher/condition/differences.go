package condition

import (
	"math"

	"motifd/dyngraph/property"
)

// Difference bounds the difference of two whole numbers: slot A less slot B is at most Most, exactly, whatever int64
// holds.
type Difference struct {
	A, B int // slots of the condition
	Most int64
	// Computed tells that the condition subtracts one from the other: it is unknown where Minuend, a slot, less the
	// other one is beyond int64.
	Computed bool
	Minuend  int
}

// Differences returns what the condition says as bounds of differences: it is true if and only if both values are
// there and all bounds hold. ok is false if it cannot be said so.
func (c *Condition) Differences() (all []Difference, ok bool) {
	if c.root.code != compare || len(c.Slots) != 2 {
		return nil, false
	}
	relation, left, right := c.root.relation, c.root.args[0], c.root.args[1]
	switch {
	case left.code == read && right.code == read:
		if left.typ != right.typ || !left.typ.Exact() && left.typ.Kind != property.Timestamp {
			return nil, false
		}
		return bounds(relation, c.slotAt(left), c.slotAt(right), 0, false)
	case right.code == sub && left.isConstant():
		relation, left, right = relation.Mirror(), right, left
	case left.code != sub || !right.isConstant():
		return nil, false
	}
	a, b := left.args[0], left.args[1]
	if a.code != read || b.code != read || a.typ != b.typ || left.typ != right.typ || !left.typ.Exact() {
		return nil, false
	}
	return bounds(relation, c.slotAt(a), c.slotAt(b), right.value.Whole(), true)
}

// slotAt returns the number of the slot that a term reads.
func (c *Condition) slotAt(t *term) int {
	for i, s := range c.Slots {
		if s == t.slot {
			return i
		}
	}
	return -1 // a term of the condition reads one of its slots
}

// bounds returns what "a - b relation k" says.
func bounds(relation Relation, a, b int, k int64, computed bool) ([]Difference, bool) {
	if k <= math.MinInt64+1 || k == math.MaxInt64 {
		return nil, false
	}
	least := Difference{b, a, -k, computed, a} // a - b >= k
	most := Difference{a, b, k, computed, a}
	switch relation {
	case Eq:
		return []Difference{least, most}, true
	case Lt:
		most.Most--
		return []Difference{most}, true
	case Le:
		return []Difference{most}, true
	case Gt:
		least.Most--
		return []Difference{least}, true
	case Ge:
		return []Difference{least}, true
	}
	return nil, false
}
