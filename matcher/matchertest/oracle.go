package matchertest

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Found holds the oracle's matches of one query and one batch: their names, or with Subgraphs those of orbits,
// ascending.
type Found struct {
	Before, After      []string
	Negative, Positive []string
	// Anchor holds, by name, the index of the update that completed or broke the match (DESIGN A2). Of a match in
	// Positive and Negative it is keyed with the sign in front: "+" or "-".
	Anchor map[string]int
}

// Oracle follows a stream in a Graph and recomputes all matches after every batch.
type Oracle struct {
	Graph   *Graph
	Last    *Change
	where   Where
	labels  Labelled
	queries []*oracleQuery
}

type oracleQuery struct {
	q       *matcher.Query
	group   []Automorphism
	matches map[string]Match
}

// NewOracle returns an oracle for queries over an empty graph.
func NewOracle(directed bool, queries []*matcher.Query) *Oracle {
	o := &Oracle{Graph: NewGraph(directed)}
	for _, q := range queries {
		o.queries = append(o.queries, &oracleQuery{q: q, group: Automorphisms(q), matches: map[string]Match{}})
	}
	return o
}

// Automorphisms returns the size of the group of query i.
func (o *Oracle) Automorphisms(i int) int { return len(o.queries[i].group) }

// Name returns what the oracle calls a match of query i. With Query.SilentChange a match has one name, whatever the
// values of its edges are.
func (o *Oracle) Name(i int, m Match) string {
	if o.queries[i].q.SilentChange {
		m = Identity(m)
	}
	if o.queries[i].q.Unit == matcher.Subgraphs {
		return Orbit(o.queries[i].group, m)
	}
	return m.String()
}

// NewOracleOf returns an oracle for the queries of a case, which may have conditions.
func NewOracleOf(c *Case) *Oracle {
	o := NewOracle(c.Directed, c.Queries)
	o.Graph.EdgeIDs = c.EdgeIDs
	if o.where, o.labels = c.Where, c.Labelled; c.Schema != nil {
		o.Graph.Columns, o.Graph.Vertices = c.Schema.EdgeColumns(), c.Schema.VertexColumns()
		o.Graph.Several = c.Schema.SeveralLabels
	}
	return o
}

// Step applies a batch and says what it did, by query.
func (o *Oracle) Step(msgs []dyngraph.Message) ([]Found, error) {
	o.Last = o.Graph.Step(msgs)
	found := make([]Found, len(o.queries))
	for i, oq := range o.queries {
		all, ok := o.Graph.Matches(oq.q, 4*MostMatches)
		if !ok {
			return nil, fmt.Errorf("matchertest: query %s has too many matches for the oracle", oq.q.Name)
		}
		after := make(map[string]Match, len(all))
		for _, m := range all {
			if o.Graph.holds(oq.q, m, o.where[oq.q.Name], o.labels[oq.q.Name]) {
				after[o.Name(i, m)] = m
			}
		}
		f := &found[i]
		f.Anchor = map[string]int{}
		f.Before, f.After = names(oq.matches, nil), names(after, nil)
		f.Negative, f.Positive = names(oq.matches, after), names(after, oq.matches)
		for _, name := range f.Negative {
			f.Anchor["-"+name] = o.anchor(oq.q, oq.matches[name], o.Last.Before, o.Last.After, false)
		}
		for _, name := range f.Positive {
			f.Anchor["+"+name] = o.anchor(oq.q, after[name], o.Last.After, o.Last.Before, true)
		}
		oq.matches = after
	}
	return found, nil
}

// anchor returns the last, or the first, update among those of the match's own changes (DESIGN S19): its edges that are
// in one graph only, and its revised vertices that matter.
func (o *Oracle) anchor(q *matcher.Query, m Match, in, notIn map[Edge]bool, last bool) int {
	anchor := -1
	own := func(update int) {
		if anchor < 0 || last == (update > anchor) {
			anchor = update
		}
	}
	for _, e := range m.Edges {
		if in[e] && !notIn[e] {
			own(o.Last.UpdateIndex[e])
		}
	}
	for i, v := range m.Vertices {
		if update, ok := o.Last.Moved[v]; ok && q.IsVertex() {
			own(update)
		}
		if update, ok := o.Last.Revised[v]; ok && o.matters(q, i, v) {
			own(update)
		}
	}
	return anchor
}

// matters reports whether a revised vertex matters at a pattern vertex (DESIGN S16).
func (o *Oracle) matters(q *matcher.Query, at int, v Vertex) bool {
	this, was, is := condition.Ref{Index: at}, o.Last.Old[v], o.Last.New[v]
	held, holds := true, true
	for _, c := range q.Conditions {
		if !slices.Contains(c.Elements, this) {
			continue
		}
		var before, after []property.Value
		for _, s := range c.Slots {
			if s.Element != this {
				continue
			}
			if before, after = append(before, was.value(s)), append(after, is.value(s)); !c.Own() &&
				was.value(s) != is.value(s) {
				return true
			}
		}
		if c.Own() {
			held, holds = held && c.Eval(before) == condition.True, holds && c.Eval(after) == condition.True
		}
	}
	return held != holds
}

// names returns the names in one set and not in the other, ascending.
func names(in, notIn map[string]Match) []string {
	var list []string
	for name := range in {
		if _, ok := notIn[name]; !ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
