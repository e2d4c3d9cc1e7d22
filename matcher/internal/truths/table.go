package truths

import (
	"maps"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Table holds the words of all edges and of all vertices, and the tests of the plans that it serves. Without conditions
// it takes no memory and no time.
type Table struct {
	g     *dyngraph.Graph
	round uint64
	plans map[*matcher.Plan]*planned

	edges, vertices store

	delta *dyngraph.Delta
}

// planned are the tests of a plan.
type planned struct {
	edges, vertices []*Test // by pattern edge and vertex; nil without conditions
	round           uint64
}

// Load makes t a table over g without plans.
func (t *Table) Load(g *dyngraph.Graph) {
	*t = Table{g: g, plans: map[*matcher.Plan]*planned{}, edges: newStore(edgesOf(g)),
		vertices: newStore(verticesOf(g))}
}

// Prepare makes the table serve the plans, and no others. What elements do not have yet is evaluated in the old view,
// so a staged batch must be handed to Stage afterwards. Plans that it served before cost nothing.
func (t *Table) Prepare(plans []*matcher.Plan) {
	t.round++
	for _, p := range plans {
		known := t.plans[p]
		if known == nil {
			known = &planned{edges: t.edges.testsOf(p, p.Own, p.EdgeLabels),
				vertices: t.vertices.testsOf(p, p.OwnVertex, p.VertexLabels)}
			t.plans[p] = known
		}
		known.round = t.round
	}
	maps.DeleteFunc(t.plans, func(_ *matcher.Plan, known *planned) bool {
		if known.round == t.round {
			return false
		}
		for _, test := range known.edges {
			t.edges.drop(test)
		}
		for _, test := range known.vertices {
			t.vertices.drop(test)
		}
		return true
	})
	old := t.g.View(dyngraph.Old)
	t.edges.arrange(old)
	t.vertices.arrange(old)
}

// Of returns the test of a pattern edge, nil if it has no conditions of its own. The plan must have been given to
// Prepare.
func (t *Table) Of(p *matcher.Plan, edge int) *Test {
	if tests := t.plans[p].edges; tests != nil {
		return tests[edge]
	}
	return nil
}

// OfVertex is Of for a pattern vertex.
func (t *Table) OfVertex(p *matcher.Plan, vertex int) *Test {
	if tests := t.plans[p].vertices; tests != nil {
		return tests[vertex]
	}
	return nil
}

// Keep has a test of vertices, which may be nil, be served also without a plan that has it, until Release.
func (t *Table) Keep(test *Test) {
	if test != nil {
		test.refs++
	}
}

// Release ends what Keep began. A call of Prepare follows before words are read.
func (t *Table) Release(test *Test) { t.vertices.drop(test) }

// Stage evaluates the inserted edges and the created vertices of a staged batch, and the new versions of replaced edges
// and revised vertices.
func (t *Table) Stage(d *dyngraph.Delta) {
	t.delta = d
	t.edges.begin(d, d.Replaced)
	t.vertices.begin(d, len(d.Revised))
	view := t.g.View(dyngraph.New)
	if t.edges.stride > 0 {
		for i := range d.Net {
			if n := &d.Net[i]; n.Sign == dyngraph.Inserted && !n.Vertex {
				t.edges.evaluateAll(view, uint32(n.Edge), n.Label, t.OfNet(uint32(i)))
			}
		}
	}
	if t.vertices.stride > 0 {
		for _, v := range d.Created {
			t.vertices.evaluateAll(view, uint32(v), view.Label(v), t.vertices.at(uint32(v)))
		}
		for i := range d.Revised {
			r := &d.Revised[i]
			t.vertices.evaluateAll(view, uint32(r.Vertex), view.Label(r.Vertex), t.vertices.newAt(r.New))
		}
	}
}

// Commit makes the new versions of replaced edges and revised vertices the present ones.
func (t *Table) Commit() {
	if t.delta == nil {
		return
	}
	if len(t.edges.news) > 0 {
		for i := range t.delta.Net {
			if n := &t.delta.Net[i]; n.Replaced && n.Sign == dyngraph.Inserted {
				copy(t.edges.at(uint32(n.Edge)), t.edges.newAt(uint32(i)))
			}
		}
	}
	if len(t.vertices.news) > 0 {
		for i := range t.delta.Revised {
			r := &t.delta.Revised[i]
			copy(t.vertices.at(uint32(r.Vertex)), t.vertices.newAt(r.New))
		}
	}
	t.delta = nil
}

// Abort forgets the staged batch.
func (t *Table) Abort() { t.delta = nil }

// OfNet returns the words of a net edge of the staged batch: of the old version if it is deleted, of the new one if it
// is inserted.
func (t *Table) OfNet(order uint32) []uint64 {
	if n := &t.delta.Net[order]; !n.Replaced || n.Sign == dyngraph.Deleted {
		return t.edges.at(uint32(n.Edge))
	}
	return t.edges.newAt(order)
}

// In returns the words of an edge in a view.
func (t *Table) In(w dyngraph.Which, e dyngraph.Entry) []uint64 {
	if e.Staged() && w == dyngraph.New {
		if order, ok := t.replaced(e.Index()); ok {
			return t.OfNet(order)
		}
	}
	return t.edges.at(uint32(e.Index()))
}

// Either reports whether some version of an edge passes a test.
func (t *Table) Either(test *Test, e dyngraph.Entry) bool {
	return test.Passes(t.In(dyngraph.Old, e)) || e.Staged() && test.Passes(t.In(dyngraph.New, e))
}

// EitherVertex reports whether some version of a vertex passes a test.
func (t *Table) EitherVertex(test *Test, v dyngraph.VertexID) bool {
	return test.Passes(t.OfVertexIn(dyngraph.Old, v)) || test.Passes(t.OfVertexIn(dyngraph.New, v))
}

// replaced returns the order of the new version of an edge that the batch replaces.
func (t *Table) replaced(e dyngraph.EdgeIndex) (order uint32, ok bool) {
	_, order, ok = t.g.Staged(e)
	return order + 1, ok && t.delta.Net[order].Replaced
}

// OfVertexIn returns the words of a vertex in a view.
func (t *Table) OfVertexIn(w dyngraph.Which, v dyngraph.VertexID) []uint64 {
	if w == dyngraph.New && t.delta != nil {
		if r, revised := t.delta.RevisionOf(v); revised {
			return t.vertices.newAt(r.New)
		}
	}
	return t.vertices.at(uint32(v))
}

// Turns reports whether a vertex passes a test in one view of the staged batch only. The batch must revise it.
func (t *Table) Turns(test *Test, v dyngraph.VertexID) bool {
	return test.Passes(t.OfVertexIn(dyngraph.Old, v)) != test.Passes(t.OfVertexIn(dyngraph.New, v))
}
