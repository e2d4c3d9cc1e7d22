package matcher_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS14EngineEqualsRecomputation is TestS5EngineEqualsRecomputation for graphs with parallel edges.
func TestS14EngineEqualsRecomputation(t *testing.T) {
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseIDs(rng, 5).With(func(q *matcher.Query) {
			q.Unit = matcher.Unit(rng.IntN(2))
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
			q.Backfill = matcher.Backfill(rng.IntN(2))
		})
		playOracle(t, c, newCPU(t, 1+rng.IntN(3), rng.IntN(3) == 0), rng)
	})
}

// TestS14BackendsPutOutTheSame is TestS7BackendsPutOutTheSame for graphs with parallel edges, which expire or not.
func TestS14BackendsPutOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseIDs(rng, 5).With(func(q *matcher.Query) { randomModes(rng, q) })
		playBackends(t, rng, c, []int64{0, 1000 * (1 + rng.Int64N(50))}[rng.IntN(2)])
	})
}
