package matchertest

import (
	"fmt"
	"math/rand/v2"

	"motifd/dyngraph"
)

// Shape says what a random stream looks like.
type Shape struct {
	Directed bool
	Labels   Labels
	Vertices int // keys that are drawn from
	Edges    int // about how many the graph holds
	Messages int // before everything is deleted
	Hubs     int // keys that every other edge begins or ends at; 0 is a mild skew
	// Full makes the stream begin with Edges insertions, before Messages.
	Full bool
	// IDs has ids that identify edges: some edges are parallel.
	IDs bool
	// Renewals makes many insertions of edges that are present.
	Renewals bool
}

// RandomShape draws a graph that is small enough for a full recomputation after each batch.
func RandomShape(rng *rand.Rand) Shape {
	return Shape{
		Directed: rng.IntN(2) == 0,
		Labels:   RandomLabels(rng),
		Vertices: 4 + rng.IntN(9),
		Edges:    6 + rng.IntN(24),
		Messages: 20 + rng.IntN(80),
	}
}

// RandomStream draws messages that build a graph, change it in every way that DESIGN S3 speaks of, and at the end
// delete all of it. Positions are (0, message index, element).
func RandomStream(rng *rand.Rand, shape Shape) []dyngraph.Message {
	s := &streamer{rng: rng, shape: shape, g: NewGraph(shape.Directed)}
	s.g.EdgeIDs = shape.IDs
	for i := range shape.Vertices {
		s.keys = append(s.keys, fmt.Sprintf("k%d", i))
	}
	rng.Shuffle(len(s.keys), func(i, j int) { s.keys[i], s.keys[j] = s.keys[j], s.keys[i] })
	if shape.Full {
		for range shape.Edges {
			s.add(s.insert())
		}
	}
	for first := len(s.out); len(s.out) < first+shape.Messages; {
		s.message()
	}
	s.clear()
	for i := range s.out {
		for j := range s.out[i].Updates {
			u := &s.out[i].Updates[j]
			u.Pos = dyngraph.Position{Offset: int64(i), Element: int32(j)}
			u.Attr.TS, u.Attr.HasTS = int64(1000*i+j), true
		}
	}
	return s.out
}

// streamer draws messages and follows them in a Graph, so that it knows what there is to delete.
type streamer struct {
	rng   *rand.Rand
	shape Shape
	keys  []string
	g     *Graph
	out   []dyngraph.Message
}

func (s *streamer) add(updates ...dyngraph.Update) {
	m := dyngraph.Message{Updates: updates}
	s.g.Accept(m)
	s.out = append(s.out, m)
}

// key draws a vertex; the first keys are hubs.
func (s *streamer) key() string {
	n := len(s.keys)
	return s.keys[min(s.rng.IntN(n), s.rng.IntN(n))]
}

// edge draws an edge operation between two different keys.
func (s *streamer) edge(op dyngraph.Op) dyngraph.Update {
	u := dyngraph.Update{Op: op, From: s.key(), To: s.key(), Label: pickLabel(s.rng, s.shape.Labels.Edge)}
	u.Attr.ID = s.id()
	if s.shape.Hubs > 0 {
		u.From, u.To = s.keys[s.rng.IntN(len(s.keys))], s.keys[s.rng.IntN(len(s.keys))]
		switch hub := s.keys[s.rng.IntN(s.shape.Hubs)]; s.rng.IntN(4) {
		case 0:
			u.From = hub
		case 1:
			u.To = hub
		}
	}
	for u.From == u.To {
		u.To = s.keys[s.rng.IntN(len(s.keys))]
	}
	return u
}

// id draws an id, or none.
func (s *streamer) id() string {
	if !s.shape.IDs {
		return ""
	}
	return []string{"", "", "1", "10", "2", "b"}[s.rng.IntN(6)]
}

// insert draws an insertion. Half of the time it declares the labels of ends without one.
func (s *streamer) insert() dyngraph.Update {
	u := s.edge(dyngraph.InsertEdge)
	declare := func(key string) string {
		switch label, _ := s.g.Label(key); {
		case s.rng.IntN(2) == 0:
			return ""
		case label != "":
			return label
		}
		return pickLabel(s.rng, s.shape.Labels.Vertex)
	}
	u.FromLabel, u.ToLabel = declare(u.From), declare(u.To)
	return u
}

// present draws an operation on an edge that is there.
func (s *streamer) present(op dyngraph.Op) (dyngraph.Update, bool) {
	edges := s.g.Sorted()
	if len(edges) == 0 {
		return dyngraph.Update{}, false
	}
	e := edges[s.rng.IntN(len(edges))]
	u := dyngraph.Update{Op: op, From: e.From.Key, To: e.To.Key, Label: e.Label,
		Attr: dyngraph.Attr{ID: e.ID}}
	if !s.shape.Directed && s.rng.IntN(2) == 0 {
		u.From, u.To = u.To, u.From
	}
	return u, true
}

func (s *streamer) vertex(op dyngraph.Op, label string) dyngraph.Update {
	return dyngraph.Update{Op: op, Key: s.keys[s.rng.IntN(len(s.keys))], Label: label}
}

func (s *streamer) vertexLabel() string { return pickLabel(s.rng, s.shape.Labels.Vertex) }

