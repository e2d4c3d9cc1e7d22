package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestS11CappedRowsAreAPrefix: a capped request gets, from canonical searches, the first rows that an uncapped one
// gets, of batches of several anchors and of whole views, for patterns of every kind, with any cap and any number of
// workers.
func TestS11CappedRowsAreAPrefix(t *testing.T) {
	cuts := int64(0)
	matchertest.ForSeedsUntil(t, 60, func() bool { return cuts > 100 }, func(t *testing.T, rng *rand.Rand) {
		c := inAnyMode(rng, 4)
		all, first := eager(t, 1, 1<<20), eager(t, 1+rng.IntN(4), 64<<rng.IntN(12))
		first.shared.Options.CanonicalFirst, first.alone = true, rng.Uint64N(100)
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, all, first)
		for _, batch := range c.Batches {
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				want := make([][]string, len(x.Plans()))
				for _, r := range x.Search(all, sign, x.Requests(nil)).Rows {
					want[r.Request] = append(want[r.Request], r.Line)
				}
				requests := x.Requests(func(i int, r *matcher.Request) {
					r.Limit = 1 + rng.Uint64N(uint64(len(want[i]))+2)
				})
				got, answer := make([][]string, len(requests)), x.Search(first, sign, requests)
				for _, r := range answer.Rows {
					got[r.Request] = append(got[r.Request], r.Line)
				}
				for i, r := range requests {
					q := r.Plan.Query
					n := min(uint64(len(want[i])), r.Limit)
					require.Equal(t, want[i][:n], got[i], "%+v, limit %d", q, r.Limit)
					require.Equal(t, r.Limit <= uint64(len(want[i])), answer.Results[i].Truncated)
				}
			}
			x.Commit()
			for _, p := range x.Plans() {
				list := func(b *Backend, limit uint64) (lines []string, res matcher.Result) {
					view := x.Graph.View(dyngraph.New)
					emit := func(rows matcher.Rows) error {
						for i := range rows.Len() {
							lines = append(lines, matchertest.RowLine(view, rows, i))
						}
						return nil
					}
					res, err := b.Enumerate(t.Context(), dyngraph.New, p, matcher.WantRows, limit, nil, emit)
					require.NoError(t, err)
					return lines, res
				}
				want, _ := list(all, 0)
				limit := 1 + rng.Uint64N(uint64(len(want))+2)
				got, res := list(first, limit)
				n := min(uint64(len(want)), limit)
				require.Equal(t, want[:n], got, "%+v, limit %d", p.Query, limit)
				require.Equal(t, limit < uint64(len(want)), res.Truncated)
			}
		}
		cuts += first.shared.Caps.Load()
	})
}

// TestS11ASharedGroupIsCut: an ordinary search that is shared by several workers goes over to a canonical one, and its
// first rows take the place of those that parts of it found.
func TestS11ASharedGroupIsCut(t *testing.T) {
	const leaves = 60
	graph, insert, q := hubCase(leaves)
	x := newBench(t, graph, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
	rows := func(limit uint64) (data []uint32) {
		defer x.stage(insert)()
		request := matcher.Request{Plan: x.plan, Before: matcher.AllOrders, Limit: limit}
		_, err := x.b.Search(t.Context(), dyngraph.Inserted, []matcher.Request{request},
			func(g matcher.Group) error { data = append(data, g.Rows.Data...); return nil },
			func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
		require.NoError(t, err)
		return data
	}
	want := rows(0)
	require.Zero(t, x.b.shared.Caps.Load())
	width := len(want) / (leaves * leaves * (leaves - 1))
	for _, threads := range []int{1, 2, 3, 8} {
		for _, limit := range []uint64{1, 10, 1000} {
			little := Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()), GroupMemory: 1 << 14,
				QueueMemory: 1 << 14}
			x = newBench(t, graph, q, little)
			x.b.work.ShareEvery = 1
			if threads > 1 {
				x.b.work.Hold = untilSo
			}
			got := rows(limit)
			require.True(t, slices.Equal(want[:int(limit)*width], got), "%d threads, limit %d", threads, limit)
			require.Positive(t, x.b.shared.Caps.Load(), "%d threads, limit %d", threads, limit)
		}
	}
}

// flood is a graph, and an edge that makes very many matches of a pattern.
type flood struct {
	name   string
	graph  []dyngraph.Update
	insert dyngraph.Update
	query  *matcher.Query
}

