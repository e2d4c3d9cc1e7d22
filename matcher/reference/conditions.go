package reference

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Values holds the properties and parameters on which an expression is evaluated.
type Values struct {
	Read       func(variable, name string) property.Value
	Parameters map[string]condition.Parameter
}

// Truth evaluates an expression as it is written, with big rationals and the truth tables of Kleene's logic: the twin
// of condition.Condition.Eval. The expression is one that condition.Split resolves.
func Truth(e *condition.Expr, in Values) condition.Truth {
	switch e.Op {
	case condition.OpNot:
		return notTable[Truth(e.Args[0], in)]
	case condition.OpAnd, condition.OpXor, condition.OpOr:
		table := map[condition.Op]*[3][3]condition.Truth{condition.OpAnd: &andTable, condition.OpXor: &xorTable,
			condition.OpOr: &orTable}[e.Op]
		t := Truth(e.Args[0], in)
		for _, a := range e.Args[1:] {
			t = table[t][Truth(a, in)]
		}
		return t
	case condition.OpCompare:
		t := condition.True
		for i, r := range e.Chain {
			t = andTable[t][related(evaluate(e.Args[i], in), r, evaluate(e.Args[i+1], in))]
		}
		return t
	case condition.OpIn:
		return member(evaluate(e.Args[0], in), elements(e.Args[1], in))
	case condition.OpStartsWith:
		s, prefix := evaluate(e.Args[0], in), evaluate(e.Args[1], in)
		if s.null || prefix.null {
			return condition.Unknown
		}
		return condition.Of(strings.HasPrefix(s.text, prefix.text))
	case condition.OpIsNull:
		return condition.Of(evaluate(e.Args[0], in).null)
	case condition.OpIsNotNull:
		return condition.Of(!evaluate(e.Args[0], in).null)
	}
	v := evaluate(e, in)
	if v.null {
		return condition.Unknown
	}
	return condition.Of(v.number.Sign() != 0)
}

// The tables of Kleene's logic, by False, Unknown, True.
var (
	notTable = [3]condition.Truth{condition.True, condition.Unknown, condition.False}
	andTable = [3][3]condition.Truth{
		{condition.False, condition.False, condition.False},
		{condition.False, condition.Unknown, condition.Unknown},
		{condition.False, condition.Unknown, condition.True},
	}
	orTable = [3][3]condition.Truth{
		{condition.False, condition.Unknown, condition.True},
		{condition.Unknown, condition.Unknown, condition.True},
		{condition.True, condition.True, condition.True},
	}
	xorTable = [3][3]condition.Truth{
		{condition.False, condition.Unknown, condition.True},
		{condition.Unknown, condition.Unknown, condition.Unknown},
		{condition.True, condition.Unknown, condition.False},
	}
)

// value is a value with its mathematical number; a bool is 0 or 1.
type value struct {
	null     bool
	literal  bool // made of constants alone
	kind     property.Kind
	number   *big.Rat
	decimals int // units are 10^-decimals; their number is an int64
	text     string
}

func valueOf(v property.Value) value {
	w := value{null: v.IsNull(), kind: v.Type().Kind, decimals: int(v.Type().Scale), text: v.Str()}
	switch {
	case w.null || w.kind == property.String:
	case w.kind == property.Float64:
		w.number = new(big.Rat).SetFloat64(v.Float64())
	case w.kind == property.Bool:
		w.number = big.NewRat(0, 1)
		if v.True() {
			w.number = big.NewRat(1, 1)
		}
	default:
		w.number = new(big.Rat).SetFrac(big.NewInt(v.Whole()), power(w.decimals))
	}
	return w
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func evaluate(e *condition.Expr, in Values) value {
	v := value{literal: true}
	switch e.Op {
	case condition.OpNull:
		v.null = true
	case condition.OpBool:
		v.kind, v.number = property.Bool, big.NewRat(0, 1)
		if e.Text == "TRUE" {
			v.number = big.NewRat(1, 1)
		}
	case condition.OpString:
		v.kind, v.text = property.String, e.Text
	case condition.OpNumber:
		v.kind, v.number, v.decimals = property.Int64, rational(e.Text), decimals(e.Text)
		if v.decimals > 0 {
			v.kind = property.Decimal
		}
	case condition.OpParameter:
		v = valueOf(in.Parameters[e.Text].Values[0])
		v.literal = true
	case condition.OpDuration:
		ms, err := condition.ParseDuration(e.Text)
		if err != nil {
			panic(fmt.Sprintf("reference: %v", err)) // the expression resolves
		}
		v.kind, v.number = property.Int64, new(big.Rat).SetInt64(ms)
	case condition.OpProperty:
		v = valueOf(in.Read(e.Text, e.Property))
	case condition.OpNeg:
		v = evaluate(e.Args[0], in)
		if !v.null {
			v.number = new(big.Rat).Neg(v.number)
		}
		return fitting(v, 64)
	case condition.OpAdd, condition.OpSub, condition.OpMul:
		return computed(e.Op, evaluate(e.Args[0], in), evaluate(e.Args[1], in), 64)
	}
	return v
}

func rational(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("reference: no number: " + s) // the expression resolves
	}
	return r
}

