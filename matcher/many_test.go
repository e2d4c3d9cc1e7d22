package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// withoutLeaf returns the pattern without its last vertex of one neighbour, or nil when that leaves no pattern.
func withoutLeaf(q *matcher.Query) *matcher.Query {
	for v := len(q.Vertices) - 1; v >= 0; v-- {
		near := map[int]bool{}
		for _, e := range q.Edges {
			if e.From == v || e.To == v {
				near[e.From+e.To-v] = true
			}
		}
		if len(near) != 1 || len(q.Vertices) < 3 {
			continue
		}
		less := *q
		less.Vertices, less.Edges = slices.Delete(slices.Clone(q.Vertices), v, v+1), nil
		for _, e := range q.Edges {
			if e.From == v || e.To == v {
				continue
			}
			if e.From > v {
				e.From--
			}
			if e.To > v {
				e.To--
			}
			less.Edges = append(less.Edges, e)
		}
		return &less
	}
	return nil
}

// TestManyQueriesMatchAsEachAlone registers many queries, with families that begin alike and go on as they like, in
// one engine, and each of them in an engine of its own. Queries come and go. What is put out for a query is the same,
// in the same order, and so is what the summaries tell.
func TestManyQueriesMatchAsEachAlone(t *testing.T) {
	matchertest.ForSeeds(t, 6, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 6)
		var queries []*matcher.Query
		add := func(q *matcher.Query) {
			twin := *q
			twin.Name = fmt.Sprintf("q%02d", len(queries))
			randomModes(rng, &twin)
			if rng.IntN(8) == 0 {
				twin.WorkBudget = 1 << 40 // which is never spent: what it depends on is how searches share
			}
			queries = append(queries, &twin)
		}
		for _, q := range c.Queries {
			for less := q; less != nil; less = withoutLeaf(less) {
				for range 1 + rng.IntN(2) {
					add(less)
				}
				for range rng.IntN(3) {
					if more := c.Graft(rng, less); more != nil {
						add(more)
					}
				}
			}
		}
		rng.Shuffle(len(queries), func(i, j int) {
			queries[i], queries[j] = queries[j], queries[i]
			queries[i].Name, queries[j].Name = queries[j].Name, queries[i].Name
		})
		threads := 1 + rng.IntN(3)
		all := matchertest.NewDriver(t, c.Directed, newCPU(t, threads, false), plan.New())
		alone := make([]*matchertest.Driver, len(queries))
		for i := range alone {
			alone[i] = matchertest.NewDriver(t, c.Directed, newCPU(t, threads, false), plan.New())
		}
		// compare compares what all put out last for query i with what it put out alone.
		compare := func(i int) {
			t.Helper()
			want, got := alone[i].Batches[len(alone[i].Batches)-1], all.Batches[len(all.Batches)-1]
			if diff := matchertest.Diff(about(want, queries[i].Name), about(got, queries[i].Name)); diff != "" {
				t.Fatalf("batch %d, query %s %v %v, alone against among %d: %s", got.Number, queries[i].Name,
					queries[i].Vertices,
					queries[i].Edges, len(queries), diff)
			}
		}
		// A change is a batch, in which ids may become free: the engines that it does not concern step over another
		// one.
		other := *queries[0]
		other.Name = "zz"
		registered := make([]bool, len(queries))
		idle := make([]bool, len(queries)) // whether the other query is registered
		change := func(at int) {
			step := func(d *matchertest.Driver, q *matcher.Query, registered bool) {
				if registered {
					d.Remove(q.Name)
				} else {
					d.Register(q)
				}
			}
			step(all, queries[at], registered[at])
			for i, d := range alone {
				if i == at {
					step(d, queries[at], registered[at])
					compare(i)
					continue
				}
				step(d, &other, idle[i])
				idle[i] = !idle[i]
			}
			registered[at] = !registered[at]
		}
		for i := range queries {
			if rng.IntN(4) > 0 {
				change(i)
			}
		}
		for _, batch := range c.Batches {
			if rng.IntN(8) == 0 {
				change(rng.IntN(len(queries)))
			}
			all.Batch(batch)
			for i, d := range alone {
				d.Batch(batch)
				compare(i)
			}
		}
	})
}

// about returns what a batch put out for one query: records by keys and ids, without their indexes, and the summary.
func about(o *matchertest.Output, query string) []string {
	var lines []string
	for i := range o.Records {
		if r := &o.Records[i]; r.Query == query {
			lines = append(lines, strings.TrimSpace(fmt.Sprint(r.Line(), r.IDs)))
		}
	}
	for _, q := range o.Summary.Queries {
		if q.Query.Name == query {
			lines = append(lines, fmt.Sprintf("+%v -%v truncated=%v emitted=%d snapshot=%v", q.Positive, q.Negative,
				q.Truncated, q.Emitted, q.Snapshot))
		}
	}
	return lines
}
