package residual_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// patternOf returns the pattern of a plan.
func patternOf(p *matcher.Plan) *residual.Pattern {
	r := &residual.Pattern{Vertices: p.VertexLabels, Conditions: p.Conditions, Within: p.Query.Within}
	others := func(n, i int) (all []int) {
		for j := range n {
			if j != i {
				all = append(all, j)
			}
		}
		return all
	}
	for i := range p.Query.Vertices {
		r.VertexDiffers = append(r.VertexDiffers, others(len(p.Query.Vertices), i))
	}
	for i, e := range p.Query.Edges {
		r.Edges = append(r.Edges, residual.Edge{From: e.From, To: e.To, Label: p.EdgeLabels[i], Either: e.Either})
		r.EdgeDiffers = append(r.EdgeDiffers, others(len(p.Query.Edges), i))
	}
	return r
}

// elements lists the elements of a pattern.
func elements(q *matcher.Query) (all []condition.Ref) {
	for i := range q.Vertices {
		all = append(all, condition.Ref{Index: i})
	}
	for i := range q.Edges {
		all = append(all, condition.Ref{Edge: true, Index: i})
	}
	return all
}

// TestExtensions: from the part of each match that is given, a search finds the matches that have the part, and no
// others, in both views of a staged batch.
func TestExtensions(t *testing.T) {
	found := 0
	matchertest.ForSeedsUntil(t, 30, func() bool { return found > 1000 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 4)
		for i := range c.Queries { // what the reference enumerates
			c.Queries[i].Unit = matcher.Embeddings
		}
		b := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries)
		for _, batch := range c.Batches {
			b.Stage(batch)
			for _, p := range b.Plans() {
				for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
					found += checkExtensions(t, rng, b.Graph.View(which), p)
				}
			}
			b.Commit()
		}
	})
}

func checkExtensions(t *testing.T, rng *rand.Rand, view dyngraph.View, p *matcher.Plan) (found int) {
	t.Helper()
	q := p.Query
	all := reference.Matches(view, q)
	if len(all) == 0 {
		return 0
	}
	var given []condition.Ref
	bound := map[condition.Ref]bool{}
	for _, r := range elements(q) {
		if rng.IntN(3) > 0 || q.IsVertex() {
			continue
		}
		given, bound[r] = append(given, r), true
		if r.Edge {
			bound[condition.Ref{Index: q.Edges[r.Index].From}] = true
			bound[condition.Ref{Index: q.Edges[r.Index].To}] = true
		}
	}
	if len(given) == 0 {
		given = []condition.Ref{{Index: rng.IntN(len(q.Vertices))}}
		bound[given[0]] = true
	}
	at := func(r condition.Ref) int {
		if r.Edge {
			return len(q.Vertices) + r.Index
		}
		return r.Index
	}
	part := func(row []uint32) []uint32 {
		of := make([]uint32, len(row))
		for i := range of {
			of[i] = residual.None
		}
		for r := range bound {
			of[at(r)] = row[at(r)]
		}
		return of
	}
	want, got := map[string][]string{}, map[string][]string{}
	order := patternOf(p).From(given, elements(q))
	var work residual.Work
	for _, row := range all {
		start := part(row)
		key := fmt.Sprint(start)
		if want[key] = append(want[key], fmt.Sprint(row)); len(want[key]) > 1 {
			continue
		}
		s := residual.Search{View: view, Work: &work, Found: func(row []uint32) (bool, error) {
			got[key] = append(got[key], fmt.Sprint(row))
			return true, nil
		}}
		if more, err := s.Run(order, start); err != nil || !more {
			t.Fatal(more, err)
		}
		if fmt.Sprint(start) != key {
			t.Fatalf("the row that was given is %v, and was %s", start, key)
		}
	}
	for key := range want {
		slices.Sort(want[key])
		slices.Sort(got[key])
		if !slices.Equal(want[key], got[key]) {
			t.Fatalf("query %s, given %s: want %v, got %v", q.Name, key, want[key], got[key])
		}
		found += len(got[key])
	}
	return found
}

// TestBudget: a search ends at a limit, at the end of its context, and where Found wants no more.
func TestBudget(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	var msgs []dyngraph.Message
	for i := range 5000 {
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: "hub",
			To: fmt.Sprint(i)}}})
	}
	updates, _ := g.Accept(msgs)
	if _, err := g.Stage(updates); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	q := &matcher.Query{Name: "q", Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1}}}
	p, err := plan.New().Plan(q, g)
	if err != nil {
		t.Fatal(err)
	}
	hub, _ := g.Lookup("hub")
	order := patternOf(p).From([]condition.Ref{{Index: 0}}, elements(q))
	run := func(w *residual.Work, most int) (n int, more bool, err error) {
		s := residual.Search{View: g.View(dyngraph.New), Work: w, Found: func([]uint32) (bool, error) {
			n++
			return n < most, nil
		}}
		more, err = s.Run(order, []uint32{uint32(hub), residual.None, residual.None})
		return n, more, err
	}
	var m matcher.Meter
	m.Begin(&matcher.Budget{Steps: 1000}, false)
	w := &residual.Work{}
	w.Begin(&m)
	if n, _, err := run(w, 1<<20); err != residual.ErrBudget || n > 1500 || m.Over() != matcher.CauseSteps {
		t.Fatal(n, err, m.Over())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, _, err := run(&residual.Work{Ctx: ctx}, 1<<20); err != context.Canceled || n > 500 {
		t.Fatal(n, err)
	}
	if n, more, err := run(&residual.Work{}, 3); n != 3 || more || err != nil {
		t.Fatal(n, more, err)
	}
}