func (s *streamer) message() {
	grow := len(s.g.edges) < s.shape.Edges
	if s.shape.Renewals && s.rng.IntN(3) == 0 {
		if u, ok := s.present(dyngraph.InsertEdge); ok {
			s.add(u)
			return
		}
	}
	switch r := s.rng.IntN(40); {
	case r < 12 || grow && r < 24:
		s.add(s.insert())
	case r < 26:
		if u, ok := s.present(dyngraph.DeleteEdge); ok {
			s.add(u)
		}
	case r == 26: // renewal: no effect
		if u, ok := s.present(dyngraph.InsertEdge); ok {
			s.add(u)
		}
	case r == 27: // absent, or perhaps not
		s.add(s.edge(dyngraph.DeleteEdge))
	case r == 28: // there and back
		s.flicker()
	case r == 29: // a parallel edge with another label, or the opposite one
		s.parallel()
	case r == 30:
		s.add(s.vertex(dyngraph.InsertVertex, s.vertexLabel()))
	case r == 31:
		s.add(s.vertex(dyngraph.DeleteVertex, ""))
	case r < 34:
		s.relabel()
	case r == 34: // a label for one that has none, if there is such a one
		s.label()
	case r == 35: // refused as often as not
		s.add(s.vertex(dyngraph.InsertVertex, "other"))
	case r == 36:
		k := s.key()
		s.add(s.insert(), dyngraph.Update{Op: dyngraph.InsertEdge, From: k, To: k}, s.insert())
	case r == 37: // an array
		var us []dyngraph.Update
		for range 2 + s.rng.IntN(5) {
			us = append(us, s.insert())
			if u, ok := s.present(dyngraph.DeleteEdge); ok && s.rng.IntN(2) == 0 {
				us = append(us, u)
			}
		}
		s.add(us...)
	case r == 38: // a vertex that goes and comes back as it was, with some of its edges
		s.rebirth()
	default:
		s.add() // an empty message
	}
}

// flicker inserts and deletes an edge, or deletes and inserts one, a few times over.
func (s *streamer) flicker() {
	u := s.edge(dyngraph.InsertEdge)
	if p, ok := s.present(dyngraph.InsertEdge); ok && s.rng.IntN(2) == 0 {
		u = p
	}
	for range 2 + s.rng.IntN(3) {
		v := u
		if s.rng.IntN(2) == 0 {
			v.Op = dyngraph.DeleteEdge
		}
		s.add(v)
	}
}

func (s *streamer) parallel() {
	u, ok := s.present(dyngraph.InsertEdge)
	if !ok {
		return
	}
	u.Label, u.Attr.ID = pickLabel(s.rng, s.shape.Labels.Edge), s.id()
	if s.rng.IntN(2) == 0 {
		u.From, u.To = u.To, u.From
	}
	s.add(u)
}

// relabel deletes a vertex and declares it with another label, and puts some of its edges back.
func (s *streamer) relabel() { s.replace(s.keys[s.rng.IntN(len(s.keys))], s.vertexLabel()) }

// rebirth does the same with the label that it has.
func (s *streamer) rebirth() {
	key := s.key()
	label, _ := s.g.Label(key)
	s.replace(key, label)
}

func (s *streamer) replace(key, label string) {
	updates := []dyngraph.Update{
		{Op: dyngraph.DeleteVertex, Key: key},
		{Op: dyngraph.InsertVertex, Key: key, Label: label},
	}
	for _, e := range s.g.Sorted() {
		if (e.From.Key == key || e.To.Key == key) && s.rng.IntN(3) > 0 {
			updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: e.From.Key, To: e.To.Key,
				Label: e.Label, Attr: dyngraph.Attr{ID: e.ID}})
		}
	}
	if s.rng.IntN(2) == 0 {
		s.add(updates...)
		return
	}
	for _, u := range updates {
		s.add(u)
	}
}

func (s *streamer) label() {
	for _, key := range s.keys {
		if label, ok := s.g.Label(key); ok && label == "" {
			s.add(dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: s.vertexLabel()})
			return
		}
	}
}

// clear deletes everything: edges one by one in a random order, or by their vertices.
func (s *streamer) clear() {
	byVertex := s.rng.IntN(3) == 0
	for len(s.g.edges) > 0 {
		if byVertex && s.rng.IntN(2) == 0 {
			s.add(s.vertex(dyngraph.DeleteVertex, ""))
			continue
		}
		u, _ := s.present(dyngraph.DeleteEdge)
		s.add(u)
	}
	if byVertex {
		for _, key := range s.g.Keys() {
			s.add(dyngraph.Update{Op: dyngraph.DeleteVertex, Key: key})
		}
	}
}

// Cut cuts the messages into batches of random sizes: single messages, a few, or many, and now and then none.
func Cut(rng *rand.Rand, msgs []dyngraph.Message) [][]dyngraph.Message {
	var batches [][]dyngraph.Message
	most := []int{1, 4, 12, 40, len(msgs)}[rng.IntN(5)]
	for len(msgs) > 0 {
		n := min(len(msgs), 1+rng.IntN(most))
		if rng.IntN(20) == 0 {
			n = 0
		}
		batches = append(batches, msgs[:n:n])
		msgs = msgs[n:]
	}
	return batches
}
