package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// powerLaw is a random undirected graph whose degrees follow a power law, with vertex labels; and insertions into it.
type powerLaw struct {
	graph, stream []dyngraph.Update
}

func newPowerLaw(seed uint64, vertices, edges, labels, inserted int) *powerLaw {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &powerLaw{}
	for v := range vertices {
		p.graph = append(p.graph, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v),
			Label: fmt.Sprint("L", rng.IntN(labels))})
	}
	draw := func() int { return int(float64(vertices) * math.Pow(rng.Float64(), 2.2)) }
	seen := map[[2]int]bool{}
	var all []dyngraph.Update
	for len(all) < edges {
		a, b := draw(), draw()
		if a, b = min(a, b), max(a, b); a == b || seen[[2]int{a, b}] {
			continue
		}
		seen[[2]int{a, b}] = true
		all = append(all, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(a), To: fmt.Sprint(b)})
	}
	p.graph, p.stream = append(p.graph, all[inserted:]...), all[:inserted]
	return p
}

// patternShape is a pattern: its vertices' labels, its edges, and how many insertions it is searched for.
type patternShape struct {
	name    string
	labels  string
	edges   [][2]int
	updates int
}

// shapes are patterns of 6 vertices that so many insertions make some million matches of.
var shapes = []patternShape{
	{"tree", "012340", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}}, 60},
	{"star", "301234", [][2]int{{5, 0}, {5, 1}, {5, 2}, {5, 3}, {3, 4}}, 60},
	{"path", "443210", [][2]int{{5, 4}, {4, 3}, {3, 2}, {2, 1}, {1, 0}}, 4000},
	{"triangle", "012340", [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {0, 4}, {1, 5}}, 400},
	{"sparse", "012344", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {1, 5}}, 4000},
}

// denseShapes are patterns most of whose vertices are joined to several others.
var denseShapes = []patternShape{
	{"triangle", "010", [][2]int{{0, 1}, {1, 2}, {0, 2}}, 2000},
	{"diamond", "0101", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}, 200},
	{"clique4", "0101", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}}, 200},
	{"clique5", "01010", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}, {4, 0}, {4, 1}, {4, 2}, {4, 3}}, 200},
	{"house", "01010", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}}, 100},
	{"wheel", "00111", [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {2, 3}, {3, 4}}, 100},
}

func shapeQuery(i int) *matcher.Query { return shapes[i].query() }

func (s *patternShape) query() *matcher.Query {
	q := &matcher.Query{Name: s.name, Version: 1}
	for k, l := range s.labels {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", k), Label: "L" + string(l)})
	}
	for k, e := range s.edges {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", k), From: e[0], To: e[1], Either: true})
	}
	return q
}

// bench is a backend over a graph, with one plan.
type bench struct {
	tb      testing.TB
	g       *dyngraph.Graph
	b       *Backend
	plan    *matcher.Plan
	planner plan.Planner
}

func newBench(tb testing.TB, graph []dyngraph.Update, q *matcher.Query, opt Options) *bench {
	tb.Helper()
	return newBenchOf(tb, dyngraph.NewGraph(dyngraph.Options{}), graph, q, opt)
}

// newBenchOf is newBench over an empty graph of the caller's.
func newBenchOf(tb testing.TB, g *dyngraph.Graph, graph []dyngraph.Update, q *matcher.Query, opt Options) *bench {
	tb.Helper()
	x := &bench{tb: tb, g: g, b: New(opt)}
	if _, err := x.g.Stage(graph); err != nil {
		tb.Fatal(err)
	}
	x.g.Commit()
	if err := x.b.Load(x.g); err != nil {
		tb.Fatal(err)
	}
	x.prepare(q)
	return x
}

func (x *bench) prepare(q *matcher.Query) {
	x.tb.Helper()
	var err error
	if x.plan, err = x.planner.Plan(q, x.g); err != nil {
		x.tb.Fatal(err)
	}
	if err := x.b.Prepare([]*matcher.Plan{x.plan}); err != nil {
		x.tb.Fatal(err)
	}
}

// stage stages a batch; done drops it again.
func (x *bench) stage(us []dyngraph.Update) (done func()) {
	x.tb.Helper()
	d, err := x.g.Stage(us)
	if err != nil {
		x.tb.Fatal(err)
	}
	if d.NewTriples {
		x.prepare(x.plan.Query)
	}
	if err := x.b.Stage(d); err != nil {
		x.tb.Fatal(err)
	}
	return func() {
		if err := x.b.Abort(); err != nil {
			x.tb.Fatal(err)
		}
		x.g.Abort()
	}
}

// rows searches the staged batch for rows of the plan.
func (x *bench) rows(emit func(matcher.Group) error) matcher.Result {
	x.tb.Helper()
	res, err := x.b.Search(x.tb.Context(), dyngraph.Inserted,
		[]matcher.Request{{Plan: x.plan, Before: matcher.AllOrders}}, emit,
		func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
	if err != nil {
		x.tb.Fatal(err)
	}
	return res[0]
}
