package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/monitor"
)

// manyGraph is a power-law graph that changes: every other update inserts an edge, the others delete one.
type manyGraph struct {
	rng    *rand.Rand
	labels []string // by vertex
	edges  [][2]int
	has    map[[2]int]bool
	adj    map[int][]int
}

const manyVertices, manyEdges, manyLabels = 20_000, 100_000, 50

// newManyGraph draws a graph. hot vertices in ten carry one of the first 3 labels, the others any of all.
func newManyGraph(seed uint64, hot int) *manyGraph {
	g := &manyGraph{rng: rand.New(rand.NewPCG(seed, 1)), has: map[[2]int]bool{}, adj: map[int][]int{}}
	for range manyVertices {
		l := g.rng.IntN(manyLabels)
		if g.rng.IntN(10) < hot {
			l = g.rng.IntN(3)
		}
		g.labels = append(g.labels, fmt.Sprintf("L%d", l))
	}
	for len(g.edges) < manyEdges {
		g.insert()
	}
	return g
}

// end draws a vertex with a probability that falls with its number.
func (g *manyGraph) end() int {
	x := g.rng.Float64()
	return int(x * x * x * manyVertices)
}

func (g *manyGraph) insert() dyngraph.Update {
	for {
		a, b := g.end(), g.end()
		if a > b {
			a, b = b, a
		}
		if e := [2]int{a, b}; a != b && !g.has[e] {
			g.has[e] = true
			g.edges = append(g.edges, e)
			g.adj[a], g.adj[b] = append(g.adj[a], b), append(g.adj[b], a)
			return dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(a), FromLabel: g.labels[a],
				To: fmt.Sprint(b), ToLabel: g.labels[b]}
		}
	}
}

func (g *manyGraph) remove() dyngraph.Update {
	at := g.rng.IntN(len(g.edges))
	e := g.edges[at]
	g.edges[at] = g.edges[len(g.edges)-1]
	g.edges = g.edges[:len(g.edges)-1]
	delete(g.has, e)
	return dyngraph.Update{Op: dyngraph.DeleteEdge, From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1])}
}

// load returns insertions of all edges, and of a copy of them that no update touches, with labels of its own.
func (g *manyGraph) load() []dyngraph.Message {
	var msgs []dyngraph.Message
	for _, e := range g.edges {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(e[0]), FromLabel: g.labels[e[0]],
			To: fmt.Sprint(e[1]), ToLabel: g.labels[e[1]]}
		still := u
		still.From, still.To, still.FromLabel, still.ToLabel = "s"+u.From, "s"+u.To, stillLabel(u.FromLabel),
			stillLabel(u.ToLabel)
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u, still}})
	}
	return msgs
}

// stillLabel returns the name of a label in the part of the graph that no update touches.
func stillLabel(l string) string { return "S" + l }

// unmet draws patterns of which the first five are like those of patterns, and no update fits the others: they have
// their matches in the part of the graph that no update touches.
func (g *manyGraph) unmet(b *testing.B, n int) []*matcher.Query {
	qs := g.patterns(b, n)
	for _, q := range qs[5:] {
		for i := range q.Vertices {
			q.Vertices[i].Label = stillLabel(q.Vertices[i].Label)
		}
	}
	return qs
}

// barren draws patterns of which the first five are like those of patterns, and the others never match, though
// updates fit their edges: each asks for one neighbour more that no vertex has.
func (g *manyGraph) barren(b *testing.B, n int) []*matcher.Query {
	qs := g.patterns(b, n)
	for _, q := range qs[5:] {
		q.Vertices = append(q.Vertices,
			matcher.QueryVertex{Name: "none", Label: stillLabel(g.labels[g.rng.IntN(manyVertices)])})
		addEdge(q, g.rng.IntN(len(q.Vertices)-1), len(q.Vertices)-1)
	}
	return qs
}

func (g *manyGraph) next(n int) []dyngraph.Message {
	msgs := make([]dyngraph.Message, n)
	for i := range msgs {
		if i%2 == 0 {
			msgs[i].Updates = []dyngraph.Update{g.insert()}
		} else {
			msgs[i].Updates = []dyngraph.Update{g.remove()}
		}
	}
	return msgs
}

