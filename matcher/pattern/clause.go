package pattern

import (
	"maps"
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// The MATCH clauses of a query with WITH, and what its stages demand of paths.

// clauseOf builds the elements of a MATCH, and returns what its WHERE demands beside the times of paths.
func (p *cypherBuilder) clauseOf(m *cypherMatch) ([]*condition.Expr, error) {
	if err := p.match(m); err != nil {
		return nil, err
	}
	if p.pending(m); m.where == nil {
		return nil, nil
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
			return p.fail(where, "the paths of the MATCH are not connected; join them by a vertex, or make a "+
				"query of each")
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

// deny builds the negations of a stage, and returns the expressions that they have. They name what the stage may read.
func (p *stageBuilder) deny(s *matcher.Stage) (exprs []*condition.Expr, err error) {
	for _, n := range p.denied {
		if err := p.namesVisible(n); err != nil {
			return nil, err
		}
		isHidden := func(name string, _ int) bool { return !p.visible(name) }
		maps.DeleteFunc(n.vertices, isHidden)
		maps.DeleteFunc(n.edges, isHidden)
	}
	g := p.r.Query.Groups
	of := &Rule{Query: &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}, VertexLabels: p.r.VertexLabels,
		EdgeLabels: p.r.EdgeLabels}
	exprs, err = p.negations(of, p.elements, func(edge int) bool {
		return slices.ContainsFunc(s.Matches, func(m matcher.MatchClause) bool {
			return slices.Contains(m.Edges, edge)
		})
	})
	s.Negations = of.Query.Negations
	if all := g.Negations(); err == nil && all > matcher.MaxNegations {
		return nil, p.fail(at(p.denied[len(p.denied)-1].pos), "the query has %d negations; at most %d are allowed", all,
			matcher.MaxNegations)
	}
	return exprs, err
}

// namesVisible refuses a negation that names what the WITH before its stage leaves out.
func (p *stageBuilder) namesVisible(n pendingNegation) (err error) {
	check := func(name *cypherName) {
		if name == nil || err != nil {
			return
		}
		text := ""
		if text, err = p.unquote(name); err != nil {
			return
		}
		_, isVertex := n.vertices[text]
		_, isEdge := n.edges[text]
		if (isVertex || isEdge) && !p.visible(text) {
			err = p.fail(at(name.pos), "the WITH before it leaves out %s; name it there as a key, or write another "+
				"name", short(text))
		}
	}
	for _, path := range n.paths {
		check(path.head.name)
		for _, hop := range path.hops {
			check(hop.node.name)
			if hop.edge != nil {
				check(hop.edge.name)
			}
		}
	}
	if n.where != nil && err == nil {
		err = p.inScope(n.where)
	}
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
