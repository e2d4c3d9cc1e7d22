package cpu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS12SpidersCountAsEnumerationDoes counts patterns with spiders, each way, through random batches, and compares
// with the reference.
func TestS12SpidersCountAsEnumerationDoes(t *testing.T) {
	counted := uint64(0)
	matchertest.ForSeedsUntil(t, 30, func() bool { return counted > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed, queries, msgs, edges := matchertest.RandomSpiders(rng)
		ref, fast := reference.New(), New(Options{Threads: 1 + rng.IntN(2), Lazy: rng.IntN(2) == 0})
		x := matchertest.NewBench(t, directed, plan.New(), queries, ref, fast)
		batches := append([][]dyngraph.Message{msgs[:edges]}, matchertest.Cut(rng, msgs[edges:])...)
		for _, batch := range batches[:min(len(batches), 25)] {
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
				fast.strategy = []count.Strategy{count.Auto, count.ByQuotients, count.Injective}[rng.IntN(3)]
				want, got := x.Search(ref, sign, reqs).Results, x.Search(fast, sign, reqs).Results
				for i, r := range reqs {
					require.Equal(t, want[i].Count.String(), got[i].Count.String(), "sign %d, strategy %d: %+v %+v",
						sign, fast.strategy, r.Plan.Query.Vertices, r.Plan.Query.Edges)
					counted += want[i].Count.Lo
				}
			}
			x.Commit()
		}
	})
}

// TestS12CyclesThatShareEdgesCountAsEnumerationDoes counts two cycles of five that share two edges, with a leaf:
// vertices of a path must be kept apart from the ends of others.
func TestS12CyclesThatShareEdgesCountAsEnumerationDoes(t *testing.T) {
	counted := uint64(0)
	matchertest.ForSeedsUntil(t, 80, func() bool { return counted > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(3) == 0
		const vertices, edges = 24, 300
		var msgs []dyngraph.Message
		for v := range vertices {
			msgs = append(msgs, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v),
					Label: string('A' + rng.Int32N(4))}}})
		}
		for i := range edges {
			op := dyngraph.InsertEdge
			if i > edges/2 && rng.IntN(4) == 0 {
				op = dyngraph.DeleteEdge
			}
			v, w := rng.IntN(vertices), rng.IntN(vertices)*rng.IntN(vertices)/vertices
			if v != w {
				msgs = append(msgs, dyngraph.Message{
					Updates: []dyngraph.Update{{Op: op, From: fmt.Sprint(v), To: fmt.Sprint(w),
						Label: "TTU"[i%3 : i%3+1]}}})
			}
		}
		q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
		for i, l := range "AABCDDCD" {
			if rng.IntN(4) == 0 {
				l = 'A' + rng.Int32N(4)
			}
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: string(l)})
		}
		for i, e := range [][2]int{{2, 0}, {2, 1}, {0, 4}, {1, 3}, {1, 6}, {3, 4}, {4, 5}, {5, 6}, {6, 7}} {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", i), From: e[0], To: e[1], Label: "T",
				Either: !directed})
		}
		ref, fast := reference.New(), New(Options{Threads: 1})
		x := matchertest.NewBench(t, directed, plan.New(), []*matcher.Query{q}, ref, fast)
		for len(msgs) > 0 {
			n := min(len(msgs), vertices+edges/2)
			if len(msgs) <= edges/2 {
				n = min(len(msgs), 30)
			}
			batch := msgs[:n]
			msgs = msgs[n:]
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				if n > 30 {
					break // too much for the reference
				}
				reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
				fast.strategy = []count.Strategy{count.Auto, count.Injective}[rng.IntN(2)]
				want, got := x.Search(ref, sign, reqs).Results[0].Count, x.Search(fast, sign, reqs).Results[0].Count
				require.Equal(t, want.String(), got.String(), "sign %d: %+v", sign, q.Vertices)
				counted += want.Lo
			}
			x.Commit()
		}
	})
}

// TestS12SpidersLeaveNumbersOfMoreThan64Bits counts three paths between two vertices, through layers of vertices that
// are each joined to all of the next one: more than 2^64 ways along two of them.
func TestS12SpidersLeaveNumbersOfMoreThan64Bits(t *testing.T) {
	const wide, long = 20, 8
	q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
	vertex := func() int {
		n := len(q.Vertices)
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", n), Label: fmt.Sprint("L", n)})
		return n
	}
	edge := func(u, v int) {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v, Label: "T"})
	}
	root, end, center := vertex(), vertex(), vertex()
	edge(root, end)
	for range 3 {
		at := end
		for range long {
			next := vertex()
			edge(at, next)
			at = next
		}
		edge(at, center)
	}
	b := New(Options{Threads: 1})
	x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
	width := func(u int) int {
		if u == root || u == end {
			return 1
		}
		return wide
	}
	count := func(edges []matcher.QueryEdge) string {
		var msgs []dyngraph.Message
		for _, e := range edges {
			for i := range width(e.From) {
				for k := range width(e.To) {
					msgs = append(msgs, dyngraph.Message{
						Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, Label: "T",
							From: fmt.Sprint(e.From, "-", i), FromLabel: fmt.Sprint("L", e.From),
							To: fmt.Sprint(e.To, "-", k), ToLabel: fmt.Sprint("L", e.To)}}})
				}
			}
		}
		x.Stage(msgs)
		defer x.Commit()
		return x.Search(b, dyngraph.Inserted,
			x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })).Results[0].Count.String()
	}
	require.Equal(t, "0", count(q.Edges[1:]))
	require.Equal(t, new(big.Int).Exp(big.NewInt(wide), big.NewInt(3*long+1), nil).String(), count(q.Edges[:1]))
}
