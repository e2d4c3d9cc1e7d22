package matchertest

import (
	"fmt"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Flood is a batch with many matches of a path of 4 vertices, named against the order in which it is searched: most in
// groups of up to a million, a ninth of them in one group. The number in a key orders the vertices of a label.
type Flood struct {
	Graph, Batch []dyngraph.Update
	Query        *matcher.Query
	Matches      uint64
}

// NewFlood makes one with a number of matches, or few more.
func NewFlood(matches int) *Flood {
	f := &Flood{Query: &matcher.Query{Name: "flood", Version: 1}}
	for i, l := range []string{"D", "B", "A", "C"} {
		f.Query.Vertices = append(f.Query.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: l})
	}
	for i, e := range [][2]int{{2, 1}, {1, 3}, {3, 0}} { // a - b - c - d
		f.Query.Edges = append(f.Query.Edges,
			matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1], Either: true})
	}
	// The insertion of an edge between a vertex with x neighbours and one with y makes x times y matches.
	hub := func(side int) int {
		n := len(f.Batch)
		b, c := fmt.Sprint("b", n), fmt.Sprint("c", n)
		f.vertex(b, "B")
		f.vertex(c, "C")
		for i := range side {
			f.Graph = append(f.Graph, f.edge(fmt.Sprint("a", i), b), f.edge(c, fmt.Sprint("d", i*7919%side)))
		}
		f.Batch = append(f.Batch, f.edge(b, c))
		f.Matches += uint64(side) * uint64(side)
		return side * side
	}
	large := 1
	for large*large < matches/9 {
		large++
	}
	for i := range large {
		f.vertex(fmt.Sprint("a", i), "A")
		f.vertex(fmt.Sprint("d", i), "D")
	}
	left := matches
	for i := 0; left > 0; i++ {
		switch side := min(1000, max(1, large/2)); {
		case i == 3:
			left -= hub(large)
		default:
			left -= hub(side)
		}
	}
	return f
}

func (f *Flood) vertex(key, label string) {
	f.Graph = append(f.Graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key, Label: label})
}

func (f *Flood) edge(a, b string) dyngraph.Update {
	return dyngraph.Update{Op: dyngraph.InsertEdge, From: a, To: b}
}
