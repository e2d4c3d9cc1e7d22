package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	"motifd/matcher/paths"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// hubDegree varies from which number of edges on state is kept of a hub.
var hubDegree atomic.Int64

// newCPU returns a cpu backend; with little set it keeps so few rows in memory that groups and queues spill and wait.
func newCPU(t testing.TB, threads int, little bool) matcher.Backend {
	opt := cpu.Options{Threads: threads, TempFiles: tempfile.In(t.TempDir())}
	if little {
		opt.GroupMemory, opt.QueueMemory = 64, 64
	}
	denying := negation.New(cpu.New(opt), negation.Options{TempFiles: opt.TempFiles, GroupMemory: opt.GroupMemory})
	return groups.New(paths.New(denying), groups.Options{HubDegree: 1 + int(hubDegree.Add(1)%4)})
}

// newTicking returns a CPU backend whose clock goes on by a microsecond each time that it is asked.
func newTicking(t testing.TB, threads int) matcher.Backend {
	var now atomic.Int64
	clock := func() int64 { return now.Add(1000) }
	return paths.New(negation.New(cpu.New(cpu.Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()),
		Clock: clock}), negation.Options{TempFiles: tempfile.In(t.TempDir()), Clock: clock}))
}

// TestBackendsAgree stages random batches and has cpu and reference answer the same requests: rows with caps and
// totals, obeyed suspensions, numbers, and whether there is any.
func TestBackendsAgree(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		playBench(t, rng, matchertest.RandomCase(rng, 4).
			With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) }))
	})
}

// TestS17BackendsAgree does the same with conditions, and edges that are replaced.
func TestS17BackendsAgree(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		playBench(t, rng, matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0).
			With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) }))
	})
}

func playBench(t *testing.T, rng *rand.Rand, c *matchertest.Case) {
	t.Helper()
	ref, fast := reference.New(), newCPU(t, 1+rng.IntN(4), rng.IntN(3) == 0)
	bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, ref, fast)
	for _, batch := range c.Batches {
		if rng.IntN(8) == 0 { // as if the first try had failed
			bench.Stage(batch)
			bench.Abort()
		}
		compareBatch(t, rng, bench, batch, ref, fast)
	}
}

// compareBatch has two backends answer random requests about a batch, and enumerate after it.
func compareBatch(t *testing.T, rng *rand.Rand, bench *matchertest.Bench, batch []dyngraph.Message,
	ref, fast matcher.Backend) {
	t.Helper()
	delta := bench.Stage(batch)
	requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		compareAnswers(t, bench, sign, requests, bench.Search(ref, sign, requests), bench.Search(fast, sign, requests))
	}
	bench.Commit()
	checkEnumerate(t, bench, rng, ref, fast)
}

func randomRequest(rng *rand.Rand, r *matcher.Request, orders int) {
	switch rng.IntN(4) {
	case 0:
		r.Want = matcher.WantCount
	case 1:
		r.Want = matcher.WantAny
	default:
		if rng.IntN(2) == 0 {
			r.Limit = 1 + rng.Uint64N(6)
		}
	}
	switch {
	case rng.IntN(4) > 0:
	case r.Want == matcher.WantCount: // of all anchors or of none
		r.Before = 0
	default:
		r.Before = rng.Uint32N(uint32(orders) + 1)
	}
}

func describe(r *matcher.Request) string {
	q := r.Plan.Query
	return fmt.Sprintf("%s %+v %+v unit %d, want %d, limit %d, before %d", q.Name, q.Vertices, q.Edges, q.Unit,
		r.Want, r.Limit, r.Before)
}

// checkWitness checks that what was found is a match of the view that was searched.
func checkWitness(t *testing.T, bench *matchertest.Bench, sign dyngraph.Sign, req *matcher.Request,
	res matcher.Result) {
	t.Helper()
	if req.Want != matcher.WantAny || res.Count.IsZero() {
		return
	}
	which := dyngraph.New
	if sign == dyngraph.Deleted {
		which = dyngraph.Old
	}
	all := *req.Plan.Query
	all.Unit = matcher.Embeddings
	for _, row := range reference.Matches(bench.Graph.View(which), &all) {
		if slices.Equal(row, res.Witness) {
			return
		}
	}
	t.Fatalf("%s: the witness %v is no match", describe(req), res.Witness)
}

