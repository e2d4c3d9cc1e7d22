package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestCountsMatchByMatchAgainstReference plays counts of batches that are enumerated though they could be counted
// without against the reference: of both signs, committed or aborted, by one thread and by several.
func TestCountsMatchByMatchAgainstReference(t *testing.T) {
	var counted, each, symmetric int
	seen := func() bool { return counted > 0 && each > 0 && symmetric > 0 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 3)
		if rng.IntN(3) == 0 {
			c = c.InMatchModes(rng)
		}
		for _, q := range c.Queries {
			q.Emit = matcher.EmitCounts
			if q.MatchMode == matcher.Isomorphism {
				q.Unit = matcher.Unit(rng.IntN(2))
			}
		}
		ref, fast := reference.New(), New(Options{Threads: 1 + rng.IntN(3)})
		fast.eachs, fast.spaces, fast.work.ShareEvery = true, rng.IntN(2) == 0, 1
		fast.shared.Options.TailCounts, fast.shared.Options.MostFound = rng.IntN(3), rng.Uint64N(3)
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, ref, fast)
		for _, batch := range c.Batches {
			x.Stage(batch)
			if rng.IntN(4) == 0 {
				x.Abort()
				x.Stage(batch)
			}
			requests := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				want, got := x.Search(ref, sign, requests), x.Search(fast, sign, requests)
				for i := range want.Results {
					p := requests[i].Plan
					require.Equal(t, want.Results[i].Count.String(), got.Results[i].Count.String(), "%+v %+v",
						p.Query.Vertices, p.Query.Edges)
					if of := fast.plans[p]; of.each != nil && !want.Results[i].Count.IsZero() {
						each++
						if p.Automorphisms != matcher.CountOf(1) {
							symmetric++
						}
					}
					if !want.Results[i].Count.IsZero() {
						counted++
					}
				}
			}
			if x.Commit(); rng.IntN(2) == 0 {
				x.Replan()
			}
		}
	})
}

// TestRehearsedPlansAgainstTextbook inserts part of a graph in batches and plays the counts of small patterns of random
// walks against the textbook's: counted as the rehearsal says, or match by match until that is given up. In a graph
// of one edge most plans are dormant, and the first batch, which has most edges, wakes them.
func TestRehearsedPlansAgainstTextbook(t *testing.T) {
	var each, summed, given, over, woken int
	seen := func() bool { return min(each, summed, given, over, woken) > 0 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		const vertices = 200
		us := withoutParallel(clustered(rng, vertices, 1200, 1+rng.IntN(4)))
		edges := len(us) - rng.IntN(300)
		book := newTextbook(us)
		q := book.walk(rng, 3+rng.IntN(smallPattern-2), rng.IntN(2) == 0)
		if q == nil {
			return
		}
		batches := slices.Collect(slices.Chunk(us[edges:], 1+rng.IntN(200)))
		if rng.IntN(3) == 0 {
			const few = vertices + 1
			batches, edges = slices.Insert(batches, 0, us[few:edges]), few
		}
		p := textbookOf(q)
		want, ok := book.count(p, textbookMost/4)
		less, known := newTextbook(us[:edges]).count(p, textbookMost/4)
		if !ok || !known {
			return
		}
		q.Emit = matcher.EmitCounts
		x := &bench{tb: t, g: dyngraph.NewGraph(dyngraph.Options{}), b: New(Options{Threads: 1 + rng.IntN(2)})}
		_, err := x.g.Stage(us[:edges])
		require.NoError(t, err)
		x.g.Commit()
		require.NoError(t, x.b.Load(x.g))
		x.b.eachs, x.b.shared.Options.TailCounts = rng.IntN(3) > 0, rng.IntN(4)
		x.b.shared.Options.MostFound = rng.Uint64N(3)
		x.prepare(q)
		of := x.b.plans[x.plan]
		before := of.each != nil
		if rng.IntN(2) == 0 {
			x.b.guards = 1
		}
		var total matcher.Count
		for _, batch := range batches {
			total = total.Add(x.counted(dyngraph.Inserted, batch))
			if now := x.b.plans[x.plan]; now != of {
				of, before = now, false
				if now.keep.before.anchors > 0 {
					woken++
				}
			}
			if of.each != nil && rng.IntN(8) == 0 {
				x.b.judgeEach(of, 2, 1) // counting takes fewer steps in these graphs only now and then
			}
		}
		require.Equal(t, matcher.CountOf(want-less).String(), total.String(), "%+v %+v", q.Vertices, q.Edges)
		if of.reprieves > 0 {
			over++
		}
		switch {
		case of.each != nil:
			each++
		case before:
			given++
		default:
			summed++
		}
	})
}
