package matcher

import (
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Bounds on negations (DESIGN S25).
const (
	// MaxNegations bounds the negations of a query.
	MaxNegations = 8
	// MaxNegationVertices bounds the vertices of a negation's pattern, those of the core included.
	MaxNegationVertices = 6
	// MaxNegationEdges bounds its edges: a complete graph.
	MaxNegationEdges = MaxNegationVertices * (MaxNegationVertices - 1) / 2
	// MaxNegationCopies bounds in how many ways a negation's own vertices and parallel edges can be exchanged, going by
	// their number alone.
	MaxNegationCopies = 1000
)

// Negation is a pattern whose matches block those of the query (DESIGN S25): NOT EXISTS {..}, or NOT (..). The query
// without its negations is the core.
//
// The negation's own vertices come behind those of the core, and its own edges behind the core's: indexes in Edges and
// Conditions say so. Its own vertices have images that differ from each other and from those of the core vertices that
// its edges join; its own edges differ from each other. Nothing else differs: an own edge may have the image of a core
// edge.
type Negation struct {
	Vertices []QueryVertex `json:"vertices,omitempty"`
	Edges    []QueryEdge   `json:"edges"`
	// Conditions must be true of a blocker, beside its labels and ends. They read the core and the negation's own
	// elements.
	Conditions []*condition.Condition `json:"conditions,omitempty"`
}

// Subquery returns the core and a negation as one query, with the negation's conditions alone. It is no query to
// register: it may have more vertices than one, and its edges may have one image.
func (q *Query) Subquery(n *Negation) *Query {
	return &Query{Name: q.Name, Version: q.Version, Vertices: slices.Concat(q.Vertices, n.Vertices),
		Edges: slices.Concat(q.Edges, n.Edges), Conditions: n.Conditions}
}

// Named returns, ascending, the core vertices that the edges of a negation join.
func (q *Query) Named(n *Negation) (vertices []int) {
	for _, e := range n.Edges {
		for _, v := range [2]int{e.From, e.To} {
			if v < len(q.Vertices) {
				vertices = append(vertices, v)
			}
		}
	}
	slices.Sort(vertices)
	return slices.Compact(vertices)
}

// CheckNegations is the part of Validate about negations.
func (q *Query) CheckNegations(directed bool) error {
	if n := len(q.Negations); n > MaxNegations {
		return fmt.Errorf("it has %d negations; a query has at most %d", n, MaxNegations)
	}
	if len(q.Negations) > 0 && q.Groups != nil {
		return errors.New("the negations of a query with WITH are those of its stages")
	}
	for i := range q.Negations {
		if err := q.checkNegation(&q.Negations[i], directed); err != nil {
			return fmt.Errorf("negation %d: %w", i+1, err)
		}
	}
	return nil
}

func (q *Query) checkNegation(n *Negation, directed bool) error {
	all := q.Subquery(n)
	named := q.Named(n)
	switch vertices := len(named) + len(n.Vertices); {
	case len(n.Edges) == 0:
		return fmt.Errorf("it has no edge; conditions on the match alone stand in WHERE")
	case len(n.Edges) > MaxNegationEdges:
		return fmt.Errorf("it has %d edges; a negation has at most %d", len(n.Edges), MaxNegationEdges)
	case vertices > MaxNegationVertices:
		return fmt.Errorf("its edges join %d vertices; those of a negation join at most %d, vertices of the MATCH "+
			"included", vertices, MaxNegationVertices)
	}
	seen := make(map[string]bool)
	name := func(s string) error {
		if err := checkName(s); err != nil {
			return fmt.Errorf("a name %w", err)
		}
		if seen[s] {
			return fmt.Errorf("the name %q is used twice", s)
		}
		seen[s] = true
		return nil
	}
	for i, v := range all.Vertices {
		if err := name(v.Name); err != nil {
			return err
		}
		if err := checkAlternatives(v.Label, v.AnyOf); i >= len(q.Vertices) && err != nil {
			return fmt.Errorf("vertex %q %w", v.Name, err)
		}
	}
	for i, e := range all.Edges {
		if err := name(e.Name); err != nil {
			return err
		}
		switch {
		case i < len(q.Edges):
			continue
		case e.From < 0 || e.From >= len(all.Vertices) || e.To < 0 || e.To >= len(all.Vertices):
			return fmt.Errorf("edge %q has an end that is no vertex", e.Name)
		case e.From == e.To:
			return fmt.Errorf("edge %q is a self-loop; self-loops are not supported", e.Name)
		case e.Hops != nil:
			return fmt.Errorf("edge %q is a path of variable length; a negation has edges alone", e.Name)
		case !directed && !e.Either:
			return fmt.Errorf("edge %q has a direction, but the graph is undirected: write -- instead of -> or <-",
				e.Name)
		}
		if err := checkAlternatives(e.Label, e.AnyOf); err != nil {
			return fmt.Errorf("edge %q %w", e.Name, err)
		}
	}
	if at := q.Unreached(n); at >= 0 {
		return fmt.Errorf("its vertex %q is not connected to the MATCH; join them by edges", n.Vertices[at].Name)
	}
	for _, c := range n.Conditions {
		if err := all.checkElements(c.Elements); err != nil {
			return err
		}
		if path := all.pathRead(c); path >= 0 {
			return fmt.Errorf("its condition at %d:%d reads path %q; a negation reads vertices and single edges of "+
				"the match", c.Pos.Line, c.Pos.Col, all.Edges[path].Name)
		}
	}
	if q.copies(n) > MaxNegationCopies {
		return fmt.Errorf("its vertices and parallel edges can be exchanged in more than %d ways; write fewer of them",
			MaxNegationCopies)
	}
	return nil
}

// Unreached returns an own vertex of a negation that its edges do not join to the core, by its index among the own
// ones, or -1.
func (q *Query) Unreached(n *Negation) int {
	core := len(q.Vertices)
	reached := make([]bool, len(n.Vertices))
	is := func(v int) bool { return v < core || reached[v-core] }
	for grown := true; grown; {
		grown = false
		for _, e := range n.Edges {
			if is(e.From) != is(e.To) {
				reached[max(e.From, e.To)-core], grown = true, true
				if e.From >= core && e.To >= core {
					reached[e.From-core], reached[e.To-core] = true, true
				}
			}
		}
	}
	return slices.Index(reached, false)
}

// eachWhole calls f with the query and with each of its subqueries.
func (q *Query) eachWhole(f func(*Query) error) error {
	if err := f(q); err != nil {
		return err
	}
	for i := range q.Negations {
		if err := f(q.Subquery(&q.Negations[i])); err != nil {
			return err
		}
	}
	return nil
}

// sameNegations reports whether two queries of equal cores deny the same, in the same order.
func sameNegations(a, b *Query) bool {
	return slices.EqualFunc(a.Negations, b.Negations, func(m, n Negation) bool {
		return slices.EqualFunc(m.Vertices, n.Vertices, func(v, w QueryVertex) bool {
			return v.Labels().Key() == w.Labels().Key()
		}) && slices.EqualFunc(m.Edges, n.Edges, func(e, f QueryEdge) bool {
			return e.From == f.From && e.To == f.To && e.Either == f.Either && e.Labels().Key() == f.Labels().Key()
		}) && slices.Equal(conditionKeys(m.Conditions), conditionKeys(n.Conditions))
	})
}

func conditionKeys(all []*condition.Condition) (keys []string) {
	for _, c := range all {
		keys = append(keys, c.Key(nil))
	}
	slices.Sort(keys)
	return keys
}

// CompetingNegated is Competing for the own edges of negations: it returns the first negation with such an edge, and
// the edge's index among its own ones.
func (q *Query) CompetingNegated(directed bool) (negation, edge int, text string) {
	for i := range q.Negations {
		n := &q.Negations[i]
		whole := q.Subquery(n)
		whole.Edges = n.Edges
		if e, text := whole.Competing(directed); e >= 0 {
			return i, e, text
		}
	}
	return -1, -1, ""
}

// ResolveNegation is Resolve for the conditions of a negation: elements are those of its Subquery.
func (q *Query) ResolveNegation(g *dyngraph.Graph, n *Negation) ([]Condition, error) {
	return q.Subquery(n).Resolve(g)
}

// FormatNegation prints a negation as Cypher, edge by edge.
func (q *Query) FormatNegation(n *Negation) string {
	whole := q.Subquery(n)
	plain := func(s string) string { return s }
	labels := func(l condition.Labels) string {
		if l == nil {
			return ""
		}
		return ":" + l.Format(plain)
	}
	mentioned := make(map[int]bool)
	vertex := func(v int) string {
		text := whole.Vertices[v].Name
		if v >= len(q.Vertices) && !mentioned[v] {
			text += labels(whole.Vertices[v].Labels())
		}
		mentioned[v] = true
		return "(" + text + ")"
	}
	text := "NOT EXISTS { "
	for i, e := range n.Edges {
		if i > 0 {
			text += ", "
		}
		arrow := "->"
		if e.Either {
			arrow = "-"
		}
		text += vertex(e.From) + "-[" + e.Name + labels(e.Labels()) + "]" + arrow + vertex(e.To)
	}
	for i, c := range n.Conditions {
		word := " WHERE "
		if i > 0 {
			word = " AND "
		}
		text += word + c.Format(whole.ElementName)
	}
	return text + " }"
}

// negatedVertices, negatedEdges and negatedConditions are those that negations add to the core.
func (q *Query) negatedVertices() (all []QueryVertex) {
	for i := range q.Negations {
		all = append(all, q.Negations[i].Vertices...)
	}
	return all
}

func (q *Query) negatedEdges() (all []QueryEdge) {
	for i := range q.Negations {
		all = append(all, q.Negations[i].Edges...)
	}
	return all
}

func (q *Query) negatedConditions() (all []*condition.Condition) {
	for i := range q.Negations {
		all = append(all, q.Negations[i].Conditions...)
	}
	return all
}
