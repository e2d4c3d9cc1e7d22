package matchertest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"motifd/dyngraph"
)

// Vertex is a vertex as the outside sees it. The same key with another label is another vertex (DESIGN S3).
type Vertex struct {
	Key, Label string
}

// Edge is an edge as the outside sees it. In an undirected graph From.Key < To.Key.
type Edge struct {
	From, To Vertex
	Label    string
}

// Graph is the dynamic graph as two maps. It is slow on purpose and shares no code with package dyngraph.
type Graph struct {
	Directed bool
	labels   map[string]string // key -> label of the vertices that are there
	edges    map[edgeKey]bool
}

type edgeKey struct {
	from, to, label string
}

// NewGraph returns an empty graph.
func NewGraph(directed bool) *Graph {
	return &Graph{Directed: directed, labels: map[string]string{}, edges: map[edgeKey]bool{}}
}

// Clone returns a copy that shares nothing with g.
func (g *Graph) Clone() *Graph {
	return &Graph{Directed: g.Directed, labels: maps.Clone(g.labels), edges: maps.Clone(g.edges)}
}

// Edges returns the set of edges.
func (g *Graph) Edges() map[Edge]bool {
	set := make(map[Edge]bool, len(g.edges))
	for k := range g.edges {
		set[Edge{g.vertex(k.from), g.vertex(k.to), k.label}] = true
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
	k := edgeKey{u.From, u.To, u.Label}
	if !g.Directed && k.from > k.to {
		k.from, k.to = k.to, k.from
	}
	return k
}

// Apply applies one update, or refuses it and leaves the graph in a state of no use.
func (g *Graph) apply(u *dyngraph.Update) error {
	switch u.Op {
	case dyngraph.InsertEdge:
		if u.From == u.To {
			return fmt.Errorf("self-loop on %q", u.From)
		}
		if err := g.declare(u.From, u.FromLabel); err != nil {
			return err
		}
		if err := g.declare(u.To, u.ToLabel); err != nil {
			return err
		}
		g.edges[g.edgeKey(u)] = true
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
		return g.declare(u.Key, u.Label)
	case dyngraph.DeleteVertex:
		if err := g.agree(u.Key, u.Label); err != nil {
			return err
		}
		delete(g.labels, u.Key)
		maps.DeleteFunc(g.edges, func(k edgeKey, _ bool) bool { return k.from == u.Key || k.to == u.Key })
	default:
		return fmt.Errorf("operation %d", u.Op)
	}
	return nil
}

func (g *Graph) agree(key, label string) error {
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

// Change is what a batch did to a Graph.
type Change struct {
	Before, After map[Edge]bool
	Updates       []dyngraph.Update // of the accepted messages
	Refused       []int             // messages, by index
	// UpdateIndex holds, for each edge whose presence some update changed, the index of the last update that did.
	UpdateIndex map[Edge]int
}

// Step applies a batch.
func (g *Graph) Step(msgs []dyngraph.Message) *Change {
	c := &Change{Before: g.Edges(), UpdateIndex: map[Edge]int{}}
	for i, m := range msgs {
		before := g.Clone()
		if !g.Accept(m) {
			c.Refused = append(c.Refused, i)
			continue
		}
		for j := range m.Updates {
			was := before.Edges()
			if err := before.apply(&m.Updates[j]); err != nil {
				panic("matchertest: an accepted update failed: " + err.Error())
			}
			is := before.Edges()
			for e := range was {
				if !is[e] {
					c.UpdateIndex[e] = len(c.Updates)
				}
			}
			for e := range is {
				if !was[e] {
					c.UpdateIndex[e] = len(c.Updates)
				}
			}
			c.Updates = append(c.Updates, m.Updates[j])
		}
	}
	c.After = g.Edges()
	return c
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From.Key, b.From.Key), cmp.Compare(a.To.Key, b.To.Key), cmp.Compare(a.Label, b.Label),
		cmp.Compare(a.From.Label, b.From.Label), cmp.Compare(a.To.Label, b.To.Label))
}

// String writes the vertex as key:label.
func (v Vertex) String() string { return v.Key + ":" + v.Label }

// String writes the edge as from-label>to.
func (e Edge) String() string { return e.From.String() + "-" + e.Label + ">" + e.To.String() }
