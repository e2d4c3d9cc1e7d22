package pattern

import (
	"bytes"
	"slices"

	"motifd/dyngraph/property"
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
		if err := p.checkJoined(stage, of.Matches, before.keys); err != nil {
			return nil, err
		}
		ends[s] = stageEnd{vertices: len(p.vertices), edges: len(p.edges), maps: len(p.maps)}
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
	g.Vertices, g.Edges = union.Vertices, union.Edges
	if e, text := g.Competing(p.opt.Directed); onePerLabel && text != "" {
		return nil, p.fail(p.edgeAt[e], "%s", text)
	}
	q := &matcher.Query{Name: union.Name, Groups: g, SilentChange: true, Source: string(bytes.Clone(src)),
		Language: Cypher}
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
		b.from, b.to, b.timing = from, ends[s], timings[s]
		from = ends[s]
		more, err := b.stage(s, stage, exprs)
		if err != nil {
			return nil, err
		}
		all = append(append(append(all, exprs...), more...), timings[s].exprs()...)
	}
	if err := p.groupReturns(r, ast.fields, b.keyScope()); err != nil {
		return nil, err
	}
	r.Parameters = parameters(append(all, ast.fields.values()...))
	return r, nil
}

// stageEnd is how many elements and property maps there are up to a WITH, and which vertices are its keys.
type stageEnd struct {
	vertices, edges, maps int
	keys                  []int
}

// entriesOf returns how many conditions property maps make.
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
	elements *condition.Scope // all of them
	from, to stageEnd         // of the stage in hand
	carried  map[string]bool  // aggregates that the last WITH names
}

