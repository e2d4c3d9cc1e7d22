package matcher

import (
	"slices"

	"motifd/matcher/condition"
)

// HasPaths reports whether some MATCH has a path of variable length (DESIGN S26).
func (g *Groups) HasPaths() bool { return (&Query{Edges: g.Edges}).HasPaths() }

// ofStage returns the elements of all stages, with what a stage demands of its rows.
func (g *Groups) ofStage(s *Stage) *Query {
	return &Query{Vertices: g.Vertices, Edges: g.Edges, Conditions: s.Conditions, Rises: s.Rises, Spans: s.Spans,
		Negations: s.Negations}
}

// GroupVariants returns the queries whose rows, together, are those of a query with WITH that has paths: one for each
// combination of lengths, ascending. Their paths are written out as those of Query.Variants; their keys, aggregates and
// conditions behind WITH say the same. Two of them have the same rows of a stage whose paths have the same lengths
// (StageLengths). q is valid.
func (q *Query) GroupVariants() (all []*Query) {
	for _, of := range (&Query{Vertices: q.Groups.Vertices, Edges: q.Groups.Edges}).Variants() {
		all = append(all, q.groupVariant(of.variant.lengths))
	}
	return all
}

// groupVariant returns the variant with some lengths of the paths of all stages. It is one of the query of all
// elements: Lengths and Part are about these.
func (q *Query) groupVariant(lengths []int) *Query {
	g := q.Groups
	v, all := *q, *g
	all.Stages = nil
	for s := range g.Stages {
		of := g.ofStage(&g.Stages[s]).variantOf(lengths)
		all.Vertices, all.Edges, v.variant = of.Vertices, of.Edges, of.variant
		all.Stages = append(all.Stages, g.Stages[s].variantOf(of))
	}
	v.Groups = &all
	return &v
}

// variantOf returns a stage of a variant; of has the elements, and the conditions of the stage.
func (s *Stage) variantOf(of *Query) Stage {
	image := of.image(0)
	v := *s
	v.Conditions, v.Negations = of.Conditions, of.Negations
	v.Rises, v.Spans, v.Matches, v.Edges, v.Aggregates = nil, nil, nil, nil, nil
	for _, m := range s.Matches {
		c := MatchClause{Vertices: slices.Clone(m.Vertices)}
		for _, e := range m.Edges {
			edges, inner := of.Part(e)
			for i := edges[0]; i < edges[1]; i++ {
				c.Edges = append(c.Edges, i)
			}
			for i := inner[0]; i < inner[1]; i++ {
				c.Vertices = append(c.Vertices, i)
			}
		}
		v.Matches = append(v.Matches, c)
	}
	for _, e := range s.Edges {
		v.Edges = append(v.Edges, image(condition.Ref{Edge: true, Index: e}).Index)
	}
	for _, a := range s.Aggregates {
		if a.Of != nil {
			r := image(*a.Of)
			a.Of = &r
		}
		if a.Formula != nil {
			a.Formula = a.Formula.Renamed(image)
		}
		if a.Time != nil {
			a.Time = a.Time.Renamed(image)
		}
		v.Aggregates = append(v.Aggregates, a)
	}
	return v
}

// StageLengths returns the lengths that the paths of a stage have in a variant.
func (q *Query) StageLengths(stage int) (lengths []int) {
	for _, m := range q.Groups.Stages[stage].Matches {
		for i, path := range q.variant.of.Paths() {
			if slices.Contains(m.Edges, q.variant.first[path]) {
				lengths = append(lengths, q.variant.lengths[i])
			}
		}
	}
	return lengths
}
