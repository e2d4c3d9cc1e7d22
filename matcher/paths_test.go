package matcher_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS26BackendsPutOutTheSame has the CPU, which searches the variants of queries with paths, put out what the
// reference does, which walks along paths: with conditions, windows, parallel edges, replaced and expiring edges,
// revised vertices, both units, all modes, caps and backfills.
func TestS26BackendsPutOutTheSame(t *testing.T) {
	var seen struct{ batches, matches, long, negatives, expired int }
	all := func() bool {
		return seen.matches > 1000 &&
			min(seen.long, seen.negatives) > 100 && seen.expired > 0
	}
	if matchertest.UnderRace {
		all = func() bool { return seen.batches > 0 }
	}
	matchertest.ForSeedsUntil(t, 25, all, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCasePaths(rng, 4).With(func(q *matcher.Query) { randomModes(rng, q) })
		for cut := range 3 {
			if cut > 0 {
				c.Batches = matchertest.Cut(rng, c.Messages)
			}
			kept := matchertest.Retention(rng)
			for _, out := range playBackends(t, rng, c, kept) {
				seen.batches++
				seen.expired += count(out.Summary.Expired > 0)
				for _, r := range out.Records {
					seen.matches += count(r.Kind == matcher.EventMatches)
					seen.long += count(len(r.Match.Edges) > 3)
					seen.negatives += count(r.Kind == matcher.EventMatches && r.Sign == dyngraph.Deleted)
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// TestS26PathsAreTheUnionOfTheirLengths plays a query with paths beside a query for each combination of its lengths, on
// one backend: in each batch and sign, the matches are the same, with the same anchors.
func TestS26PathsAreTheUnionOfTheirLengths(t *testing.T) {
	matches := 0
	enough := func() bool { return matches > 300 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCasePaths(rng, 1).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		q := c.Queries[0]
		apart := *c
		apart.Queries = nil
		for i, v := range q.Variants() {
			alone := matcher.Query{Name: string(rune('a' + i)), Vertices: v.Vertices, Edges: v.Edges, Unit: q.Unit,
				Conditions: v.Conditions, Within: v.Within}
			apart.Queries = append(apart.Queries, &alone)
		}
		be := func() matcher.Backend {
			if rng.IntN(4) == 0 {
				return reference.New()
			}
			return newCPU(t, 1+rng.IntN(3), false)
		}
		whole, parts := matchertest.Run(t, c, be(), plan.New()), matchertest.Run(t, &apart, be(), plan.New())
		for i := range c.Batches {
			lines := func(d *matchertest.Driver, queries int) (all []string) {
				for _, r := range d.Batches[queries+i].Records {
					r.Query, r.Version, r.Index, r.IDs = "q", 1, 0, nil
					all = append(all, r.Line())
				}
				return all
			}
			want := lines(parts, len(apart.Queries))
			matches += len(want)
			require.ElementsMatch(t, want, lines(whole, 1), "batch %d", i)
		}
	})
}

// TestS26NothingStaleRemains gives queries with paths to an engine with small limits: a consumer believes in no match
// that is gone, and in all that are there as long as its query is not lossy. Groups are cut in the middle, behind what
// shorter paths have put out. A replay of the log on another backend, without limits, puts out the same.
func TestS26NothingStaleRemains(t *testing.T) {
	matchertest.NotUnderRace(t, "the reference has one thread")
	var seen struct{ lossy, kept, ended, middle int }
	enough := func() bool { return min(seen.lossy, seen.kept, seen.ended, seen.middle) > 0 }
	matchertest.ForSeedsUntil(t, 25, enough, func(t *testing.T, rng *rand.Rand) {
		whole := matchertest.RandomCasePaths(rng, 3).With(func(q *matcher.Query) {
			q.Unit, q.SilentChange = matcher.Unit(rng.IntN(2)), rng.IntN(2) == 0
		})
		c := whole.With(func(q *matcher.Query) {
			if rng.IntN(3) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(4)
			}
			if rng.IntN(4) == 0 {
				q.WorkBudget = 1 + rng.Uint64N(60)
			}
		})
		limits := []matcher.Limits{{Matches: 1 + rng.Uint64N(4)}, {QueryMatches: 1 + rng.Uint64N(8)}, {BatchTime: 1},
			{QueryOutput: matchertest.RecordBytes * (1 + rng.Int64N(8))}}[rng.IntN(4)]
		opt := func(be matcher.Backend, l matcher.Limits) matcher.EngineOptions {
			return matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New(), Limits: l}
		}
		d := matchertest.NewDriverWith(t, opt(newTicking(t, 1+rng.IntN(3)), limits))
		all := matchertest.NewDriverWith(t, opt(reference.New(), matcher.Limits{}))
		for i := range c.Queries {
			d.Register(c.Queries[i])
			all.Register(whole.Queries[i])
		}
		believed, there := make([]consumer, len(c.Queries)), make([]consumer, len(c.Queries))
		for i := range believed {
			believed[i], there[i] = consumer{}, consumer{}
		}
		for _, batch := range c.Batches {
			out, truth := d.Batch(batch), all.Batch(batch)
			for _, x := range out.Decided {
				seen.kept += count(x.Kept > 0)
				seen.middle += count(x.Kept > 0 && x.Cause != matcher.CauseOutput)
				seen.ended += count(x.Sign == dyngraph.Deleted)
			}
			for i, q := range c.Queries {
				believed[i].read(out.Records, q.Name)
				there[i].read(truth.Records, q.Name)
				state := out.Queries[i]
				if state.Suspended {
					continue
				}
				if state.LossySince == 0 {
					require.ElementsMatch(t, keys(there[i]), keys(believed[i]), "batch %d, query %s", out.Number,
						q.Name)
					continue
				}
				seen.lossy++
				require.Subset(t, keys(there[i]), keys(believed[i]), "batch %d, query %s", out.Number, q.Name)
			}
		}
		for _, other := range []matcher.Backend{reference.New(), newCPU(t, 2, true)} {
			again := matchertest.Replay(t, d.Log, opt(other, matcher.Limits{}))
			require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), other.Name())
		}
	})
	t.Logf("%+v", seen)
}

