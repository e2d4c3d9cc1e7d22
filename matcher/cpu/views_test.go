package cpu

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/ivm"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS12ForestsCountAsEnumerationDoes counts trees from kept numbers, and rings without, through batches that are
// committed or not, searched in any order, in part, twice or not at all, and compares with enumeration.
func TestS12ForestsCountAsEnumerationDoes(t *testing.T) {
	kept, fell, counted := 0, 0, uint64(0)
	seen := func() bool { return counted > 0 && fell > 0 && kept > fell } // rings are never kept, and fall
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 6 + rng.IntN(14), Edges: 10 + rng.IntN(30),
			Messages: 120,
			Full:     true, Labels: matchertest.Labels{Vertex: []string{"A", "B", "C"}[:1+rng.IntN(3)],
				Edge: []string{"T", "U"}[:1+rng.IntN(2)]}}
		shape.Renewals = rng.IntN(2) == 0 // which replace edges
		msgs, options := matchertest.RandomStream(rng, shape), dyngraph.Options{Directed: shape.Directed}
		if shape.Renewals {
			options.Schema = matchertest.RandomSchema(rng, shape.Labels)
			matchertest.SetValues(rng, msgs, options.Schema.Edges.Columns())
		}
		graph := dyngraph.NewGraph(options)
		var queries []*matcher.Query
		for i := range 5 {
			if i == 4 {
				queries = append(queries, matchertest.RandomCycle(rng, fmt.Sprint("q", i), 3+rng.IntN(4),
					shape.Directed, shape.Labels))
				continue
			}
			queries = append(queries, matchertest.RandomTree(rng, fmt.Sprint("q", i), 2+rng.IntN(6), shape.Directed,
				shape.Labels))
		}
		ref, fast := reference.New(), New(Options{Threads: 1 + rng.IntN(2), Lazy: rng.IntN(2) == 0})
		fast.views.Force = true
		x := matchertest.NewBenchOf(t, graph, plan.New(), queries, ref, fast)
		search := func(sign dyngraph.Sign, leave int) {
			var reqs []matcher.Request
			for _, r := range x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount }) {
				if rng.IntN(8) >= leave {
					reqs = append(reqs, r)
				}
			}
			if len(reqs) == 0 {
				return
			}
			want, got := x.Search(ref, sign, reqs).Results, x.Search(fast, sign, reqs).Results
			for i, r := range reqs {
				require.Equal(t, want[i].Count.String(), got[i].Count.String(), "sign %d: %+v %+v", sign,
					r.Plan.Query.Vertices, r.Plan.Query.Edges)
				counted += want[i].Count.Lo
				switch phase := fast.phase + uint64(program.SignIndex(sign)); {
				case fast.filter.Dormant(r.Plan): // nothing to count
				case fast.viewsAt(fast.plans[r.Plan], &r, phase) != nil:
					kept++
				case fast.plans[r.Plan].countPlan != nil:
					fell++
				}
			}
		}
		batches := append([][]dyngraph.Message{msgs[:shape.Edges]}, matchertest.Cut(rng, msgs[shape.Edges:])...)
		for _, batch := range batches[:min(len(batches), 40)] {
			for rng.IntN(4) == 0 {
				x.Stage(batch)
				search(dyngraph.Deleted, 2)
				if rng.IntN(2) == 0 {
					search(dyngraph.Inserted, 2)
				} else {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, err := fast.Search(ctx, dyngraph.Inserted,
						x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount }), nil, nil)
					require.ErrorIs(t, err, context.Canceled)
				}
				x.Abort()
			}
			x.Stage(batch)
			leave := 0
			if rng.IntN(4) == 0 {
				leave = 1 + rng.IntN(8)
			}
			first := dyngraph.Deleted
			if rng.IntN(5) == 0 {
				first = dyngraph.Inserted
			}
			search(first, leave)
			search(-first, leave)
			if rng.IntN(4) == 0 {
				search(first, leave)
			}
			x.Commit()
			checkViews(t, fast)
			if rng.IntN(6) == 0 { // some queries are removed and come again
				stay := slices.DeleteFunc(slices.Clone(x.Plans()), func(*matcher.Plan) bool { return rng.IntN(2) == 0 })
				require.NoError(t, fast.Prepare(stay))
				require.NoError(t, fast.Prepare(x.Plans()))
				checkViews(t, fast)
			}
		}
	})
}

