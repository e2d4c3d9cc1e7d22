package matcher

import (
	"fmt"
	"slices"

	"motifd/matcher/condition"
)

// variant links a plain query to the query with paths of which it is a variant.
type variant struct {
	of      *Query
	lengths []int // of its paths, in pattern order
	first   []int // by edge of the query with paths: the first edge here
	inner   []int // by edge of the query with paths: the first inner vertex here
}

// VariantOf returns the query with paths of which this one is a variant, and nil for any other query.
func (q *Query) VariantOf() *Query {
	if q.variant == nil {
		return nil
	}
	return q.variant.of
}

// Lengths returns the lengths of the paths of a variant, in pattern order; nil for any other query. They are the first
// part of what orders matches, and of match ids (DESIGN S6, S7).
func (q *Query) Lengths() []int {
	if q.variant == nil {
		return nil
	}
	return q.variant.lengths
}

// Part returns what an edge of the query with paths is in its variant q: edges and inner vertices, each half-open
// ranges of indexes.
func (q *Query) Part(edge int) (edges, inner [2]int) {
	v := q.variant
	n := 1
	if v.of.Edges[edge].Hops != nil {
		n = v.lengths[slices.Index(v.of.Paths(), edge)]
	}
	return [2]int{v.first[edge], v.first[edge] + n}, [2]int{v.inner[edge], v.inner[edge] + n - 1}
}

// PathEnds returns the vertices of a variant at which a path begins or ends; none for any other query.
func (q *Query) PathEnds() (ends []int) {
	of := q.VariantOf()
	if of == nil {
		return nil
	}
	for _, p := range of.Paths() {
		ends = append(ends, of.Edges[p].From, of.Edges[p].To)
	}
	return ends
}

// Variants returns the plain queries whose matches are those of a query with paths: one for each combination of
// lengths, ascending. Each has q's name, version and settings. Its vertices are q's, then the inner ones, path by path;
// its edges are q's, with those of a path in its place. A condition that reads a path is one for each of its edges;
// rises and spans are conditions between edges; negations are q's. q is valid.
func (q *Query) Variants() (all []*Query) {
	paths := q.Paths()
	lengths := make([]int, len(paths))
	for i, p := range paths {
		lengths[i] = q.Edges[p].Hops.Least
	}
	for {
		all = append(all, q.variantOf(slices.Clone(lengths)))
		at := len(paths) - 1
		for ; at >= 0; at-- {
			if h := q.Edges[paths[at]].Hops; lengths[at] < h.Most {
				lengths[at]++
				break
			}
			lengths[at] = q.Edges[paths[at]].Hops.Least
		}
		if at < 0 {
			return all
		}
	}
}

// longest returns the variant with the longest paths: it has the names, and reads the properties, of all others.
func (q *Query) longest() *Query {
	var lengths []int
	for _, p := range q.Paths() {
		lengths = append(lengths, q.Edges[p].Hops.Most)
	}
	return q.variantOf(lengths)
}

func (q *Query) variantOf(lengths []int) *Query {
	v := *q
	v.variant = &variant{of: q, lengths: lengths}
	v.Vertices, v.Edges = slices.Clone(q.Vertices), nil
	v.Conditions, v.Fields, v.Rises, v.Spans = nil, nil, nil, nil
	path := 0
	for i := range q.Edges {
		e := q.Edges[i]
		v.variant.first = append(v.variant.first, len(v.Edges))
		v.variant.inner = append(v.variant.inner, len(v.Vertices))
		if e.Hops == nil {
			v.Edges = append(v.Edges, e)
			continue
		}
		v.addPath(e, lengths[path])
		path++
	}
	v.addConditions(q)
	v.addNegations(q)
	if q.Once != nil {
		once := *q.Once
		once.Per = nil
		for _, r := range q.Once.Per {
			once.Per = append(once.Per, v.image(0)(r))
		}
		v.Once = &once
	}
	for _, f := range q.Fields {
		if f.Formula != nil {
			f.Formula = f.Formula.Renamed(v.image(0))
		} else {
			f.Element = v.image(0)(f.Element)
		}
		v.Fields = append(v.Fields, f)
	}
	return &v
}