// patternOf makes a query of edges "a>b", of vertices in the order of the text; their labels are the letters that their
// names begin with.
func patternOf(unit matcher.Unit, text string) *matcher.Query {
	q := &matcher.Query{Name: "q", Version: 1, Unit: unit}
	names := map[string]int{}
	at := func(name string) int {
		if _, ok := names[name]; !ok {
			names[name] = len(q.Vertices)
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: name, Label: strings.ToUpper(name[:1])})
		}
		return names[name]
	}
	for _, f := range strings.Fields(text) {
		from, to, joined := strings.Cut(f, ">")
		if at(from); joined {
			e := matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: at(from), To: at(to)}
			q.Edges = append(q.Edges, e)
		}
	}
	return q
}

// floods are patterns with 10^5 to 10^17 matches, with the anchor and the hub at different places in pattern order.
func floods() []flood {
	edge := func(from, to string) dyngraph.Update {
		label := func(key string) string { return strings.ToUpper(key[:1]) }
		return dyngraph.Update{Op: dyngraph.InsertEdge, From: from, To: to, FromLabel: label(from), ToLabel: label(to)}
	}
	many := func(n int, f func(i string) []dyngraph.Update) (all []dyngraph.Update) {
		for i := range n {
			all = append(all, f(fmt.Sprintf("%03d", i))...)
		}
		return all
	}
	senders := many(60, func(i string) []dyngraph.Update { return []dyngraph.Update{edge("s"+i, "m")} })
	fan, last := "", ""
	for i := range 10 {
		fan += fmt.Sprintf("s%d>m ", i)
		last += fmt.Sprintf("s%d ", i)
	}
	layered := many(60, func(i string) []dyngraph.Update {
		return many(60, func(k string) (all []dyngraph.Update) {
			for _, pair := range []string{"ab", "bc", "cd", "de", "ef"} {
				all = append(all, edge(pair[:1]+i, pair[1:]+k))
			}
			return all
		})
	})
	path := "a>b b>c c>d d>e e>f f>g"
	// Each of 200 accounts has payees, and one of them a branch that leads on.
	trees := many(200, func(i string) []dyngraph.Update {
		all := []dyngraph.Update{edge("r", "h"+i)}
		all = append(all, many(40, func(k string) []dyngraph.Update {
			return []dyngraph.Update{edge("h"+i, "l"+i+k)}
		})...)
		if i == "199" {
			all = append(all, edge("h"+i, "x"), edge("x", "y"), edge("y", "z"))
		} else {
			all = append(all, edge("h"+i, "x"+i), edge("x"+i, "y"+i), edge("y"+i, "w"+i))
		}
		return all
	})
	s := []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "s", Label: "S"}}
	lastEdge := []dyngraph.Update{edge("f000", "g")}
	toC := many(60, func(i string) []dyngraph.Update { return []dyngraph.Update{edge("b"+i, "c")} })
	return []flood{
		{"fan of ten, the last sender is new", senders, edge("s999", "m"), patternOf(matcher.Subgraphs, fan)},
		{"fan of ten, each way", senders, edge("s999", "m"), patternOf(matcher.Embeddings, fan)},
		{"fan of ten, the hub last in order", senders, edge("s999", "m"), patternOf(matcher.Subgraphs, last+fan)},
		{"fan of ten, the first sender is new", slices.Concat(s, senders),
			edge("s", "m"), patternOf(matcher.Subgraphs, fan)},
		{"fan of ten, a sender in the middle is new", slices.Concat(senders[:30], s, senders[30:]),
			edge("s", "m"), patternOf(matcher.Subgraphs, fan)},
		{"path, the last edge is new", layered, edge("f000", "g"), patternOf(matcher.Embeddings, path)},
		{"path, the first edge is new", slices.Concat(layered, lastEdge), edge("a", "b000"),
			patternOf(matcher.Embeddings, path)},
		{"path, an edge in the middle is new", slices.Concat(layered, lastEdge, toC), edge("c", "d000"),
			patternOf(matcher.Embeddings, path)},
		{"path, in an order that jumps", layered, edge("f000", "g"),
			patternOf(matcher.Embeddings, "c f a e b d g "+path)},
		{"trees, of which one leads on", trees, edge("q", "r"),
			patternOf(matcher.Subgraphs, "q>r r>h h>l0 h>l1 h>l2 h>l3 h>l4 h>l5 h>l6 h>l7 h>x x>y y>z")},
	}
}

