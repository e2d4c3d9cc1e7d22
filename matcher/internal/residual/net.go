package residual

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Fits reports whether a net element can be the image of an element of the pattern, from the given ones on, going by
// labels.
func (p *Pattern) Fits(n *dyngraph.NetEdge, view dyngraph.View, vertices, edges int) bool {
	from, to := view.Label(n.From), view.Label(n.To)
	if n.Vertex {
		for _, l := range p.Vertices[vertices:] {
			if matcher.LabelFits(l, from) {
				return true
			}
		}
		return false
	}
	for i := range p.Edges[edges:] {
		x := &p.Edges[edges+i]
		if !matcher.LabelFits(x.Label, n.Label) {
			continue
		}
		a, b := p.Vertices[x.From], p.Vertices[x.To]
		if matcher.LabelFits(a, from) && matcher.LabelFits(b, to) ||
			x.Either && matcher.LabelFits(a, to) && matcher.LabelFits(b, from) {
			return true
		}
	}
	return false
}

// Begin calls f for each element of the pattern, from the given ones on, that a net element can be the image of, going
// by labels, with a row that has it, and an edge's ends, and nothing else. The row is in room, which grows. A revised
// vertex is none of an edge's.
func (p *Pattern) Begin(n *dyngraph.NetEdge, view dyngraph.View, vertices, edges int, room *[]uint32,
	f func(condition.Ref, []uint32) error) error {
	row := *room
	none := func() {
		row = row[:0]
		for range len(p.Vertices) + len(p.Edges) {
			row = append(row, None)
		}
		*room = row
	}
	if n.Vertex {
		for u := vertices; u < len(p.Vertices); u++ {
			if !matcher.LabelFits(p.Vertices[u], view.Label(n.From)) {
				continue
			}
			none()
			row[u] = uint32(n.From)
			if err := f(condition.Ref{Index: u}, row); err != nil {
				return err
			}
		}
		return nil
	}
	for e := edges; e < len(p.Edges); e++ {
		x := &p.Edges[e]
		if !matcher.LabelFits(x.Label, n.Label) {
			continue
		}
		for turn := range 2 {
			from, to := n.From, n.To
			if turn == 1 {
				if from, to = to, from; !x.Either {
					break
				}
			}
			if !matcher.LabelFits(p.Vertices[x.From], view.Label(from)) ||
				!matcher.LabelFits(p.Vertices[x.To], view.Label(to)) {
				continue
			}
			none()
			row[x.From], row[x.To], row[len(p.Vertices)+e] = uint32(from), uint32(to), uint32(n.Edge)
			if err := f(condition.Ref{Edge: true, Index: e}, row); err != nil {
				return err
			}
		}
	}
	return nil
}
