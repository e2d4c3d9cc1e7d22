package backtrack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
)

// densePattern draws a pattern of few labels whose vertices are mostly joined, so that many map to each other by
// automorphisms.
func densePattern(rng *rand.Rand, name string, labels int) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1}
	for v := range 4 + rng.IntN(3) {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v),
			Label: fmt.Sprint("L", rng.IntN(labels))})
		for u := range v {
			if u == v-1 || rng.IntN(5) < 3 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", u, v), From: u, To: v, Either: true})
			}
		}
	}
	return q
}

// directedTree draws a pattern of few labels without a cycle, so that each step of its orders has one back edge.
func directedTree(rng *rand.Rand, name string, labels int) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1}
	for v := range 3 + rng.IntN(2) {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v),
			Label: fmt.Sprint("L", rng.IntN(labels))})
		if v > 0 {
			ends := [2]int{rng.IntN(v), v}
			from := rng.IntN(2)
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", v), From: ends[from], To: ends[1-from],
				Label: "T"})
		}
	}
	return q
}

// denseGraph is a graph whose edges are drawn, of vertices with few labels. With parallel, two vertices have up to
// three edges of one label.
type denseGraph struct {
	rng      *rand.Rand
	parallel bool
	edges    map[denseEdge]bool
}

type denseEdge struct{ u, v, id int }

const denseVertices, denseLabels = 12, 2

func (x *denseGraph) vertices() (updates []dyngraph.Update) {
	for v := range denseVertices {
		updates = append(updates, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v),
			Label: fmt.Sprint("L", x.rng.IntN(denseLabels))})
	}
	return updates
}

// changes draws insertions and deletions: one of n pairs of vertices changes.
func (x *denseGraph) changes(n int) (updates []dyngraph.Update) {
	for v := range denseVertices {
		for u := range v {
			if x.rng.IntN(n) > 0 {
				continue
			}
			op, e := dyngraph.InsertEdge, denseEdge{u: u, v: v}
			update := dyngraph.Update{From: fmt.Sprint(u), To: fmt.Sprint(v)}
			if x.parallel {
				e.id = x.rng.IntN(3)
				update.Label, update.Attr.ID = "T", fmt.Sprint(e.id)
			}
			if x.edges[e] {
				op = dyngraph.DeleteEdge
			}
			x.edges[e], update.Op = !x.edges[e], op
			updates = append(updates, update)
		}
	}
	return updates
}

// anchoredRows are the rows of an order from a net edge.
type anchoredRows struct {
	order        *program.Order
	net          uint32
	whole, parts [][]uint32 // of one search, and of all parts
}

// givenPart is a part of a search.
type givenPart struct {
	*Part
	of *anchoredRows
}

// TestPartsAreResumedInAnySearch: the parts that searches give away make, together with what is left of these, the rows
// that a search makes by itself, whatever the search that resumes a part has searched before: its frames hold
// candidates of other anchors, orders, patterns and batches.
func TestPartsAreResumedInAnySearch(t *testing.T) {
	var ofMembers, ofClasses, ofParallel int
	seen := func() bool { return ofMembers > 0 && ofClasses > 0 && ofParallel > 0 }
	matchertest.ForSeedsUntil(t, 24, seen, func(t *testing.T, rng *rand.Rand) {
		graph := &denseGraph{rng, rng.IntN(2) == 0, map[denseEdge]bool{}}
		draw := densePattern
		if graph.parallel {
			draw = directedTree
		}
		var queries []*matcher.Query
		for i := range 4 {
			queries = append(queries, draw(rng, fmt.Sprint("q", i), denseLabels))
		}
		opt := dyngraph.Options{Directed: graph.parallel, EdgeIDs: graph.parallel}
		x := newFixture(t, opt, slices.Concat(graph.vertices(), graph.changes(2), graph.changes(2)), queries...)
		var at *anchoredRows
		var waiting []givenPart
		hungry := new(atomic.Int32)
		hungry.Store(1)
		sharing := work.Sharing{Hungry: hungry, Wanted: func() bool { return rng.IntN(3) > 0 },
			Give: func(p any) { waiting = append(waiting, givenPart{p.(*Part), at}) }}
		giver, takers := new(Search), []*Search{{}, {}}
		for range 6 {
			x.stage(graph.changes(8)...)
			for _, s := range append(takers, giver) {
				x.attach(s).Sharing = sharing
			}
			var all []*anchoredRows
			for i := range x.delta.Net {
				n := &x.delta.Net[i]
				for _, o := range x.orders {
					at = &anchoredRows{order: o, net: uint32(i)}
					all = append(all, at)
					whole := x.attach(new(Search))
					at.whole = x.rows(whole, o, func() { whole.FromAnchor(o, n, at.net) })
					at.parts = x.rows(giver, o, func() { giver.FromAnchor(o, n, at.net) })
				}
			}
			for len(waiting) > 0 {
				i := rng.IntN(len(waiting))
				p := waiting[i]
				waiting = slices.Delete(waiting, i, i+1)
				if f := p.o.Steps[p.level]; graph.parallel && f.Simple {
					ofParallel++
				}
				if p.o.Members != nil {
					ofClasses++
				} else if p.o != p.of.order {
					ofMembers++
				}
				at = p.of
				taker := takers[rng.IntN(len(takers))]
				at.parts = append(at.parts, x.rows(taker, p.o, func() { taker.Resume(p.Part) })...)
			}
			for _, a := range all {
				slices.SortFunc(a.whole, slices.Compare)
				slices.SortFunc(a.parts, slices.Compare)
				require.Equal(t, a.whole, a.parts, "%s from net edge %d", a.order.Plan.Query.Name, a.net)
			}
			for _, s := range append(takers, giver) {
				s.Detach()
			}
			x.commit()
		}
	})
}

// TestFramesEndWithTheirBatch: a search reads no frame that an earlier batch filled for the same order, net edge and
// images.
func TestFramesEndWithTheirBatch(t *testing.T) {
	edge := func(op dyngraph.Op, from, to string) dyngraph.Update {
		return dyngraph.Update{Op: op, From: from, FromLabel: "L", To: to, ToLabel: "L"}
	}
	q := &matcher.Query{Name: "triangle", Version: 1}
	for i := range 3 {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: "L"})
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i, To: (i + 1) % 3, Either: true})
	}
	var graph []dyngraph.Update
	for _, e := range []string{"ac", "bc", "de", "ef", "fd", "bd", "ce"} { // each vertex keeps two neighbors
		graph = append(graph, edge(dyngraph.InsertEdge, e[:1], e[1:]))
	}
	x := newFixture(t, dyngraph.Options{}, graph, q)
	s := new(Search)
	rows := func() int {
		x.stage(edge(dyngraph.InsertEdge, "a", "b"))
		defer x.abort()
		x.attach(s)
		defer s.Detach()
		return len(x.rows(s, x.orders[0], func() { s.FromAnchor(x.orders[0], &x.delta.Net[0], 0) }))
	}
	before := rows()
	require.Positive(t, before)
	require.Equal(t, before, rows())
	x.stage(edge(dyngraph.DeleteEdge, "b", "c"))
	x.commit()
	require.Zero(t, rows())
}
