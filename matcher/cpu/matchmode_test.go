package cpu

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// undirected makes a query of a mode, by the labels of its vertices and of its edges.
func undirected(mode matcher.MatchMode, vertices string, edges ...matcher.QueryEdge) *matcher.Query {
	q := &matcher.Query{Name: "q", Version: 1, MatchMode: mode, Edges: edges}
	for i, l := range vertices {
		v := matcher.QueryVertex{Name: "v" + string(rune('0'+i))}
		if l != '.' {
			v.Label = string(l)
		}
		q.Vertices = append(q.Vertices, v)
	}
	for i := range q.Edges {
		q.Edges[i].Name, q.Edges[i].Either = "e"+string(rune('0'+i)), true
	}
	return q
}

// joined inserts an edge; the labels of its ends are the letters that these begin with.
func joined(from, label, to string) dyngraph.Update {
	return dyngraph.Update{Op: dyngraph.InsertEdge, From: from, To: to, Label: label, FromLabel: from[:1],
		ToLabel: to[:1]}
}

// TestTrailsFailByTheirEdges: a search that jumps comes back to a step whose edge a later step lacks, though it is
// not joined to that step's image. Here the first image of v1 takes an edge that v2 or v4 needs.
func TestTrailsFailByTheirEdges(t *testing.T) {
	q := undirected(matcher.Trail, "R.ACA", matcher.QueryEdge{From: 0, To: 1, Label: "T"},
		matcher.QueryEdge{From: 0, To: 2, Label: "T"}, matcher.QueryEdge{From: 1, To: 3, Label: "U"},
		matcher.QueryEdge{From: 0, To: 4, Label: "T"})
	graph := []dyngraph.Update{joined("R", "T", "A1"), joined("R", "T", "A2"), joined("R", "T", "B"),
		joined("A1", "U", "C"), joined("B", "U", "C")}
	x := newBench(t, graph, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	want := reference.Matches(x.g.View(dyngraph.New), q)
	require.Len(t, want, 2)
	require.Equal(t, want, x.whole(t))
}

// TestParallelEdgesShareAnImage: two edges between the last two vertices of a homomorphism are mapped one by one.
func TestParallelEdgesShareAnImage(t *testing.T) {
	q := undirected(matcher.Homomorphism, "RBCD", matcher.QueryEdge{From: 0, To: 1, Label: "T"},
		matcher.QueryEdge{From: 1, To: 2, Label: "T"}, matcher.QueryEdge{From: 2, To: 3, Label: "T"},
		matcher.QueryEdge{From: 3, To: 2, Label: "T"})
	insert, graph := []dyngraph.Update{}, []dyngraph.Update{}
	for _, b := range []string{"B1", "B2", "B3"} {
		insert = append(insert, joined("R", "T", b))
		graph = append(graph, joined(b, "T", "C"+b), joined("C"+b, "T", "D"+b), joined("C"+b, "T", "D"+b+b))
	}
	x := newBench(t, append(graph, insert[0]), q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	defer x.stage(insert)()
	var rows [][]uint32
	request := matcher.Request{Plan: x.plan, Before: matcher.AllOrders}
	_, err := x.b.Search(t.Context(), dyngraph.Inserted, []matcher.Request{request}, func(g matcher.Group) error {
		for i := range g.Rows.Len() {
			rows = append(rows, slices.Clone(g.Rows.Row(i)))
		}
		return nil
	}, func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
	require.NoError(t, err)
	require.Equal(t, reference.Matches(x.g.View(dyngraph.New), q)[2:], rows) // but those of the edge that was there
	require.Len(t, rows, 4)
}

// whole returns the rows of the graph.
func (x *bench) whole(t *testing.T) (rows [][]uint32) {
	t.Helper()
	_, err := x.b.Enumerate(t.Context(), dyngraph.New, x.plan, matcher.WantRows, 0, nil, func(r matcher.Rows) error {
		for i := range r.Len() {
			rows = append(rows, slices.Clone(r.Row(i)))
		}
		return nil
	})
	require.NoError(t, err)
	return rows
}
