package pattern

import (
	"fmt"

	"motifd/matcher"
)

// position is a line and column of the source, both from 1.
type position struct{ line, col int }

// builder collects vertices and edges with their positions, and checks what both languages share. Names may be left
// empty: query gives them.
type builder struct {
	opt            Options
	vertices       []matcher.QueryVertex
	edges          []matcher.QueryEdge
	vertexAt       []position
	edgeAt         []position
	taken          map[string]bool // names
	vertexN, edgeN string          // prefixes of generated names
	inner          int             // vertices of the longest paths
	variants       int             // combinations of lengths
	sub            bool            // of a negation: the bounds are others
}

func newBuilder(opt Options) *builder {
	return &builder{opt: opt, taken: make(map[string]bool), vertexN: "_v", edgeN: "_e", variants: 1}
}

func (b *builder) fail(at position, format string, args ...any) error {
	return &Error{b.opt.File, at.line, at.col, fmt.Sprintf(format, args...)}
}

// addVertex returns the new vertex's index.
func (b *builder) addVertex(at position, name, label string) (int, error) {
	if len(b.vertices)+b.inner >= matcher.MaxVertices && !b.sub {
		return 0, b.fail(at, "the pattern has more than %d vertices; a pattern has at most %d",
			matcher.MaxVertices, matcher.MaxVertices)
	}
	if err := b.take(at, name); err != nil {
		return 0, err
	}
	b.vertices = append(b.vertices, matcher.QueryVertex{Name: name, Label: label})
	b.vertexAt = append(b.vertexAt, at)
	return len(b.vertices) - 1, nil
}

func (b *builder) addEdge(at position, e matcher.QueryEdge) error {
	if len(b.edges) == matcher.MaxEdges && !b.sub {
		return b.fail(at, "the pattern has more than %d edges; a pattern has at most %d", matcher.MaxEdges,
			matcher.MaxEdges)
	}
	if e.From == e.To && e.Hops != nil && e.Hops.Least < 2 {
		return b.fail(at, "a path from a vertex to itself has two edges at least; write *2..%d", max(2, e.Hops.Most))
	}
	if e.From == e.To && e.Hops == nil {
		return b.fail(at, "an edge from a vertex to itself: self-loops are not supported; join two different vertices")
	}
	if err := b.take(at, e.Name); err != nil {
		return err
	}
	if h := e.Hops; h != nil {
		if b.variants *= h.Most - h.Least + 1; b.variants > matcher.MaxVariants {
			return b.fail(at, "the paths up to here have more than %d combinations of lengths; make the ranges "+
				"smaller, or make several queries", matcher.MaxVariants)
		}
		if b.inner += h.Most - 1; len(b.vertices)+b.inner > matcher.MaxVertices {
			return b.fail(at, "the pattern has more than %d vertices, with those of the longest paths; a pattern has "+
				"at most %d", matcher.MaxVertices, matcher.MaxVertices)
		}
	}
	b.edges = append(b.edges, e)
	b.edgeAt = append(b.edgeAt, at)
	return nil
}

// take marks a name as used.
func (b *builder) take(at position, name string) error {
	if name == "" {
		return nil
	}
	if len(name) > matcher.MaxNameLen {
		return b.fail(at, "a name of %d bytes; at most %d are allowed", len(name), matcher.MaxNameLen)
	}
	if b.taken[name] {
		return b.fail(at, "the name %s is used twice; each vertex and edge has its own", short(name))
	}
	b.taken[name] = true
	return nil
}

// query names what is unnamed and validates the whole.
func (b *builder) query() (*matcher.Query, error) {
	if len(b.vertices) == 0 {
		return nil, b.fail(position{1, 1}, "the pattern is empty; a pattern has 1 to %d vertices", matcher.MaxVertices)
	}
	for i := range b.vertices {
		if b.vertices[i].Name == "" {
			b.vertices[i].Name = b.free(b.vertexN, i)
		}
	}
	for i := range b.edges {
		if b.edges[i].Name == "" {
			b.edges[i].Name = b.free(b.edgeN, i)
		}
	}
	if v := b.unreached(); v >= 0 {
		return nil, b.fail(
			b.vertexAt[v],
			"vertex %s is not connected to %s; a pattern must be connected: join them by edges, "+
				"or make two queries",
			short(b.vertices[v].Name),
			short(b.vertices[0].Name),
		)
	}
	q := &matcher.Query{Name: b.opt.Name, MatchMode: b.opt.MatchMode, Vertices: b.vertices, Edges: b.edges}
	if err := q.CheckPattern(b.opt.Directed); err != nil {
		// What is left is about the whole query, such as its name.
		return nil, b.fail(position{1, 1}, "%v", err)
	}
	if b.opt.OnePerLabel {
		if e, text := q.Competing(b.opt.Directed); e >= 0 {
			return nil, b.fail(b.edgeAt[e], "%s", text)
		}
	}
	return q, nil
}

// checkVertex refuses a pattern of one vertex that has no condition: it would match every vertex of a label.
func (b *builder) checkVertex(q *matcher.Query, conditions int) error {
	if q.IsVertex() && conditions == 0 {
		return b.fail(b.vertexAt[0], "the pattern has one vertex and no condition; join it to others by edges, or "+
			"give it a condition, as in (a {blocked: true})")
	}
	return nil
}

// free returns the name prefix + number with the lowest number from i on that nobody has taken, and takes it.
func (b *builder) free(prefix string, i int) string {
	for ; ; i++ {
		if name := fmt.Sprintf("%s%d", prefix, i); !b.taken[name] {
			b.taken[name] = true
			return name
		}
	}
}

// unreached returns the first vertex that the edges do not join to vertex 0, or -1.
func (b *builder) unreached() int {
	root := make([]int, len(b.vertices))
	for i := range root {
		root[i] = i
	}
	find := func(v int) int {
		for root[v] != v {
			v = root[v]
		}
		return v
	}
	for _, e := range b.edges {
		root[find(e.To)] = find(e.From)
	}
	for v := range b.vertices {
		if find(v) != find(0) {
			return v
		}
	}
	return -1
}

// short quotes s for a message, cut when it is long.
func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}
