package matcher_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// spokes returns a star pattern whose leaves have the given labels.
func spokes(name string, labels ...string) *matcher.Query {
	q := &matcher.Query{Name: name, Emit: matcher.EmitCounts, Backfill: matcher.BackfillFull}
	q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: "hub"})
	for i, label := range labels {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("leaf", i), Label: label})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: 0, To: i + 1})
	}
	return q
}

// twoHubs returns two stars whose hubs are joined; leaf i is joined to hub i%2, some of them the other way round.
func twoHubs(name string, rng *rand.Rand, labels ...string) *matcher.Query {
	q := spokes(name, labels...)
	for i := range q.Edges {
		e := &q.Edges[i]
		if e.From = len(q.Vertices); i%2 == 0 {
			e.From = 0
		}
		if rng.IntN(4) == 0 {
			e.From, e.To = e.To, e.From
		}
	}
	q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: "hub2"})
	q.Edges = append(q.Edges, matcher.QueryEdge{Name: "axis", From: 0, To: len(q.Vertices) - 1})
	return q
}

// axle returns messages that join two hubs, and leaves with random labels to either or both.
func axle(rng *rand.Rand, n int, labels ...string) []dyngraph.Message {
	edge := func(from, to string) dyngraph.Message {
		return dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: from, To: to}}}
	}
	msgs := []dyngraph.Message{edge("hub", "hub2")}
	for i := range n {
		key := fmt.Sprint("k", i)
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
			{Op: dyngraph.InsertVertex, Key: key, Label: labels[rng.IntN(len(labels))]}}})
		for _, hub := range []string{"hub", "hub2"} {
			if rng.IntN(5) > 0 {
				msgs = append(msgs, edge(hub, key))
			}
			if rng.IntN(3) == 0 {
				msgs = append(msgs, edge(key, hub))
			}
		}
	}
	return msgs
}

// wheel returns messages that give hub n leaves with random labels, and join the leaves in a ring.
func wheel(rng *rand.Rand, n int, labels ...string) []dyngraph.Message {
	var msgs []dyngraph.Message
	for i := range n {
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
			{Op: dyngraph.InsertEdge, From: "hub", To: fmt.Sprint("k", i), ToLabel: labels[rng.IntN(len(labels))]},
			{Op: dyngraph.InsertEdge, From: fmt.Sprint("k", i), To: fmt.Sprint("k", (i+1)%n)},
		}})
	}
	return msgs
}

// TestS12LeavesAreCountedWithoutEnumeration counts stars whose leaves may meet or not, some alike and some not, more of
// them than are counted at once; and gives the hub one leaf after another, and takes them away again.
func TestS12LeavesAreCountedWithoutEnumeration(t *testing.T) {
	matchertest.ForSeeds(t, 12, func(t *testing.T, rng *rand.Rand) {
		var queries []*matcher.Query
		two := rng.IntN(2) == 0
		for i := range 4 {
			labels := make([]string, 1+rng.IntN(8))
			for j := range labels {
				labels[j] = []string{"A", "A", "B", ""}[rng.IntN(4)]
			}
			q := spokes(fmt.Sprint("q", i), labels...)
			if two {
				q = twoHubs(fmt.Sprint("q", i), rng, labels...)
			}
			q.Unit = matcher.Unit(rng.IntN(2))
			queries = append(queries, q)
		}
		msgs := wheel(rng, 7, "A", "A", "B")
		if two {
			msgs = axle(rng, 7, "A", "A", "B")
		}
		var away []dyngraph.Message
		for _, m := range msgs {
			if u := m.Updates[0]; u.Op == dyngraph.InsertEdge {
				u.Op = dyngraph.DeleteEdge
				away = append(away, dyngraph.Message{Updates: []dyngraph.Update{u}})
			}
		}
		c := &matchertest.Case{Directed: true, Queries: queries}
		c.Batches = append(matchertest.Cut(rng, msgs), matchertest.Cut(rng, away)...)
		slow := matchertest.Run(t, c, reference.New(), plan.New())
		fast := matchertest.Run(t, c, newCPU(t, 2, false), plan.New())
		if diff := matchertest.Diff(slow.Transcript(), fast.Transcript()); diff != "" {
			t.Fatalf("reference against cpu: %s", diff)
		}
	})
}

