package matchertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/matcher"
)

// Labels are the labels that a random case draws from; "" is none, in a pattern any.
type Labels struct {
	Vertex, Edge []string
}

// RandomLabels draws an alphabet: from no labels at all to a few of either kind, with and without unlabelled ones.
func RandomLabels(rng *rand.Rand) Labels {
	pick := func(prefix string) []string {
		n := rng.IntN(4)
		var labels []string
		for i := range n {
			labels = append(labels, fmt.Sprintf("%s%d", prefix, i))
		}
		if n == 0 || rng.IntN(2) == 0 {
			labels = append(labels, "")
		}
		return labels
	}
	return Labels{Vertex: pick("L"), Edge: pick("e")}
}

func pickLabel(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// RandomQuery draws a connected pattern of 2 to 6 vertices for embeddings and deltas. Half of the patterns have one
// label throughout, so that many have automorphisms.
func RandomQuery(rng *rand.Rand, name string, directed bool, labels Labels) *matcher.Query {
	return RandomQueryOf(rng, 2+rng.IntN(5), name, directed, labels)
}

// RandomQueryOf is RandomQuery with n vertices.
func RandomQueryOf(rng *rand.Rand, n int, name string, directed bool, labels Labels) *matcher.Query {
	q := &matcher.Query{Name: name}
	pairs := randomShape(rng, n)
	uniform := rng.IntN(2) == 0
	vertexLabel, vertexAnyOf := patternLabels(rng, labels.Vertex)
	edgeLabel, edgeAnyOf := patternLabels(rng, labels.Edge)
	either := !directed
	for i := range n {
		if !uniform {
			vertexLabel, vertexAnyOf = patternLabels(rng, labels.Vertex)
		}
		q.Vertices = append(q.Vertices,
			matcher.QueryVertex{Name: fmt.Sprintf("u%d", i), Label: vertexLabel, AnyOf: vertexAnyOf})
	}
	loose := rng.IntN(3) == 0 // edges of a directed pattern that match either way
	for i, p := range pairs {
		if !uniform {
			edgeLabel, edgeAnyOf = patternLabels(rng, labels.Edge)
		}
		if directed {
			either = loose && rng.IntN(2) == 0
		}
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprintf("f%d", i), From: p[0], To: p[1], Label: edgeLabel,
			AnyOf: edgeAnyOf, Either: either})
	}
	return q
}

// patternLabel is a wildcard now and then, and very rarely a label that no data has.
func patternLabel(rng *rand.Rand, from []string) string {
	switch r := rng.IntN(60); {
	case r < 20:
		return ""
	case r == 20:
		return "nowhere"
	}
	return pickLabel(rng, from)
}

// patternLabels is patternLabel, or alternatives.
func patternLabels(rng *rand.Rand, from []string) (label string, anyOf []string) {
	if rng.IntN(6) == 0 {
		if anyOf := alternatives(rng, from); anyOf != nil {
			return "", anyOf
		}
	}
	return patternLabel(rng, from), nil
}

// alternatives draws two labels or more, ascending, rarely one that no data has; nil if there are too few.
func alternatives(rng *rand.Rand, from []string) (anyOf []string) {
	all := []string{"nowhere"}
	for _, l := range from {
		if l != "" && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	if rng.IntN(8) > 0 {
		all = all[1:]
	}
	if len(all) < 2 {
		return nil
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	anyOf = all[:2+rng.IntN(len(all)-1)]
	slices.Sort(anyOf)
	return anyOf
}

// randomShape returns the ends of the edges of a connected pattern with n vertices, in a random order, with random
// directions, and over randomly permuted vertices.
func randomShape(rng *rand.Rand, n int) [][2]int {
	var pairs [][2]int
	add := func(u, v int) { pairs = append(pairs, [2]int{u, v}) }
	oneWay := rng.IntN(2) == 0
	switch rng.IntN(6) {
	case 0: // path
		for i := 1; i < n; i++ {
			add(i-1, i)
		}
	case 1: // star, inwards or outwards
		for i := 1; i < n; i++ {
			add(0, i)
		}
		if rng.IntN(2) == 0 {
			for i := range pairs {
				pairs[i][0], pairs[i][1] = pairs[i][1], pairs[i][0]
			}
		}
	case 2: // cycle; of 2 vertices: a pair of parallel or opposite edges
		for i := range n {
			add(i, (i+1)%n)
		}
	case 3: // clique
		for i := range n {
			for j := range i {
				add(j, i)
			}
		}
	default: // tree with a few more edges, some of them parallel
		for i := 1; i < n; i++ {
			add(rng.IntN(i), i)
		}
		for range rng.IntN(3) {
			if u, v := rng.IntN(n), rng.IntN(n); u != v {
				add(u, v)
			}
		}
		if rng.IntN(4) == 0 {
			pairs = append(pairs, pairs[rng.IntN(len(pairs))])
		}
	}
	perm := rng.Perm(n)
	for i, p := range pairs {
		p = [2]int{perm[p[0]], perm[p[1]]}
		if !oneWay && rng.IntN(2) == 0 {
			p[0], p[1] = p[1], p[0]
		}
		pairs[i] = p
	}
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs
}

// WideQueryOf draws a connected pattern with n vertices most of whose edges may have several images between two
// vertices: they have no label or alternatives, match in both directions, or are parallel.
func WideQueryOf(rng *rand.Rand, n int, name string, directed bool, labels Labels) *matcher.Query {
	q := &matcher.Query{Name: name}
	pairs := randomShape(rng, n)
	for range rng.IntN(3) {
		p := pairs[rng.IntN(len(pairs))]
		if rng.IntN(2) == 0 {
			p[0], p[1] = p[1], p[0]
		}
		pairs = append(pairs, p)
	}
	plain := rng.IntN(3) == 0
	vertexLabel, vertexAnyOf := patternLabels(rng, labels.Vertex)
	for i := range n {
		if !plain {
			vertexLabel, vertexAnyOf = patternLabels(rng, labels.Vertex)
		}
		q.Vertices = append(q.Vertices,
			matcher.QueryVertex{Name: fmt.Sprintf("u%d", i), Label: vertexLabel, AnyOf: vertexAnyOf})
	}
	either := rng.IntN(3)
	for i, p := range pairs {
		e := matcher.QueryEdge{Name: fmt.Sprintf("f%d", i), From: p[0], To: p[1], Either: !directed ||
			rng.IntN(4) < either}
		switch rng.IntN(6) {
		case 0, 1:
			e.Label = pickLabel(rng, labels.Edge)
		case 2:
			e.AnyOf = alternatives(rng, labels.Edge)
		}
		q.Edges = append(q.Edges, e)
	}
	return q
}
