package negation

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// owned finds the matches of a sign with own changes whose anchor is one net element of the sign, where the batch
// revises vertices that matter. They are added to a collector.
func (b *Backend) owned(x *query, sign dyngraph.Sign, silence *matcher.Silence, order uint32, to *collector) error {
	n := &b.d.Net[order]
	here, there := b.views(sign)
	return x.pattern.Begin(n, here, 0, 0, &b.room.begin, func(r condition.Ref, row []uint32) error {
		o := x.fromEdge
		if !r.Edge {
			if o = x.fromVertex; !b.changes(x, r.Index, n.From) {
				return nil
			}
		}
		s := &b.room.inner
		s.View, s.Work, s.Admit = here, &b.work, nil
		s.Found = func(row []uint32) (bool, error) {
			if !x.represents(here, row) {
				return true, nil
			}
			anchor, same := b.ownAnchor(x, sign, row)
			if anchor != order {
				return true, nil
			}
			if same { // it has the same versions of edges in both views, if it is in both
				is, err := b.holds(x, there, row)
				if is || err != nil {
					return true, err
				}
			}
			keep, err := b.keeps(x, sign, silence, row)
			if !keep || err != nil {
				return true, err
			}
			return true, to.add(row)
		}
		_, err := s.Run(o[r.Index], row)
		return err
	})
}

// ownAnchor returns the highest order of an own change of a row of the core; of a sign Deleted the lowest. revised
// tells that all own changes are revised vertices.
func (b *Backend) ownAnchor(x *query, sign dyngraph.Sign, row []uint32) (anchor uint32, revised bool) {
	found := false
	note := func(order uint32) {
		if !found || (sign == dyngraph.Inserted) == (order > anchor) {
			anchor, found = order, true
		}
	}
	here, _ := b.views(sign)
	revised = true
	for _, e := range row[x.vertices:] {
		if order, ok := b.version(dyngraph.EdgeIndex(e), here.Which()); ok {
			note(order)
			revised = false
		}
	}
	for u, v := range row[:x.vertices] {
		id := dyngraph.VertexID(v)
		if order, ok := b.revision(id, here.Which()); ok && x.matters(b.g, u, id) {
			note(order)
		}
	}
	if x.edges == 0 && !found { // a vertex that comes or goes
		for order := range b.d.Net {
			if n := &b.d.Net[order]; n.Vertex && !n.Revised && n.Sign == sign && uint32(n.From) == row[0] {
				note(uint32(order))
				revised = false
			}
		}
	}
	if !found {
		return residual.None, false
	}
	return anchor, revised
}
