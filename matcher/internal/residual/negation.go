package residual

import (
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Negation is one of a query (DESIGN S25). Its pattern has the elements of a core and then its own; a row of it for a
// row of the core blocks that one.
type Negation struct {
	Of      *matcher.Negation
	Pattern *Pattern
	Test    *Order // maps its own elements from the whole core
	// FromEdge and FromVertex lead to the core from one of its own elements.
	FromEdge, FromVertex []Lead
	// Asked has the conditions' questions about vertices, including those of the core.
	Asked []matcher.Asked

	vertices, edges int // of the core
}

// Lead is how a change of one own element of a negation leads to the core.
type Lead struct {
	// Order maps what the negation's edges join to the element: its own elements, and the core vertices Named, of which
	// there is one at least.
	Order *Order
	Named []int
	// whole maps the other own elements from the whole core and the element.
	whole *Order
}

// Change is an own element of a negation that a net element is the image of.
type Change struct {
	*Lead
	element []uint32 // a row with the element, and an edge's ends, alone
}

// NewNegation returns a negation of a core, with its conditions resolved. Its labels are unknown until Resolve.
func NewNegation(core *Pattern, of *matcher.Negation, conditions []matcher.Condition) *Negation {
	n := &Negation{Of: of, vertices: len(core.Vertices), edges: len(core.Edges)}
	vertices, edges := n.vertices+len(of.Vertices), n.edges+len(of.Edges)
	p := &Pattern{Vertices: make([]dyngraph.LabelID, vertices), Conditions: conditions,
		Edges: slices.Clone(core.Edges), VertexDiffers: make([][]int, vertices), EdgeDiffers: make([][]int, edges)}
	copy(p.Vertices, core.Vertices)
	var own []int
	for _, e := range of.Edges {
		p.Edges = append(p.Edges, Edge{From: e.From, To: e.To, Either: e.Either})
		own = append(own, e.From, e.To)
	}
	// Own vertices differ from each other and from the named ones, own edges from each other; named vertices where the
	// core has them differ.
	slices.Sort(own)
	own = slices.Compact(own)
	for _, v := range own {
		for _, w := range own {
			if v != w && (max(v, w) >= n.vertices || slices.Contains(core.VertexDiffers[v], w)) {
				p.VertexDiffers[v] = append(p.VertexDiffers[v], w)
			}
		}
	}
	for e := n.edges; e < edges; e++ {
		for f := n.edges; f < edges; f++ {
			if e != f {
				p.EdgeDiffers[e] = append(p.EdgeDiffers[e], f)
			}
		}
	}
	n.Pattern = p
	mine := refs(n.vertices, vertices, n.edges, edges)
	n.Test = p.From(refs(0, n.vertices, 0, n.edges), mine)
	for e := n.edges; e < edges; e++ {
		n.FromEdge = append(n.FromEdge, n.lead(condition.Ref{Edge: true, Index: e}))
	}
	for v := n.vertices; v < vertices; v++ {
		n.FromVertex = append(n.FromVertex, n.lead(condition.Ref{Index: v}))
	}
	n.Asked = asked(vertices, conditions)
	return n
}

// refs lists vertices and edges.
func refs(fromVertex, vertices, fromEdge, edges int) (all []condition.Ref) {
	for v := fromVertex; v < vertices; v++ {
		all = append(all, condition.Ref{Index: v})
	}
	for e := fromEdge; e < edges; e++ {
		all = append(all, condition.Ref{Edge: true, Index: e})
	}
	return all
}

// lead returns how an own element leads to the core: through the part of the negation that its edges join to the
// element. Of another part, joined through the core alone, the rows are found from the core.
func (n *Negation) lead(from condition.Ref) (l Lead) {
	p := n.Pattern
	reached := make([]bool, len(p.Vertices))
	if from.Edge {
		reached[p.Edges[from.Index].From] = true
	} else {
		reached[from.Index] = true
	}
	for grown := true; grown; {
		grown = false
		for _, e := range p.Edges[n.edges:] {
			if reached[e.From] != reached[e.To] {
				reached[e.From], reached[e.To], grown = true, true, true
			}
		}
	}
	var wanted []condition.Ref
	for i, e := range p.Edges[n.edges:] {
		if reached[e.From] {
			wanted = append(wanted, condition.Ref{Edge: true, Index: n.edges + i})
		}
	}
	for v := range n.vertices {
		if reached[v] {
			l.Named = append(l.Named, v)
		}
	}
	l.Order = p.From([]condition.Ref{from}, wanted)
	l.whole = p.From(append(refs(0, n.vertices, 0, n.edges), from), refs(n.vertices, len(p.Vertices), n.edges,
		len(p.Edges)))
	return l
}

// asked returns what conditions ask about each vertex, as plan.Planner does for a query.
func asked(vertices int, conditions []matcher.Condition) []matcher.Asked {
	all := make([]matcher.Asked, vertices)
	for i := range conditions {
		c := &conditions[i]
		for _, r := range c.Reads {
			if r.Element.Edge {
				continue
			}
			a := &all[r.Element.Index]
			if c.Own() {
				a.Own = append(a.Own, c)
				break
			}
			a.Columns = append(a.Columns, r.Column)
		}
	}
	return all
}

// Resolve looks up the labels of the own elements, which a batch may have brought.
func (n *Negation) Resolve(g *dyngraph.Graph) {
	var vertices, edges []dyngraph.LabelID
	for _, of := range n.Of.Vertices {
		vertices = append(vertices, matcher.ResolveLabel(g, of.Label, of.AnyOf))
	}
	for _, of := range n.Of.Edges {
		edges = append(edges, matcher.ResolveLabel(g, of.Label, of.AnyOf))
	}
	n.SetLabels(vertices, edges)
}

// SetLabels gives the own elements their labels, resolved.
func (n *Negation) SetLabels(vertices, edges []dyngraph.LabelID) {
	copy(n.Pattern.Vertices[n.vertices:], vertices)
	for e, l := range edges {
		n.Pattern.Edges[n.edges+e].Label = l
	}
}

// Core returns the core elements that the negation's edges join, and those that its conditions read.
func (n *Negation) Core() (all []condition.Ref) {
	for _, e := range n.Pattern.Edges[n.edges:] {
		for _, v := range [2]int{e.From, e.To} {
			if v < n.vertices {
				all = append(all, condition.Ref{Index: v})
			}
		}
	}
	for _, c := range n.Pattern.Conditions {
		for _, r := range c.Elements {
			if r.Edge && r.Index < n.edges || !r.Edge && r.Index < n.vertices {
				all = append(all, r)
			}
		}
	}
	return all
}

// Matters reports whether the revision of a vertex matters at a core vertex for what the negation asks (DESIGN S16).
func (n *Negation) Matters(g *dyngraph.Graph, u int, v dyngraph.VertexID) bool {
	a := &n.Asked[u]
	return !a.Nothing() && a.Matters(g, v, nil)
}

// Fits reports whether a net element can be the image of an own element, going by labels.
func (n *Negation) Fits(net *dyngraph.NetEdge, view dyngraph.View) bool {
	return (!net.Vertex || net.Revised) && n.Pattern.Fits(net, view, n.vertices, n.edges)
}

// mostSeen bounds the sets of images by which Changed knows that they were told. It tells of those beyond once for each
// row that has them.
const mostSeen = 1 << 16

// Changed calls f with the images of the core vertices that a net element leads to, once for each set of them and each
// own element that the net element can be the image of, in either direction: in a row of which f reads what the change
// names, and which it must not keep. A revised vertex is tried where it matters. The search has the view, which has the
// net element.
func (n *Negation) Changed(s *Search, net *dyngraph.NetEdge, room *[]uint32,
	f func(c *Change, row []uint32) error) error {
	return n.Pattern.Begin(net, s.View, n.vertices, n.edges, room, func(r condition.Ref, row []uint32) error {
		c := Change{element: slices.Clone(row)}
		switch {
		case r.Edge:
			c.Lead = &n.FromEdge[r.Index-n.edges]
		case !net.Revised || !n.Asked[r.Index].Matters(s.View.Graph(), net.From, nil):
			return nil
		default:
			c.Lead = &n.FromVertex[r.Index-n.vertices]
		}
		seen := make(map[string]bool)
		s.Found = func(row []uint32) (bool, error) {
			key := c.key(row)
			if seen[key] {
				return true, nil
			}
			if len(seen) < mostSeen {
				seen[key] = true
			}
			return true, f(&c, row)
		}
		_, err := s.Run(c.Order, row)
		return err
	})
}

// With reports whether the negation may have a row with a change for a row of the core, in the view of a search: false
// where it has none. It looks at what is near the change, and not at all that may block the row.
func (n *Negation) With(s *Search, c *Change, row []uint32, room *[]uint32) (bool, error) {
	to := append((*room)[:0], c.element...)
	copy(to, row[:n.vertices])
	copy(to[len(n.Pattern.Vertices):], row[n.vertices:])
	*room = to
	s.Found = func([]uint32) (bool, error) { return false, nil }
	free, err := s.Run(c.whole, to)
	return !free, err
}

// key returns the images of what the lead names as a map's key.
func (l *Lead) key(row []uint32) string {
	key := make([]byte, 0, 4*len(l.Named))
	for _, v := range l.Named {
		key = binary.LittleEndian.AppendUint32(key, row[v])
	}
	return string(key)
}

// Rows has a search call its Found with each row of the negation for a row of the core; more is false if Found ended
// that. room is memory.
func (n *Negation) Rows(s *Search, row []uint32, room *[]uint32) (more bool, err error) {
	to := append((*room)[:0], row[:n.vertices]...)
	for range n.Of.Vertices {
		to = append(to, None)
	}
	to = append(to, row[n.vertices:]...)
	for range n.Of.Edges {
		to = append(to, None)
	}
	*room = to
	return s.Run(n.Test, to)
}

// EachOwn calls vertex with the own vertices of a row, if they are asked about, and edge with its own edges.
func (n *Negation) EachOwn(row []uint32, vertex func(*matcher.Asked, dyngraph.VertexID),
	edge func(dyngraph.EdgeIndex)) {
	for u := n.vertices; u < len(n.Pattern.Vertices); u++ {
		if a := &n.Asked[u]; !a.Nothing() {
			vertex(a, dyngraph.VertexID(row[u]))
		}
	}
	for _, e := range row[len(n.Pattern.Vertices)+n.edges:] {
		edge(dyngraph.EdgeIndex(e))
	}
}
