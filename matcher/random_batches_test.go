package matcher_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS17RandomBatches is the volume of the differential tests: the CPU backend against the reference on random
// batches with conditions, replaced edges and revised vertices, of which many have parallel edges and expiring ones.
// 80 seeds of 4 cuts each are 10,000 to 14,000 batches, of which .ci/run plays a quarter. `make million` plays a
// hundred times as many.
func TestS17RandomBatches(t *testing.T) {
	var seen struct {
		played
	}
	all := func() bool {
		return seen.batches >= 10_000 && min(seen.revised, seen.parallel, seen.expired) > 100
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.batches > 0 }
	}
	seeds := 80
	if matchertest.Quick(t) {
		seeds *= 2 // of which .ci/run asks for an eighth
	}
	matchertest.ForSeedsUntil(t, seeds, all, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseWhere(rng, 5, rng.IntN(2) == 0).With(func(q *matcher.Query) { randomModes(rng, q) })
		for cut := range 4 { // a new case takes longer than to play one
			if cut > 0 {
				c.Batches = matchertest.Cut(rng, c.Messages)
			}
			kept := matchertest.Retention(rng)
			for _, out := range playBackends(t, rng, c, kept) {
				seen.add(c, out)
			}
		}
	})
	t.Logf("%+v", seen)
}

// played counts batches that were played, and what they had.
type played struct{ batches, revised, parallel, expired, records int }

// add counts a batch of a case.
func (p *played) add(c *matchertest.Case, out *matchertest.Output) {
	p.batches++
	p.revised += count(out.Summary.Revised > 0)
	p.parallel += count(c.EdgeIDs)
	p.expired += count(out.Summary.Expired > 0)
	p.records += len(out.Records)
}

// count is 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
