package backtrack

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/rowsort"
	"motifd/matcher/plan"
)

// fixture is a graph and the orders of patterns that are searched in it.
type fixture struct {
	t      *testing.T
	g      *dyngraph.Graph
	shared Shared
	keys   program.ListKeys
	orders []*program.Order
	layout map[*matcher.Plan]*rowsort.Layout
	filter candidates.Filter
	delta  *dyngraph.Delta // staged
	stop   atomic.Bool
	out    rowsort.Sorter
}

// newFixture makes a graph and compiles patterns with the default planner, which coalesces orders.
func newFixture(t *testing.T, opt dyngraph.Options, graph []dyngraph.Update, queries ...*matcher.Query) *fixture {
	x := &fixture{t: t, g: dyngraph.NewGraph(opt), layout: map[*matcher.Plan]*rowsort.Layout{},
		out: rowsort.Sorter{Memory: 1 << 20}}
	_, err := x.g.Stage(graph)
	require.NoError(t, err)
	x.g.Commit()
	h := &x.shared
	h.Graph, h.Work = x.g, &work.Options{Threads: 1}
	h.Filter, h.Neighbors = &x.filter, new(neighbors.Cache)
	x.filter.Load(x.g)
	h.Neighbors.Load(int(x.g.IDBound()))
	var plans []*matcher.Plan
	planner := plan.New()
	for _, q := range queries {
		p, err := planner.Plan(q, x.g)
		require.NoError(t, err)
		plans = append(plans, p)
	}
	x.filter.Prepare(plans)
	for _, p := range plans {
		x.layout[p] = rowsort.NewLayout(x.g.View(dyngraph.New), p)
		for _, o := range program.CompileRows(p, h.Filter, &x.keys, false) {
			if o != nil {
				x.orders = append(x.orders, o)
			}
		}
	}
	return x
}

func (x *fixture) outdate() {
	x.shared.Neighbors.Outdate(x.g, x.delta, x.filter.Changed(), &x.keys)
}

func (x *fixture) stage(updates ...dyngraph.Update) {
	var err error
	x.delta, err = x.g.Stage(updates)
	require.NoError(x.t, err)
	x.filter.Stage(x.delta)
	x.outdate()
}

func (x *fixture) commit() {
	x.filter.Commit()
	x.outdate()
	x.g.Commit()
}

func (x *fixture) abort() {
	x.filter.Abort()
	x.outdate()
	x.g.Abort()
}

// attach makes a search ready for the staged batch.
func (x *fixture) attach(s *Search) *Search {
	s.Attach(&x.shared, &x.stop, matcher.WantRows)
	return s
}

// rows runs a search of an order and returns its rows.
func (x *fixture) rows(s *Search, o *program.Order, run func()) (rows [][]uint32) {
	layout := x.layout[o.Plan]
	x.out.Overflow = func() {
		arrived := x.out.Arrived()
		for w := layout.Width(); len(arrived) > 0; arrived = arrived[w:] {
			rows = append(rows, arrived[:w:w])
		}
		x.out.Discard()
	}
	x.out.Begin(layout, 0, nil)
	s.Out = &x.out
	run()
	x.out.Overflow()
	require.False(x.t, s.Stopped)
	return rows
}
