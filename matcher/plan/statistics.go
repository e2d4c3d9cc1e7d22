package plan

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// statistics are the label statistics that orders are chosen by (DESIGN A4).
type statistics struct {
	g       *dyngraph.Graph
	triples []dyngraph.Triple
}

func newStatistics(g *dyngraph.Graph) *statistics {
	return &statistics{g: g, triples: g.Triples()}
}

// narrow replaces a wildcard edge label by the only label that edges between such ends carry, if there is only one:
// a range of one label is contiguous and sorted, a wildcard is neither. A later batch that brings another label
// makes the engine plan again (dyngraph.Delta.NewTriples).
func (s *statistics) narrow(from, to dyngraph.LabelID, either bool) dyngraph.LabelID {
	found, n := matcher.UnknownLabel, 0
	for _, t := range s.triples {
		fits := Fits(from, t.Src) && Fits(to, t.Dst)
		if either || !s.g.Directed() {
			fits = fits || Fits(from, t.Dst) && Fits(to, t.Src)
		}
		if fits && t.Edge != found {
			found = t.Edge
			n++
		}
	}
	if n > 1 {
		return matcher.AnyLabel
	}
	return found
}

// vertices estimates how many data vertices a pattern vertex's label admits.
func (s *statistics) vertices(l dyngraph.LabelID) float64 {
	switch l {
	case matcher.AnyLabel:
		return float64(s.g.Vertices())
	case matcher.UnknownLabel:
		return 0
	}
	return float64(s.g.VertexLabelCount(l))
}

// fanout estimates the number of data edges that pattern edge e of p offers when one end, at, is mapped.
func (s *statistics) fanout(p *matcher.Plan, e, at int) float64 {
	qe := p.Query.Edges[e]
	label := p.EdgeLabels[e]
	from, to := p.VertexLabels[qe.From], p.VertexLabels[qe.To]
	edges := 0.0
	for _, t := range s.triples {
		if !Fits(label, t.Edge) {
			continue
		}
		if Fits(from, t.Src) && Fits(to, t.Dst) {
			edges += float64(t.Count)
		}
		if (qe.Either || !p.Directed) && (t.Src != t.Dst || from == matcher.AnyLabel) &&
			Fits(from, t.Dst) && Fits(to, t.Src) {
			edges += float64(t.Count)
		}
	}
	return edges / max(1, s.vertices(p.VertexLabels[at]))
}
