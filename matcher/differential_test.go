package matcher_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// randomModes draws what the queries of a case emit: every unit, mode and backfill, with caps and exact totals.
func randomModes(rng *rand.Rand, q *matcher.Query) {
	q.Unit = matcher.Unit(rng.IntN(2))
	q.Backfill = matcher.Backfill(rng.IntN(2))
	q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
		matcher.EmitExists}[rng.IntN(5)]
	if q.Emit == matcher.EmitDeltas && rng.IntN(2) == 0 {
		q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(8), rng.IntN(2) == 0
	}
}

// TestS7BackendsPutOutTheSame drives two engines, one on cpu and one on reference, through the same batches,
// registrations and removals: order, anchors, matches, numbers and indexes are the same. Now and then the cpu engine is
// made to fail on a batch, or interrupted, first.
func TestS7BackendsPutOutTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) { randomModes(rng, q) })
		playBackends(t, rng, c)
	})
}

// TestS17BackendsPutOutTheSame does the same with conditions, and edges that are replaced.
func TestS17BackendsPutOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		playBackends(t, rng, matchertest.RandomCaseWhere(rng, 5, rng.IntN(2) == 0).
			With(func(q *matcher.Query) { randomModes(rng, q) }))
	})
}

func playBackends(t *testing.T, rng *rand.Rand, c *matchertest.Case) {
	t.Helper()
	driver := func(be matcher.Backend) *matchertest.Driver {
		return matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
	}
	slow, fast := driver(reference.New()), driver(newCPU(t, 1+rng.IntN(4), rng.IntN(3) == 0))
	registered := make([]bool, len(c.Queries))
	for _, batch := range c.Batches {
		for i, q := range c.Queries {
			switch {
			case !registered[i] && rng.IntN(4) == 0:
				slow.Register(q)
				fast.Register(q)
				registered[i] = true
			case registered[i] && rng.IntN(30) == 0:
				slow.Remove(q.Name)
				fast.Remove(q.Name)
				registered[i] = false
			}
		}
		out := slow.Batch(batch)
		at := rng.Uint64N(uint64(len(out.Records)) + 1)
		switch {
		case at < uint64(len(out.Records)) && rng.IntN(4) == 0:
			fast.Fail(fast.Prepare(batch), at)
		case rng.IntN(4) == 0:
			fast.Interrupt(fast.Prepare(batch), at)
			continue
		}
		fast.Batch(batch)
	}
	if diff := matchertest.Diff(slow.Transcript(), fast.Transcript()); diff != "" {
		t.Fatalf("reference against cpu: %s", diff)
	}
}

// TestP4SpillFailureLeavesEverythingAsBefore has groups that must be sorted on a disk that is not there.
func TestP4SpillFailureLeavesEverythingAsBefore(t *testing.T) {
	w := newWorld(t, true)
	w.cpu = matchertest.NewDriver(t, true, cpu.New(cpu.Options{Threads: 2, GroupMemory: 256,
		TempFiles: tempfile.In(filepath.Join(t.TempDir(), "missing"))}), plan.New())
	w.register(w.query("q", "MATCH (y)<--(x)-->(z) RETURN x, y, z"))
	b := w.cpu.Prepare(star(30))
	if _, err := w.cpu.Engine.Step(t.Context(), b, func(*matcher.Event) error { return nil }, nil); !errors.Is(err,
		os.ErrNotExist) {
		t.Fatal(err)
	}
	if g := w.cpu.Engine.Graph(); g.Edges() != 0 || g.Vertices() != 0 {
		t.Fatalf("%d edges, %d vertices", g.Edges(), g.Vertices())
	}
	w.batch("+ a b; + a c", "+q b a c", "+q c a b")
}

// limited draws what a query emits, and perhaps a budget that it exceeds.
func limited(rng *rand.Rand, q *matcher.Query) {
	randomModes(rng, q)
	if rng.IntN(3) == 0 {
		q.WorkBudget, q.OverBudget = 1+rng.Uint64N(100), matcher.OverBudget(rng.IntN(2))
	}
}

// TestS7ReplayPutsOutTheSame replays a batch log on other backends, and the end of it on a graph that was loaded in the
// middle, with the queries restored. Some queries exceed their budgets: the replay leaves out what the log says.
func TestS7ReplayPutsOutTheSame(t *testing.T) {
	suspensions := 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return suspensions > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { limited(rng, q) })
		if rng.IntN(2) == 0 {
			c = matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0).With(func(q *matcher.Query) { limited(rng, q) })
		}
		first := matchertest.Run(t, c, newCPU(t, 2, false), plan.New())
		for _, b := range first.Log {
			suspensions += len(b.Decisions)
		}
		graph := c.Graph
		for _, other := range []matcher.Backend{reference.New(), newCPU(t, 1+rng.IntN(4), rng.IntN(2) == 0)} {
			again := matchertest.Replay(t, first.Log,
				matcher.EngineOptions{Graph: graph(), Backend: other, Planner: plan.New()})
			if diff := matchertest.Diff(first.Transcript(), again.Transcript()); diff != "" {
				t.Fatalf("first run against replay on %s: %s", other.Name(), diff)
			}
		}
		// A restart in the middle: the graph is loaded, and the queries are restored.
		at := len(c.Queries) + rng.IntN(len(c.Batches)+1)
		bare := graph()
		for _, b := range first.Log[:at] {
			if _, err := bare.Stage(b.Updates); err != nil {
				t.Fatal(err)
			}
			bare.Commit()
		}
		rest := matchertest.NewDriverWith(t,
			matcher.EngineOptions{Graph: matchertest.Reload(t, bare), Backend: newCPU(t, 1, false),
				Planner: plan.New()})
		states := first.Batches[at-1].Queries
		if err := rest.Engine.Restore(t.Context(), states); err != nil {
			t.Fatal(err)
		}
		for _, b := range first.Log[at:] {
			logged := *b
			logged.MeasureFrom = matcher.NeverMeasure
			rest.Step(&logged)
		}
		first.Batches = first.Batches[at:]
		if diff := matchertest.Diff(first.Transcript(), rest.Transcript()); diff != "" {
			t.Fatalf("first run against restart before batch %d: %s", at+1, diff)
		}
	})
}
