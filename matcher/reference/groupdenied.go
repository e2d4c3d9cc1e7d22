package reference

import (
	"context"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// blockedRow is a row of a stage but for a negation of it, with what blocks it (DESIGN S25).
type blockedRow struct {
	row row
	by  [][]row // by negation: own vertices, then own edges
}

// core is the elements of all stages as those of a query with the negations of one.
func core(g *matcher.Groups, s *matcher.Stage) *matcher.Query {
	return &matcher.Query{Vertices: g.Vertices, Edges: g.Edges, Negations: s.Negations}
}

// short is a row without the room for paths.
func short(g *matcher.Groups, r row) row { return r[:len(g.Vertices)+len(g.Edges)] }

// denied parts the rows of a stage in a view from those that a negation blocks.
func denied(ctx context.Context, view dyngraph.View, g *matcher.Groups, s *matcher.Stage, all []row) (rows []row,
	blocked []blockedRow, err error) {
	deny, err := allBlockers(ctx, view, core(g, s))
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		b, free := blockedRow{row: r}, true
		for _, d := range deny {
			of := d.of(short(g, r))
			b.by, free = append(b.by, of), free && len(of) == 0
		}
		if free {
			rows = append(rows, r)
		} else {
			blocked = append(blocked, b)
		}
	}
	return rows, blocked, nil
}

// denial is how revised vertices matter for a negation.
type denial struct {
	own     int // vertices
	revised [2]*revisions
}

// denialsOf returns those of the negations of each stage.
func (b *Backend) denialsOf(g *matcher.Groups) (all [][]denial, err error) {
	for s := range g.Stages {
		q := core(g, &g.Stages[s])
		var of []denial
		for i := range q.Negations {
			d := denial{own: len(q.Negations[i].Vertices)}
			for at, sign := range [2]dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				if d.revised[at], err = newRevisions(b.graph, b.delta, sign, q.Subquery(&q.Negations[i])); err != nil {
					return nil, err
				}
			}
			of = append(of, d)
		}
		all = append(all, of)
	}
	return all, nil
}

// mattersDenied reports whether a revised core vertex matters for a negation of some stage.
func (c *groupChanges) mattersDenied(u int, r row) bool {
	return slices.ContainsFunc(slices.Concat(c.denials...), func(d denial) bool {
		_, matters := d.revised[0].matters(u, r)
		return matters
	})
}

// turnedBy calls take with the changes of what blocks the rows of a stage in one view, of which at is the side, that
// the stage has in the other view.
func (c *groupChanges) turnedBy(g *matcher.Groups, stage int, rows []row, other *stageRows, at int,
	take func(order uint32, ok bool)) {
	n := len(g.Vertices)
	for _, b := range other.blocked {
		if !slices.ContainsFunc(rows, func(r row) bool { return slices.Equal(r, b.row) }) {
			continue
		}
		r := short(g, b.row)
		for i, d := range c.denials[stage] {
			for _, x := range b.by[i] {
				for _, e := range x[d.own:] {
					order, ok := c.edges[at][e]
					take(order, ok)
				}
				whole := slices.Concat(r[:n], x[:d.own], r[n:], x[d.own:])
				for u := range d.own {
					take(d.revised[at].matters(n+u, whole))
				}
			}
		}
	}
}