func keys(c consumer) []string { return slices.Sorted(maps.Keys(c)) }

// TestS26PathsByHand follows a chain as it grows and breaks: order, lengths, and matches of both units.
func TestS26PathsByHand(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ a b T; + b c T; + x b T")
	w.register(w.query("p", "MATCH (s)-[t:T*2..3]->(e)", backfill), "+p snapshot a c b", "+p snapshot x c b")
	w.batch("+ c d T", "+p b d c", "+p a d b c", "+p x d b c")
	w.batch("+ d a T", "+p c a d", "+p d b a", "+p b a c d", "+p c b d a", "+p d c a b") // x to a has four edges
}

// TestS26RingOfAnyLength finds rings of three and four vertices by one pattern.
func TestS26RingOfAnyLength(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("ring", "MATCH (a)-[t:T*3..4]->(a)", subgraphs))
	w.batch("+ a b T; + b c T; + c a T", "+ring a b c")
	w.batch("+ c d T; + d a T", "+ring a b c d")
	w.batch("- b c T", "-ring a b c", "-ring a b c d")
}

// TestS26CountsAndExistence sums the lengths, and tells transitions of all of them together.
func TestS26CountsAndExistence(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("n", "MATCH (s)-[t:T*1..2]->(e)", counts))
	w.register(w.query("x", "MATCH (s)-[t:T*2..3]->(e)", exists))
	w.batch("+ a b T", "+n #1")
	w.batch("+ b c T; + c d T", "+n #4", "+x exists")
	w.batch("- a b T", "-n #2")
	w.batch("- b c T", "-n #2", "-x exists")
}

// TestS26UpsertRetractsPaths removes a query with a path in upsert mode: every match of every length is retracted.
func TestS26UpsertRetractsPaths(t *testing.T) {
	w := newWorld(t, true)
	w.cpu, w.other = upsertWorld(t, newCPU(t, 2, false)), upsertWorld(t, reference.New())
	w.batch("+ a b; + b c")
	w.register(w.query("p", "MATCH (s)-[t*1..2]->(e)", backfill), "+p snapshot a b", "+p snapshot b c",
		"+p snapshot a c b")
	w.batch("- a b; + c d", "-p a b", "-p a c b", "+p c d", "+p b d c")
	w.remove("p", "-p snapshot b c", "-p snapshot c d", "-p snapshot b d c")
}
