package pattern

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// The MATCH clauses of a query with WITH, and what its stages demand of paths.

// clauseOf builds the elements of a MATCH, and returns what its WHERE demands beside the times of paths.
func (p *cypherBuilder) clauseOf(m *cypherMatch) ([]*condition.Expr, error) {
	if err := p.match(m); err != nil || m.where == nil {
		return nil, err
	}
	return p.paths(m.where)
}

// checkJoined refuses a MATCH that shares no vertex with those before it, and one that is not connected itself.
func (p *cypherBuilder) checkJoined(stage *cypherStage, clauses []matcher.MatchClause, keys []int) error {
	joined := slices.Clone(keys)
	if keys == nil {
		joined = slices.Clone(clauses[0].Vertices)
	}
	for i, c := range clauses {
		where := at(stage.matches[i].paths[0].head.pos)
		if !slices.ContainsFunc(c.Vertices, func(v int) bool { return slices.Contains(joined, v) }) {
			return p.fail(where, "the MATCH shares no vertex with those before it, or the keys of the WITH before it; "+
				"join them by a vertex, or make two queries")
		}
		reached := []int{c.Vertices[0]}
		for grown := true; grown; {
			grown = false
			for _, e := range c.Edges {
				from, to := p.edges[e].From, p.edges[e].To
				if has := slices.Contains(reached, from); has != slices.Contains(reached, to) {
					if has {
						from = to
					}
					reached, grown = append(reached, from), true
				}
			}
		}
		if len(reached) < len(c.Vertices) {
			return p.fail(where, "the paths of the MATCH are not connected; join them by a vertex, or write a "+
				"MATCH of each")
		}
		joined = append(joined, c.Vertices...)
	}
	return nil
}

// times resolves what the WHERE of a stage says of the ts of edges and paths.
func (p *stageBuilder) times(s *matcher.Stage) (err error) {
	for _, e := range p.timing.named() {
		if err := p.inScope(e); err != nil {
			return err
		}
	}
	g := p.r.Query.Groups
	rows := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
	s.Conditions, err = p.timing.resolve(p.cypherBuilder, rows, s.Conditions, p.elements)
	s.Rises, s.Spans = rows.Rises, rows.Spans
	return err
}

// isPath reports whether a name is that of a path of variable length.
func (p *cypherBuilder) isPath(name string) bool {
	edge, ok := p.edgeOf[name]
	return ok && p.edges[edge].Hops != nil
}

// refusePath refuses an aggregate of a path.
func (p *cypherBuilder) refusePath(pos lexer.Position, name string) error {
	return p.fail(at(pos), "%s is a path, and paths are not aggregated; count(*) counts the rows, and a single edge "+
		"of the MATCH can be summed", short(name))
}
