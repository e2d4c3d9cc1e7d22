package matchertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// Answer is a backend's answer to one Search: a line for each row, with its group, and its results.
type Answer struct {
	Rows    []Row
	Results []matcher.Result
	Over    []matcher.Group // that were left out: Request and Order only
	goOn    bool
}

// Row is one row of one group, in ids that do not depend on how the graph numbers its edges.
type Row struct {
	Request int
	Order   uint32
	Match   Match
	Line    string
}

// Bench stages batches in a graph and has one backend or several search them, without an Engine.
type Bench struct {
	t        testing.TB
	Graph    *dyngraph.Graph
	planner  matcher.Planner
	queries  []*matcher.Query
	plans    []*matcher.Plan
	backends []matcher.Backend
	// GoOn has a request go on behind a group that is beyond its budget; otherwise it is stopped there.
	GoOn bool

	expiry expiry
}

// NewBench loads the backends from an empty graph and prepares them for the queries, which must be sorted by name.
func NewBench(t testing.TB, directed bool, planner matcher.Planner, queries []*matcher.Query,
	backends ...matcher.Backend) *Bench {
	t.Helper()
	return NewBenchOf(t, dyngraph.NewGraph(dyngraph.Options{Directed: directed}), planner, queries, backends...)
}

// NewBenchOf is NewBench over an empty graph of the caller's.
func NewBenchOf(t testing.TB, g *dyngraph.Graph, planner matcher.Planner, queries []*matcher.Query,
	backends ...matcher.Backend) *Bench {
	t.Helper()
	b := &Bench{t: t, Graph: g, planner: planner, queries: queries, backends: backends}
	for _, be := range backends {
		b.must(be.Load(b.Graph))
	}
	b.plan()
	return b
}

func (b *Bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *Bench) plan() {
	b.t.Helper()
	b.plans = b.plans[:0]
	for _, q := range b.queries {
		p, err := b.planner.Plan(q, b.Graph)
		b.must(err)
		b.plans = append(b.plans, p)
	}
	for _, be := range b.backends {
		b.must(be.Prepare(b.plans))
	}
}

// Plans returns the plans in force, by query.
func (b *Bench) Plans() []*matcher.Plan { return b.plans }

// Replan plans the queries anew, between batches: in a graph that is not empty, as most queries are registered.
func (b *Bench) Replan() { b.plan() }

// Stage accepts the messages and stages them in the graph and in every backend.
func (b *Bench) Stage(msgs []dyngraph.Message) *dyngraph.Delta {
	b.t.Helper()
	b.expiry.horizons(b.Graph, msgs)
	b.Graph.ListVertices(slices.ContainsFunc(b.queries, (*matcher.Query).IsVertex))
	updates, _ := b.Graph.Accept(msgs)
	delta, err := b.Graph.Stage(updates)
	b.must(err)
	if delta.NewTriples || delta.NewParallel {
		b.plan()
	}
	for _, be := range b.backends {
		b.must(be.Stage(delta))
	}
	return delta
}

// Commit ends the batch.
func (b *Bench) Commit() {
	b.t.Helper()
	for _, be := range b.backends {
		b.must(be.Commit())
	}
	b.Graph.Commit()
}

// Abort ends the batch as if it had not been.
func (b *Bench) Abort() {
	b.t.Helper()
	for _, be := range b.backends {
		b.must(be.Abort())
	}
	b.Graph.Abort()
}

// Requests makes one request of each plan.
func (b *Bench) Requests(f func(i int, r *matcher.Request)) []matcher.Request {
	reqs := make([]matcher.Request, len(b.plans))
	for i, p := range b.plans {
		reqs[i] = matcher.Request{Plan: p, Before: matcher.AllOrders}
		if p.Query.SilentChange {
			reqs[i].Silence = &matcher.Silence{}
		}
		if f != nil {
			f(i, &reqs[i])
		}
	}
	return reqs
}

// Search has one backend search the staged batch.
func (b *Bench) Search(be matcher.Backend, sign dyngraph.Sign, reqs []matcher.Request) *Answer {
	b.t.Helper()
	view := b.Graph.View(dyngraph.New)
	if sign == dyngraph.Deleted {
		view = b.Graph.View(dyngraph.Old)
	}
	a := &Answer{goOn: b.GoOn}
	var err error
	a.Results, err = be.Search(context.Background(), sign, reqs, func(g matcher.Group) error {
		for i := range g.Rows.Len() {
			m := MatchOf(view, g.Rows, i)
			a.Rows = append(a.Rows, Row{g.Request, g.Order, m,
				fmt.Sprintf("%d %s %s", g.Order, reqs[g.Request].Plan.Query.Name, RowLine(view, g.Rows, i))})
		}
		return nil
	}, func(request int, order uint32, cause matcher.Cause) (bool, error) {
		a.Over = append(a.Over, matcher.Group{Request: request, Order: order})
		return !a.goOn, nil
	})
	b.must(err)
	if len(a.Results) != len(reqs) {
		b.t.Fatalf("%s: %d results for %d requests", be.Name(), len(a.Results), len(reqs))
	}
	return a
}

// MatchOf returns row i by keys.
func MatchOf(view dyngraph.View, rows matcher.Rows, i int) Match {
	var m Match
	for v := range rows.Vertices {
		m.Vertices = append(m.Vertices, vertexOf(view, rows.Vertex(i, v)))
	}
	for e := range rows.Edges {
		m.Edges = append(m.Edges, EdgeOf(view, rows.Edge(i, e)))
	}
	return m
}

func vertexOf(view dyngraph.View, v dyngraph.VertexID) Vertex {
	return Vertex{view.Key(v), view.LabelName(view.Label(v))}
}

// EdgeOf returns an edge by keys.
func EdgeOf(view dyngraph.View, e dyngraph.EdgeIndex) Edge {
	from, to, label := view.Edge(e)
	a, b := vertexOf(view, from), vertexOf(view, to)
	if !view.Graph().Directed() && a.Key > b.Key {
		a, b = b, a
	}
	name := view.LabelName(label)
	values := declaredOf(view.Graph().Columns(), name, func(column int) property.Value { return view.Value(e, column) })
	id := ""
	if view.Graph().Options().EdgeIDs {
		id = view.Attr(e).ID
	}
	return Edge{a, b, name, id, values.version()}
}

// RowLine writes row i by ids: vertex ids, then edge identities.
func RowLine(view dyngraph.View, rows matcher.Rows, i int) string {
	var s strings.Builder
	for v := range rows.Vertices {
		fmt.Fprintf(&s, "%d ", rows.Vertex(i, v))
	}
	for e := range rows.Edges {
		from, to, label := view.Edge(rows.Edge(i, e))
		fmt.Fprintf(&s, "|%d %d %d", from, to, label)
		if view.Graph().Options().EdgeIDs {
			fmt.Fprintf(&s, " %q", view.Attr(rows.Edge(i, e)).ID)
		}
	}
	return s.String()
}

// Lines returns the lines of the rows, in order.
func (a *Answer) Lines() []string {
	lines := make([]string, len(a.Rows))
	for i, r := range a.Rows {
		lines[i] = r.Line
	}
	return lines
}

// BarePlanner makes plans that hold the query and nothing else: all that package reference looks at.
type BarePlanner struct{}

// Plan returns a plan without orders.
func (BarePlanner) Plan(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	return &matcher.Plan{Query: q, Directed: g.Directed()}, nil
}

// Static is Plan.
func (p BarePlanner) Static(q *matcher.Query, g *dyngraph.Graph) (*matcher.Plan, error) {
	return p.Plan(q, g)
}
