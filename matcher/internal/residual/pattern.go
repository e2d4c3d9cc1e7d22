package residual

import (
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Pattern is the pattern of a search that extends rows. A row of it holds the images of the vertices, then those of the
// edges.
type Pattern struct {
	Vertices []dyngraph.LabelID // resolved labels, as in matcher.Plan
	Edges    []Edge
	// Conditions must be true of a row. Their elements are the pattern's.
	Conditions []matcher.Condition
	// Within bounds the greatest ts of the row's edges less the least, in milliseconds; 0 is no bound.
	Within int64
	// VertexDiffers and EdgeDiffers list, by element, the others whose images are different ones.
	VertexDiffers, EdgeDiffers [][]int
}

// Edge is an edge of a Pattern.
type Edge struct {
	From, To int
	Label    dyngraph.LabelID // resolved
	Either   bool             // it matches in both directions; in an undirected graph all edges do
}

// Order says in which steps the elements of a pattern are mapped that are not given. It is immutable.
type Order struct {
	p     *Pattern
	steps []step
	first []int // conditions on given elements alone
	// whole tells that the row is that of the whole pattern in the end: then Pattern.Within is tested.
	whole bool
}

// step maps a vertex and the edges that join it to those mapped before; or, with vertex -1, edges between such.
type step struct {
	vertex     int
	edges      []int
	conditions []int // that can be tested once the step is mapped, and not before
}

// Steps yields the steps of the order: the vertex that a step maps, -1 for none, and the edges that it maps.
func (o *Order) Steps() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		for i := range o.steps {
			if !yield(o.steps[i].vertex, o.steps[i].edges) {
				return
			}
		}
	}
}

// From returns the order in which elements are mapped from those that are given: given and wanted list elements, and
// the ends of an edge belong to it. Each wanted vertex is joined to a given one by wanted edges. A condition that reads
// an element which is neither given nor wanted is left out.
func (p *Pattern) From(given, wanted []condition.Ref) *Order {
	mapped := make(map[condition.Ref]bool)
	for _, r := range given {
		mapped[r] = true
		if r.Edge {
			mapped[condition.Ref{Index: p.Edges[r.Index].From}] = true
			mapped[condition.Ref{Index: p.Edges[r.Index].To}] = true
		}
	}
	return p.Order(mapped, wanted)
}

// Order is From for a set of elements that are given: the ends of its edges are given if they are in it. It takes the
// set over.
func (p *Pattern) Order(mapped map[condition.Ref]bool, wanted []condition.Ref) *Order {
	o := &Order{p: p}
	rest := make(map[condition.Ref]bool)
	for _, r := range wanted {
		if r.Edge && !mapped[r] {
			rest[r] = true
		}
	}
	tested := make([]bool, len(p.Conditions))
	ready := func() (all []int) {
		for i := range p.Conditions {
			if !tested[i] && !slices.ContainsFunc(p.Conditions[i].Elements, func(r condition.Ref) bool {
				return !mapped[r]
			}) {
				tested[i] = true
				all = append(all, i)
			}
		}
		return all
	}
	o.first = ready()
	for {
		next, edges := p.next(mapped, rest)
		if len(edges) == 0 {
			break
		}
		if next >= 0 {
			mapped[condition.Ref{Index: next}] = true
		}
		for _, e := range edges {
			r := condition.Ref{Edge: true, Index: e}
			mapped[r] = true
			delete(rest, r)
		}
		o.steps = append(o.steps, step{next, edges, ready()})
	}
	o.whole = len(mapped) == len(p.Vertices)+len(p.Edges)
	return o
}

// next returns the edges of rest between mapped vertices, with vertex -1; or, where there are none, the vertex that is
// not mapped and that most edges of rest join to mapped ones, with these.
func (p *Pattern) next(mapped, rest map[condition.Ref]bool) (vertex int, edges []int) {
	is := func(v int) bool { return mapped[condition.Ref{Index: v}] }
	joining := func(v int) (edges []int) {
		for i, e := range p.Edges {
			if !rest[condition.Ref{Edge: true, Index: i}] {
				continue
			}
			if v < 0 && is(e.From) && is(e.To) || v == e.From && is(e.To) || v == e.To && is(e.From) {
				edges = append(edges, i)
			}
		}
		return edges
	}
	if edges = joining(-1); len(edges) > 0 {
		return -1, edges
	}
	vertex = -1
	for v := range p.Vertices {
		if is(v) {
			continue
		}
		if e := joining(v); len(e) > len(edges) {
			vertex, edges = v, e
		}
	}
	return vertex, edges
}
