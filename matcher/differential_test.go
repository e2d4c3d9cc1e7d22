package matcher_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// randomModes draws what the queries of a case emit: every unit, mode and backfill, with caps and exact totals.
func randomModes(rng *rand.Rand, q *matcher.Query) {
	q.Unit = matcher.Unit(rng.IntN(2))
	q.Backfill = matcher.Backfill(rng.IntN(2))
	q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
		matcher.EmitExists}[rng.IntN(5)]
	q.SilentChange = rng.IntN(3) == 0
	if q.Emit == matcher.EmitDeltas && rng.IntN(2) == 0 {
		q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(8), rng.IntN(2) == 0
	}
}

// TestS7BackendsPutOutTheSame drives two engines, one on cpu and one on reference, through the same batches,
// registrations and removals: order, anchors, matches, numbers and indexes are the same. Now and then the cpu engine is
// made to fail on a batch, or interrupted, first.
func TestS7BackendsPutOutTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) { randomModes(rng, q) })
		playBackends(t, rng, c, 0)
	})
}

// TestS17BackendsPutOutTheSame does the same with conditions, and edges that are replaced.
func TestS17BackendsPutOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		playBackends(t, rng, matchertest.RandomCaseWhere(rng, 5, rng.IntN(2) == 0).
			With(func(q *matcher.Query) { randomModes(rng, q) }), 0)
	})
}

// TestS20BackendsPutOutTheSame does the same where edges expire.
func TestS20BackendsPutOutTheSame(t *testing.T) {
	expired := 0
	matchertest.ForSeedsUntil(t, 25, func() bool { return expired > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 5).With(func(q *matcher.Query) { randomModes(rng, q) })
		for _, r := range playBackends(t, rng, c, 1000*(1+rng.Int64N(50))) {
			for i := range r.Records {
				if r.Records[i].Expired {
					expired++
				}
			}
		}
	})
}

// TestS20SilentExpiry: a query whose matches end silently puts out what one that is not silent does, less the matches
// that end as an edge expires; the numbers of counts are those of deltas.
func TestS20SilentExpiry(t *testing.T) {
	left := 0
	matchertest.ForSeedsUntil(t, 25, func() bool { return left > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 4).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		if rng.IntN(3) == 0 {
			c = c.Denied(rng)
		}
		kept, threads := 1000*(1+rng.Int64N(50)), 1+rng.IntN(4)
		run := func(be matcher.Backend, f func(q *matcher.Query)) *matchertest.Driver {
			opt := matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()}
			d := matchertest.NewDriverWith(t, opt)
			d.Expire(kept)
			for _, q := range c.With(f).Queries {
				d.Register(q)
			}
			for _, batch := range c.Batches {
				d.Batch(batch)
			}
			return d
		}
		loud := run(newCPU(t, threads, false), func(*matcher.Query) {})
		for name, be := range map[string]matcher.Backend{"cpu": newCPU(t, threads, rng.IntN(2) == 0),
			"reference": reference.New()} {
			silent := run(be, func(q *matcher.Query) { q.SilentExpiry = true })
			for i, o := range loud.Batches {
				var want []string
				for k := range o.Records {
					if o.Records[k].Expired {
						left++
					} else {
						want = append(want, o.Records[k].Line())
					}
				}
				if diff := matchertest.Diff(want, silent.Batches[i].Lines()); diff != "" {
					t.Fatalf("%s, batch %d: %s", name, o.Number, diff)
				}
			}
		}
		deltas := run(newCPU(t, threads, false), func(q *matcher.Query) { q.SilentExpiry = true })
		counts := run(newCPU(t, threads, false), func(q *matcher.Query) {
			q.SilentExpiry, q.Emit = true, matcher.EmitCounts
		})
		for i, o := range deltas.Batches {
			if want, got := numbers(o), numbers(counts.Batches[i]); !maps.Equal(want, got) {
				t.Fatalf("batch %d: deltas %v, counts %v", o.Number, want, got)
			}
		}
	})
}

// numbers are those of a batch's summary, by query and sign.
func numbers(o *matchertest.Output) map[string]string {
	m := map[string]string{}
	for _, q := range o.Summary.Queries {
		if !q.Positive.IsZero() || !q.Negative.IsZero() {
			m[q.Query.Name] = fmt.Sprint(q.Positive, q.Negative, q.NoPositive, q.NoNegative)
		}
	}
	return m
}

// TestS20SilentCountBeyondALimit: a count that is found by enumeration and is beyond a limit is left out, and again in
// a replay, which has no limits.
func TestS20SilentCountBeyondALimit(t *testing.T) {
	q := &matcher.Query{Name: "pairs", Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Edges: []matcher.QueryEdge{{Name: "t", From: 0, To: 1}, {Name: "u", From: 0, To: 2}}}
	q.Emit, q.SilentExpiry, q.WorkBudget = matcher.EmitCounts, true, 1
	d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true}),
		Backend: newCPU(t, 1, false), Planner: plan.New()})
	var msgs, gone []dyngraph.Message
	for i := range 30 {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: "hub", To: fmt.Sprint("k", i),
			Attr: dyngraph.Attr{HasTS: true, TS: int64(i)}}
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
		if u.Op, u.Attr.TS = dyngraph.DeleteEdge, 40; i >= 20 {
			gone = append(gone, dyngraph.Message{Updates: []dyngraph.Update{u}})
		}
	}
	d.Batch(msgs)
	d.Register(q)
	d.Expire(30) // ten expire, ten stay, and ten are deleted
	out := d.Batch(gone)
	if n := out.Summary.Expired; n != 10 {
		t.Fatalf("%d edges have expired, want 10", n)
	}
	if s := out.Summary.Queries; len(s) != 1 || s[0].Skipped != 1 || s[0].Cause != matcher.CauseSteps ||
		!s[0].Negative.IsZero() {
		t.Fatalf("the summary is %+v; the count is beyond the budget", s)
	}
	graph := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	again := matchertest.Replay(t, d.Log, matcher.EngineOptions{Graph: graph,
		Backend: newCPU(t, 1, false), Planner: plan.New()})
	if diff := matchertest.Diff(d.Transcript(), again.Transcript()); diff != "" {
		t.Fatalf("replayed: %s", diff)
	}
}

