package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// TestKeptBitsAgainstDefinition plays the bits of kept spaces, refreshed around what batches change, against the bits
// that the definition gives: after each batch or after some, committed or aborted, of cases with conditions, parallel
// edges, revised vertices, and vertices that go and whose ids are used again.
func TestKeptBitsAgainstDefinition(t *testing.T) {
	var set, fewer, lost, refreshed, aborted int
	seen := func() bool { return set > 0 && fewer > 0 && lost > 0 && refreshed > 0 && aborted > 0 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 2)
		fast := New(Options{Threads: 1})
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, fast)
		for _, batch := range c.Batches {
			x.Stage(batch)
			for _, p := range x.Plans() {
				if fast.filter.Dormant(p) || p.Query.IsVertex() || rng.IntN(3) == 0 {
					continue
				}
				k := refreshedSpace(t, fast, p, &refreshed)
				for r := range space.KeptRounds + 1 {
					for v := range dyngraph.VertexID(fast.g.IDBound()) {
						want := definedBits(fast, k, p, v, r)
						require.Equal(t, want, k.Round(v, r), "%+v %+v: vertex %d, round %d", p.Query.Vertices,
							p.Query.Edges, v, r)
						if want != 0 {
							set++
						}
						if r > 0 && want != k.Round(v, r-1) {
							fewer++
						}
					}
				}
				sameNumbers(t, fast, k)
			}
			if rng.IntN(4) == 0 {
				x.Abort()
				aborted++
				x.Stage(batch)
			}
			for i := range fast.delta.Net {
				if fast.delta.Net[i].Sign == dyngraph.Deleted {
					lost++
				}
			}
			x.Commit()
		}
	})
}

// refreshedSpace returns the kept space of a plan, which is made or refreshed.
func refreshedSpace(t *testing.T, b *Backend, p *matcher.Plan, refreshed *int) *space.Kept {
	t.Helper()
	c := b.plans[p]
	if c.keep.way == nil {
		c.keep.way = &keptWay{kept: space.Keep(b.g, b.filter, p, func() bool { return false }), read: b.changes.End()}
		b.kept++
		return c.keep.way.kept
	}
	changes, known := b.changes.Since(c.keep.way.read)
	require.True(t, known)
	c.keep.way.kept.Refresh(changes)
	c.keep.way.read = b.changes.End()
	*refreshed++
	return c.keep.way.kept
}

// definedBits returns the bits of a vertex in a round, from those of the round before.
func definedBits(b *Backend, k *space.Kept, p *matcher.Plan, v dyngraph.VertexID, r int) (x uint64) {
	for u := range p.Query.Vertices {
		if r == 0 && b.filter.Test(p, u).Of(b.filter.Bits()[int(v)*b.filter.Words():]) ||
			r > 0 && k.Round(v, r-1)>>u&1 != 0 && isSupported(b, k, p, v, u, r) {
			x |= 1 << u
		}
	}
	return x
}