// checkEnumerate has both backends enumerate every plan in a random way.
func checkEnumerate(t *testing.T, bench *matchertest.Bench, rng *rand.Rand, ref, fast matcher.Backend) {
	t.Helper()
	for _, p := range bench.Plans() {
		want, limit := matcher.Want(rng.IntN(3)), uint64(0)
		if want == matcher.WantRows && rng.IntN(2) == 0 {
			limit = 1 + rng.Uint64N(6)
		}
		enumerate := func(be matcher.Backend) (lines []string, res matcher.Result) {
			res, err := be.Enumerate(t.Context(), dyngraph.New, p, want, limit, nil, func(rows matcher.Rows) error {
				for i := range rows.Len() {
					lines = append(lines, matchertest.RowLine(bench.Graph.View(dyngraph.New), rows, i))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return lines, res
		}
		wantLines, wantRes := enumerate(ref)
		gotLines, gotRes := enumerate(fast)
		if diff := matchertest.Diff(wantLines, gotLines); diff != "" {
			t.Fatalf("enumerating %+v %+v, want %d, limit %d: %s", p.Query.Vertices, p.Query.Edges, want, limit, diff)
		}
		if wantRes.Count != gotRes.Count || wantRes.Truncated != gotRes.Truncated {
			t.Fatalf("enumerating %+v %+v, want %d, limit %d:\nreference %+v\ncpu       %+v", p.Query.Vertices,
				p.Query.Edges,
				want, limit, wantRes, gotRes)
		}
	}
}

// TestBackendsAgreeOnLargerGraphs does the same on graphs of some hundred vertices in large batches, where work is
// cut into pieces and threads overtake each other.
func TestBackendsAgreeOnLargerGraphs(t *testing.T) {
	matchertest.NotUnderRace(t, "most of its time goes to the reference; TestBackendsAgreeOnHubs has the threads")
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 350, Edges: 900, Messages: 500, Full: true,
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1", "L2"}, Edge: []string{"e0", ""}}}
		msgs := matchertest.RandomStream(rng, shape)
		queries := bearable(t, rng, shape, msgs[:shape.Edges])
		ref, fast := reference.New(), newCPU(t, 1+rng.IntN(4), rng.IntN(2) == 0)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, ref, fast)
		for batch := range slices.Chunk(msgs, 400) {
			compareBatch(t, rng, bench, batch, ref, fast)
		}
	})
}

// bearable draws up to 5 queries of 2 to 9 vertices that have matches in the graph, but not too many.
func bearable(t *testing.T, rng *rand.Rand, shape matchertest.Shape, graph []dyngraph.Message) []*matcher.Query {
	var drawn, queries []*matcher.Query
	for i := range 60 {
		drawn = append(drawn, matchertest.RandomQueryOf(rng, 2+rng.IntN(8), fmt.Sprintf("q%02d", i), shape.Directed,
			shape.Labels))
	}
	be := newCPU(t, 1, false)
	bench := matchertest.NewBench(t, shape.Directed, plan.New(), drawn, be)
	bench.Stage(graph)
	answer := bench.Search(be, dyngraph.Inserted, bench.Requests(func(_ int, r *matcher.Request) {
		r.Want, r.Budget = matcher.WantCount, matcher.NewBudget(matcher.Limits{}, 100_000, nil)
	}))
	for i, r := range answer.Results {
		if r.Over == matcher.NoCause && !r.Count.IsZero() && r.Count.Cmp(matcher.CountOf(3000)) < 0 &&
			len(queries) < 5 {
			drawn[i].Unit = matcher.Unit(rng.IntN(2))
			queries = append(queries, drawn[i])
		}
	}
	return queries
}

// TestBackendsAgreeOnHubs has a few vertices of high degree, and cyclic patterns, where neighbour lists are
// intersected.
func TestBackendsAgreeOnHubs(t *testing.T) {
	matchertest.ForSeeds(t, 2, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: true, Vertices: 300, Edges: 900, Messages: 500, Full: true,
			Hubs:   2 + rng.IntN(2),
			Labels: matchertest.Labels{Vertex: []string{"A", "B"}, Edge: []string{"", "T"}}}
		w := &world{t: t, directed: true}
		var queries []*matcher.Query
		for i, cypher := range []string{
			"MATCH (x)-->(y)-->(z)-->(x) RETURN x, y, z",
			"MATCH (x:A)-[:T]->(y)-[:T]->(z), (x)-[:T]->(z) RETURN x, y, z",
			"MATCH (w)-[:T]->(x)<-[:T]-(y)-[:T]->(z:B)<-[:T]-(w) RETURN w, x, y, z",
			"MATCH (w:A)-[:T]-(x)-[:T]-(y:B)-[:T]-(w), (w)-[:T]-(z)-[:T]-(y) RETURN w, x, y, z",
			"MATCH (w)-[:T]->(x), (w)-[:T]->(y), (x)-[:T]->(y), (z)-[:T]->(x), (z)-[:T]->(y) RETURN w, x, y, z",
		} {
			q := w.query(fmt.Sprint("q", i), cypher)
			q.Unit = matcher.Unit(rng.IntN(2))
			queries = append(queries, q)
		}
		ref, fast := reference.New(), newCPU(t, 1+rng.IntN(4), false)
		bench := matchertest.NewBench(t, true, plan.New(), queries, ref, fast)
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 400) {
			compareBatch(t, rng, bench, batch, ref, fast)
		}
	})
}

func compareAnswers(t *testing.T, bench *matchertest.Bench, sign dyngraph.Sign, requests []matcher.Request, want,
	got *matchertest.Answer) {
	t.Helper()
	if diff := matchertest.Diff(want.Lines(), got.Lines()); diff != "" {
		t.Fatalf("sign %d, reference against cpu: %s", sign, diff)
	}
	for i := range requests {
		w, g := want.Results[i], got.Results[i]
		if w.Count != g.Count || w.Truncated != g.Truncated || w.Over != g.Over {
			t.Fatalf("sign %d, %s\nreference %+v\ncpu       %+v", sign, describe(&requests[i]), w, g)
		}
		checkWitness(t, bench, sign, &requests[i], g)
	}
}
