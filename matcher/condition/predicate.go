package condition

import "motifd/dyngraph/property"

// predicate resolves an expression that is true, false or unknown.
func (r *resolver) predicate(e *Expr) (*term, error) {
	switch e.Op {
	case OpAnd, OpXor, OpOr:
		return r.connective(e)
	case OpNot:
		a, err := r.operand(e, e.Args[0])
		if err != nil {
			return nil, err
		}
		return &term{code: not, pos: e.Pos, args: []*term{a}, may: a.may.not()}, nil
	case OpCompare:
		return r.chain(e)
	case OpIn:
		return r.in(e)
	case OpStartsWith:
		return r.startsWith(e)
	case OpIsNull, OpIsNotNull:
		return r.isNull(e)
	}
	v, err := r.value(e)
	if err != nil {
		return nil, err
	}
	switch {
	case v.isNullLiteral():
		return r.known(e.Pos, Unknown, "null is never true"), nil
	case v.typ.Kind != property.Bool:
		return nil, fail(e.Pos, "%s stands where a condition is expected; compare it, as in a.x > 1", describe(v))
	case v.isConstant():
		return r.known(e.Pos, Of(v.value.True()), "it is false"), nil
	}
	return &term{code: isTrue, pos: e.Pos, args: []*term{v}, may: anyOutcome}, nil
}

// operand resolves a predicate that is part of e.
func (r *resolver) operand(e, part *Expr) (*term, error) {
	if err := r.count(e); err != nil {
		return nil, err
	}
	return r.predicate(part)
}

// known is a truth that no value changes; why says why it is not True.
func (r *resolver) known(at Pos, t Truth, why string) *term {
	return &term{code: truth, pos: at, truth: t, may: only(t), why: why}
}

func (r *resolver) connective(e *Expr) (*term, error) {
	t := &term{pos: e.Pos}
	var join func(Truth, Truth) Truth
	switch e.Op {
	case OpAnd:
		t.code, join = and, Truth.And
	case OpXor:
		t.code, join = xor, Truth.Xor
	default:
		t.code, join = or, Truth.Or
	}
	for i, part := range e.Args {
		a, err := r.operand(e, part)
		if err != nil {
			return nil, err
		}
		if e.Op == OpOr && a.code == and && a.may.has(True) && contradict(a.conjuncts(nil)) {
			a.may, a.why = a.may&^only(True), "its parts contradict one another"
		}
		t.args = append(t.args, a)
		if i == 0 {
			t.may = a.may
		} else {
			t.may = each(t.may, a.may, join)
		}
		if t.why == "" && !a.may.has(True) {
			t.why = a.why
		}
	}
	return t, nil
}

// chain resolves a < b < c as a < b AND b < c.
func (r *resolver) chain(e *Expr) (*term, error) {
	operands := make([]*term, len(e.Args))
	for i, part := range e.Args {
		v, err := r.value(part)
		if err != nil {
			return nil, err
		}
		operands[i] = v
	}
	chain := &term{code: and, pos: e.Pos, may: only(True)}
	for i, relation := range e.Chain {
		at := e.Args[i].Pos
		if i == 0 {
			at = e.Pos
		}
		c, err := r.compare(at, relation, operands[i], operands[i+1])
		if err != nil {
			return nil, err
		}
		if len(e.Chain) == 1 {
			return c, nil
		}
		chain.args = append(chain.args, c)
		chain.may = each(chain.may, c.may, Truth.And)
		if chain.why == "" && !c.may.has(True) {
			chain.why = c.why
		}
	}
	return chain, nil
}

const nullWhy = "a comparison with null is never true; write IS NULL or IS NOT NULL"

// compare resolves a comparison of two values.
func (r *resolver) compare(at Pos, relation Relation, a, b *term) (*term, error) {
	if a.isNullLiteral() || b.isNullLiteral() {
		return r.known(at, Unknown, nullWhy), nil
	}
	var err error
	if a, b, err = adapt(at, a, b); err != nil {
		return nil, err
	}
	if a.isConstant() && b.isConstant() {
		order, _ := property.Compare(a.value, b.value) // adapt admits comparable types only
		return r.known(at, Of(relation.holds(order)), "the constants never compare so"), nil
	}
	c := &term{code: compare, relation: relation, pos: at, args: []*term{a, b}}
	c.may, c.why = possible(relation, a, b)
	return c, nil
}

