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
	return p.fail(position{at.Pos.Line, at.Pos.Column}, "a path without a greatest length is not supported; write *1..%d "+
		"for all lengths up to %d", matcher.MaxHops, matcher.MaxHops)
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

// timing is what a pattern says of the ts of edges and paths.
type timing struct {
	rises []*condition.Expr
	spans []spanBound
}

const spanForm = "motifd.span(..) is compared by <= or < with a constant, and joined to other conditions by AND, as in " +
	"motifd.span(t, z) <= $week"

// spanBound is motifd.span(..) <= bound, or with strict <.
type spanBound struct {
	of, bound *condition.Expr
	strict    bool
}

// exprs returns what parameters may stand in.
func (t *timing) exprs() (all []*condition.Expr) {
	for _, s := range t.spans {
		all = append(all, s.bound)
	}
	return all
}

// paths takes out of a WHERE what it says of paths: its operands of AND that are rises and spans are noted, and all(..)
// becomes a condition that reads the path. It returns the others, each an operand of AND, and refuses what reads a path
// otherwise.
func (p *cypherBuilder) paths(e *condition.Expr) (rest []*condition.Expr, err error) {
	switch {
	case e.Op == condition.OpAnd:
		for _, a := range e.Args {
			more, err := p.paths(a)
			if err != nil {
				return nil, err
			}
			rest = append(rest, more...)
		}
		return rest, nil
	case e.Op == condition.OpAll:
		if e, err = p.allOf(e); err != nil {
			return nil, err
		}
		return []*condition.Expr{e}, nil
	case e.Op == condition.OpRise:
		p.timing.rises = append(p.timing.rises, e)
		return nil, p.checkTimed(e)
	}
	if s, ok := spanOf(e); ok {
		p.timing.spans = append(p.timing.spans, s)
		if err := p.noPath(s.bound); err != nil {
			return nil, err
		}
		constant := true
		s.bound.Walk(func(n *condition.Expr) { constant = constant && n.Op != condition.OpProperty })
		if !constant {
			return nil, p.fail(position{s.bound.Pos.Line, s.bound.Pos.Col}, "%s", spanForm)
		}
		return nil, p.checkTimed(s.of)
	}
	return []*condition.Expr{e}, p.noPath(e)
}

// spanOf returns the bound if the expression is one.
func spanOf(e *condition.Expr) (s spanBound, ok bool) {
	if e.Op != condition.OpCompare || len(e.Chain) != 1 {
		return s, false
	}
	of, relation, bound := e.Args[0], e.Chain[0], e.Args[1]
	if bound.Op == condition.OpSpan {
		of, relation, bound = bound, relation.Mirror(), of
	}
	return spanBound{of, bound, relation == condition.Lt}, of.Op == condition.OpSpan &&
		(relation == condition.Lt || relation == condition.Le)
}

// allOf returns the condition of all(..), with the path in place of its variable.
func (p *cypherBuilder) allOf(e *condition.Expr) (*condition.Expr, error) {
	where := position{e.Pos.Line, e.Pos.Col}
	edge, ok := p.edgeOf[e.Property]
	switch {
	case !ok:
		return nil, p.fail(where, "WHERE names %s, which no MATCH before it mentions as a path", short(e.Property))
	case p.edges[edge].Hops == nil:
		return nil, p.fail(where, "%s is one edge, not a path; write the condition on it, as in %s.amount > 900",
			short(e.Property), e.Property)
	case p.known(e.Text):
		return nil, p.fail(where, "%s is an element of the pattern; all needs a name of its own, as in all(e IN t WHERE "+
			"e.amount > 900)", short(e.Text))
	}
	inner := e.Args[0]
	p.within = e.Text
	err := p.noPath(inner)
	p.within = ""
	if err != nil {
		return nil, err
	}
	return replaced(inner, e.Text, e.Property), nil
}

// replaced returns an expression with one variable in place of another.
func replaced(e *condition.Expr, variable, by string) *condition.Expr {
	n := *e
	if n.Op == condition.OpProperty && n.Text == variable {
		n.Text = by
	}
	n.Args = nil
	for _, a := range e.Args {
		n.Args = append(n.Args, replaced(a, variable, by))
	}
	return &n
}

// noPath refuses what reads a path as a value, and what stands for a path elsewhere than as an operand of AND.
func (p *cypherBuilder) noPath(e *condition.Expr) (err error) {
	e.Walk(func(n *condition.Expr) {
		if err != nil {
			return
		}
		where := position{n.Pos.Line, n.Pos.Col}
		switch n.Op {
		case condition.OpAll:
			err = p.fail(where, "all(..) stands by itself or is joined to other conditions by AND, not inside NOT, OR or "+
				"another all")
		case condition.OpRise:
			err = p.fail(where, "motifd.increasing(..) stands by itself or is joined to other conditions by AND")
		case condition.OpSpan:
			err = p.fail(where, "%s", spanForm)
		case condition.OpProperty:
			edge, ok := p.edgeOf[n.Text]
			switch {
			case p.within != "" && n.Text == p.within:
			case !p.known(n.Text):
				err = p.fail(where, "WHERE names %s, which no MATCH before it mentions", short(n.Text))
			case ok && p.edges[edge].Hops != nil:
				err = p.fail(where, "%s is a path and has no property; write all(e IN %s WHERE e.%s > 900)", short(n.Text),
					n.Text, n.Property)
			}
		}
	})
	return err
}

