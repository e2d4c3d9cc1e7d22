package condition

import (
	"slices"

	"motifd/dyngraph/property"
)

// code is the operation of a term.
type code uint8

// Values come before isTrue, truths from there on.
const (
	constant code = iota // value
	read                 // slot
	neg                  // args[0]
	add                  // args[0], args[1]
	sub
	mul
	isTrue     // args[0], a bool
	truth      // a constant
	compare    // args[0] relation args[1]
	in         // args[0] in members
	startsWith // args[0], args[1]
	isNull     // args[0]
	labelled   // slot, the labels of a vertex; labels
	not        // args[0]
	and        // args, two or more
	xor
	or
)

// term is a node of an expression with its names resolved, parameters and constants put in, and chains split.
type term struct {
	code     code
	relation Relation
	pos      Pos
	args     []*term
	slot     Slot
	value    property.Value // of constant
	span     bool           // of constant: a length of time; only text sets it
	truth    Truth
	members  members
	labels   Labels        // of labelled
	typ      property.Type // of values; its kind is Null for the literal null
	may      outcomes      // of truths
	why      string        // why it can never be true, where that is known
}

func (t *term) isConstant() bool { return t.code == constant }

func (t *term) isNullLiteral() bool { return t.code == constant && t.value.IsNull() }

// slots calls f for every property that the term reads.
func (t *term) slots(f func(Slot)) {
	if t.code == read || t.code == labelled {
		f(t.slot)
	}
	for _, a := range t.args {
		a.slots(f)
	}
}

// aggregated reports whether the term reads an aggregate, whose values are not bounded by int64.
func (t *term) aggregated() (found bool) {
	t.slots(func(s Slot) { found = found || s.Element.Aggregate })
	return found
}

// members are the values of an IN list.
type members struct {
	values []property.Value // sorted, each once by its mathematical value; one at least
	null   bool             // null is in the list
}

func newMembers(values []property.Value) (m members) {
	for _, v := range values {
		if v.IsNull() {
			m.null = true
		} else {
			m.values = append(m.values, v)
		}
	}
	order := func(a, b property.Value) int {
		c, _ := property.Compare(a, b) // always known: resolve admits one class of types
		return c
	}
	slices.SortStableFunc(m.values, order)
	m.values = slices.CompactFunc(m.values, func(a, b property.Value) bool { return order(a, b) == 0 })
	return m
}

// has is v IN list: as v = first OR v = second OR ... .
func (m *members) has(v property.Value) Truth {
	if v.IsNull() {
		return Unknown
	}
	lo, hi := 0, len(m.values)
	for lo < hi {
		middle := int(uint(lo+hi) >> 1)
		c, ok := property.Compare(m.values[middle], v)
		switch {
		case !ok:
			return Unknown
		case c == 0:
			return True
		case c < 0:
			lo = middle + 1
		default:
			hi = middle
		}
	}
	if m.null {
		return Unknown
	}
	return False
}
