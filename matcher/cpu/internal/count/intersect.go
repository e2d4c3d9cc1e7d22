package count

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// inCommon returns the data vertices that are joined to the images of all neighbours of a component's next block, fit
// it and are injective, ascending (DESIGN A7), and how often each counts, nil if once. They are valid until the next
// call at the same depth.
func (c *Counter) inCommon(p *component) ([]dyngraph.VertexID, []matcher.Count) {
	ls := c.lists[:0]
	for k := range p.from {
		e := &p.from[k]
		if e.Multi != nil {
			l := weighted{c.common[c.depth], c.ways[c.depth]}
			c.gather(&l, p.next, p.to, p.from)
			c.common[c.depth], c.ways[c.depth] = l.nbr, l.ways
			return l.nbr, l.ways
		}
		l := c.list(c.image[e.From], e)
		if len(l.nbr) == 0 {
			return nil, nil
		}
		ls = append(ls, l)
		for i := k; i > 0 && len(ls[i].nbr) < len(ls[i-1].nbr); i-- {
			ls[i], ls[i-1] = ls[i-1], ls[i]
		}
	}
	c.lists = ls
	admits := c.admission(p.next, p.to)
	first, few := &ls[0], ls[0].nbr
	if c.plan.Images != nil { // few neighbours are candidates
		c.worker.StepBy(len(few))
		few = c.candidates(&c.common[c.depth], first, admits)
		first, admits = nil, admission{}
	}
	for k := 1; k < len(ls) && len(few) > 0; k++ {
		l := &ls[k]
		c.worker.StepBy(2 * len(few))
		at, in := c.intersect.Of(few, l.nbr)
		found := c.common[c.depth][:0]
		for i, p := range at {
			if c.admitsAt(l, int(in[i])) && (first == nil || c.admitsAt(first, int(p))) {
				found = append(found, few[p])
			}
		}
		c.common[c.depth], few, first = found, found, nil
	}
	return c.candidates(&c.common[c.depth], &edgeList{nbr: few}, admits), nil
}
