package count

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// edgeList is the neighbours along one edge.
type edgeList struct {
	nbr    []dyngraph.VertexID
	ent    []dyngraph.Entry
	staged bool // some might be
	rank   int
}

// inCommon returns the data vertices that are joined to the images of all neighbours of a component's next block, fit
// it and are injective, ascending (DESIGN A7), and how often each counts, nil if once. They are valid until the next
// call at the same depth.
func (c *Counter) inCommon(p *component) ([]dyngraph.VertexID, []matcher.Count) {
	var room [4]edgeList
	ls := room[:0]
	for k := range p.from {
		e := &p.from[k]
		if e.Multi != nil {
			l := weighted{c.common[c.depth], c.ways[c.depth]}
			c.gather(&l, p.next, p.to, p.from)
			c.common[c.depth], c.ways[c.depth] = l.nbr, l.ways
			return l.nbr, l.ways
		}
		l := edgeList{rank: e.rank}
		l.nbr, l.ent, l.staged = c.neighbors(c.image[e.From], e)
		if len(l.nbr) == 0 {
			return nil, nil
		}
		ls = append(ls, l)
		for i := k; i > 0 && len(ls[i].nbr) < len(ls[i-1].nbr); i-- {
			ls[i], ls[i-1] = ls[i-1], ls[i]
		}
	}
	found := c.common[c.depth][:0]
	few := ls[0].nbr
	for k := 1; k < len(ls) && len(few) > 0; k++ {
		l := &ls[k]
		c.worker.StepBy(2 * len(few))
		at, in := c.intersect.Of(few, l.nbr)
		kept := found[:0]
		for i, p := range at {
			if c.seesAt(l, int(in[i])) && (k > 1 || c.seesAt(&ls[0], int(p))) {
				kept = append(kept, few[p])
			}
		}
		found, few = kept, kept
	}
	kept := found[:0]
	for _, w := range found {
		if c.passes(p.to, w) && c.isInjective(p.next, w) {
			kept = append(kept, w)
		}
	}
	c.common[c.depth] = kept
	return kept, nil
}

// seesAt reports whether the edge to the i-th neighbour of a list is visible.
func (c *Counter) seesAt(l *edgeList, i int) bool { return !l.staged || c.isVisible(l.ent[i], l.rank) }
