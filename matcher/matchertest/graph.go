package matchertest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Vertex is a vertex as the outside sees it. The same key with another label is another vertex (DESIGN S3).
type Vertex struct {
	Key, Label string
}

// Edge is a version of an edge as the outside sees it. In an undirected graph From.Key < To.Key.
type Edge struct {
	From, To Vertex
	Label    string
	ID       string // where it identifies edges
	Version  string // its declared values (DESIGN S15)
}

// Graph is the dynamic graph as two maps. It is slow on purpose and shares no code with package dyngraph.
type Graph struct {
	Directed bool
	EdgeIDs  bool              // ids identify edges
	Columns  *property.Columns // nil: no property is declared
	Vertices *property.Columns // likewise, of vertices
	Several  bool              // a vertex may have several labels, which are among its values
	labels   map[string]string // key -> label of the vertices that are there
	values   map[string]declared
	edges    map[edgeKey]declared
}

type edgeKey struct {
	from, to, label, id string
}

// NewGraph returns an empty graph.
func NewGraph(directed bool) *Graph {
	return &Graph{Directed: directed, labels: map[string]string{}, values: map[string]declared{},
		edges: map[edgeKey]declared{}}
}

// Clone returns a copy that shares nothing with g.
func (g *Graph) Clone() *Graph {
	return &Graph{Directed: g.Directed, EdgeIDs: g.EdgeIDs, Columns: g.Columns, Vertices: g.Vertices,
		Several: g.Several, labels: maps.Clone(g.labels), values: maps.Clone(g.values), edges: maps.Clone(g.edges)}
}

// Edges returns the set of edges.
func (g *Graph) Edges() map[Edge]bool {
	set := make(map[Edge]bool, len(g.edges))
	for k, d := range g.edges {
		set[Edge{g.vertex(k.from), g.vertex(k.to), k.label, k.id, d.version()}] = true
	}
	return set
}

// Sorted returns the edges in ascending order.
func (g *Graph) Sorted() []Edge {
	return slices.SortedFunc(maps.Keys(g.Edges()), compareEdges)
}

// Keys returns the keys of the vertices in ascending order.
func (g *Graph) Keys() []string { return slices.Sorted(maps.Keys(g.labels)) }

// Label returns the label of the vertex, and whether it is there.
func (g *Graph) Label(key string) (string, bool) {
	label, ok := g.labels[key]
	return label, ok
}

func (g *Graph) vertex(key string) Vertex { return Vertex{key, g.labels[key]} }

func (g *Graph) edgeKey(u *dyngraph.Update) edgeKey {
	k := edgeKey{from: u.From, to: u.To, label: u.Label}
	if g.EdgeIDs {
		k.id = u.Attr.ID
	}
	if !g.Directed && k.from > k.to {
		k.from, k.to = k.to, k.from
	}
	return k
}

// apply applies one update. If it refuses the update, the graph is unusable afterwards.
func (g *Graph) apply(u *dyngraph.Update) error {
	switch u.Op {
	case dyngraph.InsertEdge:
		if u.From == u.To {
			return fmt.Errorf("self-loop on %q", u.From)
		}
		if err := g.declareEnd(u.From, u.FromLabel, u.Op); err != nil {
			return err
		}
		if err := g.declareEnd(u.To, u.ToLabel, u.Op); err != nil {
			return err
		}
		g.edges[g.edgeKey(u)] = declaredOf(g.Columns, u.Label, u.Attr.Value)
	case dyngraph.DeleteEdge:
		if u.From == u.To {
			return fmt.Errorf("self-loop on %q", u.From)
		}
		if err := g.agree(u.From, u.FromLabel); err != nil {
			return err
		}
		if err := g.agree(u.To, u.ToLabel); err != nil {
			return err
		}
		delete(g.edges, g.edgeKey(u))
	case dyngraph.InsertVertex:
		if err := g.declareEnd(u.Key, u.Label, u.Op); err != nil {
			return err
		}
		if g.Vertices != nil {
			g.setValues(u.Key, declaredOf(g.Vertices, g.labels[u.Key], u.Attr.Value))
		}
	case dyngraph.ReviseVertex:
		if err := g.agree(u.Key, u.Label); err != nil {
			return err
		}
		if label, ok := g.labels[u.Key]; ok && g.Vertices != nil {
			was := g.values[u.Key]
			g.setValues(u.Key, declaredOf(g.Vertices, label, func(column int) property.Value {
				if slices.Contains(u.Named, column) {
					return u.Attr.Value(column)
				}
				return was[g.Vertices.All()[column].Name]
			}))
			if g.Several {
				g.relabel(u.Key, u.Label, u.Op)
			}
		}
	case dyngraph.DeleteVertex:
		if err := g.agree(u.Key, u.Label); err != nil {
			return err
		}
		delete(g.labels, u.Key)
		delete(g.values, u.Key)
		maps.DeleteFunc(g.edges, func(k edgeKey, _ declared) bool { return k.from == u.Key || k.to == u.Key })
	default:
		return fmt.Errorf("operation %d", u.Op)
	}
	return nil
}

// declareEnd declares a vertex with its label, or with its labels where there may be several.
func (g *Graph) declareEnd(key, label string, op dyngraph.Op) error {
	if !g.Several {
		return g.declare(key, label)
	}
	if err := g.declare(key, ""); err != nil {
		return err
	}
	g.relabel(key, label, op)
	return nil
}

