package pattern

import (
	"strconv"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// Paths of variable length (DESIGN S26): -[t:T*1..5]->, and what WHERE says of them.

// hops reads the lengths of a path behind the star: 3, 1..5 or ..5.
func (p *parser) hops() (*matcher.Hops, error) {
	first := p.token()
	h := &matcher.Hops{Least: 1}
	if first.Type == numberToken {
		n, err := p.length()
		if err != nil {
			return nil, err
		}
		h.Least, h.Most = n, n
	}
	if p.token().Value == "." && p.after().Value == "." {
		p.next()
		p.next()
		if p.token().Type != numberToken {
			return nil, p.unbounded(first)
		}
		n, err := p.length()
		if err != nil {
			return nil, err
		}
		h.Most = n
	} else if h.Most == 0 {
		return nil, p.unbounded(first)
	}
	if h.Least < 1 || h.Most > matcher.MaxHops || h.Least > h.Most {
		return nil, p.fail(at(first.Pos), "a path has 1 to %d edges, the fewest first; write *1..%d, or a range within",
			matcher.MaxHops, matcher.MaxHops)
	}
	return h, nil
}

func (p *parser) unbounded(at lexer.Token) error {
	return p.fail(position{at.Pos.Line, at.Pos.Column}, "a path without a greatest length is not supported; write "+
		"*1..%d for all lengths up to %d", matcher.MaxHops, matcher.MaxHops)
}

// length takes a number of edges.
func (p *parser) length() (int, error) {
	t := p.next()
	n, err := strconv.Atoi(t.Value)
	if err != nil {
		return 0, p.fail(at(t.Pos), "%s is no number of edges; a path has 1 to %d, as in *1..%d", short(t.Value),
			matcher.MaxHops, matcher.MaxHops)
	}
	return n, nil
}

// all reads all(e IN t WHERE condition), from its first word on.
func (p *parser) all() (*condition.Expr, error) {
	e := &condition.Expr{Op: condition.OpAll, Pos: pos(p.next().Pos)}
	p.next()
	variable := p.name()
	if variable == nil || !p.keyword("IN") {
		return nil, p.refuseAll()
	}
	path := p.name()
	if path == nil || !p.keyword("WHERE") {
		return nil, p.refuseAll()
	}
	var err error
	if e.Text, err = p.variable(variable, inWhere); err != nil {
		return nil, err
	}
	if e.Property, err = p.variable(path, inWhere); err != nil {
		return nil, err
	}
	inner, err := p.closed()
	if err != nil {
		return nil, err
	}
	e.Args = []*condition.Expr{inner}
	return e, nil
}

func (p *parser) refuseAll() error {
	return p.fail(at(p.token().Pos), "unexpected %s; of a path t all is written all(e IN t WHERE e.amount > 900)",
		describe(p.token()))
}

// call reads the arguments of motifd.increasing and motifd.span, from the parenthesis on: edges and paths by name.
func (p *parser) call(namespace, key *cypherName) (*condition.Expr, error) {
	ops := map[string]condition.Op{"increasing": condition.OpRise, "span": condition.OpSpan}
	op, ok := ops[key.text]
	if !ok {
		return nil, p.refuseCall(namespace, key)
	}
	e := &condition.Expr{Op: op, Pos: pos(namespace.pos), Text: "motifd." + key.text}
	p.next()
	for more := true; more; more = p.accept(",") {
		t := p.token()
		name := p.name()
		if name == nil || p.token().Value != "," && p.token().Value != ")" {
			return nil, p.fail(at(t.Pos), "%s takes the names of edges and paths, as in %s(t, z)", e.Text, e.Text)
		}
		variable, err := p.variable(name, inWhere)
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, &condition.Expr{Op: condition.OpElement, Pos: pos(t.Pos), Text: variable})
	}
	p.next()
	return e, nil
}
