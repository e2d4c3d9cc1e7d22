package count

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Estimator estimates numbers of images from label statistics.
type Estimator struct {
	Graph    *dyngraph.Graph
	Plan     *Plan
	Quotient *Quotient
}

// MeanDegree returns the mean number of neighbours that an image of block u has along the edge to block v.
func (f *Estimator) MeanDegree(u, v int) float64 {
	x, y := f.Plan.Label(f.Quotient.Members[u]), f.Plan.Label(f.Quotient.Members[v])
	e := f.Quotient.Edge(u, v)
	from, to := x, y
	if e.Dir == dyngraph.In {
		from, to = to, from
	}
	n := 0
	switch {
	case e.Multi != nil || matcher.SeveralLabels(x) || matcher.SeveralLabels(y):
		n = f.matching(e, x, y)
	case x == y && !f.Graph.Directed():
		n = 2 * f.Graph.TripleCount(from, e.Label, to)
	default:
		n = f.Graph.TripleCount(from, e.Label, to)
	}
	return float64(n) / float64(max(1, matcher.VertexCount(f.Graph, x)))
}

// matching counts the data edges that an edge takes between vertices with the labels of its ends, twice where either
// end may be either.
func (f *Estimator) matching(e *Edge, x, y dyngraph.LabelID) (n int) {
	set, g := []MemberEdge{{label: e.Label, Dirs: 1 << e.Dir}}, f.Graph
	if e.Multi != nil {
		set = e.Multi.Sets[0]
	}
	takes := func(t *dyngraph.Triple, d dyngraph.Dir, from, to dyngraph.LabelID) bool {
		fit := matcher.LabelFits(x, from) && matcher.LabelFits(y, to)
		return fit && slices.ContainsFunc(set, func(b MemberEdge) bool {
			return matcher.LabelFits(b.label, t.Edge) && b.Dirs>>d&1 != 0
		})
	}
	in := dyngraph.Out
	if g.Directed() {
		in = dyngraph.In
	}
	for _, t := range g.Triples() {
		if takes(&t, dyngraph.Out, t.Src, t.Dst) {
			n += t.Count
		}
		if takes(&t, in, t.Dst, t.Src) {
			n += t.Count
		}
	}
	return n
}