// cut returns a pattern of n vertices that the graph has: a walk, and perhaps some more edges among its vertices.
func (g *manyGraph) cut(n int) *matcher.Query {
	walk := []int{g.rng.IntN(manyVertices)}
	q := &matcher.Query{Vertices: []matcher.QueryVertex{{Name: "u0", Label: g.labels[walk[0]]}}}
	for tries := 0; len(walk) < n; tries++ {
		if tries == 100 {
			return g.cut(n)
		}
		from := g.rng.IntN(len(walk))
		near := g.adj[walk[from]]
		if len(near) == 0 {
			return g.cut(n)
		}
		to := near[g.rng.IntN(len(near))]
		if slices.Contains(walk, to) || !g.has[[2]int{min(walk[from], to), max(walk[from], to)}] {
			continue
		}
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", len(walk)), Label: g.labels[to]})
		for k, v := range walk {
			if k == from || g.has[[2]int{min(v, to), max(v, to)}] && g.rng.IntN(2) == 0 {
				addEdge(q, k, len(walk))
			}
		}
		walk = append(walk, to)
	}
	return q
}

func addEdge(q *matcher.Query, from, to int) {
	q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", len(q.Edges)), From: from, To: to, Either: true})
}

// patterns draws distinct patterns of 4 to 6 vertices that occur in the graph, but not often.
func (g *manyGraph) patterns(b *testing.B, n int) []*matcher.Query {
	return g.selective(b, n, 100, func() *matcher.Query { return g.cut(4 + g.rng.IntN(3)) })
}

// selective draws distinct queries with at most so many matches.
func (g *manyGraph) selective(b *testing.B, n int, most uint64, draw func() *matcher.Query) []*matcher.Query {
	drawn := g.distinct(4*n, draw)
	be, planner := cpu.New(cpu.Options{Threads: 1}), plan.New()
	bench := matchertest.NewBench(b, false, planner, drawn, be)
	bench.Stage(g.load())
	bench.Commit()
	var qs []*matcher.Query
	for i, p := range bench.Plans() {
		res, err := be.Enumerate(b.Context(), dyngraph.New, p, matcher.WantCount, 0, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if res.Count.Cmp(matcher.CountOf(most)) <= 0 && len(qs) < n {
			qs = append(qs, drawn[i])
		}
	}
	if len(qs) < n {
		b.Fatalf("%d of %d patterns are selective", len(qs), len(drawn))
	}
	return qs
}

// family draws distinct patterns that begin alike: the path L0-L1-L2-L0, and one or two vertices joined to its last
// one.
func (g *manyGraph) family(_ *testing.B, n int) []*matcher.Query {
	return g.distinct(n, func() *matcher.Query {
		q := &matcher.Query{}
		for i, l := range []string{"L0", "L1", "L2", "L0"} {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: l})
			if i > 0 {
				addEdge(q, i-1, i)
			}
		}
		for i := range 2 {
			q.Vertices = append(q.Vertices,
				matcher.QueryVertex{Name: fmt.Sprint("u", 4+i), Label: fmt.Sprintf("L%d", 3+g.rng.IntN(manyLabels-3))})
			addEdge(q, 3, 4+i)
		}
		return q
	})
}

// triangles draws distinct patterns that begin alike: a triangle, a vertex joined to it, and two more joined to that.
func (g *manyGraph) triangles(_ *testing.B, n int) []*matcher.Query {
	return g.distinct(n, func() *matcher.Query {
		q := &matcher.Query{}
		for i, l := range []string{"L0", "L1", "L2"} {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: l})
		}
		addEdge(q, 0, 1)
		addEdge(q, 1, 2)
		addEdge(q, 0, 2)
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: "u3", Label: "L0"})
		addEdge(q, 2, 3)
		for i := range 2 {
			q.Vertices = append(q.Vertices,
				matcher.QueryVertex{Name: fmt.Sprint("u", 4+i), Label: fmt.Sprintf("L%d", 3+g.rng.IntN(manyLabels-3))})
			addEdge(q, 3, 4+i)
		}
		return q
	})
}

func (g *manyGraph) distinct(n int, draw func() *matcher.Query) []*matcher.Query {
	seen := map[string]bool{}
	var qs []*matcher.Query
	for len(qs) < n {
		q := draw()
		var key strings.Builder
		for _, v := range q.Vertices {
			key.WriteString(v.Label + " ")
		}
		for _, e := range q.Edges {
			fmt.Fprint(&key, e.From, e.To, " ")
		}
		if seen[key.String()] {
			continue
		}
		seen[key.String()] = true
		q.Name = fmt.Sprintf("q%04d", len(qs))
		qs = append(qs, q)
	}
	return qs
}

// manyEngine is an engine with registered queries.
type manyEngine struct {
	b       *testing.B
	e       *matcher.Engine
	number  uint64
	records uint64
	ns      []float64 // processor time for one update, by block
}

