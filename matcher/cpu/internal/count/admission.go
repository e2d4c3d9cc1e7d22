package count

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/internal/truths"
)

// Every method of counting decides here whether a data vertex or a data edge may extend what is mapped, so that a
// further condition is added once:
//
//   - filter.passes: conditions on a vertex alone (label, neighbourhood; a vertex predicate).
//   - differs: conditions between a vertex and the images of other blocks (injectivity).
//   - admitsEdge, and the last result of neighbors: conditions on an edge (visibility; its tests).
//
// candidates asks all three for the neighbours along an edge, admits the first two for one vertex. Both know that a
// filter need not be asked: unlessImplied.

// admission decides which images the current block may have.
type admission struct {
	to     *filter // nil if every data vertex that the block's edges lead to fits it
	differ uint32  // mapped blocks whose images the block's own must differ from
}

// admission returns what decides about the images of block u beside what is mapped, once its edges lead there.
func (c *Counter) admission(u int, to *filter) admission {
	return admission{c.unlessImplied(to), c.q.conflicts[u] & c.mapped}
}

// unlessImplied returns a filter, nil if every data vertex that the block's edges lead to fits it.
func (c *Counter) unlessImplied(to *filter) *filter {
	if to.implied || c.elsewhere != nil {
		return nil
	}
	return to
}

// isEmpty reports whether every data vertex is admitted.
func (a *admission) isEmpty() bool { return a.to == nil && a.differ == 0 }

// passes reports whether a data vertex, given the candidate bits, fits the block.
func (t *filter) passes(cand []uint64, words int, w dyngraph.VertexID) bool {
	at := int(w) * words
	return cand[at+t.test.Word]&t.test.Mask == t.test.Want && (t.moreTests == nil || t.passesMore(cand[at:]))
}

func (t *filter) passesMore(cand []uint64) bool {
	for i := range t.moreTests {
		if !t.moreTests[i].Of(cand) {
			return false
		}
	}
	return true
}

// fits reports whether a data vertex may be the image of a block whatever is mapped.
func (c *Counter) fits(to *filter, w dyngraph.VertexID) bool {
	if c.elsewhere != nil {
		return c.hasLabel(to, w)
	}
	return to.passes(c.bits, c.words, w)
}

// hasLabel is fits where labels alone count.
func (c *Counter) hasLabel(to *filter, w dyngraph.VertexID) bool {
	return to.label == matcher.AnyLabel || matcher.LabelFits(to.label, c.g.View(dyngraph.New).Label(w))
}

// admits reports whether a data vertex may be the image of a block beside what is mapped.
func (c *Counter) admits(a admission, w dyngraph.VertexID) bool {
	return (a.to == nil || a.to.passes(c.bits, c.words, w)) && c.differs(a.differ, w)
}

// differs reports whether a data vertex is the image of none of some mapped blocks.
func (c *Counter) differs(blocks uint32, w dyngraph.VertexID) bool {
	for m := blocks; m != 0; m &= m - 1 {
		if c.image[bits.TrailingZeros32(m)] == w {
			return false
		}
	}
	return true
}

// admitsEdge reports whether a data edge may be the image of an edge of a rank: whether the search sees it, and it
// passes the tests. A replaced edge is in both graphs, in a version of its own in each.
func (c *Counter) admitsEdge(e dyngraph.Entry, rank int, tests []*truths.Test) bool {
	return !e.Staged() && tests == nil || c.seesAndPasses(e, rank, tests)
}

func (c *Counter) seesAndPasses(e dyngraph.Entry, rank int, tests []*truths.Test) bool {
	if e.Staged() {
		if c.isNarrow(rank) {
			return false
		}
		o := c.orders[e.Index()]
		if o&dyngraph.Replaced == 0 && (o>>31 != 0) != (c.sign == dyngraph.Deleted) {
			return false
		}
	}
	return tests == nil || truths.All(tests, c.truths.In(c.which(), e))
}

// which returns the view that is searched.
func (c *Counter) which() dyngraph.Which {
	if c.sign == dyngraph.Deleted {
		return dyngraph.Old
	}
	return dyngraph.New
}

// isNarrow reports whether an edge of a rank sees only what both graphs have: it comes before the anchor's.
func (c *Counter) isNarrow(rank int) bool { return rank < c.rank }