// isSupported reports whether a vertex has, along each edge of a pattern vertex, a neighbour with the bit of the other
// end in the round before r.
func isSupported(b *Backend, k *space.Kept, p *matcher.Plan, v dyngraph.VertexID, u, r int) bool {
	for e, of := range p.Query.Edges {
		if of.From != u && of.To != u {
			continue
		}
		found := false
		for d := dyngraph.Out; d <= dyngraph.In; d++ {
			if p.Directed && !of.Either && (d == dyngraph.Out) != (of.From == u) {
				continue
			}
			for _, l := range b.g.LabelsOf(v, d, nil) {
				run := b.g.Range(v, d, l)
				for nbrs, ents, ok := run.Next(); ok; nbrs, ents, ok = run.Next() {
					for i, w := range nbrs {
						test := b.filter.EdgeTest(p, e)
						found = found || matcher.LabelFits(p.EdgeLabels[e], l) &&
							k.Round(w, r-1)>>(of.From+of.To-u)&1 != 0 &&
							(test == nil || b.filter.Truths().Either(test, ents[i]))
					}
				}
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// sameNumbers compares the numbers of candidates, and what a Space made of the bits reads.
func sameNumbers(t *testing.T, b *Backend, k *space.Kept) {
	t.Helper()
	s := k.Space(func() bool { return false })
	for u, n := range k.Candidates {
		test, counted := s.Test(nil, u), 0
		for v := range int(b.g.IDBound()) {
			has := test.Of(s.Bits()[v*s.Words():])
			require.Equal(t, has, k.Round(dyngraph.VertexID(v), space.KeptRounds)>>u&1 != 0)
			if has {
				counted++
			}
		}
		require.Equal(t, counted, n)
		require.Equal(t, n, s.Candidates[u])
	}
}

// TestKeptSpaceAgainstReference plays searches of batches with kept spaces against the reference: counts and rows,
// of both signs, of committed and aborted batches, by one thread and by several. What is counted is of plans that the
// batch is said to concern; kept spaces make that fewer.
func TestKeptSpaceAgainstReference(t *testing.T) {
	var summed, ones, each, rows, excluded int
	seen := func() bool { return min(summed, ones, each, rows, excluded) > 0 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 3)
		for _, q := range c.Queries {
			q.Unit = matcher.Unit(rng.IntN(2))
		}
		if rng.IntN(3) == 0 {
			c = c.InMatchModes(rng)
		}
		for _, q := range c.Queries {
			q.Emit = matcher.EmitCounts
		}
		ref := reference.New()
		fast := New(Options{Threads: 1 + rng.IntN(3), TempFiles: tempfile.In(t.TempDir())})
		fast.spaces, fast.work.ShareEvery = true, 1
		fast.oneByOnes, fast.eachs = rng.IntN(3) == 0, rng.IntN(3) == 0
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, ref, fast)
		for _, batch := range c.Batches {
			for x.Stage(batch); ; x.Stage(batch) {
				for _, of := range fast.plans {
					of.views = nil // they count from labels alone
				}
				concerned, asked := map[[2]int]bool{}, rng.IntN(4) > 0
				if asked {
					anchors := keptAnchors(fast)
					fast.Concern(func(at int, sign dyngraph.Sign) { concerned[[2]int{at, int(sign)}] = true })
					excluded += int(keptAnchors(fast) - anchors)
				}
				requests := x.Requests(func(_ int, r *matcher.Request) {
					if r.Want = matcher.WantCount; rng.IntN(4) == 0 {
						r.Before = 0
					}
				})
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					want, got := x.Search(ref, sign, requests), x.Search(fast, sign, requests)
					for i := range want.Results {
						require.Equal(t, want.Results[i].Count.String(), got.Results[i].Count.String(), "%+v %+v",
							requests[i].Plan.Query.Vertices, requests[i].Plan.Query.Edges)
						of := fast.plans[requests[i].Plan]
						switch {
						case want.Results[i].Count.IsZero():
						case asked && !concerned[[2]int{of.at, int(sign)}]:
							require.Fail(t, "counted though it is not concerned")
						case of.keep.way == nil:
						case of.countPlan == nil:
							ones++
						case of.each != nil:
							each++
						default:
							summed++
						}
					}
				}
				requests = x.Requests(func(_ int, r *matcher.Request) {
					if rng.IntN(4) == 0 {
						r.From, r.Before = rng.Uint32N(4), rng.Uint32N(16)
					}
				})
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					want := x.Search(ref, sign, requests)
					sameAnswer(t, want, x.Search(fast, sign, requests))
					rows += len(want.Rows)
				}
				if rng.IntN(4) > 0 {
					break
				}
				x.Abort()
			}
			if x.Commit(); rng.IntN(2) == 0 {
				x.Replan()
			}
		}
	})
}

