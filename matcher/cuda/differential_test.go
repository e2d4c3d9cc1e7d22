//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// Few names the environment variable that keeps cases small and few, for checkers that watch every access.
const Few = "MOTIFD_TEST_FEW"

const rounds = cudatest.Rounds

func newBackend(t testing.TB, rng *rand.Rand) matcher.Backend {
	t.Helper()
	return newBackendWith(t, rng, randomOptions(rng))
}

func newBackendWith(t testing.TB, rng *rand.Rand, o cuda.Options) matcher.Backend {
	t.Helper()
	o.Device, o.More = newDevice(t, rng, o), moreDevices(t, rng)
	for i := range o.More {
		if o.Ranges > 0 {
			o.More[i] = farOf(o.More[i], rng)
		}
	}
	o.CPU = cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
	if rng.IntN(2) == 0 {
		o.CPU.GroupMemory = 128 << rng.IntN(10) // rows with the same vertices soon exceed it
	}
	b := cuda.New(o)
	inTurn(rng, b)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// newDevice returns a device for a backend with options.
func newDevice(t testing.TB, rng *rand.Rand, o cuda.Options) kernels.Device {
	d := kernels.Device(cudatest.NewDevice(t, rng))
	if o.Ranges > 0 {
		d = farOf(d, rng)
	}
	return d
}

// moreDevices returns none, one or two.
func moreDevices(t testing.TB, rng *rand.Rand) (more []kernels.Device) {
	for range max(0, rng.IntN(5)-2) {
		more = append(more, cudatest.NewDevice(t, rng))
	}
	return more
}

// inTurn has the devices of most backends count one after the other in random order, so that a seed repeats a case.
// Those of the others count at once.
func inTurn(rng *rand.Rand, b *cuda.Backend) {
	if turns := rand.New(rand.NewPCG(rng.Uint64(), 0)); rng.IntN(4) > 0 {
		b.InTurn(func(busy []int64) int { return turns.IntN(len(busy)) })
	}
}

// withoutWildcards gives every vertex and edge of most queries a label that data has, or alternatives, so that the
// device has something to do.
func withoutWildcards(rng *rand.Rand, c *matchertest.Case) *matchertest.Case {
	return c.With(func(q *matcher.Query) {
		q.Unit = matcher.Unit(rng.IntN(2))
		if rng.IntN(4) == 0 {
			return
		}
		q.Edges = slices.Clone(q.Edges)
		for i := range q.Edges {
			from := c.Labels.Edge
			anyOf := q.Edges[i].AnyOf
			if anyOf != nil && rng.IntN(2) == 0 { // which declare what conditions read
				from, anyOf, q.Edges[i].AnyOf = anyOf, nil, nil
			}
			if q.Edges[i].Label == "" && anyOf == nil {
				q.Edges[i].Label = from[rng.IntN(len(from))]
			}
			if c.Directed {
				q.Edges[i].Either = false
			}
		}
	})
}

// anyCase returns a random case: with parallel edges, with conditions, or with neither.
func anyCase(rng *rand.Rand) *matchertest.Case {
	var c *matchertest.Case
	switch rng.IntN(3) {
	case 0:
		c = matchertest.RandomCaseIDs(rng, 4)
	case 1:
		c = matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)
	default:
		c = matchertest.RandomCase(rng, 4)
	}
	return withoutWildcards(rng, c)
}

// manyNeighbors returns a random case in whose graph vertices have hundreds of neighbours, over many leaves.
func manyNeighbors(rng *rand.Rand, vertices, batch int) *matchertest.Case {
	shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: vertices, Edges: 3 * vertices,
		Messages: 3*vertices + 100,
		Labels:   matchertest.Labels{Vertex: []string{"L0", "L1", "L2"}, Edge: []string{"e0", "e1"}}}
	c := &matchertest.Case{Directed: shape.Directed, Labels: shape.Labels}
	for i := range 4 {
		q := matchertest.RandomQueryOf(rng, 2+rng.IntN(5), fmt.Sprint("q", i), shape.Directed, shape.Labels)
		for j := range q.Vertices {
			if q.Vertices[j].Label == "" && q.Vertices[j].AnyOf == nil && rng.IntN(4) > 0 {
				q.Vertices[j].Label = shape.Labels.Vertex[rng.IntN(3)]
			}
		}
		for j := range q.Edges {
			q.Edges[j].Either = !shape.Directed
			if q.Edges[j].Label == "" {
				q.Edges[j].Label, q.Edges[j].AnyOf = shape.Labels.Edge[rng.IntN(2)], nil
			}
		}
		q.Unit = matcher.Unit(rng.IntN(2))
		c.Queries = append(c.Queries, q)
	}
	c.Batches = slices.Collect(slices.Chunk(matchertest.RandomStream(rng, shape), batch))
	return c
}

