package plan

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// statistics are the label statistics that orders are chosen by (DESIGN A4). What was read of a graph is kept for the
// next plan, as long as the graph's statistics stay what they are.
type statistics struct {
	g       *dyngraph.Graph
	version uint64

	read    bool // triples are there
	triples []dyngraph.Triple
	labels  []dyngraph.LabelID // of edges
}

// of returns the statistics of a graph: these, if they still hold.
func (s *statistics) of(g *dyngraph.Graph) *statistics {
	if s != nil && s.g == g && s.version == g.StatsVersion() {
		return s
	}
	s = &statistics{g: g, version: g.StatsVersion()}
	for l := range dyngraph.LabelID(g.Labels()) {
		if g.HasEdgeLabel(l) {
			s.labels = append(s.labels, l)
		}
	}
	return s
}

func (s *statistics) all() []dyngraph.Triple {
	if !s.read {
		s.read, s.triples = true, s.g.Triples()
	}
	return s.triples
}

// narrow replaces a wildcard, or alternatives, of an edge by the only label of them that edges between such ends carry,
// if there is only one: a range of one label is contiguous and sorted, several are neither. Of more alternatives it
// keeps those. A later batch that brings another label makes the engine plan again (dyngraph.Delta.NewTriples).
func (s *statistics) narrow(wanted, from, to dyngraph.LabelID, either bool) dyngraph.LabelID {
	either = either || !s.g.Directed()
	var room [4]dyngraph.LabelID
	found := room[:0]
	if !matcher.SeveralLabels(from) && !matcher.SeveralLabels(to) {
		for _, l := range s.labels { // there are fewer than triples
			if s.g.TripleCount(from, l, to) > 0 || either && s.g.TripleCount(to, l, from) > 0 {
				found = append(found, l)
			}
		}
	} else {
		for _, t := range s.all() {
			if matcher.LabelFits(from, t.Src) && matcher.LabelFits(to, t.Dst) || either &&
				matcher.LabelFits(from, t.Dst) && matcher.LabelFits(to, t.Src) {
				found = append(found, t.Edge)
			}
		}
	}
	found = slices.DeleteFunc(found, func(l dyngraph.LabelID) bool { return !matcher.LabelFits(wanted, l) })
	switch {
	case wanted != matcher.AnyLabel:
		return matcher.LabelSet(slices.Clone(found)...) // so that room stays on the stack
	case len(found) == 0:
		return matcher.UnknownLabel
	case slices.ContainsFunc(found, func(l dyngraph.LabelID) bool { return l != found[0] }):
		return matcher.AnyLabel
	}
	return found[0]
}

// vertices estimates how many data vertices a pattern vertex's label admits.
func (s *statistics) vertices(l dyngraph.LabelID) float64 {
	return float64(matcher.VertexCount(s.g, l))
}

// edges estimates the number of data edges, seen in one direction, that pattern edge e of p admits.
func (s *statistics) edges(p *matcher.Plan, e int) float64 {
	qe := p.Query.Edges[e]
	label := p.EdgeLabels[e]
	from, to := p.VertexLabels[qe.From], p.VertexLabels[qe.To]
	either := qe.Either || !p.Directed
	if !matcher.SeveralLabels(from) && !matcher.SeveralLabels(to) && !matcher.SeveralLabels(label) {
		n := s.g.TripleCount(from, label, to)
		if p.Directed && either && from != to {
			n += s.g.TripleCount(to, label, from)
		}
		return float64(n)
	}
	n := 0.0
	for _, t := range s.all() {
		if !matcher.LabelFits(label, t.Edge) {
			continue
		}
		if matcher.LabelFits(from, t.Src) && matcher.LabelFits(to, t.Dst) {
			n += float64(t.Count)
		}
		if either && (t.Src != t.Dst || matcher.SeveralLabels(from)) && matcher.LabelFits(from, t.Dst) &&
			matcher.LabelFits(to, t.Src) {
			n += float64(t.Count)
		}
	}
	return n
}