// TestS12CountsAreExactBeyond128Bits counts 31 of 60 leaves in order, which are 170 bits, and as sets, which are 57
// bits, by a stream and by enumeration; and takes a leaf away again.
func TestS12CountsAreExactBeyond128Bits(t *testing.T) {
	for _, unit := range []matcher.Unit{matcher.Embeddings, matcher.Subgraphs} {
		of := func(n int64) *big.Int {
			if unit == matcher.Subgraphs {
				return new(big.Int).Binomial(n, 31)
			}
			return new(big.Int).MulRange(n-30, n)
		}
		q := spokes("q", make([]string, 31)...)
		q.Unit = unit
		d := matchertest.NewDriver(t, true, newCPU(t, 2, false), plan.New())
		d.Register(q)
		all := *q
		all.Name = "all"
		away := star(60)[59:]
		away[0].Updates[0].Op = dyngraph.DeleteEdge
		for i, c := range []struct {
			out  *matchertest.Output
			want *big.Int
		}{
			{d.Batch(star(60)), of(60)},
			{d.Register(&all), of(60)},
			{d.Batch(away), new(big.Int).Sub(of(60), of(59))},
		} {
			if len(c.out.Records) == 0 || c.out.Records[0].Count.Big().Cmp(c.want) != 0 {
				t.Fatalf("unit %v, step %d: want %v, got %+v", unit, i, c.want, c.out.Records)
			}
			for _, s := range c.out.Summary.Queries {
				if s.Truncated {
					t.Fatalf("unit %v, step %d: truncated", unit, i)
				}
			}
		}
	}
}

// TestS12CountsAreExactBeyond64Bits counts what nobody can enumerate: 24 of 30 leaves in order are 30!/6!.
func TestS12CountsAreExactBeyond64Bits(t *testing.T) {
	labels := make([]string, 24)
	q := spokes("q", labels...)
	d := matchertest.NewDriver(t, true, newCPU(t, 2, false), plan.New())
	d.Register(q)
	want := new(big.Int).MulRange(7, 30)
	first := d.Batch(star(29))
	second := d.Batch(star(30)[29:])
	got := new(big.Int)
	for _, out := range []*matchertest.Output{first, second} {
		if len(out.Records) != 1 {
			t.Fatalf("%d records", len(out.Records))
		}
		got.Add(got, out.Records[0].Count.Big())
	}
	if got.Cmp(want) != 0 || want.BitLen() <= 64 {
		t.Fatalf("counted %v, there are %v", got, want)
	}
	all := *q
	all.Name = "all"
	if out := d.Register(&all); out.Records[0].Count.Big().Cmp(want) != 0 {
		t.Fatalf("enumeration counts %v, there are %v", out.Records[0].Count, want)
	}
	orbits := *q
	orbits.Name, orbits.Unit = "orbits", matcher.Subgraphs
	if out := d.Register(&orbits); out.Records[0].Count.Big().Cmp(new(big.Int).Binomial(30, 24)) != 0 {
		t.Fatalf("%v orbits, there are %v", out.Records[0].Count, new(big.Int).Binomial(30, 24))
	}
}

