package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS7ForeseenPairsPutOutTheSame: a search that knows what a list's vertices have in common with another one, although its tables start over
// in the middle, puts out what one does that finds it each time.
func TestS7ForeseenPairsPutOutTheSame(t *testing.T) {
	rows := 0
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		p := newPowerLaw(rng.Uint64(), 60, 300, 2, 120)
		q := &matcher.Query{Name: "triangle on a path", Version: 1}
		for i, l := range []string{"L0", "L1", "L0", "L1", "L0"} {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: l})
		}
		for i, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}} {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1], Either: true})
		}
		forgets, foresees := New(Options{Threads: 1, SpillDir: t.TempDir()}), eager(t, 1+rng.IntN(2), 1<<20)
		forgets.forgets = true
		foresees.lists.most, foresees.pairs.most = 300+rng.IntN(2000), 100+rng.IntN(2000)
		x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, forgets, foresees)
		x.Stage([]dyngraph.Message{{Updates: p.graph}})
		x.Commit()
		for len(p.stream) > 0 {
			n := min(1+rng.IntN(40), len(p.stream))
			delta := x.Stage([]dyngraph.Message{{Updates: p.stream[:n]}})
			p.stream = p.stream[n:]
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(forgets, sign, requests), x.Search(foresees, sign, requests))
			}
			for _, s := range foresees.idle {
				for i := range s.foreseen.slots {
					rows += len(s.foreseen.slots[i].row)
				}
			}
			x.Commit()
		}
	})
	require.Positive(t, rows)
}