// stage resolves the conditions, keys and aggregates of a stage, and returns its further expressions.
func (p *stageBuilder) stage(at int, ast *cypherStage, exprs []*condition.Expr) ([]*condition.Expr, error) {
	s := &p.r.Query.Groups.Stages[at]
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
	more, err := p.items(at, s, ast)
	if err != nil {
		return nil, err
	}
	where := position{ast.with.pos.Line, ast.with.pos.Column}
	switch {
	case len(s.Vertices)+len(s.Edges) == 0:
		return nil, p.fail(where, "WITH has no key; name the vertices or edges to group by, or set "+
			"emit: counts on a query without WITH")
	case len(s.Aggregates) == 0:
		return nil, p.fail(where, "WITH has no aggregate; add one, as in count(*) AS n, or leave WITH out")
	}
	if err := p.sameKeys(at, where); err != nil {
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
	return append(more, ast.with.where), nil
}

// items resolves what WITH lists.
func (p *stageBuilder) items(at int, s *matcher.Stage, ast *cypherStage) (more []*condition.Expr, err error) {
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
			if err := p.key(at, s, item, name); err != nil {
				return nil, err
			}
			continue
		}
		a, err := p.aggregateOf(item, p.elements)
		if err != nil {
			return nil, err
		}
		if a.Formula != nil {
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
		if err != nil || n.Op != condition.OpProperty && n.Op != condition.OpElement || p.visible(n.Text) {
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

// visible reports whether the stage in hand may read an element: it mentions it, or it is a key.
func (p *stageBuilder) visible(name string) bool {
	ref := p.elements.Elements[name].Ref
	first := &p.r.Query.Groups.Stages[0]
	if ref.Edge {
		return ref.Index >= p.from.edges || slices.Contains(first.Edges, ref.Index)
	}
	return ref.Index >= p.from.vertices || slices.Contains(first.Vertices, ref.Index)
}

// key adds a key to a stage, and that of the first stage to the query.
func (p *stageBuilder) key(at int, s *matcher.Stage, item *cypherWithItem, name string) error {
	where := position{item.pos.Line, item.pos.Column}
	if !p.known(name) {
		return p.fail(where, "WITH names %s, which no MATCH mentions", short(name))
	}
	if p.isPath(name) {
		return p.fail(where, "%s is a path and no key; name the vertices at its ends", short(name))
	}
	ref, q := p.elements.Elements[name].Ref, p.r.Query
	if ref.Edge && slices.Contains(s.Edges, ref.Index) || !ref.Edge && slices.Contains(s.Vertices, ref.Index) {
		return p.fail(where, "the key %s stands twice", short(name))
	}
	first := &q.Groups.Stages[0]
	if at > 0 && !slices.Contains(first.Vertices, ref.Index) && !ref.Edge ||
		at > 0 && !slices.Contains(first.Edges, ref.Index) && ref.Edge {
		return p.fail(where, "%s is a key that the first WITH has not; all WITHs of a query have the same keys",
			short(name))
	}
	if ref.Edge {
		s.Edges = append(s.Edges, ref.Index)
	} else {
		s.Vertices = append(s.Vertices, ref.Index)
	}
	if at > 0 {
		return nil
	}
	if ref.Edge {
		q.Edges = append(q.Edges, q.Groups.Edges[ref.Index])
	} else {
		q.Vertices = append(q.Vertices, q.Groups.Vertices[ref.Index])
	}
	for i, e := range s.Edges {
		of := q.Groups.Edges[e]
		q.Edges[i].From, q.Edges[i].To = slices.Index(s.Vertices, of.From), slices.Index(s.Vertices, of.To)
	}
	return nil
}

// sameKeys checks that a later WITH keeps all keys, and puts them in the order of the first.
func (p *stageBuilder) sameKeys(at int, where position) error {
	first, s := &p.r.Query.Groups.Stages[0], &p.r.Query.Groups.Stages[at]
	for i, v := range first.Vertices {
		if !slices.Contains(s.Vertices, v) {
			return p.fail(where, "WITH leaves out the key %s; all WITHs of a query have the same keys",
				short(p.r.Query.Vertices[i].Name))
		}
	}
	for i, e := range first.Edges {
		if !slices.Contains(s.Edges, e) {
			return p.fail(where, "WITH leaves out the key %s; all WITHs of a query have the same keys",
				short(p.r.Query.Edges[i].Name))
		}
	}
	s.Vertices, s.Edges = first.Vertices, first.Edges
	return nil
}

func (p *cypherBuilder) aggregateOf(item *cypherWithItem, scope *condition.Scope) (a matcher.Aggregate, err error) {
	a.Function = item.function
	if a.Name, err = p.variable(item.as, inWhere); err != nil {
		return a, err
	}
	if item.of != nil {
		name, err := p.variable(item.of, inWhere)
		if err != nil {
			return a, err
		}
		if !p.known(name) {
			return a, p.fail(at(item.of.pos), "count names %s, which no MATCH mentions", short(name))
		}
		if p.isPath(name) {
			return a, p.refusePath(item.of.pos, name)
		}
		if ref := scope.Elements[name].Ref; a.Function == matcher.CountDistinct {
			a.Of = &ref
		}
	}
	if item.value == nil {
		return a, nil
	}
	var path string
	item.value.Walk(func(n *condition.Expr) {
		if n.Op == condition.OpProperty && p.isPath(n.Text) {
			path = n.Text
		}
	})
	if path != "" {
		return a, p.refusePath(item.pos, path)
	}
	if err := p.readable(item.value, "sum names %s, which no MATCH mentions"); err != nil {
		return a, err
	}
	if a.Formula, err = condition.NewFormula(scope, item.value); err != nil {
		return a, p.located(err)
	}
	switch t := a.Formula.Type; {
	case t.Kind == property.Float64:
		return a, p.fail(at(item.pos), "a sum of float64 would depend on the order of the rows; declare the property "+
			"as decimal(s)")
	case !t.Exact():
		return a, p.fail(at(item.pos), "sum takes int64 and decimal; this is a %v", t)
	}
	return a, nil
}

// keyScope is what expressions behind WITH may read: keys and the aggregates that it names, by their indexes in the
// query.
func (p *stageBuilder) keyScope() *condition.Scope {
	q, scope := p.r.Query, p.elements
	keys := &condition.Scope{Schema: scope.Schema, Parameters: scope.Parameters,
		Elements: make(map[string]condition.Element), Aggregates: make(map[string]condition.Slot)}
	for i, v := range q.Vertices {
		keys.Elements[v.Name] = condition.Element{Ref: condition.Ref{Index: i}, Labels: scope.Elements[v.Name].Labels}
	}
	for i, e := range q.Edges {
		keys.Elements[e.Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i},
			Labels: scope.Elements[e.Name].Labels}
	}
	for i, a := range q.Groups.Aggregates() {
		if p.carried[a.Name] {
			keys.Aggregates[a.Name] = condition.Slot{Element: condition.Ref{Aggregate: true, Index: i},
				Property: a.Name, Type: a.Type()}
		}
	}
	return keys
}

// readsKeys refuses an expression behind WITH that reads an element which is no key.
func (p *cypherBuilder) readsKeys(e *condition.Expr, keys *condition.Scope, clause string) (err error) {
	e.Walk(func(n *condition.Expr) {
		if err == nil && (n.Op == condition.OpAll || n.Op == condition.OpRise || n.Op == condition.OpSpan) {
			err = p.fail(position{n.Pos.Line, n.Pos.Col}, inMatchAlone)
		}
		if err != nil || n.Op != condition.OpProperty {
			return
		}
		if _, ok := keys.Elements[n.Text]; !ok {
			err = p.fail(position{n.Pos.Line, n.Pos.Col}, "%s names %s, which is no key of WITH; behind WITH there "+
				"are its keys and aggregates", clause, short(n.Text))
		}
	})
	return err
}

// groupReturns fills in the fields of a query with WITH, by default all aggregates, and which keys it shows, by default
// all of them.
func (p *cypherBuilder) groupReturns(r *Rule, ast *cypherReturn, keys *condition.Scope) error {
	q := r.Query
	r.Everything = ast == nil || ast.star
	taken := make(map[string]bool)
	if r.Everything {
		for i := range q.Vertices {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Index: i})
		}
		for i := range q.Edges {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Edge: true, Index: i})
		}
		for i, a := range q.Groups.Aggregates() {
			if _, ok := keys.Aggregates[a.Name]; ok {
				q.Fields = append(q.Fields, matcher.Field{Name: a.Name,
					Element: condition.Ref{Aggregate: true, Index: i}})
			}
		}
		for name := range keys.Elements {
			taken[name] = true
		}
		for name := range keys.Aggregates {
			taken[name] = true
		}
	}
	if ast == nil {
		return nil
	}
	for _, item := range ast.items {
		f, err := p.groupField(item, keys)
		if err != nil {
			return err
		}
		if taken[f.Name] {
			return p.fail(at(item.pos), "two fields are called %s; give one another name with AS", short(f.Name))
		}
		taken[f.Name] = true
		if f.Formula == nil && !f.Element.Aggregate && f.Name == q.ElementName(f.Element) {
			if !r.Everything {
				q.Groups.Shown = append(q.Groups.Shown, f.Element)
			}
			continue // a record has every key under its name
		}
		q.Fields = append(q.Fields, f)
	}
	return nil
}

