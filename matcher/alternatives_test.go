package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// withAlternatives draws a case of one query with alternatives of labels, and few enough of them to write all out.
func withAlternatives(rng *rand.Rand, labels matchertest.Labels) *matchertest.Case {
	for {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 6 + rng.IntN(6), Edges: 25, Messages: 80,
			Full: true, Labels: labels}
		c := &matchertest.Case{Directed: shape.Directed, Labels: labels,
			Messages: matchertest.RandomStream(rng, shape)}
		c.Batches = matchertest.Cut(rng, c.Messages)
		q := matchertest.RandomQueryOf(rng, 2+rng.IntN(3), "q", shape.Directed, labels)
		if n := len(eachWithOneLabel(q)); n > 1 && n <= 40 {
			c.Queries = []*matcher.Query{q}
			return c
		}
	}
}

// eachWithOneLabel writes out the alternatives of a query: the queries with one of them for each element.
func eachWithOneLabel(q *matcher.Query) []*matcher.Query {
	all := []*matcher.Query{q}
	split := func(anyOf []string, set func(q *matcher.Query, label string)) {
		if anyOf == nil || len(all) > 100 {
			return
		}
		var more []*matcher.Query
		for _, r := range all {
			for _, label := range anyOf {
				one := *r
				one.Vertices, one.Edges = slices.Clone(r.Vertices), slices.Clone(r.Edges)
				one.Name = fmt.Sprintf("%s %s", r.Name, label)
				set(&one, label)
				more = append(more, &one)
			}
		}
		all = more
	}
	for i, v := range q.Vertices {
		split(v.AnyOf, func(q *matcher.Query, l string) { q.Vertices[i].Label, q.Vertices[i].AnyOf = l, nil })
	}
	for i, e := range q.Edges {
		split(e.AnyOf, func(q *matcher.Query, l string) { q.Edges[i].Label, q.Edges[i].AnyOf = l, nil })
	}
	return all
}

// TestS21AlternativesAreTheUnionOfTheirLabels runs a query with alternatives beside the plain queries that they stand
// for: the matches are the disjoint union of theirs, and so are the numbers.
func TestS21AlternativesAreTheUnionOfTheirLabels(t *testing.T) {
	found := map[matcher.Emit]int{}
	enough := func() bool {
		return found[matcher.EmitDeltas] > 300 &&
			found[matcher.EmitCounts] > 100
	}
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		c := withAlternatives(rng, matchertest.Labels{Vertex: []string{"A", "B", "C"}, Edge: []string{"T", "U", ""}})
		q := c.Queries[0]
		q.Emit = matcher.Emit(rng.IntN(2))
		here := matchertest.NewDriver(t, c.Directed, newCPU(t, 1+rng.IntN(3), rng.IntN(2) == 0), plan.New())
		there := matchertest.NewDriver(t, c.Directed, newCPU(t, 1, false), plan.New())
		plain := eachWithOneLabel(q)
		late := rng.IntN(len(c.Batches)) // labels that the graph knows by then, or not
		for i, batch := range c.Batches {
			if i == late {
				here.Register(q)
				for _, one := range plain {
					there.Register(one)
				}
			}
			got, want := here.Batch(batch), there.Batch(batch)
			require.Equal(t, united(want), united(got), "batch %d of %+v", got.Number, q)
			if i >= late {
				found[q.Emit] += len(want.Records)
			}
		}
	})
}

// united writes what all queries put out together: their matches, sorted, and the sums of their numbers.
func united(out *matchertest.Output) (lines []string) {
	var sums [2]matcher.Count
	for _, r := range out.Records {
		if r.Kind == matcher.EventMatches {
			lines = append(lines, fmt.Sprint(r.Sign, r.Snapshot, r.UpdateIndex, r.Match))
			continue
		}
		i := 0
		if r.Sign == dyngraph.Inserted {
			i = 1
		}
		sums[i] = sums[i].Add(r.Count)
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprint("sums ", sums))
}

// labelled gives each vertex key of a case one label for good.
func labelled(c *matchertest.Case, labels []string) {
	of := func(key string) string { return labels[int(key[len(key)-1])%len(labels)] }
	for _, m := range c.Messages { // the batches share them
		for i := range m.Updates {
			switch u := &m.Updates[i]; u.Op {
			case dyngraph.InsertEdge, dyngraph.DeleteEdge:
				u.FromLabel, u.ToLabel = of(u.From), of(u.To)
			case dyngraph.InsertVertex:
				u.Label = of(u.Key)
			}
		}
	}
}

// TestS21AllAlternativesAreAWildcard gives a query all labels of the data as alternatives where it has none: nothing
// changes, neither the order of the output. A further alternative that no data has changes nothing either.
func TestS21AllAlternativesAreAWildcard(t *testing.T) {
	records := 0
	enough := func() bool { return records > 500 }
	matchertest.ForSeedsUntil(t, 20, enough, func(t *testing.T, rng *rand.Rand) {
		labels := matchertest.Labels{Vertex: []string{"A", "B", "C"}, Edge: []string{"T", "U"}}
		c := withAlternatives(rng, labels)
		labelled(c, labels.Vertex)
		q := c.Queries[0]
		randomModes(rng, q)
		q.Backfill = matcher.BackfillFull
		wide := *q
		wide.Vertices, wide.Edges = slices.Clone(q.Vertices), slices.Clone(q.Edges)
		written := func(label string, anyOf, all []string) []string {
			switch {
			case anyOf != nil && !slices.Contains(anyOf, "nothing"):
				anyOf = append(slices.Clone(anyOf), "nothing")
				slices.Sort(anyOf)
			case anyOf == nil && label == "":
				anyOf = all
			}
			return anyOf
		}
		for i, v := range q.Vertices {
			wide.Vertices[i].AnyOf = written(v.Label, v.AnyOf, labels.Vertex)
		}
		for i, e := range q.Edges {
			wide.Edges[i].AnyOf = written(e.Label, e.AnyOf, labels.Edge)
		}
		here := matchertest.Run(t, c, newCPU(t, 1+rng.IntN(3), false), plan.New())
		c.Queries = []*matcher.Query{&wide}
		there := matchertest.Run(t, c, newCPU(t, 1+rng.IntN(3), rng.IntN(2) == 0), plan.New())
		if diff := matchertest.Diff(here.Transcript(), there.Transcript()); diff != "" {
			t.Fatalf("%+v against %+v: %s", q, wide, diff)
		}
		for _, out := range here.Batches {
			records += len(out.Records)
		}
	})
}
