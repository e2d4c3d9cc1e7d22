package cpu

import (
	"sync/atomic"

	"motifd/dyngraph"
)

// Lists are mostly in no cache: the slot that says where one is, its stamps, and what lies there. A search that asks for one list after the other
// waits for each. So they are read before, for the next candidates of a step together, as reads that do not wait for each other overlap.

// readAhead reads the lists of some vertices along a back edge, at most ahead of them: first all slots and stamps, then what these say. It returns those
// that are there, valid until the next call.
func (c *lists) readAhead(of []dyngraph.VertexID, b *back) []knownList {
	slots, read := c.table.slots, uint64(0)
	for _, v := range of {
		read += atomic.LoadUint64(&slots[listHash(listKey(v, b))&uint64(len(slots)-1)].key) + uint64(c.fresh.stamp(v, b.lane))
	}
	unbuilt := c.unbuilt[:0]
	for i, v := range of {
		l := &c.known[i&(ahead-1)]
		l.built = true
		switch _, _, p := c.find(v, b); {
		case p > emptyList:
			l.list = c.at(p)
			read += uint64(l.list.ent[0])
		case p == emptyList:
			l.list = list{}
		case p < emptyList:
			l.built = false
			read += uint64(c.g.Degree(v, b.dir))
			unbuilt = append(unbuilt, v)
		}
	}
	for _, v := range unbuilt {
		r := c.g.Range(v, b.dir, b.label)
		if nbr, ent, ok := r.Next(); ok {
			read += uint64(nbr[0]) + uint64(ent[0])
		}
	}
	c.unbuilt, c.read = unbuilt, c.read+read
	return c.known[:len(of)]
}

// readAhead reads what the next step asks for of the images that step d is about to get, at most ahead of them, if that is a list of each.
func (s *search) readAhead(d int, of []dyngraph.VertexID) {
	if d+1 == len(s.o.steps) {
		return
	}
	next := &s.o.steps[d+1]
	if !next.plain || len(next.back) > 1 || next.back[0].step != d {
		return
	}
	e := s.o.ending
	if e != nil && e.near == d+1 {
		of = s.endings.unknown(e, of)
	}
	if len(of) < 2 {
		return
	}
	s.lists.readAhead(of, &next.back[0])
	if e == nil || e.near != d+1 {
		return
	}
	if far := &s.o.steps[d+2]; len(far.back) == 2 {
		s.lists.readAhead(of, &far.back[1-e.forth])
	}
}

// unknown returns those of some images of an ending's root for which it is not remembered what the ending finds.
func (x *endings) unknown(e *ending, of []dyngraph.VertexID) []dyngraph.VertexID {
	if x.table == nil {
		return of
	}
	x.roots = x.roots[:0]
	for _, v := range of {
		if words := x.look(e.kind, v); words == nil || words[1]&endingLong != 0 {
			x.roots = append(x.roots, v)
		}
	}
	return x.roots
}
