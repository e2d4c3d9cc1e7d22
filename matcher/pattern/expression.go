package pattern

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher/condition"
)

// Expressions, by openCypher's precedence, from what binds least to what binds most: OR, XOR, AND, NOT, chains of
// comparisons, IN and STARTS WITH and IS NULL (one of them), + and -, *, a sign, then properties, constants and
// parentheses.

// maxDepth bounds how deep parentheses, NOT and lists nest.
const maxDepth = 64

// deeper counts a level of nesting; the caller takes it back.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(at(p.token().Pos), "the expression nests more than %d deep", maxDepth)
	}
	return nil
}

func pos(p lexer.Position) condition.Pos { return condition.Pos{Line: p.Line, Col: p.Column} }

func (p *parser) or() (*condition.Expr, error)  { return p.joined("OR", condition.OpOr, p.xor) }
func (p *parser) xor() (*condition.Expr, error) { return p.joined("XOR", condition.OpXor, p.and) }
func (p *parser) and() (*condition.Expr, error) { return p.joined("AND", condition.OpAnd, p.not) }

// joined reads operands with a word between them.
func (p *parser) joined(
	word string, op condition.Op, operand func() (*condition.Expr, error),
) (*condition.Expr, error) {
	first, err := operand()
	if err != nil || !isKeyword(p.token(), word) {
		return first, err
	}
	e := &condition.Expr{Op: op, Pos: first.Pos, Args: []*condition.Expr{first}}
	for p.keyword(word) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, next)
	}
	return e, nil
}

func (p *parser) not() (*condition.Expr, error) {
	t := p.token()
	if !p.keyword("NOT") {
		return p.comparison()
	}
	if n, err := p.negation(t); n != nil || err != nil {
		return n, err
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	a, err := p.not()
	p.depth--
	return &condition.Expr{Op: condition.OpNot, Pos: pos(t.Pos), Args: []*condition.Expr{a}}, err
}

// comparison reads a chain of comparisons.
func (p *parser) comparison() (*condition.Expr, error) {
	first, err := p.predicate()
	if err != nil {
		return nil, err
	}
	var chain []condition.Relation
	args := []*condition.Expr{first}
	for {
		r, ok, err := p.relation()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		next, err := p.predicate()
		if err != nil {
			return nil, err
		}
		chain, args = append(chain, r), append(args, next)
	}
	if len(chain) == 0 {
		return first, nil
	}
	return &condition.Expr{Op: condition.OpCompare, Pos: first.Pos, Chain: chain, Args: args}, nil
}

// relation takes a sign of comparison: one token, or two that touch.
func (p *parser) relation() (condition.Relation, bool, error) {
	t, sign := p.token(), p.token().Value
	if sign != "=" && sign != "<" && sign != ">" {
		return 0, false, nil
	}
	if n := p.after(); n.Pos.Offset == t.Pos.Offset+1 && strings.ContainsAny(n.Value, "=<>~") && len(n.Value) == 1 {
		sign += n.Value
	}
	for r := condition.Eq; r <= condition.Ge; r++ {
		if r.String() == sign {
			for range sign {
				p.next()
			}
			return r, true, nil
		}
	}
	if sign == "=~" {
		sign = "=~ (a regular expression)"
	}
	return 0, false, p.fail(at(t.Pos), "%s is not supported; the comparisons are =, <>, <, <=, > and >=", sign)
}

// predicate reads a value, with what may follow it once.
func (p *parser) predicate() (*condition.Expr, error) {
	a, err := p.sum()
	if err != nil {
		return nil, err
	}
	e := &condition.Expr{Pos: a.Pos, Args: []*condition.Expr{a}}
	var second *condition.Expr
	switch {
	case p.keyword("IN"):
		e.Op = condition.OpIn
		second, err = p.list()
	case isKeyword(p.token(), "STARTS") && isKeyword(p.after(), "WITH"):
		p.next()
		p.next()
		e.Op = condition.OpStartsWith
		second, err = p.sum()
	case p.keyword("IS"):
		e.Op = condition.OpIsNull
		if p.keyword("NOT") {
			e.Op = condition.OpIsNotNull
		}
		if !p.keyword("NULL") {
			return nil, p.fail(at(p.token().Pos), "unexpected %s; after IS stands NULL or NOT NULL",
				describe(p.token()))
		}
		return e, nil
	default:
		return a, nil
	}
	e.Args = append(e.Args, second)
	return e, err
}

// list reads what stands after IN.
func (p *parser) list() (*condition.Expr, error) {
	if p.token().Value != "[" {
		return p.sum()
	}
	e := &condition.Expr{Op: condition.OpList, Pos: pos(p.next().Pos)}
	for more := p.token().Value != "]"; more; more = p.accept(",") {
		v, err := p.or()
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, v)
		if t := p.token().Value; t != "," && t != "]" {
			return nil, p.refuseExpression("]")
		}
	}
	p.next()
	return e, nil
}