// adapt gives a constant the type that it has beside the other operand, and refuses operands without an order.
func adapt(at Pos, a, b *term) (*term, *term, error) {
	switch {
	case a.isConstant() && !b.isConstant():
		a = beside(a, b.typ)
	case b.isConstant() && !a.isConstant():
		b = beside(b, a.typ)
	}
	if !property.Comparable(a.typ, b.typ) {
		return nil, nil, fail(at, "%s is compared with %s; both sides have one type, or are numbers", describe(a),
			describe(b))
	}
	for _, pair := range [][2]*term{{a, b}, {b, a}} {
		// A literal that no decimal holds was rounded: beside exact numbers it would say something else.
		if c, other := pair[0], pair[1]; c.isConstant() && c.typ.Kind == property.Float64 && other.typ.Exact() {
			return nil, nil, fail(c.pos, "the number has no exact value beside %s: it is beyond int64, or has more "+
				"than %d decimals", describe(other), property.MaxScale)
		}
	}
	return a, b, nil
}

// beside returns the constant as it is compared with values of a type: an integer is a time beside a timestamp, and a
// number with a fraction is the nearest float64 beside a float64.
func beside(c *term, other property.Type) *term {
	var as property.Value
	switch {
	case other.Kind == property.Timestamp && c.typ.Kind == property.Int64:
		as = property.Time(c.value.Whole())
	case other.Kind == property.Float64 && c.typ.Kind == property.Decimal:
		as = c.value.Rounded()
	default:
		return c
	}
	return &term{code: constant, pos: c.pos, value: as, typ: as.Type()}
}

// in resolves v IN list. The list is of constants.
func (r *resolver) in(e *Expr) (*term, error) {
	v, err := r.value(e.Args[0])
	if err != nil {
		return nil, err
	}
	parts, err := r.members(e.Args[1])
	if err != nil {
		return nil, err
	}
	var values []property.Value
	for _, part := range parts {
		if !part.isNullLiteral() && !v.isNullLiteral() {
			if _, part, err = adapt(part.pos, v, part); err != nil {
				return nil, err
			}
		}
		values = append(values, part.value)
	}
	set := newMembers(values)
	switch {
	case len(parts) == 0:
		return r.known(e.Pos, False, "the list is empty"), nil
	case v.isNullLiteral() || len(set.values) == 0:
		return r.known(e.Pos, Unknown, nullWhy), nil
	case v.isConstant():
		return r.known(e.Pos, set.has(v.value), "the list does not hold the constant"), nil
	}
	may := anyOutcome
	if set.null {
		may = only(True) | only(Unknown)
	}
	return &term{code: in, pos: e.Pos, args: []*term{v}, members: set, may: may}, nil
}

// members resolves what stands after IN.
func (r *resolver) members(e *Expr) ([]*term, error) {
	var parts []*term
	switch e.Op {
	case OpList:
		for _, part := range e.Args {
			r.nodes-- // members are not counted
			v, err := r.value(part)
			if err != nil {
				return nil, err
			}
			if !v.isConstant() {
				return nil, fail(v.pos, "a list holds constants and parameters; write a.x = b.x OR a.x = b.y")
			}
			parts = append(parts, v)
		}
		return parts, nil
	case OpParameter:
		p, err := r.scope.parameter(e)
		if err != nil {
			return nil, err
		}
		if !p.List {
			return nil, fail(e.Pos, "the parameter %s is no list; write = in place of IN, or bind it to a list, [1, 2]",
				short("$"+e.Text))
		}
		for _, v := range p.Values {
			parts = append(parts, &term{code: constant, pos: e.Pos, value: v, typ: v.Type()})
		}
		return parts, nil
	}
	return nil, fail(e.Pos, "after IN stands a list, as in a.x IN [1, 2], or a parameter that is a list")
}

func (r *resolver) startsWith(e *Expr) (*term, error) {
	t := &term{code: startsWith, pos: e.Pos, may: anyOutcome}
	constants, null := true, false
	for _, part := range e.Args {
		v, err := r.value(part)
		if err != nil {
			return nil, err
		}
		if !v.isNullLiteral() && v.typ.Kind != property.String {
			return nil, fail(v.pos, "%s stands beside STARTS WITH; both sides are strings", describe(v))
		}
		t.args = append(t.args, v)
		constants, null = constants && v.isConstant(), null || v.isNullLiteral()
	}
	switch {
	case null:
		return r.known(e.Pos, Unknown, "STARTS WITH null is never true"), nil
	case constants:
		return r.known(e.Pos, hasPrefix(t.args[0].value, t.args[1].value), "the constant starts otherwise"), nil
	}
	return t, nil
}

func (r *resolver) isNull(e *Expr) (*term, error) {
	v, err := r.value(e.Args[0])
	if err != nil {
		return nil, err
	}
	var t *term
	if v.isConstant() {
		t = r.known(e.Pos, Of(v.value.IsNull()), "the constant is not null")
		if e.Op == OpIsNotNull {
			t = r.known(e.Pos, t.truth.Not(), "it is null")
		}
		return t, nil
	}
	t = &term{code: isNull, pos: e.Pos, args: []*term{v}, may: only(True) | only(False)}
	if e.Op == OpIsNotNull {
		t = &term{code: not, pos: e.Pos, args: []*term{t}, may: t.may.not()}
	}
	return t, nil
}