// compared counts what was there to be found where the device was compared: two backends that find nothing agree, too.
type compared struct{ rows, capped, counts, witnesses, whole int }

// add counts an answer to requests, less what has a budget and so is the CPU backend's.
func (c *compared) add(requests []matcher.Request, a *matchertest.Answer) {
	for _, r := range a.Rows {
		if requests[r.Request].Budget == nil {
			c.rows++
		}
	}
	for i, r := range a.Results {
		switch req := &requests[i]; {
		case req.Budget != nil || r.Count.IsZero():
		case req.Want == matcher.WantCount:
			c.counts++
		case req.Want == matcher.WantAny:
			c.witnesses++
		case r.Truncated:
			c.capped++
		}
	}
}

// all tells whether there was each of these, also rows of whole graphs; where checkers watch, which take their time,
// that is not waited for.
func (c *compared) all() bool {
	return os.Getenv(Few) != "" || min(c.rows, c.capped, c.counts, c.witnesses, c.whole) > 0
}

// TestP2BackendsAgree stages random batches and has cpu and cuda answer the same requests: rows with caps and totals,
// obeyed suspensions, numbers, and whether there is any.
func TestP2BackendsAgree(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		play(t, rng, &seen, c.Directed, c.Queries, c.Batches)
	})
}

// TestP2BackendsAgreeOnConditions does the same where some queries have conditions, and some batches replace edges: the
// device searches the other queries in the other batches, and its mirror follows those that it sits out.
func TestP2BackendsAgreeOnConditions(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)).
			With(func(q *matcher.Query) { q.SilentChange = rng.IntN(3) == 0 })
		want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		playOn(t, rng, &seen, matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got), want, got,
			c.Batches)
	})
}

// TestS4MatchModesBesideADevice does the same with queries in every match mode: the CPU searches those that a device
// does not.
func TestS4MatchModesBesideADevice(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4)).InMatchModes(rng)
		play(t, rng, &seen, c.Directed, c.Queries, c.Batches)
	})
}

// TestS20BackendsAgree does the same where edges expire.
func TestS20BackendsAgree(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		bench.Expire(1000 * (1 + rng.Int64N(50)))
		playOn(t, rng, &seen, bench, want, got, c.Batches)
	})
}

// TestP2BackendsAgreeOnParallelEdges does the same where some labels may have parallel edges, from some batch on or
// not.
func TestP2BackendsAgreeOnParallelEdges(t *testing.T) {
	var seen compared
	parallel := 0
	all := func() bool { return seen.all() && parallel > 0 }
	matchertest.ForSeedsUntil(t, rounds, all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCaseIDs(rng, 4))
		label, some := c.Labels.Edge[0], rng.IntN(2) == 0
		for _, batch := range c.Batches {
			for _, m := range batch {
				for i := range m.Updates {
					if u := &m.Updates[i]; some && u.Label != label {
						u.Attr.ID = ""
					}
				}
			}
		}
		want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen, bench, want, got, c.Batches)
		if bench.Graph.AnyParallel() {
			parallel++
		}
	})
}

// TestP2BackendsAgreeOnLargerGraphs does the same where vertices have hundreds of neighbours, over many leaves.
func TestP2BackendsAgreeOnLargerGraphs(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, 1+rounds/3, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := manyNeighbors(rng, 300, 400)
		play(t, rng, &seen, c.Directed, c.Queries, c.Batches)
	})
}