// keptAnchors returns how many anchors kept spaces were asked about, as far as it is noted.
func keptAnchors(b *Backend) (n uint64) {
	for _, c := range b.plans {
		n += c.keep.upkeep.anchors
	}
	return n
}

// withoutParallel leaves out insertions between two vertices that have an edge.
func withoutParallel(us []dyngraph.Update) []dyngraph.Update {
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(us, func(u dyngraph.Update) bool {
		ends := [2]string{min(u.From, u.To), max(u.From, u.To)}
		again := u.Op == dyngraph.InsertEdge && seen[ends]
		seen[ends] = true
		return again
	})
}

// TestWalksInBatchesAgainstTextbook inserts part of a graph of many labels in batches, and deletes it again, and plays
// the counts of patterns of random walks against the textbook's. Long searches make kept spaces, in the middle of a
// batch or before one.
func TestWalksInBatchesAgainstTextbook(t *testing.T) {
	var within, before, refused, again int
	seen := func() bool { return min(within, before, refused, again) > 0 }
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		us := withoutParallel(clustered(rng, 300, 1500, 3+rng.IntN(6)))
		edges := len(us) - rng.IntN(900)
		book := newTextbook(us)
		q := book.walk(rng, 8+rng.IntN(9), rng.IntN(2) == 0)
		if q == nil {
			return
		}
		p := textbookOf(q)
		want, ok := book.count(p, textbookMost/4)
		less, known := newTextbook(us[:edges]).count(p, textbookMost/4)
		if !ok || !known {
			return
		}
		q.Emit = matcher.EmitCounts
		x := newBench(t, us[:edges], q, Options{Threads: 1 + rng.IntN(2)})
		if x.b.oneByOnes = rng.IntN(3) == 0; x.b.oneByOnes {
			x.prepare(q)
			c := x.b.plans[x.plan]
			x.b.dropKept(c) // as if the plan had not been rehearsed, so that a batch begins again
			c.keep = keeping{}
			apart := rng.IntN(8) == 0
			for _, o := range c.count {
				o.VerticesOnly = o.VerticesOnly && apart // vertices alone take few steps
			}
		}
		x.b.trials, x.b.keepsAll = 1, rng.IntN(2) == 0
		var total matcher.Count
		size := 1 + rng.IntN(100)
		if x.b.oneByOnes {
			size *= 8 // a batch is to take many steps
		}
		for range 2 {
			for batch := range slices.Chunk(us[edges:], size) {
				total = total.Add(x.counted(dyngraph.Inserted, batch))
			}
			require.Equal(t, matcher.CountOf(want-less).String(), total.String(), "%+v %+v", q.Vertices, q.Edges)
			for batch := range slices.Chunk(us[edges:], size) {
				gone := slices.Clone(batch)
				for i := range gone {
					gone[i].Op = dyngraph.DeleteEdge
				}
				total = total.Sub(x.counted(dyngraph.Deleted, gone))
			}
			require.True(t, total.IsZero())
		}
		switch k := &x.b.plans[x.plan].keep; {
		case k.refused > 0:
			refused++
		case k.way != nil && k.before.steps > work.PollEvery && x.b.oneByOnes:
			again++
		case k.way != nil && k.before.steps > work.PollEvery:
			within++
		case k.way != nil:
			before++
		}
	})
}

// counted counts what a batch of edges adds or takes away, and commits it.
func (x *bench) counted(sign dyngraph.Sign, us []dyngraph.Update) matcher.Count {
	x.tb.Helper()
	d, err := x.g.Stage(us)
	require.NoError(x.tb, err)
	require.NoError(x.tb, x.b.Stage(d))
	res, err := x.b.Search(x.tb.Context(), sign,
		[]matcher.Request{{Plan: x.plan, Before: matcher.AllOrders, Want: matcher.WantCount}}, nil, nil)
	require.NoError(x.tb, err)
	require.NoError(x.tb, x.b.Commit())
	x.g.Commit()
	return res[0].Count
}
