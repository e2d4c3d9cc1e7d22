package cpu

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// TestIntersectAgainstPlainLists: the candidates of a step that is joined to several earlier vertices, and their
// edges, are what all of their lists have in common and can be seen, whichever lists are built, remembered, or those
// of the call before.
func TestIntersectAgainstPlainLists(t *testing.T) {
	intersections := 0
	matchertest.ForSeedsUntil(t, 12, func() bool { return intersections > 0 }, func(t *testing.T, rng *rand.Rand) {
		const vertices = 150
		p := newPowerLaw(rng.Uint64(), vertices, 1500+rng.IntN(3000), 1+rng.IntN(2), 300)
		x := newBench(t, p.graph, denseShapes[rng.IntN(len(denseShapes))].query(),
			Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		present := slices.Clone(p.graph[vertices:])
		us := slices.Clone(p.stream)
		for range rng.IntN(300) {
			u := present[rng.IntN(len(present))]
			u.Op = dyngraph.DeleteEdge
			us = append(us, u)
		}
		defer x.stage(us)()
		var stop atomic.Bool
		s := x.b.newSearcher(&stop, matcher.WantRows)
		defer x.b.release(s)
		for _, o := range x.b.plans[x.plan].rows {
			if o == nil {
				continue
			}
			s.Sign = []dyngraph.Sign{dyngraph.Inserted, dyngraph.Deleted, 0}[rng.IntN(3)]
			s.Anchor, s.Which = rng.Uint32N(uint32(len(x.b.delta.Net))), dyngraph.Which(rng.IntN(2))
			s.Start(o)
			for d := range o.Steps {
				if len(o.Steps[d].Back) < 2 {
					continue
				}
				intersections++
				for k := range d {
					s.Images[k] = dyngraph.VertexID(rng.IntN(vertices))
				}
				for range 60 {
					if k := rng.IntN(d); rng.IntN(4) > 0 {
						s.Images[k] = dyngraph.VertexID(rng.IntN(vertices))
					}
					sameCandidates(t, x, &s.Search, o, d)
				}
			}
		}
	})
}

// sameCandidates fills the frame of a step and compares it with what the graph holds.
func sameCandidates(t *testing.T, x *bench, s *backtrack.Search, o *program.Order, d int) {
	t.Helper()
	st := &o.Steps[d]
	found, entries, ok := s.CandidatesOf(d)
	require.True(t, ok)
	want := map[dyngraph.VertexID][]dyngraph.Entry{}
	for k := range st.Back {
		b := &st.Back[k]
		l := plainList(x, s.Images[b.Step], b, st)
		for i, w := range l.Vertices {
			if e := l.Entries[i]; len(want[w]) == k && s.AdmitsEdge(b, e) {
				want[w] = append(want[w], e)
			}
		}
	}
	got := map[dyngraph.VertexID][]dyngraph.Entry{}
	require.True(t, slices.IsSorted(found))
	for i, w := range found {
		for k := range st.Back {
			got[w] = append(got[w], entries[k][i])
		}
	}
	require.Len(t, got, len(found), "a candidate twice")
	maps.DeleteFunc(want, func(_ dyngraph.VertexID, es []dyngraph.Entry) bool { return len(es) < len(st.Back) })
	require.Equal(t, want, got)
}
