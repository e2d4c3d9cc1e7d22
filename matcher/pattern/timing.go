package pattern

import (
	"motifd/matcher"
	"motifd/matcher/condition"
)

// timing has a pattern's constraints on the ts of edges and paths.
type timing struct {
	rises []*condition.Expr
	spans []spanBound
}

const spanForm = "motifd.span(..) is compared by <= or < with a constant, and joined to other conditions by AND, as " +
	"in motifd.span(t, z) <= $week"

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

// named returns the expressions that name edges and paths.
func (t *timing) named() (all []*condition.Expr) {
	all = append(all, t.rises...)
	for _, s := range t.spans {
		all = append(all, s.of)
	}
	return all
}

// first returns where the first one stands that is resolved.
func (t *timing) first() position {
	if len(t.rises) > 0 {
		return position{t.rises[0].Pos.Line, t.rises[0].Pos.Col}
	}
	return position{t.spans[0].of.Pos.Line, t.spans[0].of.Pos.Col}
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
		return nil, p.fail(where, "%s is an element of the pattern; all needs a name of its own, as in all(e IN t "+
			"WHERE e.amount > 900)", short(e.Text))
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
			err = p.fail(where, "all(..) stands by itself or is joined to other conditions by AND, not inside NOT, "+
				"OR or another all")
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
				err = p.fail(where, "%s is a path and has no property; write all(e IN %s WHERE e.%s > 900)",
					short(n.Text), n.Text, n.Property)
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

// resolve gives a query what its text says of the ts of edges and paths: as rises and spans where it has paths, and as
// conditions otherwise. It returns the conditions that the query has with these.
func (t *timing) resolve(p *cypherBuilder, q *matcher.Query, conditions []*condition.Condition,
	scope *condition.Scope) ([]*condition.Condition, error) {
	for _, e := range t.rises {
		if _, err := p.bound(e, nil, scope); err != nil {
			return nil, err
		}
		q.Rises = append(q.Rises, matcher.Rise{Edges: p.edgesNamed(e), Pos: e.Pos})
	}
	for _, s := range t.spans {
		most, err := p.bound(s.of, s.bound, scope)
		if err != nil {
			return nil, err
		}
		if s.strict {
			most--
		}
		if most < 0 {
			return nil, p.fail(position{s.of.Pos.Line, s.of.Pos.Col}, "the condition can never hold: a span is 0 at "+
				"least; correct it, or remove the query")
		}
		q.Spans = append(q.Spans, matcher.Span{Edges: p.edgesNamed(s.of), Most: most, Pos: s.of.Pos})
	}
	if len(q.Rises)+len(q.Spans) == 0 {
		return conditions, nil
	}
	whole := *q
	whole.Conditions = conditions
	if !whole.CanHold() {
		return nil, p.fail(t.first(), "the condition can never hold: it contradicts the other conditions, "+
			"whatever the lengths; correct it, or remove the query")
	}
	if q.HasPaths() {
		return conditions, nil
	}
	q.Rises, q.Spans = nil, nil
	return whole.Variants()[0].Conditions, nil
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
		apart := &condition.Expr{Op: condition.OpSub, Pos: a.Pos,
			Args: []*condition.Expr{time(a.Text), time(a.Text + "'")}}
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
