package count

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestBothStrategiesAgree counts from every anchor of random batches by quotients and with the vertices kept apart, and
// compares the sums with the reference.
func TestBothStrategiesAgree(t *testing.T) {
	var counted atomic.Uint64
	vertices := false // some plan has conditions on them
	seen := func() bool { return vertices && counted.Load() > 0 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		rc := matchertest.RandomCase(rng, 5)
		if rng.IntN(2) == 0 {
			rc = matchertest.RandomCaseWhere(rng, 5, true)
		}
		rc = rc.With(func(q *matcher.Query) { q.Unit = matcher.Embeddings })
		ref, b := reference.New(), &fixture{t: t}
		x := matchertest.NewBenchOf(t, rc.Graph(), plan.New(), rc.Queries, ref, b)
		for _, batch := range rc.Batches {
			delta := x.Stage(batch)
			for k, p := range x.Plans() {
				s := b.plans[p]
				if s == nil || s.Quotients == nil || s.injective == nil || !p.Query.OwnOnly() ||
					revisedMatters(p, b.g, delta) {
					continue
				}
				vertices = vertices || p.Query.ReadsVertices()
				c := b.counter(new(atomic.Bool))
				b.start(c, s)
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					var sum matcher.Count
					for i := range delta.Net {
						n := &delta.Net[i]
						if n.Sign != sign || n.Vertex {
							continue
						}
						for _, a := range b.anchors(p, n) {
							var by [2]matcher.Count
							for w, st := range []Strategy{ByQuotients, Injective} {
								c.Strategy = st
								c.memo.reset()
								pair := program.NetPair{From: n.From, To: n.To}
								more, less := c.FromAnchor(a, sign, pair, n.Label, uint32(i), n.Edge)
								by[w] = more.Sub(less)
							}
							require.Equal(t, by[0].String(), by[1].String(), "query %s, edge %d, net edge %d",
								p.Query.Name, a.Edge, i)
							sum = sum.Add(by[0])
						}
					}
					want := x.Search(ref, sign, x.Requests(
						func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })).Results[k].Count
					require.Equal(t, want.String(), sum.String(), "query %s, sign %d", p.Query.Name, sign)
					counted.Add(sum.Lo)
				}
			}
			x.Commit()
		}
	})
}

// revisedMatters reports whether the batch revises vertices that matter for a plan: then it is not counted so.
func revisedMatters(p *matcher.Plan, g *dyngraph.Graph, d *dyngraph.Delta) bool {
	return slices.ContainsFunc(d.Revised, func(r dyngraph.Revision) bool {
		return slices.ContainsFunc(p.Asked, func(a matcher.Asked) bool { return a.Matters(g, r.Vertex, nil) })
	})
}

// TestPathsCountAsEnumerationDoes counts paths and cycles from both ends and block by block.
func TestPathsCountAsEnumerationDoes(t *testing.T) {
	paths := 0
	matchertest.ForSeedsUntil(t, 30, func() bool { return paths > 0 }, func(t *testing.T, rng *rand.Rand) {
		n := 4 + rng.IntN(4)
		q := &matcher.Query{Name: "ring", Version: 1, Emit: matcher.EmitCounts}
		for i := range n {
			q.Vertices = append(q.Vertices,
				matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: fmt.Sprint("L", rng.IntN(3))})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % n})
		}
		for i := range rng.IntN(3) { // what hangs from the ring
			q.Vertices = append(q.Vertices,
				matcher.QueryVertex{Name: fmt.Sprint("h", i), Label: fmt.Sprint("L", rng.IntN(3))})
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("x", i), From: rng.IntN(n), To: n + i})
		}
		b := &fixture{t: t}
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
		c := b.counter(new(atomic.Bool))
		b.start(c, b.plans[p])
		for i := range delta.Net {
			n := &delta.Net[i]
			for _, a := range b.anchors(p, n) {
				c.FromAnchor(a, n.Sign, program.NetPair{From: n.From, To: n.To}, n.Label, uint32(i), n.Edge)
			}
		}
		c.sign = dyngraph.Inserted
		for _, parts := range c.comps.quotients {
			for _, component := range parts.all {
				path, ok := component.method.(*path)
				if !ok {
					continue
				}
				c.q, c.part = parts.q, parts
				for range 20 {
					for _, v := range component.separator {
						c.bind(parts.q.Members[parts.q.BlockOf[v]], dyngraph.VertexID(rng.IntN(24)))
					}
					c.rank = rng.IntN(len(q.Edges))
					c.memo.reset()
					c.mapped = 0
					for _, v := range component.separator {
						c.mapped |= 1 << parts.q.BlockOf[v]
					}
					fast, ok := c.countPath(path)
					require.True(t, ok)
					require.Equal(t, plainly(c, component.mask, b.g.IDBound()), fast.Lo)
					paths++
				}
			}
		}
		x.Commit()
	})
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
		b := &fixture{t: t}
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
		apart := b.plans[x.Plans()[0]].injective
		require.Equal(t, want, apart.cheapestComponent(apart.Blocks&^1), "%d leaves", leaves)
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