// TestP2BackendsAgreeOnManyLabels has the graph get more labels than a kind of neighbours has bits for, so that some
// share one, and lose them again when a batch is aborted.
func TestP2BackendsAgreeOnManyLabels(t *testing.T) {
	var seen compared
	matchertest.ForSeedsUntil(t, 1+rounds/4, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 4))
		want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		half := len(c.Batches) / 2
		playOn(t, rng, &seen, bench, want, got, c.Batches[:half])
		labels := 1 << 15
		var declared []dyngraph.Message
		for i := range labels {
			declared = append(declared, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint("declared", i),
					Label: fmt.Sprint("many", i)}}})
		}
		if bench.Stage(declared); rng.IntN(2) == 0 {
			bench.Abort()
			bench.Stage(declared)
		}
		bench.Commit()
		playOn(t, rng, &seen, bench, want, got, c.Batches[half:])
	})
}

// TestP2BackendsAgreeWhereLabelsShareAKind has vertices with labels of which two share a number in kinds of
// neighbours, and edges whose labels are high numbers.
func TestP2BackendsAgreeWhereLabelsShareAKind(t *testing.T) {
	const sharing = 1 << 15 // where there are more labels, but not twice as many, these share a kind by so many
	var seen compared
	matchertest.ForSeedsUntil(t, 1+rounds/4, seen.all, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 60, Edges: 300, Messages: 500,
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1", "L2", "L3"}, Edge: []string{"e0", "e1"}}}
		var queries []*matcher.Query
		for i := range 5 {
			q := matchertest.RandomQueryOf(rng, 2+rng.IntN(4), fmt.Sprint("q", i), shape.Directed, shape.Labels)
			q.Unit = matcher.Unit(rng.IntN(2))
			queries = append(queries, q)
		}
		stream := matchertest.RandomStream(rng, shape)
		want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		labels := make([]string, sharing+4)
		for i := range labels {
			labels[i] = fmt.Sprint("many", i)
		}
		first := rng.IntN(3)
		labels[first], labels[first+sharing] = "L0", "L1"
		labels[3], labels[3+sharing] = "L2", "L3"
		if rng.IntN(2) == 0 {
			labels[sharing-5], labels[sharing-6] = "e0", "e1"
		}
		var declared []dyngraph.Message
		for i, l := range labels {
			declared = append(declared, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint("declared", i), Label: l}}})
		}
		batches := slices.Collect(slices.Chunk(stream, 100))
		before := 0
		if rng.IntN(4) == 0 { // they have low numbers by then, and kinds are others from there on
			before = 2
		}
		playOn(t, rng, &seen, bench, want, got, batches[:before])
		bench.Stage(declared)
		bench.Commit()
		playOn(t, rng, &seen, bench, want, got, batches[before:])
	})
}

// play runs a stream past both backends and counts what there was to find.
func play(t *testing.T, rng *rand.Rand, seen *compared, directed bool, queries []*matcher.Query,
	batches [][]dyngraph.Message) {
	t.Helper()
	want, got := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}), newBackend(t, rng)
	playOn(t, rng, seen, matchertest.NewBench(t, directed, plan.New(), queries, want, got), want, got, batches)
}

func playOn(t *testing.T, rng *rand.Rand, seen *compared, bench *matchertest.Bench, want, got matcher.Backend,
	batches [][]dyngraph.Message) {
	t.Helper()
	for _, batch := range batches {
		if rehearse := got.Capabilities().Rehearse; rehearse != nil && rng.IntN(8) == 0 {
			delta := bench.Stage(batch)
			requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
			if _, err := rehearse(t.Context(), requests); err != nil {
				t.Fatal(err)
			}
			bench.Abort()
		}
		if rng.IntN(8) == 0 { // as if the first try had failed, before or after its search
			delta := bench.Stage(batch)
			if rng.IntN(2) == 0 {
				bench.Search(got, dyngraph.Inserted,
					bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) }))
			}
			bench.Abort()
		}
		delta := bench.Stage(batch)
		requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
		if rng.IntN(4) > 0 { // else the mirror sits out the batch
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				a := bench.Search(want, sign, requests)
				compareAnswers(t, bench, sign, requests, a, bench.Search(got, sign, requests))
				seen.add(requests, a)
			}
		}
		if rng.IntN(4) == 0 {
			seen.whole += compareEnumerations(t, bench, dyngraph.Which(rng.IntN(2)), want, got)
		}
		bench.Commit()
		if rng.IntN(4) == 0 {
			seen.whole += compareEnumerations(t, bench, dyngraph.New, want, got)
		}
	}
}

