package matcher_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// clique returns a complete pattern for an undirected graph.
func clique(name string, n int) *matcher.Query {
	q := &matcher.Query{Name: name, Unit: matcher.Subgraphs}
	for v := range n {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v)})
		for u := range v {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v,
				Either: true})
		}
	}
	return q
}

// bipartite returns a complete bipartite pattern for an undirected graph.
func bipartite(name string, n int) *matcher.Query {
	q := &matcher.Query{Name: name, Unit: matcher.Subgraphs}
	for v := range 2 * n {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v)})
	}
	for i := range n * n {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i / n, To: n + i%n, Either: true})
	}
	return q
}

// link is an edge between numbered vertices, inserted or deleted.
func link(op dyngraph.Op, u, v int) dyngraph.Message {
	return dyngraph.Message{Updates: []dyngraph.Update{{Op: op, From: fmt.Sprint("v", u), To: fmt.Sprint("v", v)}}}
}

// factorial returns n! times k.
func factorial(n, k int) string {
	f := new(big.Int).MulRange(1, int64(n))
	return f.Mul(f, big.NewInt(int64(k))).String()
}

// TestS11CompletePatternOf496Edges registers K32, the largest pattern there is, on a graph that holds K33 less one
// edge, amid noise. The graph has 2 matches. A batch that inserts the missing edge adds 31, one that deletes another
// edge takes 31 away. Each match is 32! embeddings. Where few cases are asked for the pattern is K16; the test of the
// daemon that has this pattern, TestS11PatternOf496EdgesGoesRound, has K32 then, too.
func TestS11CompletePatternOf496Edges(t *testing.T) {
	t.Parallel()
	for seed, threads := range []int{3, 1} {
		k := 16 // neither races nor what one thread does otherwise depend on the size
		switch {
		case matchertest.UnderRace && threads == 1:
			continue
		case threads > 1 && !matchertest.UnderRace && !matchertest.Quick(t):
			k = matcher.MaxVertices
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		n := k + 1
		label := rng.Perm(400) // dense ids of the clique's vertices are all over
		d := matchertest.NewDriver(t, false, newCPU(t, threads, false), plan.New())
		var msgs []dyngraph.Message
		for v := range n {
			for u := range v {
				if v != n-1 || u != n-2 {
					msgs = append(msgs, link(dyngraph.InsertEdge, label[u], label[v]))
				}
			}
		}
		for range 4000 { // noise, no edge of which is the missing one
			if u, v := rng.IntN(400), n+rng.IntN(400-n); label[v] != u {
				msgs = append(msgs, link(dyngraph.InsertEdge, u, label[v]))
			}
		}
		rng.Shuffle(len(msgs), func(i, j int) { msgs[i], msgs[j] = msgs[j], msgs[i] })
		d.Batch(msgs)
		deltas, embeddings, counted, exist := clique("deltas", k), clique("embeddings", k), clique("counted", k),
			clique("exist", k)
		embeddings.Unit, embeddings.Emit = matcher.Embeddings, matcher.EmitCounts
		counted.Emit, exist.Emit = matcher.EmitCounts, matcher.EmitExists
		deltas.Backfill, embeddings.Backfill = matcher.BackfillFull, matcher.BackfillFull
		require.NoError(t, deltas.Validate(false))
		require.Len(t, deltas.Edges, k*(k-1)/2)
		out := d.Register(deltas)
		require.Len(t, out.Records, 2)
		out = d.Register(embeddings)
		require.Equal(t, factorial(k, 2), out.Records[0].Count.String())
		d.Register(counted)
		d.Register(exist)
		out = d.Batch([]dyngraph.Message{link(dyngraph.InsertEdge, label[n-1], label[n-2])})
		got := map[string]int{}
		for _, r := range out.Records {
			require.Equal(t, dyngraph.Inserted, r.Sign)
			switch got[r.Query]++; r.Query {
			case "embeddings":
				require.Equal(t, factorial(k, k-1), r.Count.String())
			case "counted":
				require.Equal(t, strconv.Itoa(k-1), r.Count.String())
			}
		}
		require.Equal(t, map[string]int{"deltas": k - 1, "embeddings": 1, "counted": 1}, got)
		out = d.Batch([]dyngraph.Message{link(dyngraph.DeleteEdge, label[k/2], label[3])})
		require.Len(t, out.Records, k-1+2)
		out = d.Batch([]dyngraph.Message{link(dyngraph.DeleteEdge, label[7], label[10]),
			link(dyngraph.DeleteEdge, label[8], label[11])})
		require.Len(t, out.Records, 2+3, "the last two, and with them existence")
		require.Equal(t, matcher.EventExists, out.Records[2].Kind)
	}
}

// TestS11CompleteBipartitePattern registers K(12,12), of 144 edges and 2 x 12! x 12! automorphisms, on K(13,13). The
// graph has 13 x 13 matches; 12 x 12 of them hold a given edge.
func TestS11CompleteBipartitePattern(t *testing.T) {
	t.Parallel()
	matchertest.NotUnderRace(t, "TestS11CompletePatternOf496Edges has dense patterns with 3 threads")
	k := 12
	if matchertest.UnderRace {
		k = 7
	}
	d := matchertest.NewDriver(t, false, newCPU(t, 2, false), plan.New())
	q := bipartite("q", k)
	d.Register(q)
	var msgs []dyngraph.Message
	for u := range k + 1 {
		for v := range k + 1 {
			msgs = append(msgs, link(dyngraph.InsertEdge, u, 100+v))
		}
	}
	out := d.Batch(msgs)
	require.Len(t, out.Records, (k+1)*(k+1))
	out = d.Batch([]dyngraph.Message{link(dyngraph.DeleteEdge, 5, 103)})
	require.Len(t, out.Records, k*k)
}

// TestDensePatternsAgainstReference plants random patterns of 65 to 496 edges in noise, and has cpu and reference
// follow a stream that makes and breaks them.
func TestDensePatternsAgainstReference(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS11CompletePatternOf496Edges has dense patterns with 3 threads")
	t.Parallel()
	signs, most := map[dyngraph.Sign]int{}, 0
	matchertest.ForSeedsUntil(t, 12, func() bool { return len(signs) == 2 && most > 300 },
		func(t *testing.T, rng *rand.Rand) {
			directed := rng.IntN(2) == 0
			q := densePattern(rng, directed)
			most = max(most, len(q.Edges))
			q.Unit, q.Emit = matcher.Unit(rng.IntN(2)), matcher.Emit(rng.IntN(3))
			if q.Emit == matcher.EmitDeltas && rng.IntN(3) == 0 {
				q.MaxMatches, q.ExactTotal = 1, true
			}
			require.NoError(t, q.Validate(directed))
			slow := matchertest.NewDriver(t, directed, reference.New(), plan.New())
			fast := matchertest.NewDriver(t, directed, newCPU(t, 1+rng.IntN(3), rng.IntN(2) == 0), plan.New())
			var msgs []dyngraph.Message
			n := len(q.Vertices)
			key := func(v int) string { return fmt.Sprint("v", v) }
			edge := func(op dyngraph.Op, u, v int, label string) dyngraph.Message {
				return dyngraph.Message{Updates: []dyngraph.Update{{Op: op, From: key(u), To: key(v), Label: label}}}
			}
			for v := range n + 2 { // the last two are like the first two
				msgs = append(msgs, dyngraph.Message{
					Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: key(v), Label: q.Vertices[v%n].Label}}})
			}
			slow.Batch(msgs)
			fast.Batch(msgs)
			msgs = nil
			var edges []dyngraph.Message
			for _, e := range q.Edges {
				label := e.Label
				if label == "" {
					label = "x"
				}
				edges = append(edges, edge(dyngraph.InsertEdge, e.From, e.To, label))
				for twin := range 2 {
					if e.From == twin {
						edges = append(edges, edge(dyngraph.InsertEdge, n+twin, e.To, label))
					}
					if e.To == twin {
						edges = append(edges, edge(dyngraph.InsertEdge, e.From, n+twin, label))
					}
				}
			}
			rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
			keep := len(edges) - 6
			slow.Batch(edges[:keep])
			fast.Batch(edges[:keep])
			slow.Register(q)
			fast.Register(q)
			for _, m := range edges[keep:] {
				slow.Batch([]dyngraph.Message{m})
				fast.Batch([]dyngraph.Message{m})
			}
			gone := edges[rng.IntN(len(edges))]
			for range 6 { // an edge goes, and that which went before comes back
				u := edges[rng.IntN(len(edges))]
				m := []dyngraph.Message{{Updates: []dyngraph.Update{u.Updates[0]}}, gone}
				m[0].Updates[0].Op, gone = dyngraph.DeleteEdge, u
				out := slow.Batch(m)
				for _, r := range out.Records {
					signs[r.Sign]++
				}
				fast.Batch(m)
			}
			require.Empty(t, matchertest.Diff(slow.Transcript(), fast.Transcript()))
		})
}

// densePattern draws a pattern of 65 to 496 edges, with few vertices of one label.
func densePattern(rng *rand.Rand, directed bool) *matcher.Query {
	for {
		q := &matcher.Query{Name: "q"}
		n, labels, wild := 12+rng.IntN(21), 3+rng.IntN(6), rng.IntN(3) == 0
		dense := 0.5 + rng.Float64()/2
		for v := range n {
			name := fmt.Sprint("L", rng.IntN(labels))
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v), Label: name})
			for u := range v {
				if rng.Float64() > dense {
					continue
				}
				e := matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v,
					Label: fmt.Sprint("E", rng.IntN(3)), Either: !directed}
				if rng.IntN(2) == 0 {
					e.From, e.To = v, u
				}
				if wild && rng.IntN(10) == 0 {
					e.Label = ""
				}
				q.Edges = append(q.Edges, e)
			}
		}
		if len(q.Edges) > 64 && q.Validate(directed) == nil {
			return q
		}
	}
}