// addPath adds the edges and inner vertices of a path. Edge i of path t is called t[i], as in Cypher, and the vertex
// behind it t#i.
func (q *Query) addPath(path QueryEdge, length int) {
	from := path.From
	for i := range length {
		e := path
		e.Hops, e.Name, e.From = nil, fmt.Sprintf("%s[%d]", path.Name, i), from
		if i < length-1 {
			e.To = len(q.Vertices)
			q.Vertices = append(q.Vertices, QueryVertex{Name: fmt.Sprintf("%s#%d", path.Name, i)})
		}
		from = e.To
		q.Edges = append(q.Edges, e)
	}
}

// image returns what a variant calls an element of the query with paths; of a path, its edge of an index.
func (q *Query) image(at int) func(condition.Ref) condition.Ref {
	return func(r condition.Ref) condition.Ref {
		if r.Edge {
			edge := r.Index
			if r.Index = q.variant.first[edge]; q.variant.of.Edges[edge].Hops != nil {
				r.Index += at
			}
		}
		return r
	}
}

// addConditions gives a variant the conditions of the query with paths.
func (q *Query) addConditions(of *Query) {
	seen := map[string]bool{}
	add := func(c *condition.Condition) {
		if key := c.Key(nil); !seen[key] {
			seen[key] = true
			q.Conditions = append(q.Conditions, c)
		}
	}
	for _, c := range of.Conditions {
		path := of.pathRead(c)
		if path < 0 {
			add(c.Renamed(q.image(0)))
			continue
		}
		edges, _ := q.Part(path)
		for at := range edges[1] - edges[0] {
			add(c.Renamed(q.image(at)))
		}
	}
	for _, r := range of.Rises {
		edges := q.expanded(r.Edges)
		for i := 1; i < len(edges); i++ {
			add(condition.Before(edges[i-1], edges[i], r.Pos))
		}
	}
	for _, s := range of.Spans {
		for _, c := range q.spanConditions(of, &s) {
			add(c)
		}
	}
}

// addNegations gives a variant the negations of the query with paths. Their own elements are behind the variant's.
func (q *Query) addNegations(of *Query) {
	vertices, edges := len(q.Vertices)-len(of.Vertices), len(q.Edges)-len(of.Edges)
	image := func(r condition.Ref) condition.Ref {
		switch {
		case r.Edge && r.Index >= len(of.Edges):
			r.Index += edges
		case !r.Edge && r.Index >= len(of.Vertices):
			r.Index += vertices
		default:
			r = q.image(0)(r)
		}
		return r
	}
	q.Negations = nil
	for _, n := range of.Negations {
		own := Negation{Vertices: n.Vertices}
		for _, e := range n.Edges {
			e.From, e.To = image(condition.Ref{Index: e.From}).Index, image(condition.Ref{Index: e.To}).Index
			own.Edges = append(own.Edges, e)
		}
		for _, c := range n.Conditions {
			own.Conditions = append(own.Conditions, c.Renamed(image))
		}
		q.Negations = append(q.Negations, own)
	}
}

// expanded returns the edges of a variant that pattern edges of the query with paths stand for.
func (q *Query) expanded(edges []int) (all []int) {
	for _, e := range edges {
		part, _ := q.Part(e)
		for i := part[0]; i < part[1]; i++ {
			all = append(all, i)
		}
	}
	return all
}

// spanConditions returns what a span demands of a variant's edges: of each pair, or of the first and the last where a
// rise orders all of them.
func (q *Query) spanConditions(of *Query, s *Span) (all []*condition.Condition) {
	edges := q.expanded(s.Edges)
	if len(edges) == 1 {
		return []*condition.Condition{condition.Timed(edges[0], s.Pos)}
	}
	for _, r := range of.Rises {
		if rising := inOrder(q.expanded(r.Edges), edges); rising != nil {
			return []*condition.Condition{condition.Apart(rising[len(rising)-1], rising[0], s.Most, s.Pos)}
		}
	}
	for _, a := range edges {
		for _, b := range edges {
			if a != b {
				all = append(all, condition.Apart(a, b, s.Most, s.Pos))
			}
		}
	}
	return all
}

// inOrder returns the edges in the order in which they stand among others; nil if some do not.
func inOrder(among, edges []int) (ordered []int) {
	for _, e := range among {
		if slices.Contains(edges, e) {
			ordered = append(ordered, e)
		}
	}
	if len(ordered) < len(edges) {
		return nil
	}
	return ordered
}

// CanHold reports whether some combination of lengths may meet the conditions: false if those of each contradict one
// another. It does not find every contradiction.
func (q *Query) CanHold() bool {
	for _, v := range q.Variants() {
		if !condition.Contradict(v.Conditions) {
			return true
		}
	}
	return false
}