func (p *cypherBuilder) groupField(item *cypherItem, keys *condition.Scope) (f matcher.Field, err error) {
	switch {
	case item.element != nil:
		if f.Name, err = p.variable(item.element, inReturn); err != nil {
			return f, err
		}
		element, ok := keys.Elements[f.Name]
		if !ok {
			return f, p.fail(at(item.pos), "RETURN names %s, which is no key and no aggregate of WITH", short(f.Name))
		}
		f.Element = element.Ref
	case item.value.Op == condition.OpAggregate:
		f.Name = item.value.Text
		slot, ok := keys.Aggregates[f.Name]
		if !ok {
			return f, p.fail(at(item.pos), "RETURN names %s, which the last WITH leaves out", short(f.Name))
		}
		f.Element = slot.Element
	case item.as == nil && item.value.Op != condition.OpProperty:
		return f, p.fail(at(item.pos), "the field has no name; write AS and one behind it")
	default:
		if err := p.readsKeys(item.value, keys, "RETURN"); err != nil {
			return f, err
		}
		f.Name = item.value.Text + "." + item.value.Property
		if f.Formula, err = condition.NewFormula(keys, item.value); err != nil {
			return f, p.located(err)
		}
	}
	if item.as != nil {
		f.Name, err = p.variable(item.as, inWhere)
	}
	return f, err
}
