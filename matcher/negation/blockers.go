package negation

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// turned adds to a collector the matches of a sign that a changed blocker makes or ends, and that have one net element
// for their anchor. The batch does not change the core of such a match. Rows that hold the element block the match in
// the other view.
//
// The element is mapped to each own element of each negation and extended to the negation's rows; each set of images of
// the named core vertices is then extended to rows of the core, once. What the negation reads of other core elements is
// tested with these.
func (b *Backend) turned(x *query, sign dyngraph.Sign, order uint32, to *collector) error {
	n := &b.d.Net[order]
	_, there := b.views(sign)
	for i := range x.negations {
		neg := &x.negations[i]
		s := &b.room.outer
		s.View, s.Work, s.Admit = there, &b.work, nil
		if err := neg.Changed(s, n, &b.room.begin, func(c *residual.Change, row []uint32) error {
			return b.cores(x, neg, c, sign, order, row, to)
		}); err != nil {
			return err
		}
	}
	return nil
}

// cores extends the images of the core vertices that a change leads to, to rows of the core without own changes, and
// adds those that the batch turned at the order.
func (b *Backend) cores(x *query, n *negation, c *residual.Change, sign dyngraph.Sign, order uint32, from []uint32,
	to *collector) error {
	here, there := b.views(sign)
	row := make([]uint32, x.vertices+x.edges)
	for i := range row {
		row[i] = residual.None
	}
	admit := b.unchanged(x)
	for _, v := range c.Named {
		if row[v] = from[v]; !admit(condition.Ref{Index: v}, from[v]) {
			return nil
		}
	}
	s := &b.room.inner
	s.View, s.Work, s.Admit = here, &b.work, admit
	s.Found = func(row []uint32) (bool, error) {
		if !x.represents(here, row) || to.has(row) {
			return true, nil
		}
		t := &b.room.test
		t.View, t.Work, t.Admit = there, &b.work, nil
		may, err := n.With(t, c, row, &b.room.row)
		if !may || err != nil {
			return true, err
		}
		is, err := b.blocked(x, here, row)
		if is || err != nil {
			return true, err
		}
		anchor, turned, err := b.anchorOf(x, sign, row)
		if err != nil || !turned || anchor != order {
			return true, err
		}
		return true, to.add(row)
	}
	_, err := s.Run(n.core[c.Lead], row)
	return err
}

// anchorOf returns the anchor of a match without own changes, which nothing blocks in its view: the highest order of a
// change in the rows that block it in the other view; of one that ends the lowest. turned is false if no row does.
func (b *Backend) anchorOf(x *query, sign dyngraph.Sign, row []uint32) (anchor uint32, turned bool, err error) {
	_, there := b.views(sign)
	note := func(order uint32) {
		if !turned || (sign == dyngraph.Inserted) == (order > anchor) {
			anchor, turned = order, true
		}
	}
	for i := range x.negations {
		n := &x.negations[i]
		_, err := b.rowsOf(x, i, there, row, func(r []uint32) (bool, error) {
			n.EachOwn(r, func(a *matcher.Asked, v dyngraph.VertexID) {
				if order, ok := b.revision(v, there.Which()); ok && a.Matters(b.g, v, nil) {
					note(order)
				}
			}, func(e dyngraph.EdgeIndex) {
				if order, ok := b.version(e, there.Which()); ok {
					note(order)
				}
			})
			return true, nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	return anchor, turned, nil
}

// version returns the order of the version of an edge that a view shows, if the batch changes the edge.
func (b *Backend) version(e dyngraph.EdgeIndex, which dyngraph.Which) (order uint32, ok bool) {
	_, order, ok = b.g.Staged(e)
	if ok && which == dyngraph.New && b.d.Net[order].Replaced && b.d.Net[order].Sign == dyngraph.Deleted {
		order++
	}
	return order, ok
}

// revision returns the order of the version of a vertex that a view shows, if the batch revises the vertex.
func (b *Backend) revision(v dyngraph.VertexID, which dyngraph.Which) (order uint32, ok bool) {
	r, ok := b.d.RevisionOf(v)
	if which == dyngraph.New {
		return r.New, ok
	}
	return r.Old, ok
}

// represents reports whether a row is the one of its orbit that a query for subgraphs tells (DESIGN S4).
func (x *query) represents(view dyngraph.View, row []uint32) bool {
	if x.core.Query.Unit != matcher.Subgraphs {
		return true
	}
	return !slices.ContainsFunc(x.core.VertexLess, func(l [2]int) bool { return row[l[0]] >= row[l[1]] }) &&
		!slices.ContainsFunc(x.core.EdgeLess, func(l [2]int) bool {
			return view.CompareEdges(dyngraph.EdgeIndex(row[x.vertices+l[0]]),
				dyngraph.EdgeIndex(row[x.vertices+l[1]])) >= 0
		})
}
