package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS12BothWaysOfCountingAgree counts from every anchor of random batches by quotients and with the vertices kept
// apart, and both against enumeration over the whole batch.
func TestS12BothWaysOfCountingAgree(t *testing.T) {
	var counted atomic.Int64
	matchertest.ForSeeds(t, 60, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5)
		b := New(Options{Threads: 1})
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, b)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			for _, p := range x.Plans() {
				shape := b.plans[p].shape
				if shape == nil || shape.parts == nil || shape.apart == nil {
					continue
				}
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					var sums [2]matcher.Count
					for i := range delta.Net {
						if delta.Net[i].Sign != sign {
							continue
						}
						for _, o := range b.plans[p].count {
							if !fitsLabels(b, p, o, &delta.Net[i]) {
								continue
							}
							var n [2]matcher.Count
							for k, w := range []way{byQuotients, keptApart} {
								s := b.newSearcher(new(atomic.Bool), matcher.WantCount)
								b.widen(shape)
								s.counter.start(&s.search, shape, b.adjacency(), nil, 0)
								for a := range s.counter.ps.ways {
									s.counter.ps.ways[a] = w
								}
								more, less := s.counter.fromAnchor(o, sign, program.NetPair{From: delta.Net[i].From, To: delta.Net[i].To}, delta.Net[i].Label)
								n[k] = more.Sub(less)
								s.counter.cache = nil // forced ways are this test's own
								sums[k] = sums[k].Add(n[k])
							}
							require.Equal(t, n[0].String(), n[1].String(), "query %s, edge %d, net edge %d", p.Query.Name, o.Anchor, i)
						}
					}
					rows := x.Search(b, sign, []matcher.Request{{Plan: p, Before: matcher.AllOrders}})
					require.Equal(t, fmt.Sprint(len(rows.Rows)), sums[0].String(), "query %s, sign %d", p.Query.Name, sign)
					counted.Add(int64(len(rows.Rows)))
				}
			}
			x.Commit()
		}
	})
	require.Positive(t, counted.Load(), "no case had a match to count")
}

// fitsLabels reports what the index of anchors does.
func fitsLabels(b *Backend, p *matcher.Plan, o *program.Order, n *dyngraph.NetEdge) bool {
	view := b.g.View(dyngraph.New)
	return slices.ContainsFunc(b.anchors.Of(view.Label(n.From), n.Label, view.Label(n.To)).List, func(f matcher.Fit[fitting]) bool {
		return f.Plan == p && b.plans[p].count[f.Order] == o
	})
}

// TestChainsCountAsEnumerationDoes counts chains and rings from both ends and link by link.
func TestChainsCountAsEnumerationDoes(t *testing.T) {
	chains := 0
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		n := 4 + rng.IntN(4)
		q := &matcher.Query{Name: "ring", Version: 1, Emit: matcher.EmitCounts}
		for i := range n {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: fmt.Sprint("L", rng.IntN(3))})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % n})
		}
		for i := range rng.IntN(3) { // what hangs from the ring
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("h", i), Label: fmt.Sprint("L", rng.IntN(3))})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("x", i), From: rng.IntN(n), To: n + i})
		}
		b := New(Options{Threads: 1})
		x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
		var msgs []dyngraph.Message
		for v := range 24 {
			msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
				{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v), Label: fmt.Sprint("L", rng.IntN(3))}}})
		}
		for range 150 {
			if v, w := rng.IntN(24), rng.IntN(24); v != w {
				msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
					{Op: dyngraph.InsertEdge, From: fmt.Sprint(v), To: fmt.Sprint(w)}}})
			}
		}
		x.Stage(msgs[:len(msgs)-20])
		x.Commit()
		delta := x.Stage(msgs[len(msgs)-20:])
		p := x.Plans()[0]
		s := b.newSearcher(new(atomic.Bool), matcher.WantCount)
		c := &s.counter
		b.widen(b.plans[p].shape)
		c.start(&s.search, b.plans[p].shape, b.adjacency(), nil, 0)
		for _, o := range b.plans[p].count {
			for i := range delta.Net {
				c.fromAnchor(o, delta.Net[i].Sign, program.NetPair{From: delta.Net[i].From, To: delta.Net[i].To}, delta.Net[i].Label)
			}
		}
		c.sign = dyngraph.Inserted
		for _, parts := range c.ps.parts {
			for _, piece := range parts.all {
				if piece.chain == nil {
					continue
				}
				c.q, c.parts = parts.q, parts
				for range 20 {
					for _, v := range piece.bound {
						c.put(parts.q.members[parts.q.of[v]], dyngraph.VertexID(rng.IntN(24)))
					}
					c.rank = rng.IntN(len(q.Edges))
					c.memo.reset()
					c.mapped = 0
					for _, v := range piece.bound {
						c.mapped |= 1 << parts.q.of[v]
					}
					fast, ok := c.countChain(piece.chain)
					require.True(t, ok)
					require.Equal(t, plainly(c, piece.mask, b.g.IDBound()), fast.Lo)
					chains++
				}
			}
		}
		x.Commit()
	})
	require.Positive(t, chains)
}

// TestSingleBlocksAreKeptBackForEachOther takes a pattern apart at a leaf that may meet a path, and at the path when
// there is a second leaf, with which the first is counted together.
func TestSingleBlocksAreKeptBackForEachOther(t *testing.T) {
	for leaves := 1; leaves <= 3; leaves++ {
		q := &matcher.Query{Name: "hub", Version: 1, Emit: matcher.EmitCounts}
		for v, label := range []string{"hub", "leaf", "end", "leaf", "leaf", "leaf"}[:3+leaves] {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v), Label: label})
			switch {
			case label == "end":
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: "path", From: 1, To: v})
			case v > 0:
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", v), From: 0, To: v})
			}
		}
		b := New(Options{Threads: 1})
		x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
		x.Stage([]dyngraph.Message{
			{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "h", Label: "hub"}}},
			{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "l", Label: "leaf"}}},
			{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "e", Label: "end"}}},
		})
		x.Commit()
		require.NoError(t, b.Prepare(x.Plans()))
		want := uint32(1<<1 | 1<<2) // the path
		if leaves == 1 {
			want = 1 << 3
		}
		apart := b.plans[x.Plans()[0]].shape.apart
		require.Equal(t, want, apart.cheapestPart(apart.all&^1), "%d leaves", leaves)
	}
}

// TestPartitionsInvert: summed over all partitions of k elements, the coefficient times n to the number of blocks is
// the number of injective maps into n elements.
func TestPartitionsInvert(t *testing.T) {
	for k := 1; k <= 5; k++ {
		all := make([]uint32, k)
		for v := range all {
			all[v] = 1<<k - 1&^(1<<v)
		}
		for n := 0; n <= 7; n++ {
			sum, want := 0, 1
			for _, p := range partitions(all) {
				f, negative := p.coefficient()
				term := int(f.Lo)
				for _, m := range p.members {
					if m != 0 {
						term *= n
					}
				}
				if negative {
					term = -term
				}
				sum += term
			}
			for i := range k {
				want *= n - i
			}
			require.Equal(t, want, sum, "%d elements into %d", k, n)
		}
	}
	six := []uint32{62, 61, 59, 55, 47, 31}
	require.Empty(t, partitions(six), "203 are too many")
}
