package matchertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// Group returns a query with WITH over the pattern and the conditions of a query that has edges (DESIGN S24): its edges
// in one clause or several, some elements as keys, one to three aggregates and a condition on them.
func (c *Case) Group(rng *rand.Rand, q *matcher.Query) *matcher.Query {
	g := &matcher.Groups{Vertices: q.Vertices, Edges: q.Edges}
	stage := matcher.Stage{Conditions: q.Conditions, Rises: q.Rises, Spans: q.Spans, Matches: c.clauses(rng, q)}
	grouped := *q
	grouped.Groups, grouped.Conditions, grouped.Within, grouped.Fields = g, nil, 0, nil
	grouped.Rises, grouped.Spans = nil, nil
	grouped.SilentChange = true
	grouped.Vertices, grouped.Edges = nil, nil
	for len(stage.Vertices)+len(stage.Edges) == 0 {
		for v := range q.Vertices {
			if rng.IntN(3) == 0 {
				stage.Vertices = append(stage.Vertices, v)
			}
		}
		for e := range q.Edges {
			if rng.IntN(4) == 0 && q.Edges[e].Hops == nil {
				stage.Edges = append(stage.Edges, e)
			}
		}
	}
	rng.Shuffle(len(stage.Vertices), func(i, j int) {
		stage.Vertices[i], stage.Vertices[j] = stage.Vertices[j], stage.Vertices[i]
	})
	for _, v := range stage.Vertices {
		grouped.Vertices = append(grouped.Vertices, q.Vertices[v])
	}
	for _, e := range stage.Edges {
		of := q.Edges[e]
		of.From, of.To = slices.Index(stage.Vertices, of.From), slices.Index(stage.Vertices, of.To)
		grouped.Edges = append(grouped.Edges, of)
	}
	g.Stages = []matcher.Stage{stage}
	for i := range 1 + rng.IntN(3) {
		g.Stages[0].Aggregates = append(g.Stages[0].Aggregates, c.aggregate(rng, q, fmt.Sprint("n", i)))
	}
	for len(stage.Vertices) > 0 && len(g.Stages) < 3 && rng.IntN(3) == 0 {
		c.nextStage(rng, &grouped)
	}
	for s := range g.Stages {
		c.having(rng, &grouped, s)
	}
	if q.Once == nil && rng.IntN(2) == 0 {
		c.show(rng, &grouped)
	}
	return &grouped
}

// show has a query with WITH emit changes, and gives it something to show: aggregates, keys, values of keys.
func (c *Case) show(rng *rand.Rand, q *matcher.Query) {
	q.SilentChange = false
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, q), q: q}
	for i, a := range q.Groups.Aggregates() {
		if rng.IntN(2) == 0 {
			q.Fields = append(q.Fields, matcher.Field{Name: a.Name, Element: condition.Ref{Aggregate: true, Index: i}})
		}
		if a.Function == matcher.Collect {
			continue
		}
		w.scope.Aggregates = map[string]condition.Slot{a.Name: {Element: condition.Ref{Aggregate: true, Index: i},
			Property: a.Name, Type: a.Type()}}
	}
	for i := range q.Vertices {
		if rng.IntN(3) == 0 {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Index: i})
		}
	}
	for i := range q.Edges {
		if rng.IntN(2) == 0 {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Edge: true, Index: i})
		}
	}
	for range rng.IntN(3) {
		e := read(w.keyName(), types[rng.IntN(len(types))].name)
		if rng.IntN(2) == 0 {
			for name := range w.scope.Aggregates {
				e = w.weighted(&condition.Expr{Op: condition.OpAggregate, Text: name})
			}
		}
		if f, err := condition.NewFormula(w.scope, e); err == nil {
			q.Fields = append(q.Fields, matcher.Field{Name: fmt.Sprint("f", len(q.Fields)), Formula: f})
		}
	}
	if rng.IntN(4) == 0 {
		q.Fields = append(q.Fields, matcher.Field{Name: "key", Element: condition.Ref{
			Edge: len(q.Vertices) == 0}})
	}
}

