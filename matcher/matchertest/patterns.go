package matchertest

import (
	"fmt"
	"math/rand/v2"

	"motifd/dyngraph"
	"motifd/matcher"
)

// RandomTree draws a tree of n vertices with labels, to count. Some edges are wide.
func RandomTree(rng *rand.Rand, name string, n int, directed bool, labels Labels) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts, Unit: matcher.Unit(rng.IntN(2))}
	for i := range n {
		v := matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: labels.Vertex[rng.IntN(len(labels.Vertex))]}
		if rng.IntN(8) == 0 {
			if v.AnyOf = alternatives(rng, labels.Vertex); v.AnyOf != nil {
				v.Label = ""
			}
		}
		q.Vertices = append(q.Vertices, v)
		if i > 0 {
			e := matcher.QueryEdge{Name: fmt.Sprint("f", i), From: max(0, i-1-rng.IntN(3)), To: i,
				Label:  labels.Edge[rng.IntN(len(labels.Edge))],
				Either: !directed}
			if rng.IntN(2) == 0 {
				e.From, e.To = e.To, e.From
			}
			switch rng.IntN(8) {
			case 0:
				e.Label = ""
			case 1:
				if e.AnyOf = alternatives(rng, labels.Edge); e.AnyOf != nil {
					e.Label = ""
				}
			}
			e.Either = e.Either || rng.IntN(12) == 0
			q.Edges = append(q.Edges, e)
		}
	}
	return q
}

// RandomCycle draws a cycle of n vertices with labels, to count.
func RandomCycle(rng *rand.Rand, name string, n int, directed bool, labels Labels) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts, Unit: matcher.Unit(rng.IntN(2))}
	for i := range n {
		q.Vertices = append(q.Vertices,
			matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: labels.Vertex[rng.IntN(len(labels.Vertex))]})
		e := matcher.QueryEdge{Name: fmt.Sprint("f", i), From: i, To: (i + 1) % n,
			Label: labels.Edge[rng.IntN(len(labels.Edge))], Either: !directed}
		if rng.IntN(2) == 0 {
			e.From, e.To = e.To, e.From
		}
		q.Edges = append(q.Edges, e)
	}
	return q
}

// RandomSpider draws a pattern of paths between one vertex and a few others that are joined, with pendants at some
// vertices.
func RandomSpider(rng *rand.Rand, name string, directed bool, labels Labels) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts, Unit: matcher.Unit(rng.IntN(2))}
	// one label for all, or labels that tell vertices apart as far as they can
	only, apart := rng.IntN(3) == 0, rng.IntN(2) == 0
	label := func(of []string) string {
		if rng.IntN(10) == 0 {
			return ""
		}
		return of[rng.IntN(len(of))]
	}
	one := label(labels.Vertex)
	chained := 0
	vertex := func(inChain bool) int {
		l := one
		switch {
		case apart && inChain:
			l = labels.Vertex[chained%len(labels.Vertex)]
			chained++
		case apart || !only:
			l = label(labels.Vertex)
		}
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", len(q.Vertices)), Label: l})
		return len(q.Vertices) - 1
	}
	edge := func(u, v int) {
		if rng.IntN(2) == 0 {
			u, v = v, u
		}
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", len(q.Edges)), From: u, To: v,
			Label:  labels.Edge[rng.IntN(len(labels.Edge))],
			Either: !directed})
	}
	body := vertex(true)
	ends := []int{vertex(false)}
	for range 1 + rng.IntN(2) {
		ends = append(ends, vertex(false))
		edge(ends[len(ends)-2], ends[len(ends)-1])
	}
	direct := map[int]bool{}
	for range 3 {
		end := ends[rng.IntN(len(ends))]
		at, long := body, rng.IntN(3)
		if long == 0 && direct[end] {
			long = 1
		}
		direct[end] = direct[end] || long == 0
		for range long {
			next := vertex(true)
			edge(at, next)
			at = next
		}
		edge(at, end)
	}
	if apart { // the ends from some of the chains' vertices
		for _, end := range ends {
			q.Vertices[end].Label = labels.Vertex[rng.IntN(min(chained, len(labels.Vertex)))]
		}
	}
	for range rng.IntN(3) {
		if len(q.Vertices) < 9 {
			v := rng.IntN(len(q.Vertices))
			edge(v, vertex(false))
		}
	}
	if rng.IntN(3) == 0 { // a pendant path whose last vertex has the label of another
		at := rng.IntN(len(q.Vertices))
		for range 2 + rng.IntN(2) {
			next := vertex(false)
			edge(at, next)
			at = next
		}
		q.Vertices[at].Label = q.Vertices[rng.IntN(at)].Label
	}
	return q
}

// SpiderStream draws a stream of edges between few vertices, many of them with several labels, or in both directions.
func SpiderStream(rng *rand.Rand, most int) (directed bool, labels Labels, shape Shape, msgs []dyngraph.Message) {
	shape = Shape{Directed: rng.IntN(2) == 0, Vertices: 6 + rng.IntN(most/5), Edges: most/2 + rng.IntN(most),
		Messages: 80, Full: true,
		Labels: Labels{Vertex: []string{"A", "B", "C", "D", "E", "F", "G"}[:min(7, 1+rng.IntN(13))],
			Edge: []string{"T", "U"}[:1+rng.IntN(2)]}}
	if rng.IntN(3) == 0 {
		shape.Labels.Edge = append(shape.Labels.Edge, "") // in a pattern any
	}
	if rng.IntN(2) == 0 {
		shape.Hubs = 1 + rng.IntN(2)
	}
	return shape.Directed, shape.Labels, shape, RandomStream(rng, shape)
}

// RandomSpiders draws spiders and a stream, whose first messages make a graph, in which to enumerate them
// batch after batch is not much work.
func RandomSpiders(rng *rand.Rand) (directed bool, queries []*matcher.Query, msgs []dyngraph.Message, edges int) {
	for {
		directed, labels, shape, msgs := SpiderStream(rng, 30)
		queries = queries[:0]
		for range 30 {
			if q := RandomSpider(rng, fmt.Sprint("q", len(queries)), directed, labels); Walks(q, directed, msgs) <=
				MaxWalks/10 {
				queries = append(queries, q)
			}
			if len(queries) == 4 {
				return directed, queries, msgs, shape.Edges
			}
		}
	}
}
