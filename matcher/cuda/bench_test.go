//go:build cuda || emu

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

var (
	benchVertices = flag.Int("motifd.vertices", 37700, "vertices of the benchmark's graph")
	benchDegree   = flag.Int("motifd.edges", 11, "edges tried for each of its vertices")
	benchLabels   = flag.Int("motifd.labels", 5, "labels of the benchmark's graph")
	benchSize     = flag.Int("motifd.size", 6, "vertices of the benchmark's queries")
	benchLimit    = flag.Duration("motifd.limit", 10*time.Second, "time limit of one query on one backend")
)

// world is a generated graph with a batch of insertions and queries cut out of the graph. All from fixed seeds.
type world struct {
	graph   *dyngraph.Graph
	batch   []dyngraph.Update
	queries map[string][]*matcher.Query // by class: dense, sparse, tree

	adj   [][]uint32         // with the batch, by vertex
	label []dyngraph.LabelID // by vertex
}

// classes are the query classes of GAMMA section VI.
var classes = []string{"dense", "sparse", "tree"}

// generate makes an undirected graph by preferential attachment with triangle closure (Holme and Kim 2002), per edges
// for each vertex, with uniformly drawn labels; one of so many edges, drawn at random, is in the batch.
func generate(tb testing.TB, vertices, per, labels, perClass, oneOf int) *world {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	adj := make([][]uint32, vertices)
	ends := make([]uint32, 0, 2*vertices*per)
	has := func(a, b uint32) bool {
		if len(adj[a]) > len(adj[b]) {
			a, b = b, a
		}
		return slices.Contains(adj[a], b)
	}
	join := func(a, b uint32) {
		adj[a], adj[b] = append(adj[a], b), append(adj[b], a)
		ends = append(ends, a, b)
	}
	for v := uint32(1); int(v) < vertices; v++ {
		last := uint32(0)
		for i := range min(per, int(v)) {
			var w uint32
			if near := adj[last]; i > 0 && rng.IntN(3) > 0 && len(near) > 0 {
				w = near[rng.IntN(len(near))]
			} else if len(ends) > 0 {
				w = ends[rng.IntN(len(ends))]
			}
			if w != v && !has(v, w) {
				join(v, w)
				last = w
			}
		}
	}
	l := dyngraph.NewLoader(dyngraph.Options{})
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i := range labels {
		must(l.Label("L" + strconv.Itoa(i)))
	}
	text := writeText(tb, "graph.txt")
	label := make([]dyngraph.LabelID, vertices)
	for v := range label {
		label[v] = dyngraph.LabelID(1 + rng.IntN(labels))
		text.line("v %d %d", v, label[v]-1)
		must(l.Vertex(dyngraph.VertexRecord{ID: dyngraph.VertexID(v), Key: strconv.Itoa(v), Label: label[v]}))
	}
	w := &world{queries: map[string][]*matcher.Query{}, adj: adj, label: label}
	for v := range adj {
		slices.Sort(adj[v])
		for _, to := range adj[v] {
			switch {
			case int(to) < v:
			case rng.IntN(oneOf) == 0:
				w.batch = append(w.batch, dyngraph.Update{Op: dyngraph.InsertEdge, From: strconv.Itoa(v),
					To: strconv.Itoa(int(to))})
			default:
				must(l.Edge(dyngraph.EdgeRecord{From: dyngraph.VertexID(v), To: dyngraph.VertexID(to)}))
				text.line("e %d %d 0", v, to)
			}
		}
	}
	text.close(tb)
	rng.Shuffle(len(w.batch), func(i, j int) { w.batch[i], w.batch[j] = w.batch[j], w.batch[i] })
	g, err := l.Graph()
	must(err)
	w.graph = g
	for _, c := range classes {
		for len(w.queries[c]) < perClass {
			if q := cut(rng, adj, label, c, *benchSize); q != nil {
				q.Name = fmt.Sprintf("%s%02d", c, len(w.queries[c]))
				w.queries[c] = append(w.queries[c], q)
			}
		}
	}
	w.writeRest(tb)
	return w
}

// cut walks at random until it has n vertices and takes the edges between them: all that there are for a dense query,
// which has an average degree of at least 3, some for a sparse one, none but the walk's for a tree.
func cut(rng *rand.Rand, adj [][]uint32, label []dyngraph.LabelID, class string, n int) *matcher.Query {
	at := uint32(rng.IntN(len(adj)))
	chosen := []uint32{at}
	q := &matcher.Query{Version: 1, Emit: matcher.EmitCounts}
	edge := func(i, j int) {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: i, To: j, Either: true})
	}
	for tries := 0; len(chosen) < n; tries++ {
		from := rng.IntN(len(chosen))
		near := adj[chosen[from]]
		if tries > 200 || len(near) == 0 {
			return nil
		}
		w := near[rng.IntN(len(near))]
		if class == "dense" { // the one of some that closes most
			for range 8 {
				x := near[rng.IntN(len(near))]
				if !slices.Contains(chosen, x) && joins(adj, chosen, x) > joins(adj, chosen, w) {
					w = x
				}
			}
		}
		if !slices.Contains(chosen, w) {
			edge(from, len(chosen))
			chosen = append(chosen, w)
		}
	}
	if class != "tree" {
		for i := range chosen {
			for j := range i {
				tree := slices.ContainsFunc(q.Edges, func(e matcher.QueryEdge) bool { return e.From == j && e.To == i })
				if _, ok := slices.BinarySearch(adj[chosen[i]], chosen[j]); ok && !tree &&
					(class == "dense" || len(q.Edges) < n+1) {
					edge(j, i)
				}
			}
		}
	}
	if m := len(q.Edges); class == "dense" && 2*m < 3*n || class == "sparse" && m < n {
		return nil
	}
	for i, v := range chosen {
		q.Vertices = append(q.Vertices,
			matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: fmt.Sprint("L", label[v]-1)})
	}
	return q
}

func joins(adj [][]uint32, chosen []uint32, w uint32) (n int) {
	for _, v := range chosen {
		if _, ok := slices.BinarySearch(adj[v], w); ok {
			n++
		}
	}
	return n
}

// measure searches the staged batch for one query and returns the result and the seconds it took; no seconds when it
// did not end within the limit.
func measure(tb testing.TB, b matcher.Backend, p *matcher.Plan, want matcher.Want, limit time.Duration,
	emit func(matcher.Group) error) (matcher.Result, float64, bool) {
	tb.Helper()
	r, s, ok := measureAll(tb, b, []*matcher.Plan{p}, want, limit, emit)
	if !ok {
		return matcher.Result{}, s, false
	}
	return r[0], s, true
}

// measureAll is measure for plans that are searched together.
func measureAll(tb testing.TB, b matcher.Backend, plans []*matcher.Plan, want matcher.Want, limit time.Duration,
	emit func(matcher.Group) error) ([]matcher.Result, float64, bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	var reqs []matcher.Request
	for _, p := range plans {
		reqs = append(reqs, matcher.Request{Plan: p, Want: want, Before: matcher.AllOrders})
	}
	began := time.Now()
	r, err := b.Search(ctx, dyngraph.Inserted, reqs, emit, nil)
	if ctx.Err() != nil {
		return nil, time.Since(began).Seconds(), false
	}
	if err != nil {
		tb.Fatal(err)
	}
	return r, time.Since(began).Seconds(), true
}
