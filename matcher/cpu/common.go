package cpu

import "motifd/dyngraph"

// edgeList is the neighbours along one edge.
type edgeList struct {
	nbr    []dyngraph.VertexID
	ent    []dyngraph.Entry
	staged bool // some might be
	rank   int
}

// manyTimes is the ratio of lengths from which on the members of the shorter list are searched in the longer one, which is
// otherwise read too.
const manyTimes = 8

// inCommon returns the data vertices that are joined to the images of all neighbours of a piece's next block, that fit it and are
// free, ascending (DESIGN A7). They are valid until the next call at the same depth.
func (c *counter) inCommon(p *piece) []dyngraph.VertexID {
	var few [4]edgeList
	ls := few[:0]
	for k := range p.from {
		e := &p.from[k]
		l := edgeList{rank: e.rank}
		l.nbr, l.ent, l.staged = c.around(c.image[e.from], e, p.to)
		if len(l.nbr) == 0 {
			return nil
		}
		ls = append(ls, l)
		for i := k; i > 0 && len(ls[i].nbr) < len(ls[i-1].nbr); i-- {
			ls[i], ls[i-1] = ls[i-1], ls[i]
		}
	}
	found := c.common[c.depth][:0]
	a, b := &ls[0], &ls[1]
	if len(b.nbr) >= manyTimes*len(a.nbr) {
		c.stepBy(2 * len(a.nbr))
		j := 0
		for i, w := range a.nbr {
			if j = seek(b.nbr, j, w); j == len(b.nbr) {
				break
			}
			if b.nbr[j] == w && c.seesAt(a, i) && c.seesAt(b, j) {
				found = append(found, w)
			}
		}
	} else {
		c.stepBy(len(a.nbr) + len(b.nbr))
		for i, j := 0, 0; i < len(a.nbr) && j < len(b.nbr); {
			x, y := a.nbr[i], b.nbr[j]
			if x == y && c.seesAt(a, i) && c.seesAt(b, j) {
				found = append(found, x)
			}
			if x <= y {
				i++
			}
			if y <= x {
				j++
			}
		}
	}
	for k := 2; k < len(ls) && len(found) > 0; k++ {
		l := &ls[k]
		c.stepBy(2 * len(found))
		j, kept := 0, found[:0]
		for _, w := range found {
			if j = seek(l.nbr, j, w); j == len(l.nbr) {
				break
			}
			if l.nbr[j] == w && c.seesAt(l, j) {
				kept = append(kept, w)
			}
		}
		found = kept
	}
	kept := found[:0]
	for _, w := range found {
		if c.passes(p.to, w) && c.free(p.next, w) {
			kept = append(kept, w)
		}
	}
	c.common[c.depth] = kept
	return kept
}

// seesAt reports whether the edge to the i-th neighbour of a list is visible.
func (c *counter) seesAt(l *edgeList, i int) bool { return !l.staged || c.sees(l.ent[i], l.rank) }
