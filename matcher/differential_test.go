package matcher_test

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// randomModes draws what the queries of a case emit: every unit, mode and backfill, with caps and exact totals.
func randomModes(rng *rand.Rand, q *matcher.Query) {
	q.Unit = matcher.Unit(rng.IntN(2))
	q.Backfill = matcher.Backfill(rng.IntN(2))
	q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts, matcher.EmitExists}[rng.IntN(5)]
	if q.Emit == matcher.EmitDeltas && rng.IntN(2) == 0 {
		q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(8), rng.IntN(2) == 0
	}
}

// TestS7BackendsPutOutTheSame drives two engines, one on cpu and one on reference, through the same batches,
// registrations and removals: order, anchors, matches, numbers and indexes are the same. Now and then the cpu engine is
// made to fail on a batch first.
func TestS7BackendsPutOutTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) { randomModes(rng, q) })
		slow := matchertest.NewDriver(t, c.Directed, reference.New(), plan.New())
		fast := matchertest.NewDriver(t, c.Directed, newCPU(t, 1+rng.IntN(4), rng.IntN(3) == 0), plan.New())
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
			if out := slow.Batch(batch); len(out.Records) > 0 && rng.IntN(4) == 0 {
				fast.Fail(fast.Prepare(batch), rng.Uint64N(uint64(len(out.Records))))
			}
			fast.Batch(batch)
		}
		if diff := matchertest.Diff(slow.Transcript(), fast.Transcript()); diff != "" {
			t.Fatalf("reference against cpu: %s", diff)
		}
	})
}

// TestS7ReplayPutsOutTheSame replays a batch log on another backend, and from there on a graph that was stepped up to it
// with the queries restored.
func TestS7ReplayPutsOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { randomModes(rng, q) })
		first := matchertest.Run(t, c, newCPU(t, 2, false), plan.New())
		graph := func() *dyngraph.Graph { return dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}) }
		again := matchertest.Replay(t, first.Log, matcher.EngineOptions{Graph: graph(), Backend: reference.New(), Planner: plan.New()})
		if diff := matchertest.Diff(first.Transcript(), again.Transcript()); diff != "" {
			t.Fatalf("first run against replay: %s", diff)
		}
		// A restart in the middle: the graph is built without queries, which are then restored.
		at := len(c.Queries) + rng.IntN(len(c.Batches)+1)
		bare := graph()
		for _, b := range first.Log[:at] {
			if _, err := bare.Stage(b.Updates); err != nil {
				t.Fatal(err)
			}
			bare.Commit()
		}
		rest := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: bare, Backend: newCPU(t, 1, false), Planner: plan.New()})
		var states []matcher.QueryState
		for _, q := range c.Queries {
			versioned := *q
			versioned.Version = 1
			states = append(states, matcher.QueryState{Query: &versioned})
		}
		if err := rest.Engine.Restore(states); err != nil {
			t.Fatal(err)
		}
		for _, b := range first.Log[at:] {
			rest.Step(b)
		}
		first.Batches = first.Batches[at:]
		if diff := matchertest.Diff(first.Transcript(), rest.Transcript()); diff != "" {
			t.Fatalf("first run against restart before batch %d: %s", at+1, diff)
		}
	})
}
