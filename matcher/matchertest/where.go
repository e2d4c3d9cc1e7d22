package matchertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/reference"
)

// Where holds the WHERE clauses of queries, as written, by name of the query.
type Where map[string][]*condition.Expr

// ScopeOf returns what a query's expressions are about: its vertices and edges, by their names.
func ScopeOf(schema *property.Schema, q *matcher.Query) *condition.Scope {
	s := &condition.Scope{Schema: schema, Elements: map[string]condition.Element{}}
	for i, v := range q.Vertices {
		s.Elements[v.Name] = condition.Element{Ref: condition.Ref{Index: i}, Labels: v.Labels()}
	}
	for i, e := range q.Edges {
		s.Elements[e.Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i}, Labels: e.Labels()}
	}
	return s
}

// Ask gives the query of a case the conditions that expressions make, and notes them. It fails on expressions that can
// never hold, or read what is not declared.
func (c *Case) Ask(q *matcher.Query, exprs ...*condition.Expr) (err error) {
	conditions, err := condition.Split(ScopeOf(c.Schema, q), exprs...)
	if err != nil {
		return err
	}
	q.Conditions = append(labelConditions(q), conditions...)
	c.Where[q.Name] = exprs
	return nil
}

// labelConditions returns the conditions on several labels that a query has.
func labelConditions(q *matcher.Query) []*condition.Condition {
	return slices.DeleteFunc(slices.Clone(q.Conditions), func(c *condition.Condition) bool {
		_, ok := c.Labels()
		return !ok
	})
}

// AskRandomly gives a query up to three conditions, and perhaps a window. own has each be about one element alone. Half
// of the queries get the same condition for all edges, for all vertices or for neighbours among them, so that
// automorphisms are left.
func (c *Case) AskRandomly(rng *rand.Rand, q *matcher.Query, own bool) {
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, q), q: q}
	for range 1 + rng.IntN(12) {
		var all []*condition.Expr
		switch {
		case rng.IntN(2) > 0:
			for range 1 + rng.IntN(3) {
				all = append(all, w.predicate(own, 2))
			}
		case own || rng.IntN(2) == 0: // the same of every edge, or vertex
			e := w.predicate(true, 1)
			for _, x := range w.kind() {
				all = append(all, renamed(e, x))
			}
		default: // a chain, or a symmetric comparison of two edges, or vertices; perhaps of multiples
			kind := w.kind()
			name := w.common(kind)
			if name == "" {
				continue
			}
			relation := condition.Relation(rng.IntN(6))
			weighted := (name == "n" || name == "amount") && rng.IntN(2) == 0
			for i := 1; i < len(kind) && (i == 1 || rng.IntN(2) == 0); i++ {
				args := []*condition.Expr{read(kind[i-1], name), read(kind[i], name)}
				if weighted {
					args[0] = w.weighted(args[0])
				}
				all = append(all, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{relation},
					Args: args})
			}
		}
		if len(all) > 0 && c.Ask(q, all...) == nil {
			break
		}
		q.Conditions = labelConditions(q)
	}
	if !own && rng.IntN(4) == 0 && !q.IsVertex() && w.timed() {
		q.Within = 1 + rng.Int64N(3)
	}
}

// whereSource draws expressions about the elements of a query.
type whereSource struct {
	*rand.Rand
	scope *condition.Scope
	q     *matcher.Query
}

func read(variable, name string) *condition.Expr {
	return &condition.Expr{Op: condition.OpProperty, Text: variable, Property: name}
}

// renamed is an expression about another element.
func renamed(e *condition.Expr, variable string) *condition.Expr {
	n := *e
	if n.Op == condition.OpProperty {
		n.Text = variable
	}
	n.Args = nil
	for _, a := range e.Args {
		n.Args = append(n.Args, renamed(a, variable))
	}
	return &n
}

// kind returns the names of all edges, or of all vertices.
func (w *whereSource) kind() (names []string) {
	if w.q.IsVertex() || w.IntN(2) == 0 {
		for _, v := range w.q.Vertices {
			names = append(names, v.Name)
		}
		return names
	}
	for _, e := range w.q.Edges {
		names = append(names, e.Name)
	}
	return names
}

// element draws an edge or a vertex.
func (w *whereSource) element() string {
	names := w.kind()
	return names[w.IntN(len(names))]
}

// common returns a property that all of some elements have, or "".
func (w *whereSource) common(names []string) string {
	for _, at := range w.Perm(len(types)) {
		all := true
		for _, name := range names {
			all = all && w.declares(name, types[at].name)
		}
		if all {
			return types[at].name
		}
	}
	return ""
}

