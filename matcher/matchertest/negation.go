package matchertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// DenyRandomly gives a query of the case up to two negations, in half of the cases with conditions. Some of them block
// nothing, and some almost everything. A query whose negations cannot be asked stays without.
func (c *Case) DenyRandomly(rng *rand.Rand, q *matcher.Query) {
	for range 1 + rng.IntN(2) {
		n := c.randomNegation(rng, q)
		q.Negations = append(slices.Clip(q.Negations), *n)
		if q.CheckNegations(c.Directed) != nil || q.CheckCompeting(c.Directed) != nil && !c.EdgeIDs {
			q.Negations = q.Negations[:len(q.Negations)-1]
		}
	}
}

// denyStages gives the stages of a query with WITH negations.
func (c *Case) denyStages(rng *rand.Rand, q *matcher.Query) {
	for s := range q.Groups.Stages {
		stage := &q.Groups.Stages[s]
		most := 1 + rng.IntN(2)
		for range 6 { // most are of vertices that the stage does not bind
			if len(stage.Negations) == most {
				break
			}
			n := c.randomNegation(rng, q.OfStage(s))
			before := stage.Negations
			stage.Negations = append(slices.Clip(before), *n)
			if q.Validate(c.Directed) != nil || q.CheckCompeting(c.Directed) != nil && !c.EdgeIDs {
				stage.Negations = before
			}
		}
	}
}

// Denied returns the case with random negations on all of its queries but some.
func (c *Case) Denied(rng *rand.Rand) *Case {
	return c.With(func(q *matcher.Query) {
		switch {
		case rng.IntN(5) == 0:
		case q.Groups != nil:
			c.denyStages(rng, q)
		default:
			c.DenyRandomly(rng, q)
		}
	})
}

// randomNegation draws a negation: own vertices, each joined to one before it, and perhaps edges between those that are
// there.
func (c *Case) randomNegation(rng *rand.Rand, q *matcher.Query) *matcher.Negation {
	n := &matcher.Negation{}
	core := len(q.Vertices)
	edge := func(a, b int) {
		e := matcher.QueryEdge{Name: fmt.Sprintf("ne%d", len(n.Edges)), From: a, To: b,
			Either: !c.Directed || rng.IntN(3) == 0}
		if rng.IntN(2) == 0 {
			e.From, e.To = b, a
		}
		e.Label, e.AnyOf = patternLabels(rng, c.Labels.Edge)
		n.Edges = append(n.Edges, e)
	}
	named := []int{rng.IntN(core)}
	if core > 1 && rng.IntN(2) == 0 {
		for v := rng.IntN(core); len(named) < 2; v = rng.IntN(core) {
			if v != named[0] {
				named = append(named, v)
			}
		}
		if rng.IntN(2) == 0 {
			edge(named[0], named[1])
		}
	}
	there := named
	for k := range rng.IntN(3) + 1 - min(len(n.Edges), 1) {
		v := matcher.QueryVertex{Name: fmt.Sprintf("nv%d", k)}
		if !c.Schema.Several() {
			v.Label, v.AnyOf = patternLabels(rng, c.Labels.Vertex)
		}
		n.Vertices = append(n.Vertices, v)
		edge(there[rng.IntN(len(there))], core+k)
		if there = append(there, core+k); rng.IntN(3) == 0 {
			if w := there[rng.IntN(len(there)-1)]; w != core+k {
				edge(w, core+k)
			}
		}
	}
	whole := q.Subquery(n)
	if c.Schema == nil || rng.IntN(2) == 0 {
		return n
	}
	if c.Schema.Several() {
		for k := range n.Vertices {
			if labels := c.randomLabels(rng); labels != nil {
				n.Conditions = append(n.Conditions, condition.Labelled(core+k, labels, condition.Pos{}))
			}
		}
	}
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, whole), q: withoutPaths(whole)}
	for range 4 {
		var exprs []*condition.Expr
		for range 1 + rng.IntN(2) {
			exprs = append(exprs, w.predicate(false, 1))
		}
		if e := w.correlated(withoutPaths(q), n); e != nil {
			exprs[0] = e
		}
		if conditions, err := condition.Split(w.scope, exprs...); err == nil {
			n.Conditions = append(n.Conditions, conditions...)
			break
		}
	}
	return n
}

// withoutPaths returns a query with its single edges alone: a negation reads no path.
func withoutPaths(q *matcher.Query) *matcher.Query {
	single := *q
	single.Edges = slices.DeleteFunc(slices.Clone(q.Edges), func(e matcher.QueryEdge) bool { return e.Hops != nil })
	return &single
}

// correlated draws a comparison of an own vertex, or edge, of a negation with one of the core; nil if none can be.
func (w *whereSource) correlated(q *matcher.Query, n *matcher.Negation) *condition.Expr {
	var pair []string
	if len(n.Vertices) > 0 && w.IntN(2) == 0 {
		pair = []string{q.Vertices[w.IntN(len(q.Vertices))].Name, n.Vertices[w.IntN(len(n.Vertices))].Name}
	} else if len(q.Edges) > 0 {
		pair = []string{q.Edges[w.IntN(len(q.Edges))].Name, n.Edges[w.IntN(len(n.Edges))].Name}
	}
	name := w.common(pair)
	if len(pair) == 0 || name == "" {
		return nil
	}
	return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Relation(w.IntN(6))},
		Args: []*condition.Expr{read(pair[0], name), read(pair[1], name)}}
}
