package matchertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// Case is a stream, cut into batches, and the queries that watch it.
type Case struct {
	Directed bool
	EdgeIDs  bool // ids identify edges
	Labels   Labels
	Messages []dyngraph.Message
	Batches  [][]dyngraph.Message
	Queries  []*matcher.Query // sorted by name
	Schema   *property.Schema // nil: no property is declared
	Where    Where            // the source of the queries' conditions
	Labelled Labelled         // likewise, where a vertex may have several labels
}

// MostMatches bounds the matches that any query of a random case has in the graph at any time, as the oracle counts.
const MostMatches = 2000

// RandomCase draws a case with the given number of queries, each for embeddings and deltas. Few of them
// never match.
func RandomCase(rng *rand.Rand, queries int) *Case { return randomCase(rng, RandomShape(rng), queries) }

// RandomCaseIDs draws a case of parallel edges: ids identify edges.
func RandomCaseIDs(rng *rand.Rand, queries int) *Case {
	shape := RandomShape(rng)
	shape.IDs = true
	return randomCase(rng, shape, queries)
}

func randomCase(rng *rand.Rand, shape Shape, queries int) *Case {
	c := &Case{Directed: shape.Directed, EdgeIDs: shape.IDs, Labels: shape.Labels, Messages: RandomStream(rng, shape)}
	c.Batches = Cut(rng, c.Messages)
	for len(c.Queries) < queries {
		q := RandomQuery(rng, fmt.Sprintf("q%02d", len(c.Queries)), c.Directed, c.Labels)
		most, ok := c.mostMatches(q)
		if ok && (most > 0 || rng.IntN(8) == 0) {
			c.Queries = append(c.Queries, q)
		}
	}
	return c
}

// RandomCaseWhere draws a case with declared properties, and conditions on most of the queries; own has each condition
// be about one element. Few values recur, so that edges are replaced as often as renewed, and conditions hold as often
// as not.
func RandomCaseWhere(rng *rand.Rand, queries int, own bool) *Case {
	shape := RandomShape(rng)
	shape.Renewals, shape.IDs = true, rng.IntN(3) == 0
	c := &Case{Directed: shape.Directed, EdgeIDs: shape.IDs, Labels: shape.Labels, Messages: RandomStream(rng, shape),
		Where: Where{}, Schema: RandomSchema(rng, shape.Labels)}
	if rng.IntN(3) == 0 {
		c.Schema, c.Labelled = RandomSeveral(rng, shape.Labels), Labelled{}
	}
	SetValues(rng, c.Messages, c.Schema.EdgeColumns())
	revised := len(c.Schema.VertexColumns().All()) > 0
	if revised {
		c.Messages = ReviseVertices(rng, c.Messages, c.Schema.VertexColumns())
	}
	if c.Schema.SeveralLabels {
		Relabel(rng, c.Messages, shape.Labels)
	}
	c.Batches = Cut(rng, c.Messages)
	for len(c.Queries) < queries {
		name := fmt.Sprintf("q%02d", len(c.Queries))
		if revised && rng.IntN(6) == 0 {
			if q := c.randomVertex(rng, name); q != nil {
				c.Queries = append(c.Queries, q)
			}
			continue
		}
		q := RandomQuery(rng, name, c.Directed, c.Labels)
		if c.Schema.SeveralLabels {
			c.Demand(rng, q)
		}
		most, ok := c.mostMatches(q)
		if ok && (most > 0 || rng.IntN(8) == 0) {
			c.Queries = append(c.Queries, q)
			if rng.IntN(5) > 0 {
				c.AskRandomly(rng, q, own)
			}
		}
	}
	return c
}

// randomVertex draws a pattern of one vertex with conditions; nil if none of the conditions drawn can be asked.
func (c *Case) randomVertex(rng *rand.Rand, name string) *matcher.Query {
	q := &matcher.Query{Name: name, Vertices: []matcher.QueryVertex{{Name: "u"}}}
	q.Vertices[0].Label, q.Vertices[0].AnyOf = patternLabels(rng, c.Labels.Vertex)
	if c.Schema.SeveralLabels {
		c.Demand(rng, q)
	}
	if c.AskRandomly(rng, q, false); len(q.Conditions) == 0 {
		return nil
	}
	return q
}

