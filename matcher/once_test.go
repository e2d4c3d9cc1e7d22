package matcher_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// onceKey is a key by names, as tests need no hash that others know.
func onceKey(q *matcher.Query, v dyngraph.View, row []uint32) (key matcher.OnceKey, err error) {
	text := ""
	for _, r := range q.Once.Per {
		if r.Edge {
			text += matchertest.EdgeOf(v, dyngraph.EdgeIndex(row[len(q.Vertices)+r.Index])).String() + "|"
		} else {
			text += v.Key(dyngraph.VertexID(row[r.Index])) + "|"
		}
	}
	sum := sha256.Sum256([]byte(text))
	copy(key[:], sum[:])
	return key, nil
}

// randomOnce gives a query the option, with a key of one to three vertices.
func randomOnce(rng *rand.Rand, q *matcher.Query) {
	q.Once = &matcher.Once{For: 1 + rng.Int64N(30_000), MaxKeys: matcher.DefaultOnceKeys}
	for _, at := range rng.Perm(len(q.Vertices))[:1+rng.IntN(min(3, len(q.Vertices)))] {
		q.Once.Per = append(q.Once.Per, condition.Ref{Index: at})
	}
}

// TestS27OnceEqualsTheFilteredOutput plays queries with once beside the same ones without it, and filters the output of
// those by hand: the keys in a map that forgets nothing, the greatest ts of all updates so far.
func TestS27OnceEqualsTheFilteredOutput(t *testing.T) {
	matchertest.NotUnderRace(t, "it starts no goroutine")
	var seen struct{ batches, kept, dropped, again, cut int }
	enough := func() bool { return min(seen.kept, seen.dropped, seen.again, seen.cut) > 50 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		plain := matchertest.RandomCaseOfAny(rng, 3)
		if rng.IntN(3) == 0 {
			plain = matchertest.RandomCasePaths(rng, 3)
		}
		plain = plain.With(func(q *matcher.Query) {
			q.Unit, q.Backfill, q.Sample = matcher.Unit(rng.IntN(2)), matcher.Backfill(rng.IntN(2)), rng.Uint64N(3)
		})
		once := plain.With(func(q *matcher.Query) {
			if randomOnce(rng, q); rng.IntN(2) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(4)
			}
		})
		first := len(plain.Batches) / 3
		clock, known := int64(0), false // of the graph in which the queries are registered, at first
		run := func(c *matchertest.Case, be matcher.Backend, interrupted bool) *matchertest.Driver {
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New(),
				OnceKey: onceKey, Sampled: evenly})
			for i, batch := range c.Batches {
				if i == first { // so that there is something to fill back
					clock, known = greatest(d.Engine.Graph().View(dyngraph.New))
					for _, q := range c.Queries {
						d.Register(q)
					}
				}
				if interrupted && i%4 == 0 { // what a step that failed has noted is gone
					d.Interrupt(d.Prepare(batch), 0)
				} else {
					d.Batch(batch)
				}
			}
			return d
		}
		all, got := run(plain, newCPU(t, 2, false), false), run(once, newCPU(t, 1+rng.IntN(3), false), true)
		ref := run(once, reference.New(), false)
		require.Empty(t, matchertest.Diff(ref.Transcript(), got.Transcript()))

		last := map[string]int64{}
		for i, out := range all.Batches[first:] {
			i += first
			seen.batches++
			for _, u := range all.Log[i].Updates {
				if u.Attr.HasTS && (!known || clock < u.Attr.TS) {
					clock, known = u.Attr.TS, true
				}
			}
			var want []string
			emitted, dropped, cut := map[string]uint64{}, map[string]uint64{}, map[string]bool{}
			for _, r := range out.Records {
				at := slices.IndexFunc(once.Queries, func(q *matcher.Query) bool { return q.Name == r.Query })
				q := once.Queries[at]
				if r.Kind != matcher.EventMatches || r.Sign == dyngraph.Deleted || cut[q.Name] {
					continue
				}
				key := r.Query
				for _, p := range q.Once.Per {
					key += "|" + r.Match.Vertices[p.Index].Key
				}
				before, ok := last[key]
				if ok && clock-before <= q.Once.For {
					seen.dropped++
					dropped[q.Name]++
					continue
				}
				if cut[q.Name] = q.MaxMatches > 0 && emitted[q.Name] == q.MaxMatches; cut[q.Name] {
					seen.cut++
					continue
				}
				emitted[q.Name]++
				seen.again += count(ok)
				seen.kept++
				if known {
					last[key] = clock
				}
				r.Index = 0
				want = append(want, r.Line())
			}
			var have []string
			for _, r := range got.Batches[i].Records {
				if r.Index = 0; r.Kind == matcher.EventNotice {
					require.True(t, cut[r.Query])
					continue
				}
				have = append(have, r.Line())
			}
			require.Equal(t, want, have, "batch %d", out.Number)
			for _, x := range got.Batches[i].Summary.Queries {
				require.Equal(t, dropped[x.Query.Name], x.Once)
				require.Equal(t, cut[x.Query.Name], x.Truncated)
			}
		}
	})
	t.Logf("%+v", seen)
}