// declares reports whether an element has a property, whichever of its labels an image has.
func (w *whereSource) declares(name, property string) bool {
	e := w.scope.Elements[name]
	declared := w.scope.Schema.VertexDeclarations()
	if e.Ref.Edge {
		declared = w.scope.Schema.Edges
	}
	if len(e.Labels) == 0 {
		_, ok := declared.Lookup("", property)
		return ok
	}
	for _, a := range e.Labels {
		if _, ok := declared.Lookup(a.All[0], property); !ok {
			return false
		}
	}
	return true
}

func (w *whereSource) timed() bool {
	for _, e := range w.q.Edges {
		if !w.declares(e.Name, "ts") {
			return false
		}
	}
	return true
}

// predicate draws a condition; own has it be about one element.
func (w *whereSource) predicate(own bool, depth int) *condition.Expr {
	e := w.element()
	if depth > 0 && w.IntN(4) == 0 {
		switch w.IntN(3) {
		case 0:
			return &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{w.predicate(own, depth-1)}}
		default:
			first, second := w.predicate(own, depth-1), w.predicate(own, depth-1)
			if own {
				first, second = renamed(first, e), renamed(second, e)
			}
			op := []condition.Op{condition.OpOr, condition.OpAnd}[w.IntN(2)]
			return &condition.Expr{Op: op, Args: []*condition.Expr{first, second}}
		}
	}
	p := types[w.IntN(len(types))]
	left := read(e, p.name)
	if w.IntN(6) == 0 {
		return &condition.Expr{Op: []condition.Op{condition.OpIsNull, condition.OpIsNotNull}[w.IntN(2)],
			Args: []*condition.Expr{left}}
	}
	compare := func(a, b *condition.Expr) *condition.Expr {
		return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Relation(w.IntN(6))},
			Args: []*condition.Expr{a, b}}
	}
	if !own && w.IntN(2) == 0 {
		other := read(w.element(), p.name)
		if p.name == "ts" && w.IntN(2) == 0 {
			return compare(&condition.Expr{Op: condition.OpSub, Args: []*condition.Expr{left, other}}, w.number())
		}
		if (p.name == "n" || p.name == "amount") && w.IntN(2) == 0 {
			return compare(w.weighted(left), w.weighted(other))
		}
		return compare(left, other)
	}
	switch p.name {
	case "code":
		return compare(left, &condition.Expr{Op: condition.OpString, Text: []string{"", "a", "b"}[w.IntN(3)]})
	case "flag":
		return left
	case "ts":
		return &condition.Expr{Op: condition.OpIsNotNull, Args: []*condition.Expr{left}}
	case "n":
		if w.IntN(3) == 0 {
			return &condition.Expr{Op: condition.OpIn, Args: []*condition.Expr{left,
				{Op: condition.OpList, Args: []*condition.Expr{w.number(), w.number()}}}}
		}
	}
	return compare(left, w.number())
}

// weighted draws a multiple of a value, or its sum with a number.
func (w *whereSource) weighted(e *condition.Expr) *condition.Expr {
	op := []condition.Op{condition.OpAdd, condition.OpSub, condition.OpMul}[w.IntN(3)]
	return &condition.Expr{Op: op, Args: []*condition.Expr{e, w.number()}}
}

func (w *whereSource) number() *condition.Expr {
	text := []string{"0", "1", "2", "0.5", "1.5", "9007199254740993"}[w.IntN(6)]
	return &condition.Expr{Op: condition.OpNumber, Text: text}
}

// holds reports whether a match meets what its query demands of properties and of several labels, as written. The twin
// of what the engine does: expressions are evaluated on the whole match, by big rationals.
func (g *Graph) holds(q *matcher.Query, m Match, exprs []*condition.Expr, labelled []condition.Labels) bool {
	values := map[string]declared{}
	edges := map[string]declared{}
	for i, e := range q.Edges {
		edges[e.Name] = g.declared(m.Edges[i])
		values[e.Name] = edges[e.Name]
	}
	for i, v := range q.Vertices {
		values[v.Name] = g.values[m.Vertices[i].Key]
	}
	in := reference.Values{Read: func(variable, name string) property.Value { return values[variable][name] }}
	for i, labels := range labelled {
		if !g.values[m.Vertices[i].Key].labelled(labels) {
			return false
		}
	}
	for _, e := range exprs {
		if reference.Truth(e, in) != condition.True {
			return false
		}
	}
	if q.Within == 0 {
		return true
	}
	for _, a := range edges {
		for _, b := range edges {
			if a["ts"].IsNull() || b["ts"].IsNull() || a["ts"].Whole()-b["ts"].Whole() > q.Within {
				return false
			}
		}
	}
	return true
}

// declared returns the declared values of an edge that is there.
func (g *Graph) declared(e Edge) declared {
	d, ok := g.edges[edgeKey{e.From.Key, e.To.Key, e.Label, e.ID}]
	if !ok {
		panic(fmt.Sprintf("matchertest: there is no edge %v", e))
	}
	return d
}
