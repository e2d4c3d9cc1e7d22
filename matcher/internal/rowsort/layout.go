package rowsort

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Layout describes the rows of a query: vertex ids in pattern order, then edges in pattern order. It compares rows in
// canonical order (DESIGN S7).
type Layout struct {
	// View tells the identities of edges. Determined layouts do not need it.
	View dyngraph.View
	// Vertices and Edges are the numbers of columns.
	Vertices, Edges int
	// Determined reports that the vertices of a row determine its edges, so that no two rows have the same vertices.
	Determined bool
	// later[k] lists the columns of the edges that the first k vertices do not determine.
	later [][]int
}

// NewLayout returns the layout of the rows of a plan.
func NewLayout(view dyngraph.View, p *matcher.Plan) *Layout {
	l := &Layout{View: view, Vertices: len(p.Query.Vertices), Edges: len(p.Query.Edges), Determined: true}
	for i, e := range p.Query.Edges {
		if matcher.SeveralLabels(p.EdgeLabels[i]) || p.Directed && e.Either || p.Several[i] {
			l.Determined = false
		}
	}
	behind := make([]int, l.Edges)
	for i, e := range p.Query.Edges {
		behind[i] = 1 + max(e.From, e.To)
	}
	l.findLater(behind)
	return l
}

// NewJointLayout returns the layout of the rows of several plans together: the plan's number in the first column, then
// its vertices and edges, with room for those of the last plan, which has most. A column that a plan has no vertex or
// edge for is equal in all of its rows.
func NewJointLayout(view dyngraph.View, plans []*matcher.Plan) *Layout {
	most := plans[len(plans)-1].Query
	l := &Layout{View: view, Vertices: 1 + len(most.Vertices), Edges: len(most.Edges), Determined: true}
	behind := make([]int, l.Edges)
	for _, p := range plans {
		l.Determined = l.Determined && NewLayout(view, p).Determined
		for i, e := range p.Query.Edges {
			behind[i] = max(behind[i], 2+max(e.From, e.To))
		}
	}
	l.findLater(behind)
	return l
}

// findLater fills in later: behind is, by edge, how many first vertices hold its ends.
func (l *Layout) findLater(behind []int) {
	for k := range l.Vertices + 1 {
		var columns []int
		for i, n := range behind {
			if !l.Determined || n > k {
				columns = append(columns, l.Vertices+i)
			}
		}
		l.later = append(l.later, columns)
	}
}

// Width returns the number of columns of a row.
func (l *Layout) Width() int { return l.Vertices + l.Edges }

// Compare compares two rows.
func (l *Layout) Compare(a, b []uint32) int {
	if c := slices.Compare(a[:l.Vertices], b[:l.Vertices]); c != 0 || l.Determined {
		return c
	}
	return l.compareEdges(a, b)
}

// compareEdges compares the edges of two rows, one by one, by identity.
func (l *Layout) compareEdges(a, b []uint32) int {
	for i := l.Vertices; i < l.Vertices+l.Edges; i++ {
		if c := l.View.CompareEdges(dyngraph.EdgeIndex(a[i]), dyngraph.EdgeIndex(b[i])); c != 0 {
			return c
		}
	}
	return 0
}