func newManyEngine(b *testing.B, load []dyngraph.Message, queries []*matcher.Query, emit matcher.Emit) *manyEngine {
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{}),
		Backend: cpu.New(cpu.Options{Threads: 1})})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	m := &manyEngine{b: b, e: e}
	m.start(load, queries, emit)
	return m
}

// start loads a graph and registers queries.
func (m *manyEngine) start(load []dyngraph.Message, queries []*matcher.Query, emit matcher.Emit) {
	m.step(load)
	var states []matcher.QueryState
	for _, q := range queries {
		c := *q
		c.Version, c.Emit = 1, emit
		states = append(states, matcher.QueryState{Query: &c})
	}
	if err := m.e.Restore(m.b.Context(), states); err != nil {
		m.b.Fatal(err)
	}
}

func (m *manyEngine) step(msgs []dyngraph.Message) {
	m.number++
	updates, rejects := m.e.Accept(msgs)
	if len(rejects) > 0 {
		m.b.Fatal(rejects[0].Err)
	}
	s, err := m.e.Step(m.b.Context(), &matcher.Batch{Number: m.number, Updates: updates},
		func(*matcher.Event) error { return nil }, nil)
	if err != nil {
		m.b.Fatal(err)
	}
	m.records += s.Records
}

// block steps over the messages in batches and notes the processor time of an update.
func (m *manyEngine) block(msgs []dyngraph.Message, batch int) {
	began := processor(m.b)
	for part := range slices.Chunk(msgs, batch) {
		m.step(part)
	}
	m.ns = append(m.ns, float64(processor(m.b)-began)/float64(len(msgs)))
}

// processor returns the processor time of the process in nanoseconds: others on the machine do not lengthen it.
func processor(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// BenchmarkManyQueries steps an engine with 5 registered patterns and one with 500, which have these 5 among them,
// over the same updates by turns, and reports the processor time for an update of either and the ratio: medians over
// blocks of 2,000.
func BenchmarkManyQueries(b *testing.B) {
	for _, c := range []struct {
		name    string
		hot     int
		queries func(*manyGraph, *testing.B, int) []*matcher.Query
	}{{"unmet", 0, (*manyGraph).unmet}, {"barren", 0, (*manyGraph).barren}, {"distinct", 0, (*manyGraph).patterns},
		{"family", 0, (*manyGraph).family}, {"triangles", 1, (*manyGraph).triangles}} {
		for _, emit := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts} {
			for _, batch := range []int{1, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%s/batch=%d", c.name, emit, batch), func(b *testing.B) {
					g := newManyGraph(7, c.hot)
					load, queries := g.load(), c.queries(g, b, 500)
					few, many := newManyEngine(b, load, queries[:5], emit), newManyEngine(b, load, queries, emit)
					for _, m := range []*manyEngine{few, many} {
						m.records, m.ns = 0, nil
					}
					var ratio []float64
					updates := 0
					for b.Loop() {
						msgs := g.next(2000)
						few.block(msgs, batch)
						many.block(msgs, batch)
						updates += len(msgs)
						ratio = append(ratio, many.ns[len(many.ns)-1]/few.ns[len(few.ns)-1])
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(few.ns), "5-ns/update")
					b.ReportMetric(median(many.ns), "500-ns/update")
					b.ReportMetric(median(ratio), "ratio")
					b.ReportMetric(float64(few.records)/float64(updates), "5-records/update")
					b.ReportMetric(float64(many.records)/float64(updates), "500-records/update")
				})
			}
		}
	}
}

// BenchmarkRegister registers and removes a query in a graph, beside 500 others.
func BenchmarkRegister(b *testing.B) {
	for _, others := range []int{0, 500} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			g := newManyGraph(7, 0)
			queries := g.patterns(b, others+100)
			m := newManyEngine(b, g.load(), queries[:others], matcher.EmitDeltas)
			began, n := processor(b), 0
			for b.Loop() {
				q := queries[others+n%100]
				n++
				for _, ch := range []*matcher.QueryChange{{Add: q}, {Remove: q.Name}} {
					prepared, err := m.e.PrepareChange(ch)
					if err != nil {
						b.Fatal(err)
					}
					m.number++
					if _, err := m.e.Step(b.Context(), &matcher.Batch{Number: m.number, Change: prepared},
						func(*matcher.Event) error { return nil }, nil); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(processor(b)-began)/float64(n), "cpu-ns/query")
		})
	}
}
