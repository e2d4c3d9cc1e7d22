package benchcase

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/matcher"
)

// Classes of patterns, as in the papers on continuous subgraph matching: by mean degree (twice the edges by the
// vertices).
const (
	Dense  = "dense"  // a mean degree of 3 or more
	Sparse = "sparse" // less than that, with a cycle
	Tree   = "tree"   // without a cycle
)

// Classes are the classes of patterns, in the order of reports.
var Classes = []string{Dense, Sparse, Tree}

// classOf tells the class of a connected pattern.
func classOf(vertices, edges int) string {
	switch {
	case edges < vertices:
		return Tree
	case 2*edges < 3*vertices:
		return Sparse
	}
	return Dense
}

// Query is a pattern: a connected graph with vertex labels.
type Query struct {
	Name   string
	Labels []uint32 // by vertex
	Edges  []Edge   // lower end first
}

// adjacency is a graph to take patterns from.
type adjacency struct {
	labels []uint32
	edges  []Edge
	nbrs   [][]uint32 // by vertex: neighbours, ascending
}

func newAdjacency(labels []uint32, edges []Edge) *adjacency {
	a := &adjacency{labels: labels, edges: edges, nbrs: make([][]uint32, len(labels))}
	degree := make([]int, len(labels))
	for _, e := range edges {
		degree[e[0]]++
		degree[e[1]]++
	}
	for v, n := range degree {
		a.nbrs[v] = make([]uint32, 0, n)
	}
	for _, e := range edges {
		a.nbrs[e[0]] = append(a.nbrs[e[0]], e[1])
		a.nbrs[e[1]] = append(a.nbrs[e[1]], e[0])
	}
	for _, n := range a.nbrs {
		slices.Sort(n)
	}
	return a
}

func (a *adjacency) joined(u, v uint32) bool {
	if len(a.nbrs[u]) > len(a.nbrs[v]) {
		u, v = v, u
	}
	_, ok := slices.BinarySearch(a.nbrs[u], v)
	return ok
}

// queries takes the patterns of every class and size from the graph, so that each has a match.
func (s *Sizes) queries(rng *rand.Rand, a *adjacency) ([]Query, error) {
	var out []Query
	var errs []error
	for _, class := range s.Classes {
		for _, size := range s.Sizes {
			for i := range s.Queries {
				q, ok := a.extract(rng, class, size)
				if !ok {
					errs = append(errs, fmt.Errorf(
						"the graph seems to hold no %s pattern of %d vertices; use more --edges, other --sizes or "+
							"other --classes", class, size))
					break
				}
				q.Name = fmt.Sprintf("%s-%d", class, size)
				if s.Queries > 1 {
					q.Name += fmt.Sprintf("-%d", i+1)
				}
				out = append(out, q)
			}
		}
	}
	return out, errors.Join(errs...)
}

// maxTries bounds how many sets of vertices are looked at for a pattern.
const maxTries = 10_000

// extract takes a pattern of a class: a connected set of vertices, all of the edges inside it or, where the class
// allows for fewer, a random part of them that connects it.
func (a *adjacency) extract(rng *rand.Rand, class string, size int) (Query, bool) {
	for range maxTries {
		set := a.grow(rng, class, size)
		if set == nil {
			continue
		}
		q := a.induced(set)
		least, most := size-1, len(q.Edges)
		switch class {
		case Tree:
			most = least
		case Sparse:
			least, most = size, min(most, (3*size-1)/2)
		case Dense:
			least = (3*size + 1) / 2
		}
		// With more edges a GPU would not search the pattern.
		if most = min(most, matcher.MaxGPUEdges); most < least {
			continue
		}
		q.thin(rng, least+rng.IntN(most-least+1))
		return q, true
	}
	return Query{}, false
}

// grow collects a connected set of vertices, from a random edge on, neighbour by neighbour of a random member. Of a
// class with cycles every other time a neighbour is sought that has many neighbours in the set. It returns nil when the
// set has no more neighbours.
func (a *adjacency) grow(rng *rand.Rand, class string, size int) []uint32 {
	e := a.edges[rng.IntN(len(a.edges))]
	set := []uint32{e[0], e[1]}
	for tries := 0; len(set) < size; tries++ {
		if tries == 100*size {
			return nil
		}
		samples := 1
		if class == Dense || class == Sparse && rng.IntN(2) == 0 {
			samples = 64
		}
		best, links := uint32(0), 0
		for range samples {
			nbrs := a.nbrs[set[rng.IntN(len(set))]]
			v := nbrs[rng.IntN(len(nbrs))]
			if slices.Contains(set, v) {
				continue
			}
			n := 0
			for _, u := range set {
				if a.joined(u, v) {
					n++
				}
			}
			if n > links {
				best, links = v, n
			}
		}
		if links > 0 {
			set = append(set, best)
		}
	}
	return set
}

// induced returns the pattern of a set of vertices with all edges between them.
func (a *adjacency) induced(set []uint32) Query {
	var q Query
	for i, v := range set {
		q.Labels = append(q.Labels, a.labels[v])
		for j := range i {
			if a.joined(set[j], v) {
				q.Edges = append(q.Edges, Edge{uint32(j), uint32(i)})
			}
		}
	}
	return q
}

// thin keeps n edges: those of a random spanning tree, and random others.
func (q *Query) thin(rng *rand.Rand, n int) {
	rng.Shuffle(len(q.Edges), func(i, j int) { q.Edges[i], q.Edges[j] = q.Edges[j], q.Edges[i] })
	part := make([]int, len(q.Labels)) // by vertex: the component, as a tree of parents
	for i := range part {
		part[i] = i
	}
	root := func(v uint32) int {
		i := int(v)
		for part[i] != i {
			i = part[i]
		}
		return i
	}
	var keep, others []Edge
	for _, e := range q.Edges {
		if u, v := root(e[0]), root(e[1]); u != v {
			part[u] = v
			keep = append(keep, e)
		} else {
			others = append(others, e)
		}
	}
	q.Edges = append(keep, others[:n-len(keep)]...)
	slices.SortFunc(q.Edges, func(x, y Edge) int { return slices.Compare(x[:], y[:]) })
}