// checkTimed checks the names that a rise or a span has.
func (p *cypherBuilder) checkTimed(e *condition.Expr) error {
	seen := map[string]bool{}
	paths := 0
	for _, a := range e.Args {
		where := position{a.Pos.Line, a.Pos.Col}
		edge, ok := p.edgeOf[a.Text]
		switch {
		case !ok:
			return p.fail(where, "%s names %s, which is no edge or path of a MATCH before it", e.Text, short(a.Text))
		case seen[a.Text]:
			return p.fail(where, "%s names %s twice", e.Text, short(a.Text))
		case p.edges[edge].Hops != nil:
			paths++
		}
		seen[a.Text] = true
	}
	if len(e.Args) == 1 && paths == 0 {
		return p.fail(position{e.Pos.Line, e.Pos.Col}, "%s needs a path or two edges, as in %s(t, z)", e.Text, e.Text)
	}
	return nil
}

// resolve gives the query what its text says of the ts of edges and paths: as rises and spans where it has paths, and as
// conditions otherwise.
func (t *timing) resolve(p *cypherBuilder, r *Rule, scope *condition.Scope) error {
	q := r.Query
	for _, e := range t.rises {
		if _, err := p.bound(e, nil, scope); err != nil {
			return err
		}
		q.Rises = append(q.Rises, matcher.Rise{Edges: p.edgesNamed(e), Pos: e.Pos})
	}
	for _, s := range t.spans {
		most, err := p.bound(s.of, s.bound, scope)
		if err != nil {
			return err
		}
		if s.strict {
			most--
		}
		if most < 0 {
			return p.fail(position{s.of.Pos.Line, s.of.Pos.Col}, "the condition can never hold: a span is 0 at least; "+
				"correct it, or remove the query")
		}
		q.Spans = append(q.Spans, matcher.Span{Edges: p.edgesNamed(s.of), Most: most, Pos: s.of.Pos})
	}
	if len(q.Rises)+len(q.Spans) == 0 {
		return nil
	}
	whole := *q
	whole.Conditions = r.Conditions
	if !whole.CanHold() {
		at := append(t.rises, func() (all []*condition.Expr) {
			for _, s := range t.spans {
				all = append(all, s.of)
			}
			return all
		}()...)[0].Pos
		return p.fail(position{at.Line, at.Col}, "the condition can never hold: it contradicts the other conditions, "+
			"whatever the lengths; correct it, or remove the query")
	}
	if !q.HasPaths() {
		r.Conditions = whole.Variants()[0].Conditions
		q.Rises, q.Spans = nil, nil
	}
	return nil
}

func (p *cypherBuilder) edgesNamed(e *condition.Expr) (edges []int) {
	for _, a := range e.Args {
		edges = append(edges, p.edgeOf[a.Text])
	}
	return edges
}

// bound checks that all edges and paths declare ts, and returns what a constant says in milliseconds; nil is no
// constant. It has package condition resolve x.ts - y.ts <= constant, where x and y are edges of the same labels.
func (p *cypherBuilder) bound(e, constant *condition.Expr, scope *condition.Scope) (most int64, err error) {
	if constant == nil {
		constant = &condition.Expr{Op: condition.OpNumber, Pos: e.Pos, Text: "0"}
	}
	for _, a := range e.Args {
		of := scope.Elements[a.Text]
		second := of
		second.Ref.Index = -1 - of.Ref.Index
		two := &condition.Scope{Schema: scope.Schema, Parameters: scope.Parameters,
			Elements: map[string]condition.Element{a.Text: of, a.Text + "'": second}}
		time := func(name string) *condition.Expr {
			return &condition.Expr{Op: condition.OpProperty, Pos: a.Pos, Text: name, Property: "ts"}
		}
		apart := &condition.Expr{Op: condition.OpSub, Pos: a.Pos, Args: []*condition.Expr{time(a.Text), time(a.Text + "'")}}
		all, err := condition.Split(two, &condition.Expr{Op: condition.OpCompare, Pos: constant.Pos,
			Chain: []condition.Relation{condition.Le}, Args: []*condition.Expr{apart, constant}})
		if err != nil {
			return 0, p.located(err)
		}
		if len(all) != 1 {
			return 0, p.fail(position{e.Pos.Line, e.Pos.Col}, "the condition always holds; remove it")
		}
		bounds, ok := all[0].Differences()
		if !ok || len(bounds) != 1 {
			return 0, p.fail(position{constant.Pos.Line, constant.Pos.Col}, "%s is compared with a constant in whole "+
				"milliseconds, as in motifd.span(t, z) <= duration('P7D')", e.Text)
		}
		most = bounds[0].Most
	}
	return most, nil
}