// TestS12CountsOfDenseGraphs counts patterns of up to 9 vertices in small graphs with few labels, where the parts of a
// pattern get in each other's way, and compares with enumeration by the reference.
func TestS12CountsOfDenseGraphs(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 12 seconds of processors, most of them in the reference")
	const mostSteps = 100_000 // that the reference may take to enumerate the whole graph
	matchertest.ForSeeds(t, 12, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 8 + rng.IntN(12), Edges: 16 + rng.IntN(30),
			Messages: 60,
			Full:     true, Labels: matchertest.Labels{Vertex: []string{"A", "B"}[:1+rng.IntN(2)],
				Edge: []string{"T", "U"}[:1+rng.IntN(2)]}}
		msgs := matchertest.RandomStream(rng, shape)
		var queries []*matcher.Query
		for i := 0; len(queries) < 4; i++ {
			q := matchertest.RandomQueryOf(rng, 3+rng.IntN(7), fmt.Sprintf("q%05d", i), shape.Directed, shape.Labels)
			ref := reference.New()
			bench := matchertest.NewBench(t, shape.Directed, matchertest.BarePlanner{}, []*matcher.Query{q}, ref)
			bench.Stage(msgs[:shape.Edges])
			n := bench.Search(ref, dyngraph.Inserted, bench.Requests(func(_ int, r *matcher.Request) {
				r.Want, r.Budget = matcher.WantCount, matcher.NewBudget(matcher.Limits{}, mostSteps, nil)
			})).Results[0]
			if n.Over == matcher.NoCause && !n.Count.IsZero() {
				queries = append(queries, q)
			}
		}
		ref, fast := reference.New(), newCPU(t, 1+rng.IntN(2), false)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, ref, fast)
		batches := append([][]dyngraph.Message{msgs[:shape.Edges]}, matchertest.Cut(rng, msgs[shape.Edges:])...)
		for _, batch := range batches[:min(len(batches), 25)] {
			bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				compareAnswers(t, bench, sign, requests, bench.Search(ref, sign, requests),
					bench.Search(fast, sign, requests))
			}
			bench.Commit()
			for _, p := range bench.Plans() {
				want := len(reference.Matches(bench.Graph.View(dyngraph.New), p.Query))
				got, err := fast.Enumerate(t.Context(), dyngraph.New, p, matcher.WantCount, 0, nil, nil)
				if err != nil || got.Count != matcher.CountOf(uint64(want)) {
					t.Fatalf("%+v %+v: counts %v of %d, %v", p.Query.Vertices, p.Query.Edges, got.Count, want, err)
				}
			}
		}
	})
}

// TestS12AHubThatGrowsCostsWhatABatchChanges has edges come to one vertex, batch after batch, and go again. Two, three
// and ten of them are counted, and the steps that this takes are proportional to the hub's edges for each batch, not
// for each edge of it.
func TestS12AHubThatGrowsCostsWhatABatchChanges(t *testing.T) {
	const batches, size = 6, 300
	w := newWorld(t, true)
	for _, k := range []int{2, 3, 10} {
		var cypher []string
		for i := range k {
			cypher = append(cypher, fmt.Sprintf("(a%d)-[:T]->(h)", i))
		}
		d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
		d.Register(w.query("fan", "MATCH "+strings.Join(cypher, ", ")+" RETURN h", counts))
		falling := func(n int) *big.Int { return new(big.Int).MulRange(int64(n-k+1), int64(n)) }
		for b := range 2 * batches {
			sign, from, to := "+", b*size, (b+1)*size
			if b >= batches {
				sign, from, to = "-", (2*batches-b)*size, (2*batches-1-b)*size
			}
			var text strings.Builder
			for i := min(from, to); i < max(from, to); i++ {
				fmt.Fprintf(&text, "%s a%d h T; ", sign, i)
			}
			sum := d.Batch(w.messages(text.String())).Summary.Queries[0]
			want, got := new(big.Int).Sub(falling(max(from, to)), falling(max(k, min(from, to)))), sum.Positive
			if min(from, to) < k {
				want = falling(max(from, to))
			}
			if sign == "-" {
				got = sum.Negative
			}
			require.Equal(t, want.String(), got.String(), "%d leaves, batch %d", k, b)
			require.Less(t, sum.Steps, uint64(20*k*(max(from, to)+size)), "%d leaves, batch %d", k, b)
		}
	}
}