// nextStage adds a stage with the keys of the last, and perhaps further ones: the edges of a key vertex, perhaps later
// ones than a key edge.
func (c *Case) nextStage(rng *rand.Rand, q *matcher.Query) {
	g := q.Groups
	before := &g.Stages[len(g.Stages)-1]
	v, e := len(g.Vertices), len(g.Edges)
	label, anyOf := patternLabels(rng, c.Labels.Vertex)
	if c.Schema.Several() {
		label, anyOf = "", nil
	}
	g.Vertices = append(slices.Clone(g.Vertices), matcher.QueryVertex{Name: fmt.Sprint("x", v), Label: label,
		AnyOf: anyOf})
	label, anyOf = patternLabels(rng, c.Labels.Edge)
	edge := matcher.QueryEdge{Name: fmt.Sprint("y", e), From: before.Vertices[rng.IntN(len(before.Vertices))], To: v,
		Label: label, AnyOf: anyOf, Either: !c.Directed || rng.IntN(4) == 0}
	key := edge.From
	if rng.IntN(2) == 0 {
		edge.From, edge.To = edge.To, edge.From
	}
	if g.HasPaths() && rng.IntN(2) == 0 {
		edge.Hops = &matcher.Hops{Least: 1, Most: 1 + rng.IntN(2)}
	}
	g.Edges = append(slices.Clone(g.Edges), edge)
	stage := matcher.Stage{Vertices: before.Vertices, Edges: before.Edges,
		Matches: []matcher.MatchClause{{Vertices: []int{key, v}, Edges: []int{e}}}}
	union := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
	scope := ScopeOf(c.Schema, union)
	if len(before.Edges) > 0 {
		later := &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Le},
			Args: []*condition.Expr{read(g.Edges[before.Edges[0]].Name, "ts"), read(edge.Name, "ts")}}
		if all, err := condition.Split(scope, later); err == nil {
			stage.Conditions = all
		}
	}
	if rng.IntN(3) == 0 {
		stage.Vertices = append(slices.Clone(stage.Vertices), v)
		q.Vertices = append(q.Vertices, g.Vertices[v])
	}
	if edge.Hops == nil && rng.IntN(4) == 0 {
		stage.Edges = append(slices.Clone(stage.Edges), e)
		q.Edges = append(q.Edges, edge)
	}
	for i, e := range stage.Edges {
		of := g.Edges[e]
		q.Edges[i].From, q.Edges[i].To = slices.Index(stage.Vertices, of.From), slices.Index(stage.Vertices, of.To)
	}
	a := matcher.Aggregate{Name: fmt.Sprint("k", e), Function: matcher.Function(rng.IntN(2))}
	if a.Function == matcher.CountDistinct {
		a.Of = &condition.Ref{Index: v}
	}
	if f, err := condition.NewFormula(scope, read(edge.Name, "n")); err == nil && f.Type.Exact() && edge.Hops == nil &&
		rng.IntN(2) == 0 {
		a = matcher.Aggregate{Name: a.Name, Function: matcher.Sum, Formula: f}
	}
	stage.Aggregates = []matcher.Aggregate{a}
	g.Stages = append(g.Stages, stage)
}

// clauses divides the edges of a pattern among clauses. A query with paths is divided only where the clauses have few
// joins.
func (c *Case) clauses(rng *rand.Rand, q *matcher.Query) []matcher.MatchClause {
	all := dealt(q, 1+rng.IntN(min(3, len(q.Edges))))
	if !q.HasPaths() {
		return all
	}
	joins := 1
	for _, m := range all {
		one := &matcher.Query{Vertices: q.Vertices}
		for _, e := range m.Edges {
			one.Edges = append(one.Edges, q.Edges[e])
		}
		rows := 0
		for _, v := range one.Variants() {
			n, ok := c.mostMatches(connected(v))
			if rows += n; !ok {
				rows = MostMatches + 1
				break
			}
		}
		joins *= rows
	}
	if joins > MostMatches {
		return dealt(q, 1)
	}
	return all
}

// connected returns a pattern without the vertices that no edge has.
func connected(q *matcher.Query) *matcher.Query {
	of := &matcher.Query{}
	at := make(map[int]int)
	vertex := func(v int) int {
		if _, ok := at[v]; !ok {
			at[v] = len(of.Vertices)
			of.Vertices = append(of.Vertices, q.Vertices[v])
		}
		return at[v]
	}
	for _, e := range q.Edges {
		e.From, e.To = vertex(e.From), vertex(e.To)
		of.Edges = append(of.Edges, e)
	}
	return of
}

// dealt divides the edges of a pattern among n clauses.
func dealt(q *matcher.Query, n int) []matcher.MatchClause {
	all := make([]matcher.MatchClause, n)
	for e, of := range q.Edges {
		m := &all[e%len(all)]
		m.Edges = append(m.Edges, e)
		for _, v := range []int{of.From, of.To} {
			if !slices.Contains(m.Vertices, v) {
				m.Vertices = append(m.Vertices, v)
			}
		}
	}
	return all
}