func randomRequest(rng *rand.Rand, r *matcher.Request, orders int) {
	switch rng.IntN(4) {
	case 0:
		r.Want = matcher.WantCount
	case 1:
		r.Want = matcher.WantAny
	default:
		if rng.IntN(3) == 0 {
			r.Limit = 1 + rng.Uint64N(6)
		}
	}
	if r.Want == matcher.WantRows && rng.IntN(4) == 0 {
		// the CPU's, whose groups come between those of others
		r.Budget = matcher.NewBudget(matcher.Limits{}, 1<<40, nil)
	}
	switch {
	case rng.IntN(4) > 0:
	case r.Want == matcher.WantRows:
		r.Before = rng.Uint32N(uint32(orders) + 1)
	default: // a suspended query is not asked for
		r.Before = 0
	}
}

func compareAnswers(t *testing.T, bench *matchertest.Bench, sign dyngraph.Sign, requests []matcher.Request, want,
	got *matchertest.Answer) {
	t.Helper()
	if diff := matchertest.Diff(want.Lines(), got.Lines()); diff != "" {
		t.Fatalf("sign %d, cpu against cuda: %s", sign, diff)
	}
	for i := range requests {
		w, g := want.Results[i], got.Results[i]
		if w.Count.Cmp(g.Count) != 0 || w.Truncated != g.Truncated || w.Over != g.Over ||
			(w.Witness == nil) != (g.Witness == nil) {
			t.Fatalf("sign %d, %s\n cpu %+v\ncuda %+v", sign, describe(&requests[i]), w, g)
		}
	}
}

// compareEnumerations compares what is found in a whole graph and returns how many rows that is.
func compareEnumerations(t *testing.T, bench *matchertest.Bench, which dyngraph.Which, want,
	got matcher.Backend) (found int) {
	t.Helper()
	compareNumbers(t, bench, which, want, got)
	return compareSnapshots(t, bench, which, want, got)
}

// compareSnapshots compares the rows of a whole graph, with limits and without, and returns how many there are.
func compareSnapshots(t *testing.T, bench *matchertest.Bench, which dyngraph.Which, want,
	got matcher.Backend) (found int) {
	t.Helper()
	for i, p := range bench.Plans() {
		for limit := range uint64(3) { // 0 is no limit
			var rows [2][]uint32
			var results [2]matcher.Result
			for k, be := range []matcher.Backend{want, got} {
				var err error
				results[k], err = be.Enumerate(t.Context(), which, p, matcher.WantRows, limit*uint64(1+i), nil,
					func(r matcher.Rows) error {
						rows[k] = append(rows[k], r.Data...)
						if k == 0 {
							found += r.Len()
						}
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
			}
			if a, b := results[0], results[1]; !slices.Equal(rows[0], rows[1]) || a.Count != b.Count ||
				a.Truncated != b.Truncated {
				t.Fatalf("rows of %+v %+v, unit %d, limit %d:\n cpu %+v %v\ncuda %+v %v", p.Query.Vertices,
					p.Query.Edges, p.Query.Unit, limit*uint64(1+i), a, rows[0], b, rows[1])
			}
		}
	}
	return found
}

// compareCounts compares the counts of all queries in the staged batch.
func compareCounts(t *testing.T, bench *matchertest.Bench, want, got matcher.Backend) {
	t.Helper()
	requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		compareAnswers(t, bench, sign, requests, bench.Search(want, sign, requests), bench.Search(got, sign, requests))
	}
}

// compareNumbers compares counts and existence in a whole graph.
func compareNumbers(t *testing.T, bench *matchertest.Bench, which dyngraph.Which, want, got matcher.Backend) {
	t.Helper()
	for _, p := range bench.Plans() {
		for _, w := range []matcher.Want{matcher.WantCount, matcher.WantAny} {
			a, err := want.Enumerate(t.Context(), which, p, w, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := got.Enumerate(t.Context(), which, p, w, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Count.Cmp(b.Count) != 0 || a.Truncated != b.Truncated {
				t.Fatalf("enumerating %+v %+v, want %d:\n cpu %+v\ncuda %+v", p.Query.Vertices, p.Query.Edges, w, a, b)
			}
		}
	}
}

func describe(r *matcher.Request) string {
	q := r.Plan.Query
	return fmt.Sprintf("%s %+v %+v unit %d, want %d, limit %d, before %d", q.Name, q.Vertices, q.Edges, q.Unit,
		r.Want, r.Limit, r.Before)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
