//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestP2CoalescedSearch plays patterns of one label throughout, most of which have edges that are searched together: as images, as members of
// a class, or as both. The device gives what the CPU gives: rows, with caps, counts and existence.
func TestP2CoalescedSearch(t *testing.T) {
	images, members := 0, 0
	matchertest.ForSeedsUntil(t, 2*rounds, func() bool { return images > 0 && members > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(2) == 0
		shape := matchertest.Shape{Directed: directed, Vertices: 6 + rng.IntN(6), Edges: 14 + rng.IntN(10), Messages: 20,
			Labels: matchertest.Labels{Vertex: []string{"L", "M"}[:1+rng.IntN(2)], Edge: []string{"e", ""}[rng.IntN(2):][:1]}}
		var queries []*matcher.Query
		for i := range 3 {
			q := matchertest.RandomQueryOf(rng, 3+rng.IntN(3), string(rune('p'+i)), directed, shape.Labels)
			q.Unit = matcher.Unit(rng.IntN(8) / 7)
			for j := range q.Vertices {
				if q.Vertices[j].Label = ""; rng.IntN(6) == 0 {
					q.Vertices[j].Label = "L"
				}
			}
			queries = append(queries, q)
		}
		want := cpu.New(cpu.Options{Threads: 1, SpillDir: t.TempDir()})
		o := randomOptions(rng)
		o.Apart, o.Parts = false, rng.IntN(4) > 0
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, directed, &plan.Planner{Coalesce: plan.Possible}, queries, want, got)
		for _, batch := range matchertest.Cut(rng, matchertest.RandomStream(rng, shape)) {
			delta := bench.Stage(batch)
			for _, p := range bench.Plans() {
				for i := range p.Classes {
					members += len(p.Classes[i].Members) - 1
					images += len(p.Classes[i].Members[0].Images)
				}
			}
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests), bench.Search(got, sign, requests))
			}
			bench.Commit()
		}
	})
}

// TestA6WorkBeyondAForkIsStolen looks for triangles of L with two neighbours M at one vertex, where vertices have many such neighbours: nearly all
// work is that of the members, not of what they share. It is taken by other warps, of the block and of others, and parked when
// the ring is full.
func TestA6WorkBeyondAForkIsStolen(t *testing.T) {
	stolen := uint64(0)
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		q := &matcher.Query{Name: "q", Version: 1}
		for i, l := range []string{"L", "L", "L", "M", "M"} {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: l})
		}
		for i, e := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {rng.IntN(2), 4}} {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1], Either: true})
		}
		insert := func(a, b, label string) dyngraph.Message {
			return dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: a, FromLabel: "L", To: b, ToLabel: label}}}
		}
		var before, batch []dyngraph.Message
		for i := range 4 {
			for k := range i {
				m := insert(fmt.Sprint("l", i), fmt.Sprint("l", k), "L")
				if rng.IntN(2) == 0 {
					batch = append(batch, m)
				} else {
					before = append(before, m)
				}
			}
			for k := range 20 + rng.IntN(30) {
				before = append(before, insert(fmt.Sprint("l", i), fmt.Sprint("m", i, k), "M"))
			}
		}
		want := cpu.New(cpu.Options{Threads: 1, SpillDir: t.TempDir()})
		o := randomOptions(rng)
		o.Parts = true
		o.Apart, o.NoSteal, o.NoMail, o.RowMemory = false, rng.IntN(2) == 0, false, 8<<20
		o.Slice = 0
		o.Shape = kernels.Shape{Blocks: 2, BlockWarps: 2 + rng.IntN(2)}
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, false, &plan.Planner{Coalesce: plan.Possible}, append(others(31*rng.IntN(2)), q), want, got)
		for _, b := range [][]dyngraph.Message{before, batch} {
			bench.Stage(b)
			requests := bench.Requests(nil)
			compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests), bench.Search(got, dyngraph.Inserted, requests))
			bench.Commit()
		}
		in, between := got.(*cuda.Backend).Steals()
		stolen += in + between
	})
	require.Positive(t, stolen)
}

// others are patterns that match nothing, with two filters each: those of a pattern after them may lie in several words.
func others(n int) (queries []*matcher.Query) {
	for i := range n {
		q := &matcher.Query{Name: fmt.Sprint("other", i), Version: 1}
		for k := range 2 {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", k), Label: fmt.Sprint("O", i, k)})
		}
		q.Edges = []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Either: true}}
		queries = append(queries, q)
	}
	return queries
}