// checkBranches compares the numbers of all branches that are in force with those of branches that are built anew.
func checkViews(t *testing.T, b *Backend) {
	t.Helper()
	require.NoError(t, b.views.Verify(b.labelIndex(), b.phase+1))
}

// TestS12ForestsLeaveNumbersOfMoreThan64Bits counts a tree of two hubs with 12 leaves each: with 40 leaves of each
// label in the graph a branch just has fewer than 2^64 homomorphisms, with 50 it has more.
func TestS12ForestsLeaveNumbersOfMoreThan64Bits(t *testing.T) {
	q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
	q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: "a", Label: "A"},
		matcher.QueryVertex{Name: "b", Label: "B"})
	q.Edges = append(q.Edges, matcher.QueryEdge{Name: "axis", From: 0, To: 1})
	hubs := [2]string{"a", "b"}
	axis := []dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: "a", FromLabel: "A", To: "b",
		ToLabel: "B"}}}}
	var few, more []dyngraph.Message
	for i := range 24 {
		label := fmt.Sprint("L", i)
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: label, Label: label})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: "e" + label, From: i % 2, To: i + 2})
		for k := range 50 {
			m := dyngraph.Message{Updates: []dyngraph.Update{
				{Op: dyngraph.InsertEdge, From: hubs[i%2], To: fmt.Sprint(label, "-", k), ToLabel: label}}}
			if k < 40 {
				few = append(few, m)
			} else {
				more = append(more, m)
			}
		}
	}
	b := New(Options{Threads: 1})
	b.views.Force = true
	x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
	power := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(n), big.NewInt(24), nil) }
	for i, c := range []struct {
		msgs []dyngraph.Message
		want *big.Int
		kept bool
	}{
		{axis, big.NewInt(0), false}, // labels that nobody knows are all alike
		{few, power(40), true},
		{more, new(big.Int).Sub(power(50), power(40)), false},
	} {
		x.Stage(c.msgs)
		reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
		n := x.Search(b, dyngraph.Inserted, reqs).Results[0].Count
		require.Equal(t, c.want.String(), n.String(), "step %d", i)
		require.Equal(t, c.kept, b.viewsAt(b.plans[reqs[0].Plan], &reqs[0], b.phase+1) != nil, "step %d", i)
		x.Commit()
	}
}

// TestForestsAreForManyImages prepares one path in a graph of few labels and one in a graph of many.
func TestForestsAreForManyImages(t *testing.T) {
	for _, labels := range []int{2, 40} {
		rng := rand.New(rand.NewPCG(1, 2))
		var msgs []dyngraph.Message
		name := func(v int) string { return fmt.Sprint("L", v%labels) }
		for range 2000 {
			v, w := rng.IntN(400), rng.IntN(400)
			if v != w {
				msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
					{Op: dyngraph.InsertEdge, From: fmt.Sprint(v), FromLabel: name(v), To: fmt.Sprint(w),
						ToLabel: name(w), Label: "T"}}})
			}
		}
		q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
		for i := range 5 {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: name(i)})
			if i > 0 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", i), From: i - 1, To: i, Label: "T",
					Either: true})
			}
		}
		b := New(Options{Threads: 1})
		x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, b)
		x.Stage(msgs)
		x.Commit()
		require.NoError(t, b.Prepare(x.Plans()))
		require.Equal(t, labels == 2, b.plans[x.Plans()[0]].views != nil, "%d labels", labels)
	}
}