// refusesSome reports whether admitsEdge may refuse one of some data edges.
func refusesSome(ent []dyngraph.Entry) bool { return slices.ContainsFunc(ent, dyngraph.Entry.Staged) }

// neighbors returns the neighbours of a data vertex along an edge, ascending, with their data edges, and whether
// admitsEdge may refuse some of these. Not all neighbours need fit the block.
func (c *Counter) neighbors(v dyngraph.VertexID, e *Edge) ([]dyngraph.VertexID, []dyngraph.Entry, bool) {
	nbr, ent, staged := c.index.Of(v, c.kinds[e.kind])
	return nbr, ent, staged || e.tests != nil
}

// edgeList is the neighbours of a data vertex along an edge.
type edgeList struct {
	nbr   []dyngraph.VertexID
	ent   []dyngraph.Entry
	check bool // admitsEdge may refuse some entries
	along *Edge
}

// list returns the neighbours of a data vertex along an edge.
func (c *Counter) list(v dyngraph.VertexID, e *Edge) (l edgeList) {
	l.nbr, l.ent, l.check = c.neighbors(v, e)
	l.along = e
	return l
}

// admitsAt reports whether the edge to the i-th neighbour of a list is admitted.
func (c *Counter) admitsAt(l *edgeList, i int) bool {
	return !l.check || c.admitsEdge(l.ent[i], l.along.rank, l.along.tests)
}

// candidates returns the neighbours of a list that may be images of a block. They are in the memory of room or are the
// list itself: the caller changes none of them.
func (c *Counter) candidates(room *[]dyngraph.VertexID, l *edgeList, a admission) []dyngraph.VertexID {
	found := l.nbr
	if !l.check && a.isEmpty() {
		return found
	}
	// What is not admitted is overwritten: whether a vertex fits is not foretold, and a branch would wait for its bits.
	kept := slices.Grow((*room)[:0], len(found))[:len(found)]
	*room = kept
	if l.check {
		n := 0
		for i, e := range l.ent[:len(found)] {
			if kept[n] = found[i]; c.admitsEdge(e, l.along.rank, l.along.tests) {
				n++
			}
		}
		found = kept[:n]
	}
	if a.to != nil {
		found = a.to.keep(kept, found, c.bits, c.words)
	}
	if a.differ != 0 {
		n, images := 0, c.imageBits(a.differ)
		for _, w := range found {
			if kept[n] = w; images>>(w%64)&1 == 0 || c.differs(a.differ, w) {
				n++
			}
		}
		found = kept[:n]
	}
	return found
}

// keep writes those of some vertices that fit the block to memory that is as long, and may be theirs.
func (t *filter) keep(kept, found []dyngraph.VertexID, cand []uint64, words int) []dyngraph.VertexID {
	n := 0
	for _, w := range found {
		kept[n] = w
		passes := 0
		if cand[int(w)*words+t.test.Word]&t.test.Mask == t.test.Want {
			passes = 1
		}
		n += passes
	}
	found = kept[:n]
	for i := range t.moreTests {
		n = 0
		for _, w := range found {
			if kept[n] = w; t.moreTests[i].Of(cand[int(w)*words:]) {
				n++
			}
		}
		found = kept[:n]
	}
	return found
}

// imageBits returns the last bits of the images of some mapped blocks: those of most other vertices are not among them.
func (c *Counter) imageBits(blocks uint32) (last uint64) {
	for m := blocks; m != 0; m &= m - 1 {
		last |= 1 << (c.image[bits.TrailingZeros32(m)] % 64)
	}
	return last
}

// isJoined reports whether an edge, not a multi-edge, joins data vertex w to the image of its other end.
func (c *Counter) isJoined(e *Edge, w dyngraph.VertexID) bool {
	l := c.list(c.image[e.From], e)
	return c.isIn(&l, w)
}

// isIn reports whether an admitted edge of a list leads to w.
func (c *Counter) isIn(l *edgeList, w dyngraph.VertexID) bool {
	at := neighbors.Seek(l.nbr, 0, w)
	return at < len(l.nbr) && l.nbr[at] == w && c.admitsAt(l, at)
}
