package matcher

import "slices"

// MatchMode says which elements of a match must differ (DESIGN S4).
type MatchMode uint8

// The match modes.
const (
	Isomorphism  MatchMode = iota // vertices and edges
	Homomorphism                  // nothing: two elements of the pattern may have one image
	Trail                         // edges; two vertices of the pattern may have one image
)

// String returns the mode as the configuration spells it.
func (m MatchMode) String() string {
	switch m {
	case Homomorphism:
		return "homomorphism"
	case Trail:
		return "trail"
	}
	return "isomorphism"
}

// ComparesEdges reports whether a search must compare the images of some pattern edges.
func (p *Plan) ComparesEdges() bool {
	return slices.ContainsFunc(p.EdgesMustDiffer, func(others []int) bool { return others != nil })
}

// checkMatchMode refuses what a match mode other than Isomorphism does not go with.
func (q *Query) checkMatchMode() error {
	if q.MatchMode == Isomorphism {
		return nil
	}
	bad := func(what, instead string) error {
		return q.bad("match_mode: %s does not go with %s; %s", q.MatchMode, what, instead)
	}
	const without = "leave match_mode out"
	switch {
	case q.MatchMode > Trail:
		return q.bad("there is no match mode %d", q.MatchMode)
	case q.Groups != nil:
		return bad("WITH", without+": across the MATCH clauses of a query with WITH nothing has to differ")
	case q.HasPaths():
		return bad("paths of several lengths", "write a query for each length, with its edges one by one")
	case len(q.Negations) > 0:
		return bad("NOT and NOT EXISTS", without+", or write a query without what is denied")
	case q.Unit == Subgraphs:
		return bad("unit: subgraphs, since a symmetry may map such a match to itself", "write unit: embeddings")
	}
	return nil
}
