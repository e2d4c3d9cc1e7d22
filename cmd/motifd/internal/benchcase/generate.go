package benchcase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"motifd/cmd/motifd/internal/command"
)

// Sizes are the sizes of a generated case.
type Sizes struct {
	Vertices int     `json:"vertices"`
	Edges    int     `json:"edges"` // the stream's insertions included
	Labels   int     `json:"labels"`
	Exponent float64 `json:"exponent"` // of the degrees' power law
	Updates  int     `json:"updates"`  // in the stream
	Stream   string  `json:"stream"`   // insert or mixed
	Seed     uint64  `json:"seed"`
	// Classes, Sizes and Queries say what patterns are taken from the graph: Queries of each class and number of
	// vertices.
	Classes []string `json:"classes"`
	Sizes   []int    `json:"sizes"`
	Queries int      `json:"queries"`
}

// Presets are the sizes that have names, but for the seed and the kind of the stream.
var Presets = map[string]Sizes{
	"synth": {
		Vertices: 20_000, Edges: 150_000, Labels: 5, Exponent: 3, Updates: 15_000,
		Classes: Classes, Sizes: []int{4, 5, 6, 7, 8}, Queries: 1,
	},
	"github": {
		Vertices: 37_700, Edges: 289_003, Labels: 5, Exponent: 2.43, Updates: 28_900,
		Classes: []string{Tree}, Sizes: []int{6}, Queries: 5,
	},
}

// Edge is an undirected edge, its lower end first.
type Edge [2]uint32

// Op is one update of a stream.
type Op struct {
	Delete bool
	Edge   Edge
}

// Case is a case: an undirected graph with vertex labels, a stream that changes it, and patterns. It is decided
// by its sizes alone.
type Case struct {
	Labels  []uint32 // by vertex
	Graph   []Edge
	Stream  []Op
	Queries []Query
}

// check says what is wrong with the sizes.
func (s *Sizes) check() error {
	pairs := float64(s.Vertices) * float64(s.Vertices-1) / 2
	switch {
	case s.Vertices < 2 || s.Vertices > 100_000_000:
		return fmt.Errorf("--vertices: %d is out of range; it is 2 to 100000000", s.Vertices)
	case s.Edges < 1 || float64(s.Edges) > pairs/2:
		return fmt.Errorf("--edges: %d is out of range; it is 1 to half of the pairs of vertices, %.0f", s.Edges,
			pairs/2)
	case s.Labels < 1 || s.Labels > 1_000_000:
		return fmt.Errorf("--labels: %d is out of range; it is 1 to 1000000", s.Labels)
	case s.Exponent <= 2 || math.IsNaN(s.Exponent):
		return fmt.Errorf("--exponent: %v is out of range; it is more than 2, or the mean degree has no bound",
			s.Exponent)
	case s.Stream != "insert" && s.Stream != "mixed":
		return fmt.Errorf("--stream: %q is neither insert nor mixed", s.Stream)
	case s.Updates < 1 || s.inserts() >= s.Edges:
		return fmt.Errorf("--updates: %d is out of range; the stream's insertions are 1 to less than --edges, %d",
			s.Updates, s.Edges)
	case s.Queries < 1 || s.Queries > 1000:
		return fmt.Errorf("--queries: %d is out of range; it is 1 to 1000", s.Queries)
	}
	for _, c := range s.Classes {
		if !slices.Contains(Classes, c) {
			return fmt.Errorf("--classes: there is no class %q; there are dense, sparse and tree", c)
		}
	}
	for _, n := range s.Sizes {
		if n < 3 || n > 32 {
			return fmt.Errorf("--sizes: %d is out of range; patterns have 3 to 32 vertices", n)
		}
		if slices.Contains(s.Classes, Dense) && n < 4 {
			return fmt.Errorf("--sizes: %d vertices cannot have a mean degree of 3; dense patterns have 4 or more", n)
		}
	}
	return nil
}

// inserts is the number of insertions in the stream: all, or two in three.
func (s *Sizes) inserts() int {
	if s.Stream == "mixed" {
		return s.Updates - s.Updates/3
	}
	return s.Updates
}

// Generate makes the case. The graph is of the Chung-Lu kind: the ends of an edge are drawn with weights that follow
// the power law, so that the degrees do; no edge twice, no self-loop. Labels are uniform, and the stream is a random
// part of the edges.
func (s *Sizes) Generate() (*Case, error) {
	if err := s.check(); err != nil {
		return nil, command.Refuse(err)
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x62656e6368))
	c := &Case{Labels: make([]uint32, s.Vertices)}
	for i := range c.Labels {
		c.Labels[i] = rng.Uint32N(uint32(s.Labels))
	}
	edges := s.edges(rng)
	n := len(edges) - s.inserts()
	c.Graph = slices.Clone(edges[:n])
	c.Stream = s.stream(rng, c.Graph, edges[n:])
	// Patterns are drawn from a generator of their own: with other patterns the graph is the same.
	var err error
	c.Queries, err = s.queries(rand.New(rand.NewPCG(s.Seed, 0x7175657279)), newAdjacency(c.Labels, edges))
	if err != nil {
		return nil, command.Refuse(err)
	}
	return c, nil
}

// edges draws the edges, in random order. With an exponent above 2 and half of the pairs left free, pairs that were not
// drawn yet keep turning up.
func (s *Sizes) edges(rng *rand.Rand) []Edge {
	// Weights are whole numbers, so that rounding differs on no machine.
	sums, sum := make([]uint64, s.Vertices), uint64(0)
	for i := range sums {
		sum += 1 + uint64(math.Pow(float64(i+1), -1/(s.Exponent-1))*(1<<24))
		sums[i] = sum
	}
	names := rng.Perm(s.Vertices) // an id says nothing about the degree
	draw := func() uint32 {
		x := rng.Uint64N(sum)
		return uint32(names[sort.Search(len(sums), func(i int) bool { return sums[i] > x })])
	}
	edges, taken := make([]Edge, 0, s.Edges), make(map[Edge]struct{}, s.Edges)
	for len(edges) < s.Edges {
		u, v := draw(), draw()
		e := Edge{min(u, v), max(u, v)}
		if _, ok := taken[e]; ok || u == v {
			continue
		}
		taken[e] = struct{}{}
		edges = append(edges, e)
	}
	// An edge that was drawn early has likelier ends: the stream is to be a fair sample.
	rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}

// stream makes the updates: insertions of absent edges and, when it is mixed, deletions of present ones, so that each
// of them changes the graph.
func (s *Sizes) stream(rng *rand.Rand, graph, inserts []Edge) []Op {
	out := make([]Op, 0, s.Updates)
	present := slices.Clone(graph)
	for left := s.Updates; left > 0; left-- {
		if rng.IntN(left) < len(inserts) {
			out = append(out, Op{Edge: inserts[0]})
			present, inserts = append(present, inserts[0]), inserts[1:]
			continue
		}
		i := rng.IntN(len(present))
		out = append(out, Op{Delete: true, Edge: present[i]})
		present[i] = present[len(present)-1]
		present = present[:len(present)-1]
	}
	return out
}