func (c *Case) aggregate(rng *rand.Rand, q *matcher.Query, name string) matcher.Aggregate {
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, q), q: withoutPaths(q)}
	switch rng.IntN(4) {
	case 3:
		if a, ok := collect(rng, w.scope, w.q); ok {
			a.Name = name
			return a
		}
	case 0:
		r := w.scope.Elements[w.element()].Ref
		return matcher.Aggregate{Name: name, Function: matcher.CountDistinct, Of: &r}
	case 1:
		for range 6 {
			e := read(w.element(), []string{"n", "amount"}[rng.IntN(2)])
			if rng.IntN(3) == 0 {
				e = w.weighted(e)
			}
			f, err := condition.NewFormula(w.scope, e)
			if err == nil && f.Type.Exact() {
				return matcher.Aggregate{Name: name, Function: matcher.Sum, Formula: f}
			}
		}
	}
	return matcher.Aggregate{Name: name}
}

// collect draws a list of edges whose label declares ts, or of a property of theirs.
func collect(rng *rand.Rand, scope *condition.Scope, q *matcher.Query) (a matcher.Aggregate, ok bool) {
	if len(q.Edges) == 0 {
		return a, false
	}
	name := q.Edges[rng.IntN(len(q.Edges))].Name
	of := scope.Elements[name].Ref
	a = matcher.Aggregate{Function: matcher.Collect, Of: &of, Most: 1 + rng.IntN(4)}
	var err error
	if a.Time, err = condition.NewFormula(scope, read(name, "ts")); err != nil {
		return a, false
	}
	if a.Distinct = rng.IntN(3) == 0; a.Distinct || rng.IntN(2) == 0 {
		return a, true
	}
	if f, err := condition.NewFormula(scope, read(name, types[rng.IntN(len(types))].name)); err == nil {
		a.Formula = f
	}
	return a, true
}

// having gives a stage conditions on its aggregates, those of earlier ones, and keys.
func (c *Case) having(rng *rand.Rand, q *matcher.Query, stage int) {
	at := &q.Groups.Stages[stage]
	keys := &matcher.Query{Vertices: q.Vertices[:len(at.Vertices)], Edges: q.Edges[:len(at.Edges)]}
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, keys), q: keys}
	w.scope.Aggregates = map[string]condition.Slot{}
	var names []string
	known := 0
	for s := range stage + 1 {
		known += len(q.Groups.Stages[s].Aggregates)
	}
	for i, a := range q.Groups.Aggregates()[:known] {
		if a.Function == matcher.Collect {
			continue
		}
		names = append(names, a.Name)
		w.scope.Aggregates[a.Name] = condition.Slot{Element: condition.Ref{Aggregate: true, Index: i}, Property: a.Name,
			Type: a.Type()}
	}
	if len(names) == 0 {
		return
	}
	aggregate := func() *condition.Expr {
		return &condition.Expr{Op: condition.OpAggregate, Text: names[rng.IntN(len(names))]}
	}
	number := func() *condition.Expr {
		return &condition.Expr{Op: condition.OpNumber, Text: []string{"1", "2", "3", "4", "1.5"}[rng.IntN(5)]}
	}
	for range 12 {
		left, right := aggregate(), number()
		switch rng.IntN(5) {
		case 0:
			right = w.weighted(aggregate())
		case 1:
			if len(keys.Vertices)+len(keys.Edges) > 0 {
				right = read(w.keyName(), types[rng.IntN(len(types))].name)
			}
		}
		e := &condition.Expr{Op: condition.OpCompare, Args: []*condition.Expr{left, right},
			Chain: []condition.Relation{[]condition.Relation{condition.Ge, condition.Gt, condition.Eq, condition.Le,
				condition.Ne}[rng.IntN(5)]}}
		all, err := condition.Split(w.scope, e)
		if err == nil {
			q.Groups.Stages[stage].Having = all
			return
		}
	}
}

// keyName draws a key.
func (w *whereSource) keyName() string {
	at := w.IntN(len(w.q.Vertices) + len(w.q.Edges))
	if at < len(w.q.Vertices) {
		return w.q.Vertices[at].Name
	}
	return w.q.Edges[at-len(w.q.Vertices)].Name
}
