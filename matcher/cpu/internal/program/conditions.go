package program

import (
	"math"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// The conditions of a query (DESIGN S17) are tested as early as they can be: those on one edge where a data edge is
// admitted as its image, by its truth words, and the anchor's before anything is searched; those on one vertex by its
// candidate bits, and for a revised vertex by its truth words once its step is mapped; order and difference constraints
// between edges, and the window, as Readings of the step that maps the last of the edges; others on several elements
// once the step is mapped that maps the last of these. Values and words are those of the view that is searched.
//
// A revised vertex is ordered among the net edges (DESIGN S16). A search does not take one that matters where it would
// be mapped if its order is beyond the anchor's: another anchor finds the match.

// Conditions are those of an order that are about vertices or several elements. An order whose matches have images
// (DESIGN A6) may have several: the images are to meet conditions of their own, which are told here of the match.
type Conditions struct {
	// Asked are the plan's, and VertexTests what data vertices must meet alone, both by pattern vertex. They are nil
	// in orders for batches that revise no vertices.
	Asked       []matcher.Asked
	VertexTests []*truths.Test
	root        int // the first pattern vertex
	// Between are, by step, those on several elements of which the step maps the last. Rest are those of them that are
	// in no Reading of the step.
	Between, Rest [][]*matcher.Condition
	Within        int64 // the window in milliseconds, 0 for none
	// Forms are the rows that a match yields which meets them.
	Forms []Form
}

// addConditions fills in what a compiled order tests, and what rows it yields.
func (o *Order) addConditions(p *matcher.Plan, m *matcher.Member, f candidates.Source, revises bool) {
	revises = revises && p.Query.ReadsVertices()
	if p.Query.OwnOnly() && !revises {
		o.Forms = []Form{o.formOf(nil)}
		for _, image := range m.Images {
			o.Forms = append(o.Forms, o.formOf(o.imageColumns(image)))
		}
		return
	}
	b := &conditionsBuilder{o: o, p: p, edgeAt: m.Order.StepOf(len(p.Query.Edges)),
		vertexAt: make([]int, len(p.Query.Vertices))}
	for i := range o.Steps {
		b.vertexAt[o.Steps[i].Vertex] = i
	}
	for _, s := range o.sharers(p, m) {
		c := b.add(s)
		if revises {
			c.Asked, c.root = s.asked, o.Steps[0].Vertex
			for v := range p.Asked { // images map vertices to such as have the same conditions alone
				c.VertexTests = append(c.VertexTests, f.VertexTest(p, v))
			}
		}
		o.Forms = append(o.Forms, c.Forms...)
	}
	for i := range o.Steps {
		st := &o.Steps[i]
		// The anchor confines others.
		slices.SortStableFunc(st.Readings, func(a, b Reading) int { return a.Back - b.Back })
		st.HasBeside = slices.ContainsFunc(st.Readings, func(r Reading) bool { return r.Beside != nil })
		for _, c := range o.Variants {
			st.MapsFirst = st.MapsFirst || c.Rest[i] != nil || revises && !c.Asked[st.Vertex].Nothing()
		}
		st.Tested, st.Prior = st.Readings != nil || st.MapsFirst, o.Last
		if st.Tested {
			o.Last = 1 + i
		}
	}
}

// View returns the view that is searched.
func (a *Admission) View() dyngraph.View {
	switch a.Sign {
	case dyngraph.Inserted:
		return a.graph.View(dyngraph.New)
	case dyngraph.Deleted:
		return a.graph.View(dyngraph.Old)
	}
	return a.graph.View(a.Which)
}

// Meets reports whether a data edge, in the view that is searched, passes a test of a pattern edge; nil if there is
// none.
func (a *Admission) Meets(test *truths.Test, e dyngraph.Entry) bool {
	return test == nil || test.Passes(a.truths.In(a.View().Which(), e))
}

// MeetsNet is Meets for a net edge of the staged batch: for the version of it that its sign names.
func (a *Admission) MeetsNet(test *truths.Test, order uint32) bool {
	return test == nil || test.Passes(a.truths.OfNet(order))
}

// room returns memory for n values.
func (a *Admission) room(n int) []property.Value {
	a.values = slices.Grow(a.values[:0], n)
	return a.values[:n]
}

// MeetsVertex reports whether candidate w of a pattern vertex meets the conditions on that alone in the view that is
// searched, and is no revised vertex that matters there and whose order is beyond the anchor's. Nor may it be the
// anchor itself where that matters at a pattern vertex before the first step's: of the pattern vertices that share the
// anchor as their image, the first one finds the match. A vertex that is not revised meets them in both views, or it
// would be no candidate.
func (a *Admission) MeetsVertex(c *Conditions, vertex int, w dyngraph.VertexID) bool {
	if a.delta == nil || c.Asked == nil {
		return true
	}
	r, revised := a.delta.RevisionOf(w)
	if !revised {
		return true
	}
	if t := c.VertexTests[vertex]; t != nil && !t.Passes(a.truths.OfVertexIn(a.View().Which(), w)) {
		return false
	}
	beyond := vertex < c.root && (a.Sign == dyngraph.Inserted && r.New == a.Anchor ||
		a.Sign == dyngraph.Deleted && r.Old == a.Anchor) ||
		a.Sign == dyngraph.Inserted && r.New > a.Anchor || a.Sign == dyngraph.Deleted && r.Old < a.Anchor
	return !beyond || !Matters(a.graph, a.truths, c.VertexTests[vertex], c.Asked[vertex].Columns, w)
}

// Matters reports whether the revision of a data vertex matters at a pattern vertex (DESIGN S16), given the test of
// that alone, which may be nil, and the columns that other conditions read. It is matcher.Asked.Matters by truth words.
func Matters(g *dyngraph.Graph, words *truths.Table, test *truths.Test, columns []int, v dyngraph.VertexID) bool {
	if test != nil && words.Turns(test, v) {
		return true
	}
	before, after := g.View(dyngraph.Old), g.View(dyngraph.New)
	return slices.ContainsFunc(columns, func(column int) bool {
		return before.VertexValue(v, column) != after.VertexValue(v, column)
	})
}

// Other returns the view that an incremental search does not search.
func (a *Admission) Other() dyngraph.View {
	if a.Sign == dyngraph.Deleted {
		return a.graph.View(dyngraph.New)
	}
	return a.graph.View(dyngraph.Old)
}

// NetEdge returns the net edge of an order of the staged batch.
func (a *Admission) NetEdge(order uint32) *dyngraph.NetEdge { return &a.delta.Net[order] }

// InBoth reports whether a match is left out because it is in the other view, too: its conditions hold there, and its
// edges are not the batch's or, with a silence that does not keep the match, replaced.
func (a *Admission) InBoth(p *matcher.Plan, silence *matcher.Silence, vertices, edges []uint32) bool {
	replaced := false
	for _, e := range edges {
		switch order := a.orders[e]; {
		case order == 0:
		case silence == nil || order&dyngraph.Replaced == 0 || silence.Ended(order&(dyngraph.Replaced-1)-1):
			return false
		default:
			replaced = true
		}
	}
	other := a.Other()
	for i := range p.Conditions {
		c := &p.Conditions[i]
		if edges := c.Elements[0].Edge; edges && !replaced { // vertices come first
			continue // it holds there, as it does here
		}
		if !c.Holds(other, vertices, edges, a.room(len(c.Reads))) {
			return false
		}
	}
	within := p.Query.Within
	if !replaced || within == 0 {
		return true
	}
	span := NoEdges
	for _, e := range edges {
		if !span.add(other.Value(dyngraph.EdgeIndex(e), property.TS)) {
			return false
		}
	}
	return span.Within(within)
}

// Hold reports whether conditions on several elements hold, for data vertices and edges in pattern order.
func (a *Admission) Hold(between []*matcher.Condition, vertices, edges []uint32) bool {
	for _, c := range between {
		if !c.Holds(a.View(), vertices, edges, a.room(len(c.Reads))) {
			return false
		}
	}
	return true
}

// Span is the least and the greatest ts of some edges.
type Span struct{ Least, Most int64 }

// NoEdges is the span of no edges.
var NoEdges = Span{math.MaxInt64, math.MinInt64}

// Add makes the span include a data edge; false if that has no ts.
func (a *Admission) Add(s *Span, e dyngraph.EdgeIndex) bool {
	return s.add(a.View().Value(e, property.TS))
}

func (s *Span) add(v property.Value) bool {
	s.Least, s.Most = min(s.Least, v.Whole()), max(s.Most, v.Whole())
	return !v.IsNull()
}

// Within reports whether the span is at most ms milliseconds long. A span without edges is.
func (s *Span) Within(ms int64) bool {
	return s.Least > s.Most || uint64(s.Most)-uint64(s.Least) <= uint64(ms)
}