// RandomCaseOfAny draws a case with declared properties and conditions, one with parallel edges, or one without.
func RandomCaseOfAny(rng *rand.Rand, queries int) *Case {
	switch rng.IntN(4) {
	case 0, 1:
		return RandomCaseWhere(rng, queries, rng.IntN(2) == 0)
	case 2:
		return RandomCaseIDs(rng, queries)
	}
	return RandomCase(rng, queries)
}

// Graph returns an empty graph for the case.
func (c *Case) Graph() *dyngraph.Graph {
	return dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed, EdgeIDs: c.EdgeIDs, Schema: c.Schema})
}

// mostMatches returns how many matches the query has when it has most, and whether that is within MostMatches. The
// graph is looked at after each batch and where it is larger than before.
func (c *Case) mostMatches(q *matcher.Query) (most int, ok bool) {
	g, largest := NewGraph(c.Directed), 0
	g.EdgeIDs, g.Several = c.EdgeIDs, c.Schema.Several()
	for _, batch := range c.Batches {
		for i, m := range batch {
			g.Accept(m)
			if n := len(g.edges); n > largest || i == len(batch)-1 {
				largest = max(largest, n)
				found, ok := g.Matches(q, MostMatches)
				if !ok {
					return 0, false
				}
				most = max(most, len(found))
			}
		}
	}
	return most, true
}

// Graft returns a pattern that begins like q and has one edge more, to a new vertex or between two that are there;
// nil if it has too many matches.
func (c *Case) Graft(rng *rand.Rand, q *matcher.Query) *matcher.Query {
	more := *q
	more.Vertices, more.Edges = slices.Clone(q.Vertices), slices.Clone(q.Edges)
	from, to := rng.IntN(len(q.Vertices)), rng.IntN(len(q.Vertices))
	if from == to || rng.IntN(4) > 0 {
		to = len(more.Vertices)
		label, anyOf := patternLabels(rng, c.Labels.Vertex)
		more.Vertices = append(more.Vertices,
			matcher.QueryVertex{Name: fmt.Sprint("g", to), Label: label, AnyOf: anyOf})
	}
	if rng.IntN(2) == 0 {
		from, to = to, from
	}
	label, anyOf := patternLabels(rng, c.Labels.Edge)
	more.Edges = append(more.Edges, matcher.QueryEdge{Name: fmt.Sprint("h", len(more.Edges)), From: from, To: to,
		Label: label, AnyOf: anyOf, Either: !c.Directed || rng.IntN(4) == 0})
	if _, ok := c.mostMatches(&more); !ok {
		return nil
	}
	return &more
}

// With returns the case with its queries changed by f, which is given copies.
func (c *Case) With(f func(q *matcher.Query)) *Case {
	d := *c
	d.Queries = make([]*matcher.Query, len(c.Queries))
	for i, q := range c.Queries {
		clone := *q
		f(&clone)
		d.Queries[i] = &clone
	}
	return &d
}

// InMatchModes returns the case with its queries in random match modes, as far as they have not too many matches then.
func (c *Case) InMatchModes(rng *rand.Rand) *Case {
	return c.With(func(q *matcher.Query) {
		q.Unit, q.MatchMode = matcher.Embeddings, matcher.MatchMode(rng.IntN(3))
		if _, ok := c.mostMatches(q); !ok {
			q.MatchMode = matcher.Isomorphism
		}
	})
}

// Recut returns the case with its stream cut otherwise.
func (c *Case) Recut(rng *rand.Rand) *Case {
	d := *c
	d.Batches = Cut(rng, c.Messages)
	return &d
}

// Rename returns the case with its vertex keys replaced by f.
func (c *Case) Rename(f func(key string) string) *Case {
	d := *c
	name := func(key string) string {
		if key == "" {
			return ""
		}
		return f(key)
	}
	d.Messages, d.Batches = nil, nil
	for _, batch := range c.Batches {
		start := len(d.Messages)
		for _, m := range batch {
			var n dyngraph.Message
			for _, u := range m.Updates {
				u.From, u.To, u.Key = name(u.From), name(u.To), name(u.Key)
				n.Updates = append(n.Updates, u)
			}
			d.Messages = append(d.Messages, n)
		}
		d.Batches = append(d.Batches, d.Messages[start:len(d.Messages):len(d.Messages)])
	}
	return &d
}
