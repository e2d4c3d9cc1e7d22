package pattern

import (
	"bytes"
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// groups builds a query with WITH (DESIGN S24).
func (p *cypherBuilder) groups(ast *cypherQuery, src []byte, declared Declared) (*Rule, error) {
	if len(ast.matches) > 0 {
		return nil, p.fail(at(ast.matches[0].paths[0].head.pos), "a MATCH behind the last WITH is not supported; "+
			"end with WITH and RETURN")
	}
	if n := len(ast.stages); n > matcher.MaxStages {
		return nil, p.fail(at(ast.stages[matcher.MaxStages].with.pos), "a query has at most %d WITHs",
			matcher.MaxStages)
	}
	g := &matcher.Groups{}
	wheres, timings := make([][]*condition.Expr, len(ast.stages)), make([]timing, len(ast.stages))
	denied := make([][]pendingNegation, len(ast.stages))
	ends := make([]stageEnd, len(ast.stages))
	for s, stage := range ast.stages {
		var of matcher.Stage
		before := stageEnd{}
		if s > 0 {
			before = ends[s-1]
		}
		for _, m := range stage.matches {
			where, err := p.clauseOf(m)
			if err != nil {
				return nil, err
			}
			wheres[s] = append(wheres[s], where...)
			if len(p.clause.Edges) == 0 {
				return nil, p.fail(at(m.paths[0].head.pos), "a MATCH without an edge beside WITH is not supported; "+
					"name the vertex in the MATCH with its edges")
			}
			for _, v := range p.clause.Vertices {
				if v < before.vertices && !slices.Contains(before.keys, v) {
					return nil, p.fail(at(m.paths[0].head.pos), "the MATCH names %s, which the WITH before it leaves "+
						"out; name it there as a key, or give the vertex another name", short(p.vertices[v].Name))
				}
			}
			of.Matches = append(of.Matches, p.clause)
		}
		timings[s], p.timing = p.timing, timing{}
		denied[s], p.denied = p.denied, nil
		if err := p.checkJoined(stage, of.Matches, before.keys); err != nil {
			return nil, err
		}
		ends[s] = stageEnd{vertices: len(p.vertices), edges: len(p.edges), maps: len(p.maps), keys: []int{}}
		for _, item := range stage.with.items {
			if item.key == nil {
				continue
			}
			name, err := p.variable(item.key, inWhere)
			if err != nil {
				return nil, err
			}
			if v, ok := p.vertexOf[name]; ok {
				ends[s].keys = append(ends[s].keys, v)
			}
		}
		g.Stages = append(g.Stages, of)
	}
	onePerLabel := p.opt.OnePerLabel
	p.opt.OnePerLabel = false // each clause is on its own
	union, err := p.query()
	if err != nil {
		return nil, err
	}
	p.opt.OnePerLabel = onePerLabel
	g.Vertices, g.Edges = union.Vertices, union.Edges
	if e, text := g.Competing(p.opt.Directed); onePerLabel && text != "" {
		return nil, p.fail(p.edgeAt[e], "%s", text)
	}
	q := &matcher.Query{Name: union.Name, MatchMode: p.opt.MatchMode, Groups: g, SilentChange: true,
		Source: string(bytes.Clone(src)), Language: Cypher}
	r := &Rule{Query: q, VertexLabels: p.vertexLabels, EdgeLabels: p.edgeLabels, expression: p.expression}
	scope := &condition.Scope{Schema: declared.Schema, Parameters: declared.Parameters,
		Elements: elementsOf(union, p.vertexLabels, p.edgeLabels)}
	mapped, err := p.mapConditions(union)
	if err != nil {
		return nil, err
	}
	var all []*condition.Expr
	b := &stageBuilder{cypherBuilder: p, r: r, elements: scope, carried: make(map[string]bool)}
	var from stageEnd
	for s, stage := range ast.stages {
		exprs := append(slices.Clone(mapped[entriesOf(p.maps[:from.maps]):entriesOf(p.maps[:ends[s].maps])]),
			wheres[s]...)
		b.at, b.from, b.to, b.timing, b.denied = s, from, ends[s], timings[s], denied[s]
		from = ends[s]
		more, err := b.stage(stage, exprs)
		if err != nil {
			return nil, err
		}
		all = append(append(append(all, exprs...), more...), timings[s].exprs()...)
	}
	if err := b.groupReturns(r, ast.fields, b.keyScope()); err != nil {
		return nil, err
	}
	r.Parameters = parameters(append(all, ast.fields.values()...))
	return r, nil
}

// stageEnd holds the numbers of elements and property maps up to a WITH, and the vertices that are its keys.
type stageEnd struct {
	vertices, edges, maps int
	keys                  []int
}

// entriesOf returns the number of conditions that property maps make.
func entriesOf(maps []elementMap) (n int) {
	for _, m := range maps {
		n += len(m.entries)
	}
	return n
}

// stageBuilder resolves one stage after the other.
type stageBuilder struct {
	*cypherBuilder
	r        *Rule
	elements *condition.Scope       // all of them
	at       int                    // the stage in hand
	from, to stageEnd               // of it
	carried  map[string]bool        // aggregates that the last WITH names
	having   []*condition.Condition // of all stages so far
}

// stage resolves the conditions, keys and aggregates of a stage, and returns its further expressions.
func (p *stageBuilder) stage(ast *cypherStage, exprs []*condition.Expr) ([]*condition.Expr, error) {
	s := &p.r.Query.Groups.Stages[p.at]
	for _, e := range exprs {
		if err := p.inScope(e); err != nil {
			return nil, err
		}
	}
	conditions, err := condition.Split(p.elements, exprs...)
	if err != nil {
		return nil, p.located(err)
	}
	for _, c := range p.labelConditions() {
		if v := c.Elements[0].Index; p.from.vertices <= v && v < p.to.vertices {
			s.Conditions = append(s.Conditions, c)
		}
	}
	s.Conditions = append(s.Conditions, conditions...)
	if err := p.times(s); err != nil {
		return nil, err
	}
	denied, err := p.deny(s)
	if err != nil {
		return nil, err
	}
	more, err := p.items(s, ast)
	if err != nil {
		return nil, err
	}
	more = append(more, denied...)
	where := position{ast.with.pos.Line, ast.with.pos.Column}
	switch {
	case len(s.Vertices)+len(s.Edges) == 0:
		return nil, p.fail(where, "WITH has no key; name the vertices or edges to group by, or set "+
			"emit: counts on a query without WITH")
	case len(s.Aggregates) == 0:
		return nil, p.fail(where, "WITH has no aggregate; add one, as in count(*) AS n, or leave WITH out")
	}
	if err := p.keepKeys(where); err != nil {
		return nil, err
	}
	if ast.with.where == nil {
		return more, nil
	}
	keys := p.keyScope()
	if err := p.readsKeys(ast.with.where, keys, "WHERE"); err != nil {
		return nil, err
	}
	if s.Having, err = condition.Split(keys, ast.with.where); err != nil {
		return nil, p.located(err)
	}
	if p.having = append(p.having, s.Having...); p.at > 0 {
		if err := condition.Together(keys, p.having); err != nil {
			return nil, p.located(err)
		}
	}
	return append(more, ast.with.where), nil
}

// items resolves the items of WITH.
func (p *stageBuilder) items(s *matcher.Stage, ast *cypherStage) (more []*condition.Expr, err error) {
	carried := make(map[string]bool)
	taken := make(map[string]bool)
	for _, a := range p.r.Query.Groups.Aggregates() {
		taken[a.Name] = true
	}
	for _, item := range ast.with.items {
		if item.key != nil {
			name, err := p.variable(item.key, inWhere)
			if err != nil {
				return nil, err
			}
			if p.carried[name] {
				carried[name] = true
				continue
			}
			if err := p.key(s, item, name); err != nil {
				return nil, err
			}
			continue
		}
		a, err := p.aggregateOf(item, p.elements)
		if err != nil {
			return nil, err
		}
		if a.Function == matcher.Sum {
			err = p.inScope(item.value)
		} else if item.of != nil {
			name, nameErr := p.variable(item.of, inWhere)
			if nameErr != nil {
				return nil, nameErr
			}
			err = p.inScope(&condition.Expr{Op: condition.OpProperty, Text: name, Pos: pos(item.of.pos)})
		}
		if err != nil {
			return nil, err
		}
		if _, isElement := p.elements.Elements[a.Name]; isElement || taken[a.Name] {
			return nil, p.fail(position{item.as.pos.Line, item.as.pos.Column},
				"the name %s is taken; give the aggregate another one", short(a.Name))
		}
		taken[a.Name], carried[a.Name] = true, true
		s.Aggregates = append(s.Aggregates, a)
		if item.value != nil {
			more = append(more, item.value)
		}
	}
	p.carried = carried
	return more, nil
}

// inScope refuses an expression that reads an element which the WITH before the stage leaves out.
func (p *stageBuilder) inScope(e *condition.Expr) (err error) {
	e.Walk(func(n *condition.Expr) {
		_, ok := p.elements.Elements[n.Text] // of a negation's own elements there is more to come
		if err != nil || n.Op != condition.OpProperty && n.Op != condition.OpElement || !ok || p.visible(n.Text) {
			return
		}
		format := "the WITH before it leaves out %s; name it there as a key"
		if p.isPath(n.Text) {
			format = "the path %s is of a MATCH before the last WITH, and is not read behind it; demand that there"
		}
		err = p.fail(position{n.Pos.Line, n.Pos.Col}, format, short(n.Text))
	})
	return err
}

// visible reports whether the current stage may read an element: it mentions the element, or the element is a key of
// the stage before.
func (p *stageBuilder) visible(name string) bool {
	ref := p.elements.Elements[name].Ref
	var keys matcher.Stage
	if p.at > 0 {
		keys = p.r.Query.Groups.Stages[p.at-1]
	}
	if ref.Edge {
		return ref.Index >= p.from.edges || slices.Contains(keys.Edges, ref.Index)
	}
	return ref.Index >= p.from.vertices || slices.Contains(keys.Vertices, ref.Index)
}

// key adds a key to a stage.
func (p *stageBuilder) key(s *matcher.Stage, item *cypherWithItem, name string) error {
	where := position{item.pos.Line, item.pos.Column}
	if !p.known(name) {
		return p.fail(where, "WITH names %s, which no MATCH mentions", short(name))
	}
	if p.isPath(name) {
		return p.fail(where, "%s is a path and no key; name the vertices at its ends", short(name))
	}
	ref := p.elements.Elements[name].Ref
	if ref.Edge && slices.Contains(s.Edges, ref.Index) || !ref.Edge && slices.Contains(s.Vertices, ref.Index) {
		return p.fail(where, "the key %s stands twice", short(name))
	}
	if !p.visible(name) {
		return p.fail(where, "the WITH before it leaves out %s; name it there as a key", short(name))
	}
	if ref.Edge {
		s.Edges = append(s.Edges, ref.Index)
	} else {
		s.Vertices = append(s.Vertices, ref.Index)
	}
	return nil
}

// keepKeys checks that a later WITH keeps all keys, puts them in the order in which they were first named, and makes
// the new ones keys of the query.
func (p *stageBuilder) keepKeys(where position) error {
	q := p.r.Query
	s := &q.Groups.Stages[p.at]
	if p.at > 0 {
		before := &q.Groups.Stages[p.at-1]
		left := func(keys, named []int) int {
			return slices.IndexFunc(keys, func(k int) bool { return !slices.Contains(named, k) })
		}
		name := ""
		if i := left(before.Vertices, s.Vertices); i >= 0 {
			name = q.Vertices[i].Name
		} else if i := left(before.Edges, s.Edges); i >= 0 {
			name = q.Edges[i].Name
		}
		if name != "" {
			return p.fail(where, "WITH leaves out the key %s; a later WITH keeps all keys, and may add others",
				short(name))
		}
		further := func(keys, named []int) []int {
			return slices.Concat(keys, slices.DeleteFunc(named, func(k int) bool { return slices.Contains(keys, k) }))
		}
		s.Vertices, s.Edges = further(before.Vertices, s.Vertices), further(before.Edges, s.Edges)
	}
	for _, v := range s.Vertices[len(q.Vertices):] {
		q.Vertices = append(q.Vertices, q.Groups.Vertices[v])
	}
	for _, e := range s.Edges[len(q.Edges):] {
		q.Edges = append(q.Edges, q.Groups.Edges[e])
	}
	for i, e := range s.Edges {
		of := q.Groups.Edges[e]
		q.Edges[i].From, q.Edges[i].To = slices.Index(s.Vertices, of.From), slices.Index(s.Vertices, of.To)
	}
	return nil
}
