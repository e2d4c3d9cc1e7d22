package cpu

// ending is two steps of an order, near and far, one after the other, that depend on one earlier vertex alone, the image of the root: the near step
// is joined to the root, the far one to the near one, and perhaps to the root. What they find is the same each time that a search comes by that
// vertex, but for vertices that are mapped elsewhere by then and for edges that the anchor does not see; both are looked at as they are mapped.
// They are the last steps that are so, if not the last of the order: vertices of one neighbour may come after them.
type ending struct {
	kind  uint32   // of what it finds, see endingKind
	near  int      // step; the far one is the next
	root  int      // step
	forth int      // index of the far step's edge from the near one
	clash bool     // far and root may coincide: no edge of the pattern joins them
	apart [2][]int // the other steps that the near one may coincide with, and the far one
}

// endingKind is what determines, beside the image of the root, what an ending finds.
type endingKind struct {
	near  int
	far   [2]int // columns, by edge; -1 for an edge that is not there
	forth int
	clash bool
}

// endingOf returns the last ending of an order, nil if it has none.
func (c *columns) endingOf(o *order) *ending {
	if o.images != nil || o.members != nil {
		return nil
	}
	for d := len(o.steps) - 2; d >= 2; d-- {
		if e := c.endingAt(o, d); e != nil {
			return e
		}
	}
	return nil
}

// endingAt returns the ending that step d and the next one are, nil if they are none.
func (c *columns) endingAt(o *order, d int) *ending {
	near, far := &o.steps[d], &o.steps[d+1]
	if !near.plain || !far.plain || len(near.back) != 1 || len(far.back) > 2 || len(near.less)+len(far.less) > 0 {
		return nil
	}
	e := &ending{near: d, root: near.back[0].step, forth: -1}
	kind := endingKind{near: near.back[0].column, far: [2]int{-1, -1}}
	for k := range far.back {
		switch kind.far[k] = far.back[k].column; far.back[k].step {
		case d:
			e.forth = k
		case e.root:
		default:
			return nil
		}
	}
	if e.forth < 0 {
		return nil
	}
	for i, st := range [2]*step{near, far} {
		for _, k := range st.clash {
			switch {
			case k != e.root && k != d:
				e.apart[i] = append(e.apart[i], k)
			case i == 1 && k == e.root: // no edge leads from a vertex to itself
				e.clash = len(far.back) == 1
			}
		}
	}
	kind.forth, kind.clash = e.forth, e.clash
	e.kind = c.endingOfKind(kind)
	return e
}

// endingOfKind returns the number of a kind, which is new or not.
func (c *columns) endingOfKind(kind endingKind) uint32 {
	if c.endings == nil {
		c.endings = map[endingKind]uint32{}
	}
	at, ok := c.endings[kind]
	if !ok {
		at = uint32(len(c.endings))
		c.endings[kind] = at
	}
	return at
}