// evenly keeps the matches whose vertices have a sum of dense ids that the sample divides.
func evenly(q *matcher.Query, _ dyngraph.View, row []uint32) (bool, error) {
	sum := uint64(0)
	for _, v := range row[:len(q.Vertices)] {
		sum += uint64(v)
	}
	return q.Sample <= 1 || sum%q.Sample == 0, nil
}

// greatest returns the greatest ts in a graph.
func greatest(view dyngraph.View) (ts int64, known bool) {
	for e := range view.EdgesSeq() {
		if a := view.Attr(e); a.HasTS && (!known || ts < a.TS) {
			ts, known = a.TS, true
		}
	}
	return ts, known
}

// TestS27OnceSurvivesARestart plays a stream through an engine, and its end through another one that was restored in
// the middle from what the first has reported to the checkpoint. Undone from the end, the reports lead back to nothing.
func TestS27OnceSurvivesARestart(t *testing.T) {
	restored := 0
	enough := func() bool { return restored > 20 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 3).With(func(q *matcher.Query) {
			randomOnce(rng, q)
			if q.Once.MaxKeys = 1 + rng.Uint64N(6); rng.IntN(3) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(4)
			}
		})
		opt := func(g *dyngraph.Graph) matcher.EngineOptions {
			return matcher.EngineOptions{Graph: g, Backend: newCPU(t, 1, false), Planner: plan.New(), OnceKey: onceKey}
		}
		d := matchertest.NewDriverWith(t, opt(c.Graph()))
		for _, q := range c.Queries {
			d.Register(q)
		}
		for _, batch := range c.Batches {
			d.Batch(batch)
		}
		if rng.IntN(2) == 0 {
			d.Remove(c.Queries[0].Name)
		}
		at := len(c.Queries) + rng.IntN(len(c.Batches)+1)
		type entry struct {
			query string
			clock bool
			key   matcher.OnceKey
		}
		memory := map[entry]int64{}
		apply := func(x matcher.OnceChange, from, to matcher.OnceTime) {
			e := entry{x.Query, x.Clock, x.Key}
			ts, known := memory[e]
			require.Equal(t, from, matcher.OnceTime{Known: known, TS: ts})
			if delete(memory, e); to.Known {
				memory[e] = to.TS
			}
		}
		bare := c.Graph()
		for i, b := range d.Log[:at] {
			_, err := bare.Stage(b.Updates)
			require.NoError(t, err)
			bare.Commit()
			for _, x := range d.Batches[i].Summary.Once {
				apply(x, x.Before, x.After)
			}
		}
		states := slices.Clone(d.Batches[at-1].Queries)
		for i := range states {
			require.Nil(t, states[i].Once)
			for e, ts := range memory {
				if e.query == states[i].Query.Name {
					restored++
					states[i].Once = append(states[i].Once, matcher.OnceEntry{Clock: e.clock, Key: e.key, TS: ts})
				}
			}
		}
		rest := matchertest.NewDriverWith(t, opt(matchertest.Reload(t, bare)))
		require.NoError(t, rest.Engine.Restore(t.Context(), states))
		for i, b := range d.Log[at:] {
			again := *b
			again.MeasureFrom = matcher.NeverMeasure
			out := rest.Step(&again)
			require.Equal(t, d.Batches[at+i].Lines(), out.Lines())
			require.Equal(t, d.Batches[at+i].Summary.Once, out.Summary.Once)
			for _, x := range out.Summary.Once {
				apply(x, x.Before, x.After)
			}
			for e := range memory {
				require.LessOrEqual(t, len(memory), 7*len(c.Queries), e)
			}
		}
		for _, out := range slices.Backward(d.Batches) {
			for _, x := range slices.Backward(out.Summary.Once) {
				apply(x, x.After, x.Before)
			}
		}
		require.Empty(t, memory)
	})
}

