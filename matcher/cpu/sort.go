package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
)

// compareEdges orders edges by identity: from, to, label, as dense ids (DESIGN S7).
func compareEdges(view dyngraph.View, a, b dyngraph.EdgeIndex) int {
	if a == b {
		return 0
	}
	af, at, al := view.Edge(a)
	bf, bt, bl := view.Edge(b)
	return cmp.Or(cmp.Compare(af, bf), cmp.Compare(at, bt), cmp.Compare(al, bl))
}

// rowOrder compares rows: vertex ids in pattern order, then edge identities (DESIGN S7).
type rowOrder struct {
	view            dyngraph.View
	vertices, edges int
	// simple tells that the vertices determine the edges.
	simple bool
	// later[k] are the columns of the edges that the first k vertices do not determine.
	later [][]int
}

func newRowOrder(view dyngraph.View, p *matcher.Plan) *rowOrder {
	o := &rowOrder{view: view, vertices: len(p.Query.Vertices), edges: len(p.Query.Edges), simple: true}
	for i, e := range p.Query.Edges {
		if p.EdgeLabels[i] == matcher.AnyLabel || p.Directed && e.Either {
			o.simple = false
		}
		for j := range i {
			if program.Parallel(p.Query, i, j) {
				o.simple = false
			}
		}
	}
	for k := range o.vertices + 1 {
		var columns []int
		for i, e := range p.Query.Edges {
			if !o.simple || max(e.From, e.To) >= k {
				columns = append(columns, o.vertices+i)
			}
		}
		o.later = append(o.later, columns)
	}
	return o
}

func (o *rowOrder) width() int { return o.vertices + o.edges }

func (o *rowOrder) compare(a, b []uint32) int {
	if c := slices.Compare(a[:o.vertices], b[:o.vertices]); c != 0 || o.simple {
		return c
	}
	return o.compareEdgesOf(a, b)
}

// compareEdgesOf compares the edges of two rows, by identity.
func (o *rowOrder) compareEdgesOf(a, b []uint32) int {
	for i := o.vertices; i < o.vertices+o.edges; i++ {
		if c := compareEdges(o.view, dyngraph.EdgeIndex(a[i]), dyngraph.EdgeIndex(b[i])); c != 0 {
			return c
		}
	}
	return 0
}