// sum and product read operations of one precedence, from left to right.
func (p *parser) sum() (*condition.Expr, error) {
	return p.operations(p.product, map[string]condition.Op{"+": condition.OpAdd, "-": condition.OpSub})
}

func (p *parser) product() (*condition.Expr, error) {
	return p.operations(p.signed, map[string]condition.Op{"*": condition.OpMul})
}

func (p *parser) operations(
	operand func() (*condition.Expr, error), ops map[string]condition.Op,
) (*condition.Expr, error) {
	e, err := operand()
	for err == nil {
		op, ok := ops[p.token().Value]
		if !ok {
			break
		}
		left, t := e, p.next()
		e = &condition.Expr{Op: op, Pos: pos(t.Pos), Args: []*condition.Expr{left, nil}}
		e.Args[1], err = operand()
	}
	return e, err
}

// signed reads a value with or without a minus.
func (p *parser) signed() (*condition.Expr, error) {
	t := p.token()
	if !p.accept("-") {
		return p.atom()
	}
	if p.token().Value == "-" {
		return nil, p.fail(at(p.token().Pos), "two signs in a row are not Cypher; write a.x - (-1)")
	}
	a, err := p.atom()
	return &condition.Expr{Op: condition.OpNeg, Pos: pos(t.Pos), Args: []*condition.Expr{a}}, err
}

func (p *parser) atom() (*condition.Expr, error) {
	t := p.token()
	e := &condition.Expr{Pos: pos(t.Pos)}
	switch {
	case t.Type == numberToken:
		e.Op, e.Text = condition.OpNumber, p.next().Value
		if n := p.token(); n.Type == wordToken && n.Pos.Offset == t.Pos.Offset+len(t.Value) {
			return nil, p.fail(at(t.Pos), "%s is no number; one is written 12, 12.5 or 1.5e3, and a span of time "+
				"duration('PT1H')", short(t.Value+n.Value))
		}
		if len(e.Text) > 1 && e.Text[0] == '0' && '0' <= e.Text[1] && e.Text[1] <= '9' {
			return nil, p.fail(at(t.Pos), "the number %s begins with 0; write it without", short(e.Text))
		}
		return e, nil
	case t.Type == stringToken:
		s, err := unescape(p.next().Value)
		if err != nil {
			return nil, p.fail(at(t.Pos), "%v", err)
		}
		e.Op, e.Text = condition.OpString, s
		return e, nil
	case isKeyword(t, "TRUE"), isKeyword(t, "FALSE"):
		e.Op, e.Text = condition.OpBool, strings.ToUpper(p.next().Value)
		return e, nil
	case p.keyword("NULL"):
		e.Op = condition.OpNull
		return e, nil
	case t.Value == "$" && isName(p.after()):
		p.next()
		name, err := p.unquote(p.name())
		e.Op, e.Text = condition.OpParameter, name
		return e, err
	case isKeyword(t, "all") && p.after().Value == "(":
		return p.all()
	case isKeyword(t, "duration") && p.after().Value == "(":
		return p.duration(e)
	case t.Value == "(" && !p.patternAhead():
		p.next()
		return p.closed()
	case isName(t) && p.after().Value == ".":
		return p.property(e)
	case p.aggregateAhead() && p.after().Value != "(" && p.after().Value != ":" && p.after().Value != "[":
		name, err := p.unquote(p.name())
		e.Op, e.Text = condition.OpAggregate, name
		return e, err
	}
	return nil, p.refuseAtom()
}

// closed reads an expression and the parenthesis behind it.
func (p *parser) closed() (*condition.Expr, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	inner, err := p.or()
	if err != nil {
		return nil, err
	}
	p.depth--
	if !p.accept(")") {
		return nil, p.refuseExpression(")")
	}
	return inner, nil
}

// property reads variable.property.
func (p *parser) property(e *condition.Expr) (*condition.Expr, error) {
	variable := p.name()
	p.next()
	key := p.name()
	if key == nil {
		return nil, p.fail(at(p.token().Pos), "unexpected %s; after the dot stands the name of a property",
			describe(p.token()))
	}
	if p.token().Value == "(" && variable.text == "motifd" {
		return p.call(variable, key)
	}
	if p.token().Value == "(" || p.token().Value == "." {
		return nil, p.refuseCall(variable, key)
	}
	var err error
	if e.Text, err = p.variable(variable, inWhere); err != nil {
		return nil, err
	}
	e.Op = condition.OpProperty
	e.Property, err = p.unquote(key)
	return e, err
}

// duration reads duration('PT24H').
func (p *parser) duration(e *condition.Expr) (*condition.Expr, error) {
	p.next()
	p.next()
	t := p.token()
	if t.Type != stringToken || p.after().Value != ")" {
		return nil, p.fail(at(t.Pos), "unexpected %s; a duration is a constant in ISO 8601, as in duration('PT24H')",
			describe(t))
	}
	s, err := unescape(p.next().Value)
	if err != nil {
		return nil, p.fail(at(t.Pos), "%v", err)
	}
	p.next()
	e.Op, e.Text = condition.OpDuration, s
	return e, nil
}
