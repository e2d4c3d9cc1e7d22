//go:build cuda || emu

package cuda_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	variants "motifd/matcher/paths"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// counting counts the rows that a backend finds for the cores of queries, all of whose negations it may test.
type counting struct {
	matcher.Backend
	rows int
	// asked are the plans that it may test negations of: some with conditions, some with a vertex of their own, ...
	asked struct{ conditions, correlated, free, between, either int }
}

func (c *counting) Prepare(plans []*matcher.Plan) error {
	for _, p := range plans {
		for i := range p.Absent {
			a := &p.Absent[i]
			_, to, _ := a.Ends()
			c.asked.free += count(to == matcher.Free)
			c.asked.between += count(to != matcher.Free)
			c.asked.either += count(a.Either)
			for _, of := range a.Conditions {
				c.asked.conditions++
				c.asked.correlated += count(len(of.Elements) > 1)
			}
		}
	}
	return c.Backend.Prepare(plans)
}

func (c *counting) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	return c.Backend.Search(ctx, sign, reqs, func(g matcher.Group) error {
		if len(reqs[g.Request].Plan.Absent) > 0 {
			c.rows += g.Rows.Len()
		}
		return emit(g)
	}, over)
}

func (c *counting) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	limit uint64, budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	return c.Backend.Enumerate(ctx, which, p, want, limit, budget, func(r matcher.Rows) error {
		if len(p.Absent) > 0 {
			c.rows += r.Len()
		}
		return emit(r)
	})
}

// oneEdge gives a query up to two negations of one edge each.
func oneEdge(c *matchertest.Case, rng *rand.Rand, q *matcher.Query) {
	var all []matcher.Negation
	for range 12 {
		c.DenyRandomly(rng, q)
		for _, n := range q.Negations {
			if len(n.Edges) == 1 && len(all) < 2 {
				all = append(all, n)
			}
		}
		q.Negations = nil
	}
	for _, n := range all {
		q.Negations = append(q.Negations, n)
		if q.CheckNegations(c.Directed) != nil || q.CheckCompeting(c.Directed) != nil && !c.EdgeIDs {
			q.Negations = q.Negations[:len(q.Negations)-1]
		}
	}
}

// TestS25DeviceTestsNegationsOfOneEdge: the device leaves out rows that a negation of one edge blocks, and the output
// is that of recomputation, in which the negations are tested by themselves: in both signs, with parallel, replaced and
// expiring edges, paths, conditions, lists longer than the device looks at, backfills, caps, counts and existence.
func TestS25DeviceTestsNegationsOfOneEdge(t *testing.T) {
	var seen struct{ batches, records, rows, left int }
	var asked struct{ conditions, correlated, free, between, either int }
	enough := func() bool {
		return min(seen.records, seen.rows, seen.left) > 100 &&
			min(asked.conditions, asked.correlated, asked.free,
				asked.between, asked.either) > 0
	}
	matchertest.ForSeedsUntil(t, max(2, rounds/4), enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCasePaths(rng, 3)
		if rng.IntN(4) > 0 {
			c = matchertest.RandomCaseOfAny(rng, 4)
		}
		c = withoutWildcards(rng, c)
		c = c.With(func(q *matcher.Query) {
			oneEdge(c, rng, q)
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(5)]
			q.Unit, q.SilentChange = matcher.Unit(rng.IntN(2)), rng.IntN(3) == 0
			q.Backfill = matcher.Backfill(rng.IntN(2))
			if q.Emit == matcher.EmitDeltas && rng.IntN(3) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(8)
			}
		})
		kept := matchertest.Retention(rng)
		run := func(be matcher.Backend) *matchertest.Driver {
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
			d.Expire(kept)
			for i, batch := range c.Batches {
				if i == len(c.Batches)/3 {
					for _, q := range c.Queries {
						d.Register(q)
					}
				}
				d.Batch(batch)
			}
			return d
		}
		around := func(inner *counting) matcher.Backend {
			return variants.New(negation.New(inner, negation.Options{TempFiles: tempfile.In(t.TempDir())}))
		}
		device := &counting{Backend: open{newBackend(t, rng)}}
		host := &counting{Backend: cpu.New(cpu.Options{Threads: 1})}
		slow, fast, other := run(reference.New()), run(around(device)), run(around(host))
		for name, d := range map[string]*matchertest.Driver{"the device": fast, "the CPU": other} {
			if diff := matchertest.Diff(slow.Transcript(), d.Transcript()); diff != "" {
				t.Fatalf("reference against %s: %s", name, diff)
			}
		}
		if device.rows > host.rows && !slices.ContainsFunc(c.Queries, func(q *matcher.Query) bool {
			return q.MaxMatches > 0 || q.Emit == matcher.EmitExists
		}) {
			t.Fatalf("the device found %d rows, and the CPU, which tests nothing, %d", device.rows, host.rows)
		}
		seen.rows += device.rows
		seen.left += max(0, host.rows-device.rows)
		for _, out := range slow.Batches {
			seen.batches++
			seen.records += len(out.Records)
		}
		asked.conditions += device.asked.conditions
		asked.correlated += device.asked.correlated
		asked.free += device.asked.free
		asked.between += device.asked.between
		asked.either += device.asked.either
	})
	t.Logf("%+v, %+v", seen, asked)
}
