package matcher_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS25RandomBatches plays random batches with negations on the CPU against recomputation: parallel edges, replaced
// edges, revised vertices, expiry, conditions and windows, every unit, mode and cap.
func TestS25RandomBatches(t *testing.T) {
	var seen struct {
		played
		turned int
	}
	all := func() bool {
		return seen.batches >= 1000 &&
			min(seen.revised, seen.parallel, seen.expired, seen.turned) > 20
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.batches > 0 }
	}
	matchertest.ForSeedsUntil(t, 10, all, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 5)
		c = c.Denied(rng).With(func(q *matcher.Query) {
			randomModes(rng, q)
			q.SilentExpiry = q.Emit != matcher.EmitExists && rng.IntN(4) == 0
		})
		for cut := range 4 {
			if cut > 0 {
				c.Batches = matchertest.Cut(rng, c.Messages)
			}
			kept := matchertest.Retention(rng)
			for _, out := range playBackends(t, rng, c, kept) {
				seen.add(c, out)
				for i := range out.Records {
					seen.turned += count(out.Records[i].Turned)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}
