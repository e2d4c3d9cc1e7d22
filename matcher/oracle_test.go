package matcher_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS5EngineEqualsRecomputation holds all that the engine puts out against an oracle that shares no code with it: it
// keeps the graph as maps of strings and finds all matches anew after each batch. Queries of every unit and emit mode
// come at the start or later, with a backfill or without.
func TestS5EngineEqualsRecomputation(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) {
			q.Unit = matcher.Unit(rng.IntN(2))
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
			q.Backfill = matcher.Backfill(rng.IntN(2))
		})
		playOracle(t, c, newCPU(t, 1+rng.IntN(3), rng.IntN(3) == 0), rng)
	})
}

// playOracle steps an engine and the oracle over a case.
func playOracle(t *testing.T, c *matchertest.Case, be matcher.Backend, rng *rand.Rand) {
	t.Helper()
	oracle := matchertest.NewOracleOf(c)
	d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
	at := make([]int, len(c.Queries)) // batch before which the query is registered
	for i := range at {
		at[i] = max(0, rng.IntN(2*len(c.Batches))-len(c.Batches))
	}
	net := make([]map[string]int, len(c.Queries))
	found := make([]matchertest.Found, len(c.Queries))
	for n, batch := range c.Batches {
		for i, q := range c.Queries {
			if at[i] == n {
				out := d.Register(q)
				net[i] = map[string]int{}
				checkSnapshot(t, oracle, i, q, out, found[i].After)
				if q.Backfill == matcher.BackfillNone {
					add(net[i], found[i].After, 1) // what it is not told of
				}
				sum(net[i], oracle, i, q, out)
			}
		}
		var err error
		if found, err = oracle.Step(batch); err != nil {
			t.Fatal(err)
		}
		out := d.Batch(batch)
		checkRejects(t, oracle, out)
		for i, q := range c.Queries {
			if at[i] <= n {
				checkDelta(t, oracle, i, q, out, &found[i])
				sum(net[i], oracle, i, q, out)
				checkSum(t, q, net[i], found[i].After)
			}
		}
	}
}

func checkRejects(t *testing.T, oracle *matchertest.Oracle, out *matchertest.Output) {
	t.Helper()
	var refused []int
	for _, r := range out.Rejects {
		refused = append(refused, r.Message)
	}
	if !slices.Equal(refused, oracle.Last.Refused) {
		t.Fatalf("batch %d: messages %v were refused, the oracle refuses %v", out.Number, refused, oracle.Last.Refused)
	}
}

// of returns the records of one query and sign.
func of(out *matchertest.Output, q *matcher.Query, sign dyngraph.Sign) []matchertest.Record {
	var records []matchertest.Record
	for _, r := range out.Records {
		if r.Query == q.Name && r.Sign == sign && r.Kind != matcher.EventNotice {
			records = append(records, r)
		}
	}
	return records
}

// checkSnapshot checks what a registration put out: all matches, or nothing.
func checkSnapshot(t *testing.T, oracle *matchertest.Oracle, i int, q *matcher.Query, out *matchertest.Output,
	all []string) {
	t.Helper()
	if q.Backfill == matcher.BackfillNone {
		all = nil
	}
	for _, r := range out.Records {
		if !r.Snapshot || r.Sign != dyngraph.Inserted || r.Query != q.Name {
			t.Fatalf("registering %s: %s", q.Name, r.Line())
		}
	}
	checkRecords(t, oracle, i, q, out.Records, all, 0, len(all))
}

// checkDelta checks what a batch put out for one query.
func checkDelta(t *testing.T, oracle *matchertest.Oracle, i int, q *matcher.Query, out *matchertest.Output,
	f *matchertest.Found) {
	t.Helper()
	negative, positive := of(out, q, dyngraph.Deleted), of(out, q, dyngraph.Inserted)
	checkRecords(t, oracle, i, q, negative, f.Negative, len(f.After), len(f.Before))
	checkRecords(t, oracle, i, q, positive, f.Positive, len(f.Before), len(f.After))
	if q.Emit != matcher.EmitDeltas {
		return
	}
	for _, records := range [][]matchertest.Record{negative, positive} {
		for _, r := range records {
			mark := "+"
			if r.Sign == dyngraph.Deleted {
				mark = "-"
			}
			update := f.Anchor[mark+oracle.Name(i, r.Match)]
			if int(r.UpdateIndex) != update || r.Anchor != oracle.Last.Updates[update].Pos || r.Snapshot {
				t.Fatalf("batch %d: %s\nis anchored at update %d, the oracle says %d", out.Number, r.Line(),
					r.UpdateIndex, update)
			}
		}
	}
}

// checkRecords checks the records of one query and sign: the matches of that name, their number, or a transition from
// no match to some.
func checkRecords(t *testing.T, oracle *matchertest.Oracle, i int, q *matcher.Query, records []matchertest.Record,
	names []string, from, to int) {
	t.Helper()
	switch q.Emit {
	case matcher.EmitDeltas:
		var got []string
		for _, r := range records {
			if r.Kind != matcher.EventMatches {
				t.Fatalf("%s: %s", q.Name, r.Line())
			}
			got = append(got, oracle.Name(i, r.Match))
		}
		slices.Sort(got)
		if diff := matchertest.Diff(names, got); diff != "" {
			t.Fatalf("%s %+v %+v unit %d, the oracle against the engine: %s", q.Name, q.Vertices, q.Edges, q.Unit, diff)
		}
	case matcher.EmitCounts:
		got := matcher.Count{}
		for _, r := range records {
			if r.Kind != matcher.EventCount || len(records) != 1 || r.Count.IsZero() {
				t.Fatalf("%s: %s", q.Name, r.Line())
			}
			got = r.Count
		}
		if got != matcher.CountOf(uint64(len(names))) {
			t.Fatalf("%s %+v %+v unit %d counts %v, the oracle %d", q.Name, q.Vertices, q.Edges, q.Unit, got,
				len(names))
		}
	case matcher.EmitExists:
		want := 0
		if from == 0 && to > 0 && len(names) > 0 {
			want = 1
		}
		if len(records) != want || want == 1 && records[0].Kind != matcher.EventExists {
			t.Fatalf("%s %+v %+v unit %d: %d transitions, the oracle says %d", q.Name, q.Vertices, q.Edges, q.Unit,
				len(records), want)
		}
	}
}

func add(net map[string]int, names []string, by int) {
	for _, name := range names {
		if net[name] += by; net[name] == 0 {
			delete(net, name)
		}
	}
}

// sum adds what an output says of a query to its net.
func sum(net map[string]int, oracle *matchertest.Oracle, i int, q *matcher.Query, out *matchertest.Output) {
	for _, r := range out.Records {
		if r.Query != q.Name || r.Kind != matcher.EventMatches {
			continue
		}
		add(net, []string{oracle.Name(i, r.Match)}, int(r.Sign))
	}
}

// checkSum checks that positives less negatives are the matches that there are.
func checkSum(t *testing.T, q *matcher.Query, net map[string]int, after []string) {
	t.Helper()
	if q.Emit != matcher.EmitDeltas {
		return
	}
	if len(net) != len(after) {
		t.Fatalf("%s: the deltas sum to %d matches, there are %d", q.Name, len(net), len(after))
	}
	for _, name := range after {
		if net[name] != 1 {
			t.Fatalf("%s: the deltas sum to %d times %s", q.Name, net[name], name)
		}
	}
}
