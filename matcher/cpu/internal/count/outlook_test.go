package count

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/plan"
)

// TestNextBlockLooksAhead has a path that fans out from a mapped vertex, and comes back to a triangle with it. The path
// begins with the fewest images, and ends with the most.
func TestNextBlockLooksAhead(t *testing.T) {
	q := &matcher.Query{Name: "q", Emit: matcher.EmitCounts}
	for _, l := range "abcdefg" {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: string(l), Label: string(l)})
	}
	for _, e := range []string{"ab", "bc", "cd", "de", "ef", "af", "fg", "ag"} {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: e, From: int(e[0] - 'a'), To: int(e[1] - 'a'), Label: "x"})
	}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	p, err := plan.New().Plan(q, g)
	require.NoError(t, err)
	f := new(candidates.Filter)
	f.Load(g)
	f.Prepare([]*matcher.Plan{p})
	next := func(images, pairs []int) int {
		s := NewPlan(p, f, false)
		s.Know(images, pairs)
		parts := newComponents(s, &componentKeys{}).quotients[0]
		of := parts.component(parts.q.Blocks &^ 1)
		parts.chooseNext(of)
		return of.next
	}
	require.Contains(t, []int{5, 6}, next([]int{1, 8, 64, 512, 4096, 9, 9}, []int{8, 64, 512, 4096, 9, 9, 9, 9}))
	require.Equal(t, 1, next([]int{1, 8, 8, 8, 8, 9, 9}, []int{8, 8, 8, 8, 9, 9, 9, 9}), "a path that does not fan out")
}
