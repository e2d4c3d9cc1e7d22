package cpu

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// TestSpaceAgainstReference plays searches of whole graphs with a candidate space against the reference, in both views
// of staged batches: rows, capped rows, counts and witnesses, of cases with conditions, parallel edges and revised
// vertices, in both units, with few labels and with many, by one thread and by several.
func TestSpaceAgainstReference(t *testing.T) {
	var rows, fewer, narrowed, capped, several int
	seen := func() bool { return rows > 0 && fewer > 0 && narrowed > 0 && capped > 0 && several > 0 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		c := inAnyMode(rng, 3)
		ref := reference.New()
		fast := New(Options{Threads: 1 + rng.IntN(3), TempFiles: tempfile.In(t.TempDir())})
		fast.sumsFirst, fast.oneByOnes, fast.work.ShareEvery = rng.IntN(2) == 0, rng.IntN(4) == 0, 1
		fast.limits = space.Limits{Round: rng.IntN(2), Reads: rng.IntN(2) * (1 + rng.IntN(20)), Neighbors: rng.IntN(30)}
		fast.focused = rng.Uint64N(2) * (1 + rng.Uint64N(30))
		fast.trials, fast.neverBegins = rng.Uint64N(2), rng.IntN(2) == 0
		fast.shared.Options.CanonicalFirst, fast.shared.Options.ValueOrderLeast = rng.IntN(4) == 0, rng.IntN(2)
		var planner matcher.Planner = plan.New()
		whole := rng.IntN(2) == 0
		if whole {
			planner = wholeOnly{planner}
		}
		x := matchertest.NewBenchOf(t, c.Graph(), planner, c.Queries, ref, fast)
		for _, batch := range c.Batches[:min(len(c.Batches), 8)] {
			x.Stage(batch)
			for _, p := range x.Plans() {
				for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
					fast.strategy = []count.Strategy{count.Auto, count.ByQuotients, count.Injective}[rng.IntN(3)]
					for want, limit := range map[matcher.Want]uint64{matcher.WantRows: 0, matcher.WantCount: 0,
						matcher.WantAny: 0} {
						compareWhole(t, x, ref, fast, p, which, want, limit)
					}
					n, _ := compareWhole(t, x, ref, fast, p, which, matcher.WantRows, 1+rng.Uint64N(5))
					if rows += n; n > 0 && fast.opt.Threads > 1 {
						several++
					}
				}
				if fast.filter.Dormant(p) {
					continue
				}
				s := space.Make(fast.g, fast.filter, p, new(space.Signatures), space.Limits{},
					func() bool { return false })
				for v, n := range s.Candidates {
					if !whole && n < fast.filter.Fit(p, v) {
						fewer++
					}
					if s.Narrowed.MustDiffer[v] != p.MustDiffer[v] {
						narrowed++
					}
				}
			}
			if rng.IntN(4) == 0 {
				x.Abort()
				x.Stage(batch)
			}
			x.Commit()
		}
		capped += int(fast.shared.Caps.Load())
		if fast.shared.Options.CanonicalFirst {
			capped++
		}
	})
}

// wholeOnly plans for whole graphs alone: the filter has no bits for such plans.
type wholeOnly struct{ matcher.Planner }

func (w wholeOnly) Plan(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	return w.Static(q, g)
}

// compareWhole has both backends search a view, and returns how many matches are told.
func compareWhole(t *testing.T, x *matchertest.Bench, ref, fast matcher.Backend, p *matcher.Plan,
	which dyngraph.Which, want matcher.Want, limit uint64) (int, matcher.Result) {
	t.Helper()
	search := func(be matcher.Backend) (lines []string, res matcher.Result) {
		view := x.Graph.View(which)
		res, err := be.Enumerate(t.Context(), which, p, want, limit, nil, func(rows matcher.Rows) error {
			for i := range rows.Len() {
				lines = append(lines, matchertest.RowLine(view, rows, i))
			}
			return nil
		})
		require.NoError(t, err)
		return lines, res
	}
	wantLines, wantRes := search(ref)
	gotLines, gotRes := search(fast)
	require.Empty(t, matchertest.Diff(wantLines, gotLines), "%+v %+v unit %d, want %d, limit %d, view %d",
		p.Query.Vertices, p.Query.Edges, p.Query.Unit, want, limit, which)
	require.Equal(t, wantRes.Count.String(), gotRes.Count.String(), "%+v %+v unit %d, want %d, view %d",
		p.Query.Vertices, p.Query.Edges, p.Query.Unit, want, which)
	require.Equal(t, wantRes.Truncated, gotRes.Truncated)
	return len(gotLines), gotRes
}

// TestWalksAgainstTextbook plays long searches, which go over to a candidate space, against the textbook's, on a graph
// of many labels: patterns of random walks, of up to 16 vertices.
func TestWalksAgainstTextbook(t *testing.T) {
	var spaces, jumps int
	seen := func() bool { return spaces > 0 && jumps > 0 }
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		us := clustered(rng, 300, 1500, 2+rng.IntN(12))
		book := newTextbook(us)
		q := book.walk(rng, 6+rng.IntN(11), rng.IntN(2) == 0)
		if q == nil {
			return
		}
		want, ok := book.count(textbookOf(q), textbookMost)
		if !ok || want > 300_000 {
			return
		}
		x := newBench(t, us, q, Options{Threads: 1 + rng.IntN(2), TempFiles: tempfile.In(t.TempDir())})
		x.b.firstTurn = rng.Uint64N(2) // 1: counts that take some time have turns of every way
		x.b.neverBegins = rng.IntN(2) == 0
		for _, kind := range []matcher.Want{matcher.WantCount, matcher.WantRows} {
			for _, x.b.sumsFirst = range []bool{false, true} {
				n := uint64(0)
				res, err := x.b.Enumerate(t.Context(), dyngraph.New, x.plan, kind, 0, nil, func(r matcher.Rows) error {
					n += uint64(r.Len())
					return nil
				})
				require.NoError(t, err)
				require.Equal(t, matcher.CountOf(want).String(), res.Count.String(), "%+v %+v", q.Vertices, q.Edges)
				if kind == matcher.WantRows {
					require.Equal(t, want, n)
				}
			}
		}
		spaces++
		jumps += int(jumped(t, x, want))
	})
}

// jumped searches one way with a candidate space, with jumps and without, and returns how many steps the jumps save.
func jumped(t *testing.T, x *bench, want uint64) uint64 {
	var stop atomic.Bool
	w := x.b.wayOf(x.b.plans[x.plan], matcher.WantAny, nil, &stop, new(matcher.Result))
	w.order.VerticesOnly = false // without jumps, that saves steps of its own
	var steps [2]uint64
	for i, jumps := range []bool{false, true} {
		w.shared.Jumps = jumps
		s := w.searcher(x.b, &stop, matcher.WantCount)
		for v := range x.g.View(dyngraph.New).VerticesSeq() {
			s.FromRoot(w.order, dyngraph.New, v)
		}
		require.Equal(t, want, s.Found)
		steps[i] = s.Steps
	}
	require.LessOrEqual(t, steps[1], steps[0])
	return steps[0] - steps[1]
}
