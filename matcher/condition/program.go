package condition

import (
	"strings"

	"motifd/dyngraph/property"
)

// program is a term laid out flat: operands before their operator, each slot once.
type program struct {
	Slots  []Slot
	instrs []instr
	lists  []int32 // operands of and, xor, or
	start  int32   // the root
}

// instr is one term of a program.
type instr struct {
	code     code
	relation Relation
	truth    Truth
	a, b     int32 // operands; a slot; of and, xor, or: the range [a, b) of lists
	value    property.Value
	members  members
	labels   Labels
}

// compile fills the program in.
func (p *program) compile(root *term) {
	at := make(map[Slot]int32)
	var add func(t *term) int32
	add = func(t *term) int32 {
		i := instr{code: t.code, relation: t.relation, truth: t.truth, value: t.value, members: t.members,
			labels: t.labels}
		operands := make([]int32, len(t.args))
		for k, a := range t.args {
			operands[k] = add(a)
		}
		switch {
		case t.code == read || t.code == labelled:
			slot, ok := at[t.slot]
			if !ok {
				slot = int32(len(p.Slots))
				at[t.slot], p.Slots = slot, append(p.Slots, t.slot)
			}
			i.a = slot
		case t.code >= and:
			i.a = int32(len(p.lists))
			p.lists = append(p.lists, operands...)
			i.b = int32(len(p.lists))
		case len(operands) == 2:
			i.a, i.b = operands[0], operands[1]
		case len(operands) == 1:
			i.a = operands[0]
		}
		p.instrs = append(p.instrs, i)
		return int32(len(p.instrs) - 1)
	}
	p.start = add(root)
}

// truth evaluates the predicate at i.
func (p *program) truth(i int32, values []property.Value) Truth {
	t := &p.instrs[i]
	switch t.code {
	case truth:
		return t.truth
	case isTrue:
		v := p.value(t.a, values)
		if v.IsNull() {
			return Unknown
		}
		return Of(v.True())
	case compare:
		order, ok := property.Compare(p.value(t.a, values), p.value(t.b, values))
		if !ok {
			return Unknown
		}
		return Of(t.relation.holds(order))
	case in:
		return t.members.has(p.value(t.a, values))
	case startsWith:
		return hasPrefix(p.value(t.a, values), p.value(t.b, values))
	case isNull:
		return Of(p.value(t.a, values).IsNull())
	case labelled:
		return Of(t.labels.hold(values[t.a]))
	case not:
		return p.truth(t.a, values).Not()
	case and:
		return p.fold(t, values, True, False, Truth.And)
	case or:
		return p.fold(t, values, False, True, Truth.Or)
	case xor:
		return p.fold(t, values, False, Unknown, Truth.Xor)
	}
	return Unknown // a value: compile puts none here
}

// fold combines the operands of an instruction, from a first truth on, until the result is last: no operand changes it
// then.
func (p *program) fold(t *instr, values []property.Value, first, last Truth, combine func(a, b Truth) Truth) Truth {
	r := first
	for _, k := range p.lists[t.a:t.b] {
		if r = combine(r, p.truth(k, values)); r == last {
			break
		}
	}
	return r
}

// value evaluates the value at i.
func (p *program) value(i int32, values []property.Value) property.Value {
	t := &p.instrs[i]
	switch t.code {
	case constant:
		return t.value
	case read:
		return values[t.a]
	case neg:
		return property.Neg(p.value(t.a, values))
	case add:
		return property.Add(p.value(t.a, values), p.value(t.b, values))
	case sub:
		return property.Sub(p.value(t.a, values), p.value(t.b, values))
	case mul:
		return property.Mul(p.value(t.a, values), p.value(t.b, values))
	}
	return property.Value{} // a predicate: compile puts none here
}

func hasPrefix(s, prefix property.Value) Truth {
	if s.IsNull() || prefix.IsNull() {
		return Unknown
	}
	return Of(strings.HasPrefix(s.Str(), prefix.Str()))
}
