package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	"motifd/matcher/paths"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// joined returns how many anchors were tried for all lengths at once.
func (p *Profile) joined() (n uint64) {
	p.shared.Each(func(o *program.Order, l *backtrack.Levels) {
		if o.Wide > 0 {
			n += l.Starts
		}
	})
	return n
}

// askPaths makes a query with paths one of any output, with negations, limits and counts.
func askPaths(rng *rand.Rand, q *matcher.Query) {
	q.SilentChange = rng.IntN(2) == 0
	switch rng.IntN(8) {
	case 0, 1:
		q.Emit = matcher.EmitCounts
	case 2:
		q.Emit = matcher.EmitExists
	case 3:
		q.MaxMatches = 1 + rng.Uint64N(5)
	case 4:
		q.Unit = matcher.Subgraphs
	}
}

// TestS26LengthsAreSearchedTogether plays queries with paths with one search for all lengths and with one for each:
// with conditions, cycles that paths close, two paths, negations, replaced and expiring edges, deletions, revised
// vertices, and any number of workers that share what they have at every opportunity. The output is the same.
func TestS26LengthsAreSearchedTogether(t *testing.T) {
	var seen struct {
		matches, counts int
		joined          uint64
		shared          int64
	}
	enough := func() bool {
		return min(seen.matches, int(seen.joined)) > 800 && seen.shared > 0 && seen.counts > 0
	}
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCasePaths(rng, 4)
		alike := rng.IntN(2) == 0
		if alike {
			c = chains(rng, 4)
		}
		c = c.With(func(q *matcher.Query) {
			askPaths(rng, q)
			if !alike && rng.IntN(4) == 0 {
				c.DenyRandomly(rng, q)
			}
		})
		kept := matchertest.Retention(rng)
		play := func(threads int, byLength bool) *matchertest.Driver {
			b := eager(t, threads, 64<<rng.IntN(12))
			b.byLength, b.alone, b.opt.Profile = byLength, rng.Uint64N(40), &Profile{}
			b.shared.Profile = &b.opt.Profile.shared
			be := paths.New(negation.New(b, negation.Options{TempFiles: tempfile.In(t.TempDir())}))
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
			d.Expire(kept)
			for _, q := range c.Queries {
				d.Register(q)
			}
			for _, batch := range c.Batches {
				d.Batch(batch)
			}
			if n := b.opt.Profile.joined(); byLength && n > 0 {
				t.Fatal("lengths were searched together")
			} else {
				seen.joined += n
			}
			seen.shared += b.work.Shared.Load()
			return d
		}
		want := play(1, true)
		for _, threads := range []int{1, 2, 4} {
			if diff := matchertest.Diff(want.Transcript(), play(threads, false).Transcript()); diff != "" {
				t.Fatalf("by length against together, %d threads: %s", threads, diff)
			}
		}
		for _, out := range want.Batches {
			for _, r := range out.Records {
				if r.Kind == matcher.EventMatches {
					seen.matches++
				} else if r.Kind == matcher.EventCount {
					seen.counts++
				}
			}
		}
	})
	t.Logf("%+v", seen)
}

