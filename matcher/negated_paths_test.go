package matcher_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// deniedPaths draws a case of queries with paths, most of which have negations.
func deniedPaths(rng *rand.Rand, queries int) *matchertest.Case {
	c := matchertest.RandomCasePaths(rng, queries).Denied(rng)
	return c.With(func(q *matcher.Query) {
		if q.CheckCompeting(c.Directed) != nil && !c.EdgeIDs {
			q.Negations = nil
		}
	})
}

// TestS25NegationsBesidePaths plays queries with paths and negations on the CPU, which searches variants of them,
// against the reference, which walks along paths: every unit, mode and cap, with conditions, parallel edges, replaced
// and expiring edges and revised vertices.
func TestS25NegationsBesidePaths(t *testing.T) {
	var seen struct {
		played
		long, turned, longTurned int
	}
	all := func() bool {
		return min(seen.revised, seen.parallel, seen.expired, seen.long, seen.turned, seen.longTurned) > 5
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.batches > 0 }
	}
	matchertest.ForSeedsUntil(t, 5, all, func(t *testing.T, rng *rand.Rand) {
		c := deniedPaths(rng, 4).With(func(q *matcher.Query) {
			randomModes(rng, q)
			q.SilentExpiry = q.Emit != matcher.EmitExists && rng.IntN(4) == 0
		})
		for cut := range 2 {
			if cut > 0 {
				c.Batches = matchertest.Cut(rng, c.Messages)
			}
			kept := matchertest.Retention(rng)
			for _, out := range playBackends(t, rng, c, kept) {
				seen.add(c, out)
				for i := range out.Records {
					r := &out.Records[i]
					seen.long += count(len(r.Match.Edges) > 3)
					seen.turned += count(r.Turned)
					seen.longTurned += count(r.Turned && len(r.Match.Edges) > 1)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// TestS25BackendsAgreeBesidePaths has both backends answer requests of all kinds, with limits and in the middle of a
// batch, and enumerate.
func TestS25BackendsAgreeBesidePaths(t *testing.T) {
	matchertest.ForSeeds(t, 4, func(t *testing.T, rng *rand.Rand) {
		playBench(t, rng, deniedPaths(rng, 3).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) }))
	})
}

// TestS25ReplayBesidePaths plays batch logs again, of queries that exceed their budgets, on other backends and from the
// middle on.
func TestS25ReplayBesidePaths(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS25NegationsBesidePaths has the same goroutines")
	decisions := 0
	matchertest.ForSeedsUntil(t, 5, func() bool { return decisions > 0 }, func(t *testing.T, rng *rand.Rand) {
		decisions += playReplay(t, rng, deniedPaths(rng, 3).With(func(q *matcher.Query) { limited(rng, q) }))
	})
}

// TestS25NegatedPathsByHand follows money that is passed on until an account of the path's end is known, and a
// transition whose witness is a longer path.
func TestS25NegatedPathsByHand(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (a)-[t:T*1..2]->(z) WHERE NOT (a)-[:KNOWS]-(z)"))
	w.register(w.query("x", "MATCH (a:A)-[t:T*2..3]->(z)-[u:T]->(y) WHERE NOT EXISTS { (a)-[:KNOWS]-(k)-[:KNOWS]-(z) }",
		exists))
	w.batch("+ a:A b T; + b c T", "+q a b", "+q b c", "+q a c b")
	w.batch("+ c a KNOWS; + b c KNOWS", "-q a c b", "-q b c")
	w.batch("- b c KNOWS", "+q b c")
	w.batch("+ c d T", "+x exists", "+q c d", "+q b d c")
	w.batch("+ a k KNOWS; + k c KNOWS", "-x exists")
	w.batch("+ d e T", "+x exists", "+q d e", "+q c e d")
	w.batch("- k c KNOWS") // the witness is the path of three
	w.batch("- d e T", "-q d e", "-q c e d")
	w.batch("- c a KNOWS; - b c T", "-x exists", "-q b c", "-q b d c")
}

// TestS25NegationReadsNoPath: a stored query whose negation reads a path is refused.
func TestS25NegationReadsNoPath(t *testing.T) {
	w := newWorldOf(t, true, negationSchema())
	q := w.query("q", "MATCH (a)-[t:PAID]->(b) WHERE NOT EXISTS { (a)-[k:KNOWS]->(b) WHERE k.ts < t.ts }")
	q.Edges[0].Hops = &matcher.Hops{Least: 1, Most: 2}
	require.ErrorContains(t, q.Validate(true), "reads path \"t\"")
}

// TestS25NegationAroundPaths: package negation does not take queries with paths apart, and says so.
func TestS25NegationAroundPaths(t *testing.T) {
	w := newWorld(t, true)
	q := w.query("q", "MATCH (a)-[t:PAID*1..2]->(b) WHERE NOT (a)-[:KNOWS]-(b)")
	p, err := plan.New().Plan(q, w.cpu.Engine.Graph())
	require.NoError(t, err)
	be := negation.New(reference.New(), negation.Options{})
	require.NoError(t, be.Load(dyngraph.NewGraph(dyngraph.Options{Directed: true})))
	require.ErrorContains(t, be.Prepare([]*matcher.Plan{p}), "paths.New")
}
