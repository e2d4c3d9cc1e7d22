package matcher_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

func silent(q *matcher.Query) { q.SilentChange = true }

// TestS15OnChangeSilent: a match that holds before and after a batch is not reported again, whatever values have
// changed; one whose conditions hold in one of the graphs begins or ends. Counts are of what deltas would say, and caps
// know nothing of what is left out.
func TestS15OnChangeSilent(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("c", "MATCH (a)-[t:T]->(b)-[u:T]->(c) RETURN a, b, c", counts, silent))
	w.register(w.query("e", "MATCH (a)-[t:T]->(b) WHERE t.amount > 5 RETURN a, b", exists, silent))
	w.register(w.query("q", "MATCH (a)-[t:T]->(b) WHERE t.amount > 5 RETURN a, b", silent))
	w.register(w.query("r", "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.ts < u.ts RETURN a, b, c", silent, capped(1),
		exactTotal))
	w.batch("+ a b T amount=10 ts=1", "+e exists", "+q a b")
	w.batch("+ a b T amount=11 ts=2")
	w.batch("+ a b T amount=3 ts=2", "-e exists", "-q a b")
	w.batch("+ a b T amount=7 ts=2; + b c T ts=3; + b d T ts=3", "+c #2", "+e exists", "+q a b", "+r a b c",
		"+r ! truncated")
	w.batch("+ a b T amount=7 ts=1; + b c T ts=4; + b d T ts=2") // both hold before and after
	w.batch("+ b d T ts=0", "-r a b d")
	w.batch("+ a b T amount=9 ts=-1; + b c T ts=0", "+r a b d") // c holds, d begins, and the cap is not reached
	w.batch("- b d T; + a b T amount=8 ts=-2", "-c #1", "-r a b d")
	w.batch("- a b T; + a b T amount=1 ts=-3", "-e exists", "-q a b")
}

// TestS15OnChangeSilentWindow: the window of either view decides.
func TestS15OnChangeSilentWindow(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b)-[u:T]->(c) RETURN a, b, c", silent,
		func(q *matcher.Query) { q.Within = 10 }))
	w.batch("+ a b T ts=1; + b c T ts=9", "+q a b c")
	w.batch("+ a b T ts=19; + b c T ts=11")
	w.batch("+ a b T ts=22", "-q a b c")
	w.batch("+ a b T")
	w.batch("+ a b T ts=12", "+q a b c")
}

// TestS15EndedMatchesAreAnnouncedAnew: a notice that voids every match over a replaced edge voids those that still
// hold, too; they are announced again. A replay of the log on another backend says the same.
func TestS15EndedMatchesAreAnnouncedAnew(t *testing.T) {
	w := newWorldOf(t, true, payments())
	opt := func(be matcher.Backend, l matcher.Limits) matcher.EngineOptions {
		return matcher.EngineOptions{Backend: be, Planner: plan.New(), Limits: l,
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: payments()})}
	}
	d := matchertest.NewDriverWith(t, opt(newCPU(t, 2, false), matcher.Limits{Matches: 1}))
	d.Register(w.query("q", "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.n < u.n RETURN a, b, c", silent))
	for _, text := range []string{"+ b c T n=5", "+ b d T n=5", "+ b e T n=50", "+ b f T n=60"} {
		d.Batch(w.messages(text))
	}
	d.Batch(w.messages("+ x b T n=1; + a b T n=70")) // one is skipped: more than one match
	d.Batch(w.messages("+ a b T n=55"))
	for range 2 {
		d.Batch(w.messages("+ a b T n=54; + b f T n=61"))
	}
	require.Empty(t, d.Batches[len(d.Batches)-1].Lines())
	d.Batch(w.messages("- x b T"))
	out := d.Batch(w.messages("+ a b T n=4")) // c, d and e begin, which are too many, and f goes on
	require.Len(t, out.Decided, 1)
	require.Len(t, out.Records, 1, "%v", out.Lines())
	out = d.Batch(w.messages("+ a b T n=52; + b f T n=80")) // c, d and e end, which are too many, and f goes on
	require.Len(t, out.Decided, 1)
	require.Equal(t, matcher.ReasonEnded, out.Records[0].Notice.Reason)
	require.Len(t, out.Records, 2, "%v", out.Lines())
	require.Equal(t, "f", out.Records[1].Match.Vertices[2].Key)
	require.Equal(t, dyngraph.Inserted, out.Records[1].Sign)
	for _, be := range []matcher.Backend{reference.New(), newCPU(t, 1, true)} {
		again := matchertest.Replay(t, d.Log, opt(be, matcher.Limits{}))
		require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), be.Name())
	}
}

// TestS15SilentChangeLeavesOutPairs: a silent query puts out what one that is not silent does, less the pairs of
// records with one match id; the numbers of counts are those of deltas.
func TestS15SilentChangeLeavesOutPairs(t *testing.T) {
	left := 0
	matchertest.ForSeedsUntil(t, 25, func() bool { return left > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0).
			With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		if rng.IntN(3) == 0 {
			c = c.Denied(rng)
		}
		kept := 1000 * rng.Int64N(2) * (1 + rng.Int64N(50))
		run := func(be matcher.Backend, f func(q *matcher.Query)) *matchertest.Driver {
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
			d.Expire(kept)
			for _, q := range c.With(f).Queries {
				d.Register(q)
			}
			for _, batch := range c.Batches {
				d.Batch(batch)
			}
			return d
		}
		loud := run(newCPU(t, 1+rng.IntN(4), false), func(*matcher.Query) {})
		for name, be := range map[string]matcher.Backend{"cpu": newCPU(t, 1+rng.IntN(4), rng.IntN(2) == 0),
			"reference": reference.New()} {
			quiet := run(be, silent)
			for i, o := range loud.Batches {
				want := withoutPairs(o)
				left += len(o.Records) - len(want)
				if diff := matchertest.Diff(want, quiet.Batches[i].Lines()); diff != "" {
					t.Fatalf("%s, batch %d: %s", name, o.Number, diff)
				}
			}
		}
		deltas := run(newCPU(t, 1, false), silent)
		counted := run(newCPU(t, 1+rng.IntN(4), false), func(q *matcher.Query) {
			q.SilentChange, q.Emit = true, matcher.EmitCounts
		})
		for i, o := range deltas.Batches {
			if want, got := numbers(o), numbers(counted.Batches[i]); !maps.Equal(want, got) {
				t.Fatalf("batch %d: deltas %v, counts %v", o.Number, want, got)
			}
		}
	})
}

// withoutPairs returns the lines of a batch but for those of matches that are in both signs.
func withoutPairs(o *matchertest.Output) (lines []string) {
	name := func(r *matchertest.Record) string { return r.Query + " " + matchertest.Identity(r.Match).String() }
	signs := map[string]int{}
	for i := range o.Records {
		signs[name(&o.Records[i])]++
	}
	for i := range o.Records {
		if signs[name(&o.Records[i])] == 1 {
			lines = append(lines, o.Records[i].Line())
		}
	}
	return lines
}
