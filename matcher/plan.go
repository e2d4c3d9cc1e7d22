package matcher

import (
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Plan is how one version of a query is searched, made by a Planner from label statistics. It is immutable.
// Labels are resolved to ids: a label that the graph has never seen resolves to UnknownLabel, which fits nothing.
type Plan struct {
	Query    *Query
	Directed bool // of the graph

	VertexLabels []dyngraph.LabelID // AnyLabel, UnknownLabel, an id, or that of a LabelSet; by pattern vertex
	EdgeLabels   []dyngraph.LabelID // likewise by pattern edge

	// Several tells, by pattern edge, that the graph has parallel edges of its label (DESIGN S14, A17): of two data
	// vertices there may be several images of the edge. Of AnyLabel it tells it if some label has.
	Several []bool

	// Conditions are the query's, with where their values are. Own holds, by pattern edge, the indexes of those on it
	// alone, and OwnVertex by pattern vertex; both are nil without conditions.
	Conditions []Condition
	Own        [][]int
	OwnVertex  [][]int
	// Asked is, by pattern vertex, what conditions ask about it.
	Asked []Asked

	// MustDiffer holds, by pattern vertex, the set of the others whose image a search must compare with its own, so
	// that matches are injective: a data vertex could fit both. Bit i is pattern vertex i.
	MustDiffer []uint32
	// EdgesMustDiffer lists, by pattern edge, the others whose image a search must compare with its own: those between
	// the same vertices; of a trail all that one data edge could fit where vertices share images; of a homomorphism
	// none.
	EdgesMustDiffer [][]int

	// Anchored holds one matching order for each oriented pattern edge that an update can be tried against
	// (DESIGN A3, A4; GAMMA Algorithm 1).
	Anchored []Order
	// Classes divide Anchored into orders whose rows are searched together (DESIGN A6; GAMMA section V-B): each
	// anchored order is in one class, as a member or as a member's image.
	Classes []Class
	// Alike holds, where embeddings are to meet conditions between elements or a window, the anchored orders as far as
	// labels, directions and conditions on one element go: those that automorphisms of all that map to one another are
	// images of one of them. A match of it is to meet other conditions for each of the images. nil otherwise, as
	// Classes has it all.
	Alike []Member
	// Revised holds one matching order for each pattern vertex that conditions read, for vertices that a batch revises
	// (DESIGN S16, A14). Its first step maps that vertex and has no back edges.
	Revised []Order
	// Static returns the matching order for enumeration of a whole graph. Its first step has no back edges. It is made
	// when it is first asked for, unless the plan has orders for batches.
	Static func() *Order

	// Automorphisms is the number of label-preserving automorphisms of the pattern's vertices and edges. It is 1, and
	// the following are nil, unless the match mode is Isomorphism: nothing is found by symmetry then.
	Automorphisms Count
	// VertexLess lists pairs (a, b) of pattern vertices, a before b in pattern order, such that a match
	// represents its orbit if and only if id(a) < id(b) for each pair and the order of EdgeLess holds
	// (Unit Subgraphs, DESIGN S4; Grochow and Kellis's symmetry breaking with base 0, 1, 2, ...).
	VertexLess [][2]int
	// EdgeLess lists pairs of parallel, interchangeable pattern edges whose mapped edges must ascend by identity.
	EdgeLess [][2]int

	// Together holds, of a variant of a query with paths, by anchored order, one for a search of all variants at once:
	// it was chosen with those of the other variants, so that many begin with the same steps (DESIGN A23). nil where
	// nothing is searched so.
	Together []Order

	// Absent are negations that a backend may test while it searches. It need not: package negation tests all of them.
	Absent []Absent

	// Groups is the plan of a query with WITH, which has no orders (DESIGN S24); nil otherwise.
	Groups *GroupPlan
	// Variants are the plans of Query.Variants, in their order, where the query has paths. All of the above but Query
	// and Directed is empty then. Backends search the variants; package paths asks them. Of a query with WITH they are
	// those of Query.GroupVariants, which have Groups, and package groups searches them.
	Variants []*Plan

	// Text renders the plan as `explain` prints it: that of a large pattern takes megabytes.
	Text func() string
}

// ForBatches reports whether the plan has orders for batches. One of Planner.Static has none.
func (p *Plan) ForBatches() bool { return len(p.Anchored)+len(p.Revised) > 0 }

// Parts returns the plans that are searched for this one: its variants, or itself alone.
func (p *Plan) Parts() []*Plan {
	if len(p.Variants) > 0 {
		return p.Variants
	}
	return []*Plan{p}
}

// Condition is a condition of a query in a graph.
type Condition struct {
	*condition.Condition
	Reads []Read // by slot
}

// Read is the place where a search finds a value: a column of the graph, of the data edge or vertex that an element is
// mapped to.
type Read struct {
	Element condition.Ref
	Column  int
}

// Value returns what is read of the image of the element in a view.
func (r Read) Value(view dyngraph.View, image uint32) property.Value {
	if r.Element.Edge {
		return view.Value(dyngraph.EdgeIndex(image), r.Column)
	}
	return view.VertexValue(dyngraph.VertexID(image), r.Column)
}

// Holds reports whether a condition is true for a match, or the part of it that the condition reads: data vertices and
// edges in pattern order, in a view. values is memory for as many values as the condition reads.
func (c *Condition) Holds(view dyngraph.View, vertices, edges []uint32, values []property.Value) bool {
	values = values[:len(c.Reads)]
	for i, r := range c.Reads {
		images := vertices
		if r.Element.Edge {
			images = edges
		}
		values[i] = r.Value(view, images[r.Element.Index])
	}
	return c.Eval(values) == condition.True
}

// Meets is Holds for a condition on one element: its image is a data edge or vertex.
func (c *Condition) Meets(view dyngraph.View, image uint32, values []property.Value) bool {
	values = values[:len(c.Reads)]
	for i, r := range c.Reads {
		values[i] = r.Value(view, image)
	}
	return c.Eval(values) == condition.True
}

// Between returns, by step of an order of the plan, the conditions on several elements that can be tested once the step
// is mapped, and not before.
func (p *Plan) Between(o *Order) [][]int {
	at := o.StepOf(len(p.Query.Edges))
	vertexAt := make([]int, len(p.Query.Vertices))
	for i := range o.Steps {
		vertexAt[o.Steps[i].Vertex] = i
	}
	between := make([][]int, len(o.Steps))
	for i := range p.Conditions {
		if c := &p.Conditions[i]; !c.Own() {
			last := c.Last(vertexAt, at)
			between[last] = append(between[last], i)
		}
	}
	return between
}

// Resolved labels that are no label's id.
const (
	AnyLabel     = ^dyngraph.LabelID(0)
	UnknownLabel = ^dyngraph.LabelID(0) - 1
)

// String returns the plan as `explain` prints it.
func (p *Plan) String() string { return p.Text() }

// Order is a matching order: the pattern vertices in the order in which they are mapped.
type Order struct {
	// Edge is the pattern edge that the anchor update maps to, or -1 for a static order. Reversed tells that the
	// update's target maps to the edge's From (edges that match in either direction only).
	Edge     int
	Reversed bool
	// Steps maps one vertex each. For an anchored order the first two steps are the edge's ends, mapped by the
	// update: Steps[0] is the end that the update's source maps to.
	Steps []Step
}

// Class is a set of anchored orders that begin alike, so that what they begin with is searched once for all.
type Class struct {
	// Shared is the number of steps that the members have in common: in each, step i < Shared maps a vertex of the same
	// label, joined to the same earlier steps by edges of the same labels and directions, listed in the same order. A
	// partial match of these steps is one of every member, step by step and edge by edge, whose own filters are to be
	// tested still. It is the number of all steps when there is one member.
	Shared  int
	Members []Member
}

// Member is one order of a class.
type Member struct {
	Anchor int // index into Plan.Anchored
	// Order maps the whole pattern. It is Plan.Anchored[Anchor] where that one is not searched together with others.
	Order Order
	// Images are anchored orders that are not searched at all.
	Images []Image
}

// Image is an anchored order whose matches are those of another one, seen through an automorphism of the pattern.
type Image struct {
	Anchor int // index into Plan.Anchored
	// Vertices and Edges map the pattern by an automorphism that takes the other order's anchor, with its
	// orientation, to this one's. A match f of the other order stands for exactly one of this one, f after the
	// inverse.
	Vertices, Edges []int
}

// StepOf returns, by pattern edge, the step that maps it: of the anchor the one that maps its second end.
func (o *Order) StepOf(edges int) []int {
	at := make([]int, edges)
	for i := range o.Steps {
		for _, b := range o.Steps[i].Back {
			at[b.Edge] = i
		}
	}
	if o.Edge >= 0 {
		at[o.Edge] = 1
	}
	return at
}

// Step maps one pattern vertex.
type Step struct {
	Vertex int // pattern vertex
	// Back are the pattern edges to vertices mapped earlier, which the new vertex must be joined to. In an anchored
	// order, the anchor's own edge is in no Back; a further pattern edge parallel to it is in that of Steps[1].
	Back []BackEdge
}

// BackEdge joins the vertex of a step to one mapped earlier.
type BackEdge struct {
	Edge  int // pattern edge
	Step  int // index of the earlier step
	Label dyngraph.LabelID
	// Dir is the side from which the earlier vertex sees the edge; Either lets both directions match (in a directed
	// graph; in an undirected one every entry is seen as Out).
	Dir    dyngraph.Dir
	Either bool
}
