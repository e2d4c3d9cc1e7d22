package count

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
)

const (
	// mostKept is the longest list of which a prefix is made.
	mostKept = 1 << 14
	// mostKeptOfPlan is the number of vertices for which the prefixes of one plan have room. Beyond it none are made.
	mostKeptOfPlan = 1 << 21
)

// prefixes holds the intersections of the lists of a component's first edges: of the first, of the first two and so on,
// in the order in which their ends are mapped. While these images stay, only the lists of later edges are intersected
// (intersection cache, as of a search match by match).
type prefixes struct {
	round  uint64 // Counter.round, and what else decides which edges are seen
	rank   int
	sign   dyngraph.Sign
	images []dyngraph.VertexID   // by edge
	lists  [][]dyngraph.VertexID // by number of edges, less one: of the first known ones
	rooms  [][]dyngraph.VertexID // memory of lists
	known  int
}

// inCommon returns the data vertices that are joined to the images of all neighbours of a component's next block, fit
// it and are injective, ascending (DESIGN A7), and how often each counts, nil if once. They are valid until the next
// call at the same depth.
func (c *Counter) inCommon(p *component) ([]dyngraph.VertexID, []matcher.Count) {
	for k := range p.from {
		if p.from[k].Multi != nil {
			l := weighted{c.common[c.depth], c.ways[c.depth]}
			c.gather(&l, p.next, p.to, p.from)
			c.common[c.depth], c.ways[c.depth] = l.nbr, l.ways
			return l.nbr, l.ways
		}
	}
	few, known := c.prefix(p)
	if known > 0 && len(few) == 0 {
		return nil, nil
	}
	return c.alongAll(p.next, p.to, p.from[known:], few, known > 0), nil
}

// alongAll returns the data vertices that are joined along some edges, no multi-edges, to the images of their other
// ends, fit a block and are injective; if some are known, only those of a few whose candidate bits were tested where
// few neighbours are.
func (c *Counter) alongAll(u int, to *filter, from []Edge, few []dyngraph.VertexID, known bool) []dyngraph.VertexID {
	ls := c.lists[:0]
	for k := range from {
		e := &from[k]
		l := c.list(c.image[e.From], e)
		if len(l.nbr) == 0 {
			return nil
		}
		ls = append(ls, l)
		for i := len(ls) - 1; i > 0 && len(ls[i].nbr) < len(ls[i-1].nbr); i-- {
			ls[i], ls[i-1] = ls[i-1], ls[i]
		}
	}
	c.lists = ls
	admits := c.admission(u, to)
	var first *edgeList // few, if it may have edges that are not admitted
	switch early := c.plan.Images != nil; {
	case known && early:
		admits.to = nil
	case !known:
		first, few, ls = &ls[0], ls[0].nbr, ls[1:]
		if early { // few neighbours are candidates
			c.worker.StepBy(len(few))
			few = c.candidates(&c.common[c.depth], first, admits)
			first, admits = nil, admission{}
		}
	}
	if known && len(ls) == 0 { // nobody else may change what is returned
		few = append(c.common[c.depth][:0], few...)
		c.common[c.depth] = few
	}
	for k := 0; k < len(ls) && len(few) > 0; k++ {
		few = c.intersectWith(&c.common[c.depth], few, first, &ls[k])
		first = nil
	}
	if first == nil {
		first = &edgeList{nbr: few}
	}
	return c.candidates(&c.common[c.depth], first, admits)
}

// intersectWith returns those of some vertices that are in a list, too, by admitted edges. They are in the memory of
// room, where the vertices may be. first is the list of the vertices if some of their edges may not be admitted.
func (c *Counter) intersectWith(
	room *[]dyngraph.VertexID, few []dyngraph.VertexID, first, l *edgeList,
) []dyngraph.VertexID {
	var at, in []uint32
	if first == nil && !l.check {
		c.worker.StepBy(2 * min(len(few), len(l.nbr)))
		if len(few) <= len(l.nbr) {
			*room = neighbors.Common(*room, few, l.nbr)
		} else { // not in the memory of the longer list, which may be the room
			c.spare = neighbors.Common(c.spare, l.nbr, few)
			*room = append((*room)[:0], c.spare...)
		}
		return *room
	}
	if len(l.nbr) < len(few) {
		in, at = c.intersect.Of(l.nbr, few)
	} else {
		at, in = c.intersect.Of(few, l.nbr)
	}
	c.worker.StepBy(2 * min(len(few), len(l.nbr)))
	found := (*room)[:0]
	for i, p := range at {
		if c.admitsAt(l, int(in[i])) && (first == nil || c.admitsAt(first, int(p))) {
			found = append(found, few[p])
		}
	}
	*room = found
	return found
}

// prefix returns what the lists of the first edges of a component have in common, and of how many: those whose ends
// have the images that they had last. Candidates are tested where few neighbours are.
func (c *Counter) prefix(p *component) (few []dyngraph.VertexID, known int) {
	k := p.prefixes
	switch {
	case !p.intersected: // most components are seen once
		p.intersected = true
		return nil, 0
	case k == nil:
		k = &prefixes{images: make([]dyngraph.VertexID, len(p.from)), lists: make([][]dyngraph.VertexID, len(p.from)),
			rooms: make([][]dyngraph.VertexID, len(p.from))}
		p.prefixes, p.from = k, slices.Clone(p.from)
		slices.SortStableFunc(p.from, func(x, y Edge) int { return cmp.Compare(c.level[x.From], c.level[y.From]) })
	}
	same := 0
	if k.round == c.round && k.rank == c.rank && k.sign == c.sign {
		for same < len(p.from) && k.images[same] == c.image[p.from[same].From] {
			same++
		}
	}
	k.round, k.rank, k.sign, k.known = c.round, c.rank, c.sign, min(k.known, same)
	for i := same; i < len(p.from); i++ {
		k.images[i] = c.image[p.from[i].From]
	}
	for ; k.known < same && c.comps.kept < mostKeptOfPlan; k.known++ {
		i := k.known
		l, before := c.list(k.images[i], &p.from[i]), cap(k.rooms[i])
		if i > 0 {
			k.lists[i] = c.intersectWith(&k.rooms[i], k.lists[i-1], nil, &l)
		} else if len(l.nbr) <= mostKept {
			var to admission
			if c.plan.Images != nil {
				to.to = c.unlessImplied(p.to)
				c.worker.StepBy(len(l.nbr))
			}
			k.lists[0] = c.candidates(&k.rooms[0], &l, to)
		} else {
			break
		}
		c.comps.kept += cap(k.rooms[i]) - before
	}
	if k.known == 0 {
		return nil, 0
	}
	return k.lists[k.known-1], k.known
}