// setValues sets the declared values of a vertex, whose labels stay.
func (g *Graph) setValues(key string, d declared) {
	for name, v := range g.values[key] {
		if strings.HasPrefix(name, labelPrefix) {
			d[name] = v
		}
	}
	g.values[key] = d
}

func (g *Graph) agree(key, label string) error {
	if g.Several {
		return nil
	}
	if has := g.labels[key]; has != "" && label != "" && has != label {
		return fmt.Errorf("vertex %q has label %q, not %q", key, has, label)
	}
	return nil
}

func (g *Graph) declare(key, label string) error {
	if err := g.agree(key, label); err != nil {
		return err
	}
	if g.labels[key] == "" {
		g.labels[key] = label
	}
	return nil
}

// Accept applies the message if all of it can be, and otherwise leaves the graph alone.
func (g *Graph) Accept(m dyngraph.Message) bool {
	next := g.Clone()
	for i := range m.Updates {
		if next.apply(&m.Updates[i]) != nil {
			return false
		}
	}
	*g = *next
	return true
}

// Change is the change of a Graph by a batch.
type Change struct {
	Before, After map[Edge]bool
	Updates       []dyngraph.Update // of the accepted messages
	Refused       []int             // messages, by index
	// UpdateIndex holds, for each version of an edge that is in one graph only, the place of its net edge: the last
	// update that changed the edge's presence or, of an edge in both graphs, a value that differs in the end.
	UpdateIndex map[Edge]int
	// Old and New are the declared values of vertices in the two graphs. Revised holds, for each vertex in both whose
	// values differ, the place of its net event.
	Old, New map[Vertex]declared
	Revised  map[Vertex]int
	// Moved holds, for each vertex in one of the graphs only, the last update that changed its presence.
	Moved map[Vertex]int
}

// Step applies a batch.
func (g *Graph) Step(msgs []dyngraph.Message) *Change {
	c := &Change{Before: g.Edges(), UpdateIndex: map[Edge]int{}}
	states := []*Graph{g.Clone()} // before each update, and at the end
	for i, m := range msgs {
		before := g.Clone()
		if !g.Accept(m) {
			c.Refused = append(c.Refused, i)
			continue
		}
		for j := range m.Updates {
			if err := before.apply(&m.Updates[j]); err != nil {
				panic("matchertest: an accepted update failed: " + err.Error())
			}
			states = append(states, before.Clone())
			c.Updates = append(c.Updates, m.Updates[j])
		}
	}
	c.After = g.Edges()
	values, vertices := make([]map[Edge]declared, len(states)), make([]map[Vertex]declared, len(states))
	for i, s := range states {
		values[i], vertices[i] = s.edgeValues(), s.vertexValues()
	}
	c.Old, c.New, c.Revised = vertices[0], vertices[len(states)-1], map[Vertex]int{}
	for v, now := range c.New {
		if was, ok := c.Old[v]; ok && was.version() != now.version() {
			c.Revised[v] = place(vertices, v)
		}
	}
	c.Moved = map[Vertex]int{}
	for _, set := range []map[Vertex]declared{c.Old, c.New} {
		for v := range set {
			_, was := c.Old[v]
			if _, is := c.New[v]; was != is {
				c.Moved[v] = place(vertices, v)
			}
		}
	}
	for _, set := range []map[Edge]bool{c.Before, c.After} {
		for e := range set {
			if !c.Before[e] || !c.After[e] {
				identity := e
				identity.Version = ""
				c.UpdateIndex[e] = place(values, identity)
			}
		}
	}
	return c
}

// vertexValues returns the vertices with their declared values.
func (g *Graph) vertexValues() map[Vertex]declared {
	all := make(map[Vertex]declared, len(g.labels))
	for key := range g.labels {
		all[g.vertex(key)] = g.values[key]
	}
	return all
}

// edgeValues returns the edges, without their versions, with their declared values.
func (g *Graph) edgeValues() map[Edge]declared {
	all := make(map[Edge]declared, len(g.edges))
	for k, d := range g.edges {
		all[Edge{From: g.vertex(k.from), To: g.vertex(k.to), Label: k.label, ID: k.id}] = d
	}
	return all
}

// place returns the last update that changed the presence of an edge or a vertex or, of one that is in the first graph
// and in the last, a value in which these differ.
func place[T comparable](states []map[T]declared, e T) (last int) {
	first, was := states[0][e]
	end, is := states[len(states)-1][e]
	for i := range states[1:] {
		before, there := states[i][e]
		after, stays := states[i+1][e]
		if there != stays {
			last = i
		}
		if !there || !stays || !was || !is {
			continue
		}
		for _, side := range [2]declared{first, end} {
			for name := range side {
				if first[name] != end[name] && before[name] != after[name] {
					last = i
				}
			}
		}
	}
	return last
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From.Key, b.From.Key), cmp.Compare(a.To.Key, b.To.Key), cmp.Compare(a.Label, b.Label),
		cmp.Compare(a.From.Label, b.From.Label), cmp.Compare(a.To.Label, b.To.Label), cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Version, b.Version))
}

// String writes the vertex as key:label.
func (v Vertex) String() string { return v.Key + ":" + v.Label }

// String writes the edge as from-label>to, with its declared values.
func (e Edge) String() string {
	s := e.From.String() + "-" + e.Label + ">" + e.To.String()
	if e.ID != "" {
		s += "#" + e.ID
	}
	if e.Version != "" {
		s += "{" + e.Version + "}"
	}
	return s
}
