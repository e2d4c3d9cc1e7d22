package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// This file maps the pattern edges of a CanonicalSearch, once vertices are.

// hasEdge reports whether some visible data edge from the image of a back edge's step to w is of its kind.
func (c *CanonicalSearch) hasEdge(b *program.BackEdge, w dyngraph.VertexID) bool {
	found := false
	c.eachEdge(b, w, func(dyngraph.Entry) bool { found = true; return false })
	return found
}

// optionsOf finds what a back edge may be mapped to when its later end is mapped to w.
func (c *CanonicalSearch) optionsOf(b *program.BackEdge, w dyngraph.VertexID) {
	all := c.options[b.Edge][:0]
	c.eachEdge(b, w, func(e dyngraph.Entry) bool {
		all = append(all, uint32(e.Index()))
		return true
	})
	view := c.search.graph.View(dyngraph.New)
	if len(all) > 1 {
		slices.SortFunc(all, func(x, y uint32) int {
			return view.CompareEdges(dyngraph.EdgeIndex(x), dyngraph.EdgeIndex(y))
		})
	}
	c.options[b.Edge] = all
}

// eachEdge hands on the visible data edges from the image of a back edge's step to w that are of its kind, while it is
// answered true.
func (c *CanonicalSearch) eachEdge(b *program.BackEdge, w dyngraph.VertexID, hand func(dyngraph.Entry) bool) {
	se := c.search
	u := se.Images[b.Step]
	for _, dir := range b.Dirs() {
		labels := b.Labels
		if labels == nil {
			labels = se.graph.LabelsOf(u, dir, nil)
		}
		if !c.stepBy(len(labels)) {
			return
		}
		for _, l := range labels {
			r := se.graph.Range(u, dir, l)
			among := r.Among(w)
			for _, ents, ok := among.Next(); ok; _, ents, ok = among.Next() {
				for _, e := range ents {
					if se.AdmitsFound(b, e) && !hand(e) {
						return
					}
				}
			}
		}
	}
}

// mapEdge maps pattern edge e and all after it, once all vertices are mapped; false ends the search. That those
// parallel to it can be mapped is known beforehand.
func (c *CanonicalSearch) mapEdge(e int) bool {
	if e == len(c.o.Parallel) {
		return c.row()
	}
	if e == c.o.Anchor {
		return c.mapEdge(e + 1)
	}
	among := c.o.Parallel[e]
	for _, x := range c.options[e] {
		c.search.edges[e] = x
		if !program.Differs(x, c.o.Earlier[e], c.search.edges) {
			continue
		}
		if among != nil && (!c.compatible(e, among) || !c.completable(among[slices.Index(among, e)+1:])) {
			continue
		}
		if c.o.Closes != nil && !c.search.Hold(c.o.Closes[e], c.search.row[:], c.search.edges) {
			continue
		}
		if !c.mapEdge(e + 1) {
			return false
		}
	}
	return true
}

// canDiffer reports whether the edges that step d maps can differ from those of earlier steps, as far as they have one
// option each.
func (c *CanonicalSearch) canDiffer(d int) bool {
	for k := range c.o.Steps[d].Back {
		b := &c.o.Steps[d].Back[k]
		own := c.options[b.Edge]
		for _, others := range [2][]int{b.Earlier, b.Beside} {
			for _, f := range others {
				if f != c.o.Anchor && len(own) == 1 && len(c.options[f]) == 1 && own[0] == c.options[f][0] {
					return false
				}
			}
		}
	}
	return true
}

// completable reports whether parallel pattern edges, all from one of them on, can be mapped beside those before it.
func (c *CanonicalSearch) completable(rest []int) bool {
	if len(rest) == 0 {
		return true
	}
	e := rest[0]
	if e == c.o.Anchor {
		return c.completable(rest[1:])
	}
	for _, x := range c.options[e] {
		c.search.edges[e] = x
		if c.compatible(e, c.o.Parallel[e]) && c.completable(rest[1:]) {
			return true
		}
	}
	return false
}

// compatible reports whether the image of pattern edge e is none of those that are parallel to it and before it, or the
// anchor's, and in the order with them that symmetry demands.
func (c *CanonicalSearch) compatible(e int, among []int) bool {
	edges, anchor := c.search.edges, c.o.Anchor
	mapped := func(f int) bool { return f < e || f == anchor }
	for _, f := range among {
		if f != e && mapped(f) && edges[f] == edges[e] {
			return false
		}
	}
	if c.o.Plan.Query.Unit != matcher.Subgraphs {
		return true
	}
	view := c.search.graph.View(dyngraph.New)
	for _, l := range c.o.Plan.EdgeLess {
		if (l[0] == e && mapped(l[1]) || l[1] == e && mapped(l[0])) &&
			view.CompareEdges(dyngraph.EdgeIndex(edges[l[0]]), dyngraph.EdgeIndex(edges[l[1]])) >= 0 {
			return false
		}
	}
	return true
}