// playBackends returns what was put out.
func playBackends(t *testing.T, rng *rand.Rand, c *matchertest.Case, kept int64) []*matchertest.Output {
	t.Helper()
	driver := func(be matcher.Backend) *matchertest.Driver {
		d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
		d.Expire(kept)
		return d
	}
	slow, fast := driver(reference.New()), driver(newCPU(t, 1+rng.IntN(4), rng.IntN(3) == 0))
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
		out := slow.Batch(batch)
		at := rng.Uint64N(uint64(len(out.Records)) + 1)
		switch {
		case at < uint64(len(out.Records)) && rng.IntN(4) == 0:
			fast.Fail(fast.Prepare(batch), at)
		case rng.IntN(4) == 0:
			fast.Interrupt(fast.Prepare(batch), at)
			continue
		}
		fast.Batch(batch)
	}
	if diff := matchertest.Diff(slow.Transcript(), fast.Transcript()); diff != "" {
		t.Fatalf("reference against cpu: %s", diff)
	}
	return slow.Batches
}

// TestP4SpillFailureLeavesEverythingAsBefore has groups that must be sorted on a disk that is not there.
func TestP4SpillFailureLeavesEverythingAsBefore(t *testing.T) {
	w := newWorld(t, true)
	w.cpu = matchertest.NewDriver(t, true, cpu.New(cpu.Options{Threads: 2, GroupMemory: 256,
		TempFiles: tempfile.In(filepath.Join(t.TempDir(), "missing"))}), plan.New())
	w.register(w.query("q", "MATCH (y)<--(x)-->(z) RETURN x, y, z"))
	b := w.cpu.Prepare(star(30))
	if _, err := w.cpu.Engine.Step(t.Context(), b, func(*matcher.Event) error { return nil }, nil); !errors.Is(err,
		os.ErrNotExist) {
		t.Fatal(err)
	}
	if g := w.cpu.Engine.Graph(); g.Edges() != 0 || g.Vertices() != 0 {
		t.Fatalf("%d edges, %d vertices", g.Edges(), g.Vertices())
	}
	w.batch("+ a b; + a c", "+q b a c", "+q c a b")
}

// limited draws what a query emits, and perhaps a budget that it exceeds.
func limited(rng *rand.Rand, q *matcher.Query) {
	randomModes(rng, q)
	if rng.IntN(3) == 0 {
		q.WorkBudget, q.OverBudget = 1+rng.Uint64N(100), matcher.OverBudget(rng.IntN(2))
	}
}

// TestS7ReplayPutsOutTheSame replays a batch log on other backends, and the end of it on a graph that was loaded in the
// middle, with the queries restored. Some queries exceed their budgets: the replay leaves out what the log says.
func TestS7ReplayPutsOutTheSame(t *testing.T) {
	suspensions := 0
	matchertest.ForSeedsUntil(t, 20, func() bool { return suspensions > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { limited(rng, q) })
		if rng.IntN(2) == 0 {
			c = matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0).With(func(q *matcher.Query) { limited(rng, q) })
		} else if rng.IntN(2) == 0 {
			c = matchertest.RandomCasePaths(rng, 4).With(func(q *matcher.Query) { limited(rng, q) })
		}
		suspensions += playReplay(t, rng, c)
	})
}

// playReplay plays a case, replays its log, and returns the number of decisions in it.
func playReplay(t *testing.T, rng *rand.Rand, c *matchertest.Case) (decisions int) {
	t.Helper()
	first := matchertest.Run(t, c, newCPU(t, 2, false), plan.New())
	for _, b := range first.Log {
		decisions += len(b.Decisions)
	}
	graph := c.Graph
	for _, other := range []matcher.Backend{reference.New(), newCPU(t, 1+rng.IntN(4), rng.IntN(2) == 0)} {
		again := matchertest.Replay(t, first.Log,
			matcher.EngineOptions{Graph: graph(), Backend: other, Planner: plan.New()})
		if diff := matchertest.Diff(first.Transcript(), again.Transcript()); diff != "" {
			t.Fatalf("first run against replay on %s: %s", other.Name(), diff)
		}
	}
	// A restart in the middle: the graph is loaded, and the queries are restored.
	at := len(c.Queries) + rng.IntN(len(c.Batches)+1)
	bare := graph()
	for _, b := range first.Log[:at] {
		if _, err := bare.Stage(b.Updates); err != nil {
			t.Fatal(err)
		}
		bare.Commit()
	}
	rest := matchertest.NewDriverWith(t,
		matcher.EngineOptions{Graph: matchertest.Reload(t, bare), Backend: newCPU(t, 1, false),
			Planner: plan.New()})
	states := first.Batches[at-1].Queries
	if err := rest.Engine.Restore(t.Context(), states); err != nil {
		t.Fatal(err)
	}
	for _, b := range first.Log[at:] {
		logged := *b
		logged.MeasureFrom = matcher.NeverMeasure
		rest.Step(&logged)
	}
	first.Batches = first.Batches[at:]
	if diff := matchertest.Diff(first.Transcript(), rest.Transcript()); diff != "" {
		t.Fatalf("first run against restart before batch %d: %s", at+1, diff)
	}
	return decisions
}
