package cpu

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestS7MemoizedSuffixesPutOutTheSame: a search with a memo of suffixes, with room for some or for all of
// it, and whose tables start over in the middle, puts out what one does that finds it each time; so do several
// workers that give away what comes after it.
func TestS7MemoizedSuffixesPutOutTheSame(t *testing.T) {
	matchertest.NotUnderRace(t, "TestMemoIsSharedByWorkers (backtrack) has the memo that threads share")
	var again, staged, long, rest, triangles, before bool
	seen := func() bool { return again && staged && long && rest && triangles && before }
	matchertest.ForSeedsUntil(t, 5, seen, func(t *testing.T, rng *rand.Rand) {
		directed, labels := rng.IntN(2) == 0, 1+rng.IntN(3)
		const vertices = 90
		edges := 60 + 75*labels // of one label, fewer make as many matches
		p := newPowerLaw(rng.Uint64(), vertices, edges, labels, edges/2)
		if labels > 1 && rng.IntN(2) == 0 { // a neighbour of so many that they are no list at first
			for v := 1; v < vertices; v++ {
				p.graph = append(p.graph, dyngraph.Update{Op: dyngraph.InsertEdge, From: "0", To: fmt.Sprint(v)})
			}
		}
		var queries []*matcher.Query
		for i, shape := range [][][2]int{
			{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}}, // triangle on a path
			{{0, 1}, {1, 2}, {2, 3}, {3, 4}},
			{{0, 1}, {1, 2}, {2, 3}, {1, 4}},
			{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {1, 4}}, // triangle with tails at two of its vertices
		} {
			q := &matcher.Query{Name: fmt.Sprint("q", i), Version: 1}
			for v := range 5 {
				x := matcher.QueryVertex{Name: fmt.Sprint("v", v)}
				if rng.IntN(6) > 0 {
					x.Label = fmt.Sprint("L", rng.IntN(labels))
				}
				q.Vertices = append(q.Vertices, x)
			}
			for k, e := range shape {
				if rng.IntN(2) == 0 {
					e[0], e[1] = e[1], e[0]
				}
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", k), From: e[0], To: e[1],
					Either: !directed})
			}
			queries = append(queries, q)
		}
		forgets, remembers := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}),
			eager(t, 1+rng.IntN(3), 1<<20)
		forgets.shared.Options.NoMemo = true
		remembers.shared.Options.Memo = backtrack.MemoLimits{Words: 20 << rng.IntN(12), Longest: 20 << rng.IntN(8),
			Judged: 50 << rng.IntN(8)}
		if rng.IntN(2) == 0 {
			remembers.neighbors.Options.ListEntries = 300 + rng.IntN(2000)
		}
		x := matchertest.NewBench(t, directed, plan.New(), queries, forgets, remembers)
		x.Stage([]dyngraph.Message{{Updates: p.graph}})
		x.Commit()
		present := append([]dyngraph.Update(nil), p.graph[vertices:]...)
		for len(p.stream) > 0 {
			us := p.stream[:min(1+rng.IntN(40), len(p.stream))]
			p.stream = p.stream[len(us):]
			present = append(present, us...)
			for range rng.IntN(20) {
				u := present[rng.IntN(len(present))]
				u.Op = dyngraph.DeleteEdge
				us = append(us[:len(us):len(us)], u)
			}
			delta := x.Stage([]dyngraph.Message{{Updates: us}})
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(forgets, sign, requests), x.Search(remembers, sign, requests))
				inside, closed := endingsInside(remembers)
				remembers.shared.EachRemembered(func(number uint32, some, isStaged, isLong bool) {
					staged, long = staged || isStaged, long || isLong
					before = before || some && inside[number]
					triangles = triangles || some && closed[number]
				})
				for _, s := range remembers.idle {
					a, r := s.MemoUse()
					again, rest = again || a, rest || r
				}
			}
			x.Commit()
		}
	})
}

// endingsInside returns the suffixes that are the last steps of no order, and those whose second step is joined to the
// root, too.
func endingsInside(b *Backend) (inside, closed map[uint32]bool) {
	inside, closed = map[uint32]bool{}, map[uint32]bool{}
	last := map[uint32]bool{}
	for _, c := range b.plans {
		for _, o := range c.rows {
			if o == nil || o.Suffix == nil {
				continue
			}
			closed[o.Suffix.Number] = len(o.Steps[o.Suffix.S1+1].Back) > 1
			if o.Suffix.S1+2 < len(o.Steps) {
				inside[o.Suffix.Number] = true
			} else {
				last[o.Suffix.Number] = true
			}
		}
	}
	maps.DeleteFunc(inside, func(kind uint32, _ bool) bool { return last[kind] })
	return inside, closed
}
