package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestLargePatternsArePlanned plans patterns whose symmetry cannot be found by trying maps: an ordered tournament,
// which has none but looks alike from everywhere, a cyclic one, and a complete pattern of 32! automorphisms.
func TestLargePatternsArePlanned(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		arrow func(u, v int) bool // u < v
		group string
	}{
		"ordered": {32, func(u, v int) bool { return true }, "1"},
		"cyclic":  {31, func(u, v int) bool { return v-u <= 15 }, "31"},
	} {
		q := &matcher.Query{Name: name}
		for v := range c.n {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v)})
			for u := range v {
				e := matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v}
				if !c.arrow(u, v) {
					e.From, e.To = v, u
				}
				q.Edges = append(q.Edges, e)
			}
		}
		p, err := New().Plan(q, dyngraph.NewGraph(dyngraph.Options{Directed: true}))
		require.NoError(t, err)
		require.Equal(t, c.group, p.Automorphisms.String(), name)
		require.Contains(t, p.String(), "searched on the CPU: a GPU takes patterns of at most 64 edges")
	}
	q := &matcher.Query{Name: "complete"}
	for v := range 32 {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v)})
		for u := range v {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v,
				Either: true})
		}
	}
	p, err := New().Plan(q, dyngraph.NewGraph(dyngraph.Options{}))
	require.NoError(t, err)
	require.Equal(t, "263130836933693530167218012160000000", p.Automorphisms.String())
}