// TestS12RingsCountBeyond64Bits counts paths through layers of vertices, each joined to all of the next one, whose
// ends, or the second and the last vertex, may be one: more than 2^64 closed walks.
func TestS12RingsCountBeyond64Bits(t *testing.T) {
	const wide = 5
	for first := range 2 {
		q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
		const n = matcher.MaxVertices
		for i := range n {
			label := fmt.Sprint("L", i)
			if i == n-1 {
				label = fmt.Sprint("L", first) // it closes a ring with that one
			}
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: label})
			if i > 0 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i - 1, To: i})
			}
		}
		var msgs []dyngraph.Message
		for _, e := range q.Edges {
			x, y := q.Vertices[e.From].Label, q.Vertices[e.To].Label
			for k := range wide * wide {
				msgs = append(msgs, dyngraph.Message{
					Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint(x, "-", k/wide), FromLabel: x,
						To: fmt.Sprint(y, "-", k%wide), ToLabel: y}}})
			}
		}
		b := New(Options{Threads: 1})
		b.views.Force = true
		x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
		var path, rest []dyngraph.Message // the path makes all labels known
		for i, m := range msgs {
			if i%(wide*wide) == 0 {
				path = append(path, m)
			} else {
				rest = append(rest, m)
			}
		}
		requests := func() []matcher.Request {
			return x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
		}
		x.Stage(path)
		require.True(t, x.Search(b, dyngraph.Inserted, requests()).Results[0].Count.IsZero())
		x.Commit()
		power := func(k int64) *big.Int { return new(big.Int).Exp(big.NewInt(wide), big.NewInt(k), nil) }
		total := new(big.Int).Sub(power(n), power(n-1)) // walks less those whose ends are one
		x.Stage(rest)
		reqs := requests()
		require.Equal(t, total.String(), x.Search(b, dyngraph.Inserted, reqs).Results[0].Count.String())
		x.Commit()
	}
}

// TestForestsWithoutRoomKeepNothing prepares two patterns with room for the branches of the smaller one, and again when
// vertices that came later have taken twice that room.
func TestForestsWithoutRoomKeepNothing(t *testing.T) {
	var msgs []dyngraph.Message
	for i := range 100 {
		msgs = append(msgs, dyngraph.Message{
			Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint("a", i%10), FromLabel: "A",
				To: fmt.Sprint("b", i/10), ToLabel: "B"}}})
	}
	path := func(name string, labels string) *matcher.Query {
		q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts}
		for i, l := range labels {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: string(l)})
			if i > 0 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i - 1, To: i, Either: true})
			}
		}
		return q
	}
	b := New(Options{Threads: 1})
	b.views.Force = true
	x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{path("large", "ABABAB"), path("small", "AB")}, b)
	x.Stage(msgs)
	x.Commit()
	b.views.Room = 20*ivm.CellBytes + 10*ivm.DeltaBytes // of one branch
	require.NoError(t, b.Prepare(nil))
	require.NoError(t, b.Prepare(x.Plans()))
	large, small := b.plans[x.Plans()[0]], b.plans[x.Plans()[1]]
	require.Nil(t, large.views)
	require.NotNil(t, small.views)
	require.Equal(t, small.views.Len(), b.views.Len())
	count := func() string {
		reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
		return x.Search(b, dyngraph.Deleted, reqs[1:]).Results[0].Count.String()
	}
	less := []dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.DeleteEdge, From: "a0", To: "b0"}}}}
	vertices := 20
	// they come, without edges, until their numbers take twice the room
	for ; vertices <= 2*b.views.Room/ivm.CellBytes; vertices++ {
		x.Stage(append(less, dyngraph.Message{
			Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint("c", vertices)}}}))
		want := "0"
		if vertices == 20 {
			want = "1"
		}
		require.Equal(t, want, count())
		x.Commit()
		require.Equal(t, (vertices+1)*ivm.CellBytes+10*ivm.DeltaBytes <= 2*b.views.Room, small.views != nil,
			"%d vertices", vertices+1)
		require.Equal(t, small.views != nil, b.views.Len() > 0)
	}
	less[0].Updates[0].To = "b1"
	x.Stage(less)
	require.Equal(t, "1", count())
	x.Commit()
	b.views.Room = vertices*ivm.CellBytes + 10*ivm.DeltaBytes
	require.NoError(t, b.Prepare(nil))
	require.NoError(t, b.Prepare(x.Plans()))
	require.NotNil(t, b.plans[x.Plans()[1]].views)
	b.views.Room--
	require.NoError(t, b.Prepare(nil))
	require.NoError(t, b.Prepare(x.Plans()))
	require.Nil(t, b.plans[x.Plans()[1]].views)
}
