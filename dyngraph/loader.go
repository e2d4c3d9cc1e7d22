package dyngraph

import (
	"cmp"
	"fmt"
	"slices"
)

// Loader builds a Graph from the records of a checkpoint: labels in id order, then vertices, then edges, and the
// pending ids. Edges go straight into the graph's columns; when they come ascending by (from, label, to, id), as a
// checkpoint keeps them, only the other direction is sorted (DESIGN A9). It is used once, and not after an error.
type Loader struct {
	g         *Graph
	unordered bool // edges have not come in ascending order
}

// NewLoader returns a Loader of a graph with these options.
func NewLoader(opt Options) *Loader { return &Loader{g: NewGraph(opt)} }

// Label adds the next label; the first one gets id 1.
func (l *Loader) Label(name string) error {
	if name == "" {
		return fmt.Errorf("dyngraph: label %d of the checkpoint is empty", len(l.g.labels.names))
	}
	if id, ok := l.g.labels.ids[name]; ok {
		return fmt.Errorf(
			"dyngraph: label %s of the checkpoint is there twice, as %d and %d",
			quote(name),
			id,
			len(l.g.labels.names),
		)
	}
	if len(l.g.labels.names) >= l.g.opt.MaxLabels {
		return fmt.Errorf("dyngraph: the checkpoint has more labels than the %d allowed", l.g.opt.MaxLabels)
	}
	l.g.labels.intern(name)
	return nil
}

// Vertex adds a vertex; its label has been added.
func (l *Loader) Vertex(r VertexRecord) error {
	g := l.g
	switch {
	case uint32(r.ID) >= g.opt.MaxVertices:
		return fmt.Errorf("dyngraph: vertex id %d of the checkpoint is beyond the %d allowed", r.ID, g.opt.MaxVertices)
	case int(r.Label) >= len(g.labels.names):
		return fmt.Errorf(
			"dyngraph: vertex %d of the checkpoint has label %d, but there are %d",
			r.ID,
			r.Label,
			len(g.labels.names),
		)
	}
	if g.several() && r.Label != NoLabel {
		return fmt.Errorf("dyngraph: vertex %d of the checkpoint has the one label %s, but vertices have several", r.ID,
			quote(g.labels.names[r.Label]))
	}
	if g.find(r.Key) != NoVertex {
		return fmt.Errorf("dyngraph: key %s is twice in the checkpoint", quote(r.Key))
	}
	l.reach(r.ID)
	if g.vstate[r.ID] != 0 {
		return fmt.Errorf("dyngraph: vertex %d is twice in the checkpoint", r.ID)
	}
	if err := g.vertexColumns.CheckStored(g.labels.names[r.Label], r.Values); err != nil {
		return fmt.Errorf("dyngraph: vertex %d of the checkpoint has %w", r.ID, err)
	}
	g.putVertex(r.ID, r.Key, r.Label, inBoth)
	g.setValues(r.ID, r.Values)
	g.setImplied(r.ID, r.Implied)
	return nil
}

func (l *Loader) reach(id VertexID) {
	if uint32(id) >= l.g.bound {
		l.g.bound = uint32(id) + 1
		l.g.growVertices()
	}
}

// Edge adds an edge; its ends and its label have been added. Loading is fast when edges ascend by (from, label, to,
// id).
func (l *Loader) Edge(r EdgeRecord) error {
	g := l.g
	if !g.opt.Directed && r.From > r.To {
		r.From, r.To = r.To, r.From
	}
	for _, v := range [2]VertexID{r.From, r.To} {
		if uint32(v) >= g.bound || g.vstate[v] == 0 {
			return fmt.Errorf("dyngraph: an edge of the checkpoint ends at vertex %d, which is not there", v)
		}
	}
	if r.From == r.To {
		return fmt.Errorf("dyngraph: the checkpoint has a self-loop at vertex %d", r.From)
	}
	if int(r.Label) >= len(g.labels.names) {
		return fmt.Errorf("dyngraph: an edge of the checkpoint has label %d, but there are %d", r.Label,
			len(g.labels.names))
	}
	if g.edgeBound >= g.maxEdges {
		return fmt.Errorf("dyngraph: the checkpoint has more edges than the %d that there are indexes for", g.maxEdges)
	}
	e := g.edgeBound
	g.edgeBound++
	g.growEdges()
	g.adj.edges[e] = edge{r.From, r.To, r.Label}
	if err := g.columns.CheckStored(g.labels.names[r.Label], r.Attr.Values); err != nil {
		return fmt.Errorf("dyngraph: the edge of the checkpoint from vertex %d to vertex %d has %w", r.From, r.To, err)
	}
	if r.Attr.ID != "" || r.Attr.HasTS || r.Attr.Props != nil || len(r.Attr.Values) > 0 {
		g.attr.set(EdgeIndex(e), &r.Attr)
	}
	if e > 0 && g.compareEdges(e-1, e) >= 0 {
		l.unordered = true
	}
	return nil
}

// compareEdges compares by (from, label, to, id).
func (g *Graph) compareEdges(a, b uint32) int {
	if c := g.compareEnds(a, b); c != 0 {
		return c
	}
	return cmp.Compare(g.edgeID(EdgeIndex(a)), g.edgeID(EdgeIndex(b)))
}

// compareEnds compares by (from, label, to).
func (g *Graph) compareEnds(a, b uint32) int {
	x, y := &g.adj.edges[a], &g.adj.edges[b]
	switch {
	case x.from != y.from:
		return cmp.Compare(x.from, y.from)
	case x.label != y.label:
		return cmp.Compare(x.label, y.label)
	}
	return cmp.Compare(x.to, y.to)
}

// Pending sets the ids that are not yet free again: freed by the last batch but one, and by the last.
func (l *Loader) Pending(older, newer []VertexID) {
	l.g.older, l.g.newer = slices.Clone(older), slices.Clone(newer)
}

// Graph returns the graph. Ids that are neither a vertex's nor pending are free.
func (l *Loader) Graph() (*Graph, error) {
	g := l.g
	if err := l.fill(); err != nil {
		return nil, err
	}
	pending := make(map[VertexID]bool)
	for _, ids := range [2][]VertexID{g.older, g.newer} {
		for _, id := range ids {
			if uint32(id) >= g.opt.MaxVertices {
				return nil, fmt.Errorf("dyngraph: pending id %d is beyond the %d allowed", id, g.opt.MaxVertices)
			}
			l.reach(id)
			if pending[id] || g.vstate[id] != 0 {
				return nil, fmt.Errorf("dyngraph: id %d is pending and in use, or pending twice", id)
			}
			pending[id] = true
		}
	}
	for id := range g.bound {
		if g.vstate[id] == 0 && !pending[VertexID(id)] {
			g.free.add(id)
		}
	}
	l.g = nil
	return g, nil
}
