package condition

import (
	"fmt"

	"motifd/dyngraph/property"
)

// MaxNodes bounds the operators and operands of one WHERE, map or field, the members of lists aside: the depth of what
// walks them with it.
const MaxNodes = 2048

// resolver turns an Expr into terms.
type resolver struct {
	scope *Scope
	nodes int
}

func (r *resolver) count(e *Expr) error {
	if r.nodes++; r.nodes > MaxNodes {
		return fail(e.Pos, "the expression has more than %d operators and operands; make several queries, or use IN",
			MaxNodes)
	}
	return nil
}

// value resolves an expression that stands for a value.
func (r *resolver) value(e *Expr) (*term, error) {
	if err := r.count(e); err != nil {
		return nil, err
	}
	switch e.Op {
	case OpNull:
		return r.constant(e, property.Value{})
	case OpBool:
		return r.constant(e, property.Truth(e.Text == "TRUE"))
	case OpString:
		return r.constant(e, property.Text(e.Text))
	case OpNumber:
		return r.number(e, "")
	case OpDuration:
		ms, err := ParseDuration(e.Text)
		if err != nil {
			return nil, fail(e.Pos, "%v", err)
		}
		return r.constant(e, property.Int(ms))
	case OpParameter:
		p, err := r.scope.parameter(e)
		if err != nil {
			return nil, err
		}
		if p.List {
			return nil, fail(e.Pos, "the parameter %s is a list; a list stands after IN", short("$"+e.Text))
		}
		return r.constant(e, p.Values[0])
	case OpProperty:
		s, err := r.scope.slot(e)
		return &term{code: read, pos: e.Pos, slot: s, typ: s.Type}, err
	case OpAggregate:
		s, err := r.scope.aggregate(e)
		return &term{code: read, pos: e.Pos, slot: s, typ: s.Type}, err
	case OpNeg:
		if e.Args[0].Op == OpNumber { // -9223372036854775808 is an int64, its digits alone are none
			return r.number(e.Args[0], "-")
		}
		a, err := r.value(e.Args[0])
		if err != nil {
			return nil, err
		}
		return negate(e.Pos, a)
	case OpAdd, OpSub, OpMul:
		return r.arithmetic(e)
	case OpList:
		return nil, fail(e.Pos, "a list stands after IN only")
	}
	return nil, fail(e.Pos, "a condition stands where a value is expected; join conditions by AND, OR, XOR and NOT")
}

func (r *resolver) constant(e *Expr, v property.Value) (*term, error) {
	return &term{code: constant, pos: e.Pos, value: v, typ: v.Type()}, nil
}

func (r *resolver) number(e *Expr, sign string) (*term, error) {
	v, err := property.Number(sign + e.Text)
	if err != nil {
		return nil, fail(e.Pos, "the number %v", err)
	}
	return r.constant(e, v)
}

func negate(at Pos, a *term) (*term, error) {
	switch {
	case a.isNullLiteral():
		return a, nil
	case a.typ.Kind == property.Timestamp:
		return nil, fail(at, "a timestamp has no negative; write t.ts - u.ts")
	case !a.typ.Exact():
		return nil, notExact(at, "-", a.typ)
	case a.isConstant():
		return folded(at, property.Neg(a.value))
	}
	return &term{code: neg, pos: at, args: []*term{a}, typ: a.typ}, nil
}

// folded is a constant computed from constants.
func folded(at Pos, v property.Value) (*term, error) {
	if v.IsNull() {
		return nil, fail(at, "the result is beyond 64 bits; conditions compute with int64 and with decimals of 64 bits")
	}
	return &term{code: constant, pos: at, value: v, typ: v.Type()}, nil
}

var operations = map[Op]struct {
	sign string
	code code
	typ  func(a, b property.Type) (property.Type, bool)
	fold func(a, b property.Value) property.Value
}{
	OpAdd: {"+", add, property.SumType, property.Add},
	OpSub: {"-", sub, property.DifferenceType, property.Sub},
	OpMul: {"*", mul, property.ProductType, property.Mul},
}

func (r *resolver) arithmetic(e *Expr) (*term, error) {
	a, err := r.value(e.Args[0])
	if err != nil {
		return nil, err
	}
	b, err := r.value(e.Args[1])
	if err != nil {
		return nil, err
	}
	operation := operations[e.Op]
	for i, t := range []*term{a, b} {
		if t.isNullLiteral() {
			continue
		}
		if e.Args[i].Op == OpParameter && t.typ.Kind == property.String {
			return nil, fail(t.pos, "the parameter %s is a string, and %s takes none; a span of time is 24h without "+
				"quotes, or a number of milliseconds", short("$"+e.Args[i].Text), operation.sign)
		}
		if !t.typ.Exact() && t.typ.Kind != property.Timestamp {
			return nil, notExact(t.pos, operation.sign, t.typ)
		}
	}
	if a.isNullLiteral() || b.isNullLiteral() {
		return &term{code: constant, pos: e.Pos}, nil
	}
	typ, ok := operation.typ(a.typ, b.typ)
	if !ok {
		return nil, noResult(e.Pos, operation.sign, a.typ, b.typ)
	}
	if a.isConstant() && b.isConstant() {
		return folded(e.Pos, operation.fold(a.value, b.value))
	}
	return &term{code: operation.code, pos: e.Pos, args: []*term{a, b}, typ: typ}, nil
}

func notExact(at Pos, sign string, t property.Type) error {
	why := "it computes with int64, decimal and timestamp"
	switch t.Kind {
	case property.Float64:
		why = "a float64 is compared, never computed with: declare the property as decimal(s)"
	case property.String:
		why = "strings are compared, never joined"
	}
	return fail(at, "%s takes no %v; %s", sign, t, why)
}

func noResult(at Pos, sign string, a, b property.Type) error {
	if a.Kind == property.Timestamp || b.Kind == property.Timestamp {
		return fail(at, "%v %s %v has no meaning; there are timestamp - timestamp and timestamp + or - int64 in "+
			"milliseconds", a, sign, b)
	}
	return fail(at, "%v %s %v has %d decimals; at most %d are allowed", a, sign, b, a.Scale+b.Scale, property.MaxScale)
}

// describe names a type in a message about operands.
func describe(t *term) string {
	if t.isConstant() {
		text := t.value.String()
		if t.typ.Kind == property.String {
			text = short(text)
		}
		return fmt.Sprintf("the %v %s", t.typ, text)
	}
	if t.typ.Kind == property.Int64 {
		return "an int64"
	}
	return fmt.Sprintf("a %v", t.typ)
}
