package plan

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// mustDiffer returns Plan.MustDiffer: the pairs of vertices that their labels do not keep apart, if they must differ.
func mustDiffer(mode matcher.MatchMode, labels []dyngraph.LabelID) []uint32 {
	sets := make([]uint32, len(labels))
	if mode != matcher.Isomorphism {
		return sets
	}
	for v, x := range labels {
		for w, y := range labels {
			if v != w && matcher.LabelsMeet(x, y) {
				sets[v] |= 1 << w
			}
		}
	}
	return sets
}

// edgesMustDiffer returns Plan.EdgesMustDiffer.
func edgesMustDiffer(p *matcher.Plan) [][]int {
	edges := p.Query.Edges
	lists := make([][]int, len(edges))
	sameImages := func(a, b int) bool { return edges[a].SameEnds(&edges[b]) }
	switch p.Query.MatchMode {
	case matcher.Homomorphism:
		return lists
	case matcher.Trail:
		sameImages = func(a, b int) bool { return mayMeet(p, a, b) }
	default:
		if !hasParallel(edges) {
			return lists
		}
	}
	for a := range edges {
		for b := range a {
			if sameImages(a, b) {
				lists[a], lists[b] = append(lists[a], b), append(lists[b], a)
			}
		}
	}
	return lists
}

// hasParallel reports whether two pattern edges lie between the same vertices.
func hasParallel(edges []matcher.QueryEdge) bool {
	var joined [matcher.MaxVertices]uint32
	for i := range edges {
		low, high := min(edges[i].From, edges[i].To), max(edges[i].From, edges[i].To)
		if joined[low]>>high&1 != 0 {
			return true
		}
		joined[low] |= 1 << high
	}
	return false
}

// mayMeet reports whether some data edge could be the image of two pattern edges, where vertices may share images.
func mayMeet(p *matcher.Plan, a, b int) bool {
	x, y := p.Query.Edges[a], p.Query.Edges[b]
	return matcher.LabelsMeet(p.EdgeLabels[a], p.EdgeLabels[b]) && (merge(p, x.From, y.From, x.To, y.To) ||
		(!p.Directed || x.Either || y.Either) && merge(p, x.From, y.To, x.To, y.From))
}

// merge reports whether pattern vertex a could have the image of b, and c that of d: their labels meet, and no pattern
// edge then leads from a vertex to itself, as no edge of the data does.
func merge(p *matcher.Plan, a, b, c, d int) bool {
	if !matcher.LabelsMeet(p.VertexLabels[a], p.VertexLabels[b]) ||
		!matcher.LabelsMeet(p.VertexLabels[c], p.VertexLabels[d]) {
		return false
	}
	var block [matcher.MaxVertices]int
	for v := range block {
		block[v] = v
	}
	for _, pair := range [2][2]int{{a, b}, {c, d}} {
		from, to := block[pair[0]], block[pair[1]]
		for v := range block {
			if block[v] == from {
				block[v] = to
			}
		}
	}
	for _, e := range p.Query.Edges {
		if block[e.From] == block[e.To] {
			return false
		}
	}
	return true
}
