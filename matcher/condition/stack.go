package condition

import (
	"cmp"
	"slices"

	"motifd/dyngraph/property"
)

// MaxStack is the number of values that a StackStep may find on the stack, and leave there.
const MaxStack = 4

// StackOp is the operation of a StackStep. Truths are values, too: 0 is false, 1 is true, null is unknown.
type StackOp uint8

// The operations of a StackStep. All but the first three take values off the stack: a, which was pushed before b.
const (
	StackSlot     StackOp = iota // pushes the value of Slot
	StackConstant                // pushes Left
	StackNull                    // pushes null
	StackSum                     // a*Left + b*Right; null if a or b is, or where that is beyond int64
	StackProduct                 // a*b, likewise
	StackCompare                 // 1 if a*Left + b*Right stands in Relation to 0, exactly, else 0; null if a or b is
	StackIsNull                  // 1 if b is null, else 0; a stays
	StackAnd                     // a AND b, as in Cypher
	StackOr                      // a OR b
)

// StackStep is a step of a condition on whole numbers, as a device evaluates it.
type StackStep struct {
	Op          StackOp
	Relation    Relation
	Slot        int
	Left, Right int64
}

// Stack returns the condition as steps that leave its truth on the stack. ok is false if it reads, or computes with,
// anything but whole numbers (int64, decimal, timestamp, bool), or needs more of the stack than MaxStack.
func (c *Condition) Stack() (steps []StackStep, ok bool) {
	s, ok := c.stack(c.root)
	return s.steps, ok && s.depth <= MaxStack
}

// stacked is a term as steps, and how much of the stack they need.
type stacked struct {
	steps []StackStep
	depth int
}

func pushed(step StackStep) stacked { return stacked{[]StackStep{step}, 1} }

// whole reports whether a device has the values of a type.
func whole(t property.Type) bool {
	return t.Exact() || t.Kind == property.Timestamp || t.Kind == property.Bool
}

// both returns the steps of two terms and of an operation on them. The one that needs more of the stack comes first.
func both(a, b stacked, do StackStep) stacked {
	if a.depth < b.depth {
		a, b, do.Left, do.Right = b, a, do.Right, do.Left
	}
	return stacked{append(slices.Concat(a.steps, b.steps), do), max(a.depth, b.depth+1)}
}

// negated returns 1 - a.
func negated(a stacked) stacked {
	return both(a, pushed(StackStep{Op: StackConstant, Left: 1}), StackStep{Op: StackSum, Left: -1, Right: 1})
}

// stack returns a term as steps.
func (c *Condition) stack(t *term) (stacked, bool) {
	args := make([]stacked, len(t.args))
	for i, a := range t.args {
		var ok bool
		if args[i], ok = c.stack(a); !ok {
			return stacked{}, false
		}
	}
	null := slices.ContainsFunc(t.args, func(a *term) bool { return a.code < isTrue && a.typ.Kind == property.Null })
	switch t.code {
	case constant:
		if t.value.IsNull() {
			return pushed(StackStep{Op: StackNull}), true
		}
		return pushed(StackStep{Op: StackConstant, Left: t.value.Whole()}), whole(t.value.Type())
	case read:
		return pushed(StackStep{Op: StackSlot, Slot: c.slotAt(t)}), whole(t.typ)
	case truth:
		if t.truth == Unknown {
			return pushed(StackStep{Op: StackNull}), true
		}
		value := int64(0)
		if t.truth == True {
			value = 1
		}
		return pushed(StackStep{Op: StackConstant, Left: value}), true
	case isTrue:
		return args[0], true
	case not:
		return negated(args[0]), true
	case isNull:
		return stacked{append(args[0].steps, StackStep{Op: StackIsNull}), args[0].depth}, true
	case and:
		return fold(args, StackStep{Op: StackAnd}), true
	case or:
		return fold(args, StackStep{Op: StackOr}), true
	case xor: // of truths: they differ
		return fold(args, StackStep{Op: StackCompare, Relation: Ne, Left: 1, Right: -1}), true
	case neg, add, sub, mul, compare:
		if null {
			return pushed(StackStep{Op: StackNull}), true
		}
		return t.stackNumbers(args), true
	case in:
		return t.stackMembers(args[0], null)
	}
	return stacked{}, false
}

// stackNumbers returns a computation, or a comparison, as steps.
func (t *term) stackNumbers(args []stacked) stacked {
	scale := func(i int) uint8 { return t.args[i].typ.Scale }
	switch t.code {
	case neg:
		return both(args[0], pushed(StackStep{Op: StackConstant}), StackStep{Op: StackSum, Left: -1, Right: 1})
	case mul:
		return both(args[0], args[1], StackStep{Op: StackProduct})
	case compare:
		return both(args[0], args[1], comparing(t.relation, scale(0), scale(1)))
	}
	do := StackStep{Op: StackSum, Left: power(t.typ.Scale - scale(0)), Right: power(t.typ.Scale - scale(1))}
	if t.code == sub {
		do.Right = -do.Right
	}
	return both(args[0], args[1], do)
}

// comparing returns the comparison of two numbers with scales.
func comparing(r Relation, a, b uint8) StackStep {
	common := min(a, b)
	return StackStep{Op: StackCompare, Relation: r, Left: power(b - common), Right: -power(a - common)}
}

// maxStackMembers is the number of members of a list up to which IN is a number of comparisons.
const maxStackMembers = 16

// stackMembers returns v IN members as v = first OR v = second OR ... .
func (t *term) stackMembers(v stacked, null bool) (stacked, bool) {
	if null {
		return pushed(StackStep{Op: StackNull}), true
	}
	if len(t.members.values) > maxStackMembers {
		return stacked{}, false
	}
	var all []stacked
	for _, m := range t.members.values {
		if !whole(m.Type()) {
			return stacked{}, false
		}
		all = append(all, both(v, pushed(StackStep{Op: StackConstant, Left: m.Whole()}),
			comparing(Eq, t.args[0].typ.Scale, m.Type().Scale)))
	}
	if t.members.null {
		all = append(all, pushed(StackStep{Op: StackNull}))
	}
	return fold(all, StackStep{Op: StackOr}), true
}

// fold combines terms one after the other, in the order that needs least of the stack.
func fold(all []stacked, do StackStep) stacked {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b stacked) int { return cmp.Compare(b.depth, a.depth) })
	r := all[0]
	for _, a := range all[1:] {
		r = both(r, a, do)
	}
	return r
}

// power returns 10^n, for the scales that decimals have.
func power(n uint8) int64 {
	p := int64(1)
	for range min(n, property.MaxScale) {
		p *= 10
	}
	return p
}
