package pattern

import (
	"maps"
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// cypherNegation is NOT (..), or NOT EXISTS {..}, as written (DESIGN S25).
type cypherNegation struct {
	pos    lexer.Position // of NOT
	exists bool
	paths  []*cypherPath
	where  *condition.Expr // nil without WHERE
}

// opNegation is the operation of an expression that stands for a negation of the parser. Expressions that are resolved
// must have conditions only: takeNegations takes negations off, and refuseNegations refuses those that are left.
const opNegation condition.Op = 0

// negation reads the pattern behind NOT; nil if there is none.
func (p *parser) negation(not lexer.Token) (*condition.Expr, error) {
	n := &cypherNegation{pos: not.Pos}
	switch {
	case p.token().Value == "(" && p.patternAhead():
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		if len(path.hops) == 0 {
			return nil, p.fail(at(path.head.pos), "a vertex alone is no pattern to deny; write its label in MATCH, as "+
				"in (a:!Account), and conditions in WHERE")
		}
		n.paths = append(n.paths, path)
	case isKeyword(p.token(), "EXISTS") && p.after().Value == "{":
		p.next()
		p.next()
		if err := p.subquery(n); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	e := &condition.Expr{Op: opNegation, Pos: pos(not.Pos)}
	if p.negations == nil {
		p.negations = make(map[*condition.Expr]*cypherNegation)
	}
	p.negations[e] = n
	return e, nil
}

// subquery reads the paths and the WHERE of EXISTS {..} behind its brace.
func (p *parser) subquery(n *cypherNegation) error {
	n.exists = true
	p.keyword("MATCH")
	for more := true; more; more = p.accept(",") {
		path, err := p.path()
		if err != nil {
			return err
		}
		n.paths = append(n.paths, path)
	}
	if p.keyword("WHERE") {
		var err error
		if n.where, err = p.or(); err != nil {
			return err
		}
		if err := p.refuseNegations(n.where); err != nil {
			return err
		}
		if p.token().Value != "}" {
			return p.refuseExpression("}")
		}
	}
	if !p.accept("}") {
		return p.fail(at(p.token().Pos), "unexpected %s; a subquery is paths separated by commas, then WHERE, between "+
			"braces, as in NOT EXISTS { (a)-[k:KNOWS]->(b) WHERE k.ts < t.ts }", describe(p.token()))
	}
	return nil
}

// takeNegations takes the negations off the operands of the top-level ANDs. The rest is nil if none is left.
func (p *parser) takeNegations(e *condition.Expr) (rest *condition.Expr, taken []*cypherNegation) {
	if n := p.negations[e]; n != nil {
		return nil, []*cypherNegation{n}
	}
	if e.Op != condition.OpAnd {
		return e, nil
	}
	var args []*condition.Expr
	for _, a := range e.Args {
		left, some := p.takeNegations(a)
		taken = append(taken, some...)
		if left != nil {
			args = append(args, left)
		}
	}
	switch {
	case len(taken) == 0:
		return e, nil
	case len(args) == 0:
		return nil, taken
	case len(args) == 1:
		return args[0], taken
	}
	return &condition.Expr{Op: condition.OpAnd, Pos: e.Pos, Args: args}, taken
}

// refuseNegations refuses a negation anywhere in an expression.
func (p *parser) refuseNegations(e *condition.Expr) (err error) {
	if e == nil {
		return nil
	}
	e.Walk(func(x *condition.Expr) {
		if n := p.negations[x]; n != nil && err == nil {
			err = p.fail(at(n.pos), "a pattern behind NOT stands in the WHERE of a MATCH, alone or beside AND; not "+
				"in that of a WITH, under OR, XOR or another NOT, nor in a subquery: write it in the MATCH, or make a "+
				"query of each case")
		}
	})
	return err
}

// pendingNegation is a negation with the names that stand before it. Its elements have these names, or new ones.
type pendingNegation struct {
	*cypherNegation
	vertices, edges map[string]int
}

// pending notes the negations of a MATCH.
func (p *cypherBuilder) pending(m *cypherMatch) {
	for _, n := range m.negations {
		p.denied = append(p.denied, pendingNegation{n, maps.Clone(p.vertexOf), maps.Clone(p.edgeOf)})
	}
}

// negations builds the negations of a query, and returns the expressions that they have. has tells which edges each
// match has.
func (p *cypherBuilder) negations(r *Rule, scope *condition.Scope, has func(edge int) bool) (exprs []*condition.Expr,
	err error) {
	for _, n := range p.denied {
		s := p.subBuilder(r.Query, n)
		built, all, err := s.negation(r, n, scope, has)
		if err != nil {
			return nil, err
		}
		r.Query.Negations = append(r.Query.Negations, *built)
		exprs = append(exprs, all...)
	}
	if len(r.Query.Negations) > matcher.MaxNegations {
		return nil, p.fail(at(p.denied[matcher.MaxNegations].pos), "the query has %d negations; at most %d are allowed",
			len(p.denied), matcher.MaxNegations)
	}
	if p.opt.OnePerLabel {
		if i, _, text := r.Query.CompetingNegated(p.opt.Directed); i >= 0 {
			return nil, p.fail(at(p.denied[i].pos), "in the negation, %s", text)
		}
	}
	return exprs, nil
}

// subBuilder returns a builder that holds the elements of the core, to which a negation adds its own. Only the names
// that stand before the negation lead to them.
func (p *cypherBuilder) subBuilder(q *matcher.Query, n pendingNegation) *cypherBuilder {
	b := newBuilder(p.opt)
	b.sub = true
	b.vertices, b.edges = slices.Clone(q.Vertices), slices.Clone(q.Edges)
	b.vertexAt, b.edgeAt = slices.Clone(p.vertexAt), slices.Clone(p.edgeAt)
	b.taken = maps.Clone(p.taken)
	return &cypherBuilder{builder: b, vertexOf: n.vertices, edgeOf: n.edges, labelAt: maps.Clone(p.labelAt),
		several: p.several, vertexLabels: slices.Clone(p.vertexLabels), edgeLabels: slices.Clone(p.edgeLabels)}
}

// negation builds a negation of a rule's query.
func (p *cypherBuilder) negation(r *Rule, n pendingNegation, core *condition.Scope, has func(edge int) bool) (
	*matcher.Negation, []*condition.Expr, error) {
	q := r.Query
	scope := &condition.Scope{Schema: core.Schema, Parameters: core.Parameters,
		Elements: make(map[string]condition.Element)}
	for name := range n.vertices {
		scope.Elements[name] = core.Elements[name]
	}
	for name := range n.edges {
		scope.Elements[name] = core.Elements[name]
	}
	if err := p.refuseNew(n); err != nil {
		return nil, nil, err
	}
	for _, path := range n.paths {
		if err := p.path(path); err != nil {
			return nil, nil, err
		}
	}
	if p.expression != nil {
		return nil, nil, p.expression
	}
	for i, e := range p.edges[len(q.Edges):] {
		if e.Hops != nil {
			return nil, nil, p.fail(p.edgeAt[len(q.Edges)+i], "a path of variable length behind NOT is not supported; "+
				"write NOT EXISTS { .. } for each length, joined by AND")
		}
	}
	for i := range q.Vertices {
		if p.vertexLabels[i] != nil && r.VertexLabels[i] == nil {
			at := p.labelAt[i]
			return nil, nil, p.fail(at, "vertex %s has no label in MATCH; write the label there",
				short(q.Vertices[i].Name))
		}
	}
	built := &matcher.Negation{Vertices: p.vertices[len(q.Vertices):], Edges: p.edges[len(q.Edges):]}
	for i := range built.Vertices {
		if v := &built.Vertices[i]; v.Name == "" {
			v.Name = p.free(p.vertexN, len(q.Vertices)+i)
		}
		at := len(q.Vertices) + i
		scope.Elements[built.Vertices[i].Name] = condition.Element{Ref: condition.Ref{Index: at},
			Labels: p.vertexLabels[at]}
	}
	for i := range built.Edges {
		if e := &built.Edges[i]; e.Name == "" {
			e.Name = p.free(p.edgeN, len(q.Edges)+i)
		}
		at := len(q.Edges) + i
		scope.Elements[built.Edges[i].Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: at},
			Labels: p.edgeLabels[at]}
	}
	if err := p.checkNegation(q, built, n); err != nil {
		return nil, nil, err
	}
	exprs, err := p.mapConditions(q.Subquery(built))
	if err != nil {
		return nil, nil, err
	}
	if n.where != nil {
		if err := p.plain(n.where); err != nil {
			return nil, nil, err
		}
		const unknown = "WHERE names %s, which neither the subquery nor a MATCH before it mentions"
		if err := p.readable(n.where, unknown); err != nil {
			return nil, nil, err
		}
		exprs = append(exprs, n.where)
	}
	conditions, err := condition.Split(scope, exprs...)
	if err != nil {
		return nil, nil, p.located(err)
	}
	built.Conditions = append(p.ownLabelConditions(len(q.Vertices)), conditions...)
	if met := q.BlockedByItself(built, has); met != nil && len(built.Conditions) == 0 {
		return nil, nil, p.fail(at(n.pos), "every match has what this denies: its edge %s; deny edges of another "+
			"label, or add a condition, as in NOT EXISTS { (a)-[k:KNOWS]->(b) WHERE k.ts < t.ts }",
			short(q.Edges[met[0]].Name))
	}
	return built, exprs, nil
}

// plain refuses conditions about paths in the WHERE of a subquery.
func (p *cypherBuilder) plain(e *condition.Expr) (err error) {
	e.Walk(func(n *condition.Expr) {
		where := position{n.Pos.Line, n.Pos.Col}
		switch edge, ok := p.edgeOf[n.Text]; {
		case err != nil:
		case n.Op == condition.OpRise || n.Op == condition.OpSpan || n.Op == condition.OpAll:
			err = p.fail(where, "motifd.increasing(..), motifd.span(..) and all(..) are not supported in a pattern "+
				"behind NOT; compare times, as in t.ts <= k.ts AND k.ts - t.ts <= $day")
		case n.Op == condition.OpProperty && ok && p.edges[edge].Hops != nil:
			err = p.fail(where, "%s is a path; a pattern behind NOT reads vertices and single edges of the MATCH",
				short(n.Text))
		}
	})
	return err
}

// ownLabelConditions are labelConditions of the vertices from one on.
func (p *cypherBuilder) ownLabelConditions(from int) []*condition.Condition {
	return slices.DeleteFunc(p.labelConditions(), func(c *condition.Condition) bool {
		return c.Elements[0].Index < from
	})
}

// refuseNew refuses names that NOT (..) brings: Cypher has new ones in EXISTS {..} alone.
func (p *cypherBuilder) refuseNew(n pendingNegation) error {
	if n.exists {
		return nil
	}
	check := func(name *cypherName, where spot) error {
		text, err := p.variable(name, where)
		if err != nil || text == "" || p.known(text) {
			return err
		}
		return p.fail(at(name.pos), "%s stands in no MATCH before it; leave the name out, or write NOT EXISTS { .. }, "+
			"where names may be new", short(text))
	}
	for _, path := range n.paths {
		if err := check(path.head.name, inNode); err != nil {
			return err
		}
		for _, hop := range path.hops {
			if err := check(hop.node.name, inNode); err != nil {
				return err
			}
			if hop.edge != nil {
				if err := check(hop.edge.name, inEdge); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkNegation checks the bounds on negations and how they are connected.
func (p *cypherBuilder) checkNegation(q *matcher.Query, built *matcher.Negation, n pendingNegation) error {
	named := q.Named(built)
	if v := q.Unreached(built); v >= 0 {
		return p.fail(p.vertexAt[len(q.Vertices)+v], "vertex %s is not connected to a vertex of the MATCH; join them "+
			"by edges of the negation", short(built.Vertices[v].Name))
	}
	if vertices := len(named) + len(built.Vertices); vertices > matcher.MaxNegationVertices {
		return p.fail(at(n.pos), "the negation joins %d vertices; at most %d are allowed, those of the MATCH included",
			vertices, matcher.MaxNegationVertices)
	}
	whole := *q
	whole.Negations = []matcher.Negation{*built}
	if err := whole.CheckNegations(p.opt.Directed); err != nil {
		return p.fail(at(n.pos), "%v", err)
	}
	return nil
}
