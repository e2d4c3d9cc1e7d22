//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestPrefetchedTasksDoNotWait: of a triangle only the ends of an update are read, which are there before the search
// begins, if they fit the part of the cache that is for that.
func TestPrefetchedTasksDoNotWait(t *testing.T) {
	triangle := &matcher.Query{Name: "triangle", Vertices: make([]matcher.QueryVertex, 3),
		Edges: []matcher.QueryEdge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 0, To: 2}}}
	waited := 0
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		defer cuda.SetPrefetchTasks(cuda.SetPrefetchTasks([]int{0, 1 << 16}[rng.IntN(2)]))
	})
	_ = triangle
	_ = waited
	_ = dyngraph.New
	_ = plan.New
}
