package matcher_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS24BackendsPutOutTheSame drives two engines, one on cpu and one on reference, through random batches with groups:
// conditions, parallel edges, replaced edges, revised vertices and edges that expire.
func TestS24BackendsPutOutTheSame(t *testing.T) {
	var seen struct{ begins, ends, revised, parallel, expired int }
	all := func() bool { return min(seen.begins, seen.ends, seen.revised, seen.parallel, seen.expired) > 100 }
	matchertest.ForSeedsUntil(t, 40, all, func(t *testing.T, rng *rand.Rand) {
		c := groupCase(rng)
		for _, out := range playBackends(t, rng, c, []int64{0, 1 + rng.Int64N(3), 1000 * (1 + rng.Int64N(30))}[rng.IntN(3)]) {
			seen.revised += count(out.Summary.Revised > 0)
			seen.parallel += count(c.EdgeIDs)
			seen.expired += count(out.Summary.Expired > 0)
			for i := range out.Records {
				if r := &out.Records[i]; r.Kind == matcher.EventMatches && r.Aggregates != nil && !r.Snapshot {
					seen.begins += count(r.Sign > 0)
					seen.ends += count(r.Sign < 0)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// groupCase draws a case of which most queries have WITH.
func groupCase(rng *rand.Rand) *matchertest.Case {
	c := matchertest.RandomCaseWhere(rng, 5, rng.IntN(2) == 0)
	return c.With(func(q *matcher.Query) {
		randomModes(rng, q)
		if q.IsVertex() || len(q.Edges) > 4 || rng.IntN(5) == 0 {
			return
		}
		*q = *c.Group(rng, q)
	})
}
