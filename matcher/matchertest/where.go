package matchertest

import (
	"fmt"
	"math/rand/v2"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/reference"
)

// Where is what queries demand of properties, as written: by name of the query, its WHERE clauses.
type Where map[string][]*condition.Expr

// ScopeOf returns what a query's expressions are about: its edges, by their names.
func ScopeOf(schema *property.Schema, q *matcher.Query) *condition.Scope {
	s := &condition.Scope{Schema: schema, Elements: map[string]condition.Element{}}
	for i, e := range q.Edges {
		var labels condition.Labels
		if e.Label != "" {
			labels = condition.NewLabels(condition.Alternative{All: []string{e.Label}})
		}
		s.Elements[e.Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i}, Labels: labels}
	}
	return s
}

// Ask gives the query of a case the conditions that expressions make, and notes them. It fails on expressions that can
// never hold, or read what is not declared.
func (c *Case) Ask(q *matcher.Query, exprs ...*condition.Expr) (err error) {
	if q.Conditions, err = condition.Split(ScopeOf(c.Schema, q), exprs...); err != nil {
		return err
	}
	c.Where[q.Name] = exprs
	return nil
}

// AskRandomly gives a query up to three conditions, and perhaps a window. own has each be about one edge alone. Half of
// the queries get the same condition for all edges or neighbours among them, so that automorphisms are left.
func (c *Case) AskRandomly(rng *rand.Rand, q *matcher.Query, own bool) {
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, q), q: q}
	for range 1 + rng.IntN(12) {
		var all []*condition.Expr
		switch {
		case rng.IntN(2) > 0:
			for range 1 + rng.IntN(3) {
				all = append(all, w.predicate(own, 2))
			}
		case own || rng.IntN(2) == 0: // the same of every edge
			e := w.predicate(true, 1)
			for i := range q.Edges {
				all = append(all, renamed(e, q.Edges[i].Name))
			}
		default: // a chain, or a symmetric comparison of two edges
			name := w.common()
			if name == "" {
				continue
			}
			relation := condition.Relation(rng.IntN(6))
			for i := 1; i < len(q.Edges) && (i == 1 || rng.IntN(2) == 0); i++ {
				all = append(all, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{relation},
					Args: []*condition.Expr{read(q.Edges[i-1].Name, name), read(q.Edges[i].Name, name)}})
			}
		}
		if len(all) > 0 && c.Ask(q, all...) == nil {
			break
		}
		q.Conditions = nil
	}
	if !own && rng.IntN(4) == 0 && w.timed() {
		q.Within = 1 + rng.Int64N(3)
	}
}

// whereSource draws expressions about the edges of a query.
type whereSource struct {
	*rand.Rand
	scope *condition.Scope
	q     *matcher.Query
}

func read(variable, name string) *condition.Expr {
	return &condition.Expr{Op: condition.OpProperty, Text: variable, Property: name}
}

// renamed is an expression about another edge.
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

func (w *whereSource) edge() *matcher.QueryEdge { return &w.q.Edges[w.IntN(len(w.q.Edges))] }

// common returns a property that all edges have, or "".
func (w *whereSource) common() string {
	for _, at := range w.Perm(len(types)) {
		all := true
		for _, e := range w.q.Edges {
			_, ok := w.scope.Schema.Edges.Lookup(e.Label, types[at].name)
			all = all && ok
		}
		if all {
			return types[at].name
		}
	}
	return ""
}

func (w *whereSource) timed() bool {
	for _, e := range w.q.Edges {
		if _, ok := w.scope.Schema.Edges.Lookup(e.Label, "ts"); !ok {
			return false
		}
	}
	return true
}

// predicate draws a condition; own has it be about one edge.
func (w *whereSource) predicate(own bool, depth int) *condition.Expr {
	e := w.edge()
	if depth > 0 && w.IntN(4) == 0 {
		switch w.IntN(3) {
		case 0:
			return &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{w.predicate(own, depth-1)}}
		default:
			first, second := w.predicate(own, depth-1), w.predicate(own, depth-1)
			if own {
				first, second = renamed(first, e.Name), renamed(second, e.Name)
			}
			op := []condition.Op{condition.OpOr, condition.OpAnd}[w.IntN(2)]
			return &condition.Expr{Op: op, Args: []*condition.Expr{first, second}}
		}
	}
	p := types[w.IntN(len(types))]
	left := read(e.Name, p.name)
	if w.IntN(6) == 0 {
		return &condition.Expr{Op: []condition.Op{condition.OpIsNull, condition.OpIsNotNull}[w.IntN(2)],
			Args: []*condition.Expr{left}}
	}
	compare := func(a, b *condition.Expr) *condition.Expr {
		return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Relation(w.IntN(6))},
			Args: []*condition.Expr{a, b}}
	}
	if !own && w.IntN(2) == 0 {
		other := read(w.edge().Name, p.name)
		if p.name == "ts" && w.IntN(2) == 0 {
			return compare(&condition.Expr{Op: condition.OpSub, Args: []*condition.Expr{left, other}}, w.number())
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

func (w *whereSource) number() *condition.Expr {
	text := []string{"0", "1", "2", "0.5", "1.5", "9007199254740993"}[w.IntN(6)]
	return &condition.Expr{Op: condition.OpNumber, Text: text}
}

// holds reports whether a match meets what its query demands of properties, as written. The twin of what the engine
// does: expressions are evaluated on the whole match, by big rationals.
func (g *Graph) holds(q *matcher.Query, m Match, exprs []*condition.Expr) bool {
	values := map[string]declared{}
	for i, e := range q.Edges {
		values[e.Name] = g.declared(m.Edges[i])
	}
	in := reference.Values{Read: func(variable, name string) property.Value { return values[variable][name] }}
	for _, e := range exprs {
		if reference.Truth(e, in) != condition.True {
			return false
		}
	}
	if q.Within == 0 {
		return true
	}
	for _, a := range values {
		for _, b := range values {
			if a["ts"].IsNull() || b["ts"].IsNull() || a["ts"].Whole()-b["ts"].Whole() > q.Within {
				return false
			}
		}
	}
	return true
}

// declared returns the declared values of an edge that is there.
func (g *Graph) declared(e Edge) declared {
	d, ok := g.edges[edgeKey{e.From.Key, e.To.Key, e.Label}]
	if !ok {
		panic(fmt.Sprintf("matchertest: there is no edge %v", e))
	}
	return d
}