// decimals returns how many decimals a number is written with: 1.50e1 has one.
func decimals(s string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	n, err := strconv.Atoi(exponent)
	if exponent != "" && err != nil {
		panic("reference: no number: " + s) // the expression resolves
	}
	return max(len(fraction)-n, 0)
}

// computed returns the result of an operation. A result that does not fit in an integer of that many bits is null.
func computed(op condition.Op, a, b value, bits uint) value {
	r := value{literal: a.literal && b.literal, null: a.null || b.null, kind: property.Int64}
	if r.null {
		return r
	}
	r.decimals = max(a.decimals, b.decimals)
	r.number = new(big.Rat)
	switch op {
	case condition.OpAdd:
		r.number.Add(a.number, b.number)
	case condition.OpSub:
		r.number.Sub(a.number, b.number)
	default:
		r.number.Mul(a.number, b.number)
		r.decimals = a.decimals + b.decimals
	}
	if a.kind == property.Decimal || b.kind == property.Decimal {
		r.kind = property.Decimal
	}
	return fitting(r, bits)
}

// fitting returns the value, or null if its units do not fit in an integer of that many bits.
func fitting(v value, bits uint) value {
	if v.null {
		return v
	}
	units := new(big.Rat).Mul(v.number, new(big.Rat).SetInt(power(v.decimals)))
	beyond := new(big.Int).Lsh(big.NewInt(1), bits-1)
	if !units.IsInt() || units.Num().Cmp(beyond) >= 0 || units.Num().Cmp(beyond.Neg(beyond)) < 0 {
		return value{null: true, literal: v.literal}
	}
	return v
}

// related compares two values. A literal with a fraction is the nearest float64 beside a float64.
func related(a value, r condition.Relation, b value) condition.Truth {
	if a.null || b.null {
		return condition.Unknown
	}
	order := 0
	if a.kind == property.String {
		order = cmp.Compare(a.text, b.text)
	} else {
		order = beside(a, b).Cmp(beside(b, a))
	}
	return condition.Of(map[condition.Relation]bool{condition.Eq: order == 0, condition.Ne: order != 0,
		condition.Lt: order < 0, condition.Le: order <= 0, condition.Gt: order > 0, condition.Ge: order >= 0}[r])
}

func beside(v, other value) *big.Rat {
	if v.literal && v.kind == property.Decimal && other.kind == property.Float64 && !other.literal {
		nearest, _ := v.number.Float64()
		return new(big.Rat).SetFloat64(nearest)
	}
	return v.number
}

func elements(e *condition.Expr, in Values) (all []value) {
	if e.Op == condition.OpParameter {
		for _, v := range in.Parameters[e.Text].Values {
			v := valueOf(v)
			v.literal = true
			all = append(all, v)
		}
		return all
	}
	for _, a := range e.Args {
		all = append(all, evaluate(a, in))
	}
	return all
}

// member is v = first OR v = second OR ...; False for no member.
func member(v value, all []value) condition.Truth {
	t := condition.False
	for _, w := range all {
		t = orTable[t][related(v, condition.Eq, w)]
	}
	return t
}
