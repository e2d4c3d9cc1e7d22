package matcher_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// inMatchModes draws a case whose queries are in every match mode and emit all that there is.
func inMatchModes(rng *rand.Rand, queries int) *matchertest.Case {
	return matchertest.RandomCaseOfAny(rng, queries).
		With(func(q *matcher.Query) { limited(rng, q) }).InMatchModes(rng)
}

// TestS4MatchModesEqualRecomputation holds queries of every match mode against the oracle.
func TestS4MatchModesEqualRecomputation(t *testing.T) {
	matchertest.ForSeeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 5).With(func(q *matcher.Query) {
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
			q.Backfill = matcher.Backfill(rng.IntN(2))
		}).InMatchModes(rng)
		playOracle(t, c, newCPU(t, 1+rng.IntN(3), rng.IntN(3) == 0), rng)
	})
}

// TestS4MatchModesPutOutTheSame plays them on cpu and reference, with caps, budgets, and edges that expire.
func TestS4MatchModesPutOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		c := inMatchModes(rng, 5).With(func(q *matcher.Query) { q.WorkBudget = 0 })
		playBackends(t, rng, c, matchertest.Retention(rng))
	})
}

// TestS4MatchModesReplay replays them, with what limits left out.
func TestS4MatchModesReplay(t *testing.T) {
	matchertest.ForSeeds(t, 15, func(t *testing.T, rng *rand.Rand) { playReplay(t, rng, inMatchModes(rng, 4)) })
}

// TestS4MatchModesAgree has the backends answer random requests.
func TestS4MatchModesAgree(t *testing.T) {
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		playBench(t, rng, matchertest.RandomCaseOfAny(rng, 4).InMatchModes(rng))
	})
}