// TestS11ACapCostsWorkInProportion: capped queries of floods put out their first matches after so few steps that the
// groups can only have been cut, incrementally and over the whole graph, with one worker and several. There is no
// budget: an ordinary search of most of them would not end.
func TestS11ACapCostsWorkInProportion(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS11CappedRowsAreAPrefix has caps with several threads")
	const limit = 11
	for _, f := range floods() {
		for threads, most := range map[int]uint64{
			1: 1_000_000,
			3: 100_000_000, // the others search until the one with the first matches gets a processor
		} {
			t.Run(fmt.Sprintf("%s, %d threads", f.name, threads), func(t *testing.T) {
				g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
				b := New(Options{Threads: threads, TempFiles: tempfile.In(t.TempDir())})
				stage := func(updates ...dyngraph.Update) *dyngraph.Delta {
					d, err := g.Stage(updates)
					require.NoError(t, err)
					return d
				}
				stage(f.graph...)
				g.Commit()
				require.NoError(t, b.Load(g))
				d := stage(f.insert)
				p, err := plan.New().Plan(f.query, g)
				require.NoError(t, err)
				require.NoError(t, b.Prepare([]*matcher.Plan{p}))
				require.NoError(t, b.Stage(d))
				rows := 0
				request := matcher.Request{Plan: p, Before: matcher.AllOrders, Limit: limit}
				res, err := b.Search(t.Context(), dyngraph.Inserted, []matcher.Request{request},
					func(g matcher.Group) error { rows += g.Rows.Len(); return nil },
					func(int, uint32, matcher.Cause) (bool, error) { panic("there is no budget") })
				require.NoError(t, err)
				require.Equal(t, limit, rows)
				require.Less(t, res[0].Steps, most)
				require.NoError(t, b.Commit())
				g.Commit()
				rows = 0
				all, err := b.Enumerate(t.Context(), dyngraph.New, p, matcher.WantRows, limit, nil,
					func(r matcher.Rows) error { rows += r.Len(); return nil })
				require.NoError(t, err)
				require.Equal(t, limit, rows)
				require.Less(t, all.Steps, most)
			})
		}
	}
}

// TestS11ASearchBeyondTheCapEnds: the cap is reached in a group; the next one of the same worker, which has no matches
// and takes seconds, ends soon. Only a replay or a recovery sees it: limits end it otherwise.
func TestS11ASearchBeyondTheCapEnds(t *testing.T) {
	const length, side = 9, 20
	q := &matcher.Query{Name: "cycle9", Version: 1}
	for i := range length {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i)})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % length,
			Either: true})
	}
	var before, batch []dyngraph.Update
	add := func(to *[]dyngraph.Update, from, at string) {
		*to = append(*to, dyngraph.Update{Op: dyngraph.InsertEdge, From: from, To: at})
	}
	cycle := func(name string, n int) { // the batch closes it
		for i := range n - 1 {
			add(&before, fmt.Sprint(name, i), fmt.Sprint(name, i+1))
		}
		add(&batch, fmt.Sprint(name, n-1), fmt.Sprint(name, 0))
	}
	cycle("first", 5)
	cycle("match", length)
	for i := range side { // a bipartite graph has no cycle of odd length, which a search finds late
		for k := range side {
			if i+k > 0 {
				add(&before, fmt.Sprint("a", i), fmt.Sprint("b", k))
			}
		}
	}
	add(&batch, "a0", "b0")
	for i := range 8 {
		cycle(fmt.Sprint("small", i, "-"), 5)
	}
	for _, threads := range []int{1, 2} {
		b := eager(t, threads, 1<<20)
		b.alone = 0
		x := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, b)
		x.Stage([]dyngraph.Message{{Updates: before}})
		x.Commit()
		x.Stage([]dyngraph.Message{{Updates: batch}})
		got := x.Search(b, dyngraph.Inserted, x.Requests(func(_ int, r *matcher.Request) { r.Limit = 3 }))
		require.Len(t, got.Rows, 3)
		require.Less(t, got.Results[0].Steps, uint64(20_000_000), "%d threads", threads)
	}
}