// TestS27ByHand follows a busy merchant.
func TestS27ByHand(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp}}}}
	w := newWorldOf(t, true, schema)
	q := w.query("busy", "MATCH (a)-[t:T]->(m)")
	require.NoError(t, q.SetOnce([]string{"m"}, 10, 0))
	w.register(q)
	w.batch("+ a m T ts=100; + b m T ts=101; + b n T ts=90", "+busy a m", "+busy b n") // event time is 101
	w.batch("+ c m T ts=111")
	w.batch("- a m T")                                                                  // no negatives
	w.batch("+ d m T ts=112; + e m T ts=50", "+busy d m")                               // 11 later
	w.batch("+ f m T ts=40; + g n T ts=41", "+busy g n")                                // event time never falls
	w.batch("+ h m T ts=123; + h n T ts=110; + i m T ts=110", "+busy h m", "+busy h n") // 112 + 10 < 123
}

// TestS27Refused has combinations refused that have no meaning.
func TestS27Refused(t *testing.T) {
	w := newWorld(t, true)
	for want, change := range map[string]func(*matcher.Query){
		`bad query "q": once.per is empty; it names the vertices and edges that make a key, as in per: [m]`: func(
			q *matcher.Query) {
			q.Once = &matcher.Once{For: 1, MaxKeys: 1}
		},
		`bad query "q": once.for is 0 ms; it is a duration of 1 ms at least`: func(q *matcher.Query) {
			q.Once.For = 0
		},
		`bad query "q": once goes with emit: deltas; counts and exists have no match that a key could be read of`: func(
			q *matcher.Query) {
			q.Emit = matcher.EmitCounts
		},
		`bad query "q": once does not go with exact_total: how many positives it would leave is not known without ` +
			`them`: func(q *matcher.Query) {
			q.MaxMatches, q.ExactTotal = 1, true
		},
		`bad query "q": once.per names "a" twice`: func(q *matcher.Query) {
			q.Once.Per = append(q.Once.Per, q.Once.Per[0])
		},
		`bad query "q": once.per names the path "t"; a key is made of vertices and edges`: func(q *matcher.Query) {
			q.Once.Per = []condition.Ref{{Edge: true}}
		},
	} {
		q := w.query("q", "MATCH (a)-[t*1..2]->(b)")
		require.NoError(t, q.SetOnce([]string{"a"}, 5, 0))
		change(q)
		require.EqualError(t, q.Validate(true), want)
	}
	q := w.query("q", "MATCH (a)-[t*1..2]->(b)")
	require.EqualError(t, q.SetOnce([]string{"x"}, 5, 0),
		fmt.Sprintf("bad query %q: once.per names %q, which is no vertex or edge of the pattern", "q", "x"))
}