// chains draws a case of chains of payments of which one is a path: with labels all alike, so that lengths differ in
// their conditions alone.
func chains(rng *rand.Rand, queries int) *matchertest.Case {
	c := &matchertest.Case{Directed: true, EdgeIDs: rng.IntN(2) == 0, Schema: amounts}
	for at := range 30 {
		var us []dyngraph.Update
		for range 1 + rng.IntN(4) {
			from := rng.IntN(8)
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from),
				To: fmt.Sprint((from + 1 + rng.IntN(7)) % 8), Label: "T"}
			if u.Attr = (dyngraph.Attr{TS: int64(at/2 + rng.IntN(4)), HasTS: rng.IntN(8) > 0,
				Values: []property.Value{property.Int(rng.Int64N(4))}}); c.EdgeIDs {
				u.Attr.ID = fmt.Sprint(rng.IntN(2))
			}
			if rng.IntN(3) == 0 {
				u.Op, u.Attr = dyngraph.DeleteEdge, dyngraph.Attr{ID: u.Attr.ID}
			}
			us = append(us, u)
		}
		c.Batches = append(c.Batches, []dyngraph.Message{{Updates: us}})
	}
	for i := range queries {
		q := &matcher.Query{Name: fmt.Sprint("q", i), Version: 1, Vertices: []matcher.QueryVertex{{Name: "v0"}}}
		n := 1 + rng.IntN(4)
		path := rng.IntN(n)
		var exprs []*condition.Expr
		for e := range n {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", e+1)})
			edge := matcher.QueryEdge{Name: fmt.Sprint("e", e), From: e, To: e + 1, Label: "T"}
			if e == path {
				least := 1 + rng.IntN(2)
				edge.Hops = &matcher.Hops{Least: least, Most: least + 1 + rng.IntN(2)}
			}
			q.Edges = append(q.Edges, edge)
			if rng.IntN(3) == 0 {
				exprs = append(exprs, compared(propertyOf(edge.Name, "n"), condition.Ge,
					number(fmt.Sprint(rng.IntN(3)))))
			}
			if other := rng.IntN(n); other != path && other != e && rng.IntN(2) == 0 {
				exprs = append(exprs, compared(propertyOf(edge.Name, "n"),
					[]condition.Relation{condition.Lt, condition.Ge, condition.Ne}[rng.IntN(3)],
					propertyOf(fmt.Sprint("e", other), "n")))
			}
		}
		some := func() (edges []int) {
			for e := range n {
				if e == path || rng.IntN(2) == 0 {
					edges = append(edges, e)
				}
			}
			return edges
		}
		of := &matchertest.Case{Schema: amounts, Where: matchertest.Where{}}
		if of.Ask(q, exprs...) != nil { // they contradict one another
			q.Conditions = nil
		}
		if rng.IntN(2) == 0 {
			q.Rises = []matcher.Rise{{Edges: some()}}
		}
		if rng.IntN(2) == 0 {
			q.Spans = []matcher.Span{{Edges: some(), Most: 1 + rng.Int64N(6)}}
		}
		if rng.IntN(4) == 0 {
			q.Within = 1 + rng.Int64N(6)
		}
		if q.Validate(true) == nil {
			c.Queries = append(c.Queries, q)
		}
	}
	return c
}

// TestS26StepsThatLengthsShare: of a chain of one to six payments, each later than the one before and all within an
// hour, the searches of all lengths share what explain says they do. The chain of one has no search.
func TestS26StepsThatLengthsShare(t *testing.T) {
	q := &matcher.Query{Name: "q", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "t", To: 1, Label: "T", Hops: &matcher.Hops{Least: 1, Most: 6}}},
		Rises: []matcher.Rise{{Edges: []int{0}}}, Spans: []matcher.Span{{Edges: []int{0}, Most: 3_600_000}}}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: amounts})
	taken, _ := g.Accept([]dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: "x", To: "y",
		Label: "T"}}}})
	_, err := g.Stage(taken)
	require.NoError(t, err)
	g.Commit()
	p, err := plan.New().Plan(q, g)
	require.NoError(t, err)
	b := New(Options{Threads: 1})
	require.NoError(t, b.Load(g))
	require.NoError(t, b.Prepare(p.Variants))
	steps, nodes, roots := 0, 0, 0
	var count func(o *program.Order)
	count = func(o *program.Order) {
		for _, next := range o.Branches {
			nodes++
			count(next)
		}
	}
	for i, c := range b.plans[p.Variants[0]].lengths.parts {
		steps += len(c.plan.Anchored) * (len(c.plan.Query.Vertices) - 2)
		for _, root := range c.lengths.trees[i] {
			if root != nil {
				roots++
				count(root)
			}
		}
	}
	require.Equal(t, []int{70, 34, 2}, []int{steps, nodes, roots})
	require.Contains(t, p.Text(), "up to 36 of 70\n")
}
