package reference

import (
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// groupChanges are the net elements of a batch as a query with WITH sees them.
type groupChanges struct {
	edges, vertices [2]map[uint32]uint32 // orders by side: of edges by index, of revised vertices by id
	before, after   *where
	nodes           []*node // all conditions and formulas, of the elements of matcher.Groups
	denials         [][]denial
	sums            int // how many of the last of them are formulas, of which a value that differs matters
}

// side is the index of a sign.
func side(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

func (b *Backend) changesOf(q *matcher.Query) (*groupChanges, error) {
	g := q.Groups
	c := &groupChanges{}
	for s := range 2 {
		c.edges[s], c.vertices[s] = make(map[uint32]uint32), make(map[uint32]uint32)
	}
	for order, n := range b.delta.Net {
		switch {
		case n.Revised:
			c.vertices[side(n.Sign)][uint32(n.From)] = uint32(order)
		case !n.Vertex:
			c.edges[side(n.Sign)][uint32(n.Edge)] = uint32(order)
		}
	}
	var sums []*node
	for s := range g.Stages {
		stage := &g.Stages[s]
		for _, x := range stage.Conditions {
			n, err := nodeOf(x)
			if err != nil {
				return nil, err
			}
			c.nodes = append(c.nodes, n)
		}
		for _, x := range stage.Having {
			n, err := nodeOf(x)
			if err != nil {
				return nil, err
			}
			c.nodes = append(c.nodes, n.ofGroups(stage))
		}
		for _, a := range stage.Aggregates {
			if a.Function == matcher.Sum {
				n, err := nodeOf(a.Formula)
				if err != nil {
					return nil, err
				}
				sums = append(sums, n)
			}
		}
	}
	c.nodes, c.sums = append(c.nodes, sums...), len(sums)
	union := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
	var err error
	if c.before, err = newWhere(b.graph.View(dyngraph.Old), union); err != nil {
		return nil, err
	}
	if c.after, err = newWhere(b.graph.View(dyngraph.New), union); err != nil {
		return nil, err
	}
	c.denials, err = b.denialsOf(g)
	return c, err
}

// ofGroups returns a condition on keys as one on the elements of matcher.Groups.
func (n *node) ofGroups(s *matcher.Stage) *node {
	m := *n
	if m.Op == "read" || m.Op == "labelled" {
		switch {
		case m.Element.Aggregate:
		case m.Element.Edge:
			m.Element.Index = s.Edges[m.Element.Index]
		default:
			m.Element.Index = s.Vertices[m.Element.Index]
		}
	}
	m.Args = nil
	for _, a := range n.Args {
		m.Args = append(m.Args, a.ofGroups(s))
	}
	return &m
}

// matters reports whether the revision of the vertex that a row maps pattern vertex u to matters there (DESIGN S16).
func (c *groupChanges) matters(u int, r row) bool {
	held, holds := true, true
	for i, n := range c.nodes {
		reads, others := n.reads(condition.Ref{Index: u})
		if len(reads) == 0 {
			continue
		}
		if !others && i < len(c.nodes)-c.sums {
			held = held && c.before.truth(n, r) == condition.True
			holds = holds && c.after.truth(n, r) == condition.True
			continue
		}
		for _, read := range reads {
			if c.valueOf(c.before, read, r) != c.valueOf(c.after, read, r) {
				return true
			}
		}
	}
	return held != holds || c.mattersDenied(u, r)
}

func (c *groupChanges) valueOf(w *where, n *node, r row) property.Value {
	if n.Op == "labelled" {
		return w.view.Labels(dyngraph.VertexID(r[n.Element.Index]))
	}
	return w.read(n, r)
}

// anchor returns the order of what began or ended a group that x holds and y does not (DESIGN S24): its own changes or,
// without any, the changes of its rows in either view, of the stages that turned and those that they read.
func (c *groupChanges) anchor(sign dyngraph.Sign, q *matcher.Query, x, y *groupRow) (anchor uint32, found bool) {
	take := func(order uint32, ok bool) {
		if ok && (!found || (sign == dyngraph.Inserted) == (order > anchor)) {
			anchor, found = order, true
		}
	}
	g := q.Groups
	n := len(g.Vertices)
	vertex := func(s dyngraph.Sign, u int, r row) {
		if order, ok := c.vertices[side(s)][r[u]]; ok && c.matters(u, r) {
			take(order, true)
		}
	}
	edge := func(s dyngraph.Sign, d uint32) {
		order, ok := c.edges[side(s)][d]
		take(order, ok)
	}
	last := len(g.Stages) - 1 // it has all keys
	first := x.stages[last].rows[0]
	for _, u := range g.Stages[last].Vertices {
		vertex(sign, u, first)
	}
	for _, e := range g.Stages[last].Edges {
		edge(sign, first[n+e])
	}
	if found {
		return anchor, true
	}
	for s := range turned(g, x, y) {
		for of, rows := range map[dyngraph.Sign][]row{sign: x.stages[s].rows, -sign: y.stages[s].rows} {
			for _, r := range rows {
				for u := range g.Vertices {
					if r[u] != unbound {
						vertex(of, u, r)
					}
				}
				for _, d := range slices.Concat(edgesOf(g, r)...) {
					edge(of, d)
				}
			}
		}
		c.turnedBy(g, s, x.stages[s].rows, &y.stages[s], side(-sign), take)
		c.turnedBy(g, s, y.stages[s].rows, &x.stages[s], side(sign), take)
	}
	return anchor, found
}

// turned returns the stages that are true in one view only and, transitively, those whose aggregates these read.
func turned(g *matcher.Groups, x, y *groupRow) map[int]bool {
	all := make(map[int]bool)
	for s := range g.Stages {
		if x.stages[s].holds != y.stages[s].holds {
			all[s] = true
		}
	}
	for range g.Stages {
		for s := range all {
			for _, c := range g.Stages[s].Having {
				for _, r := range c.Elements {
					if r.Aggregate {
						all[stageOf(g, r.Index)] = true
					}
				}
			}
		}
	}
	return all
}

// stageOf returns the stage of an aggregate.
func stageOf(g *matcher.Groups, aggregate int) int {
	for s := range g.Stages {
		if aggregate -= len(g.Stages[s].Aggregates); aggregate < 0 {
			return s
		}
	}
	panic("reference: there is no such aggregate") // Validate refuses it
}
