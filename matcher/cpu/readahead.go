package cpu

import (
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// Lists are mostly in no cache: the slot that says where one is, its stamps, and what lies there. A search that asks for one list after the other
// waits for each. So they are read before, for the next candidates of a step together, as reads that do not wait for each other overlap.

// readAhead reads the lists of some vertices along a back edge, at most ahead of them: first all slots and stamps, then what these say. It returns those
// that are there, valid until the next call.
func (c *lists) readAhead(of []dyngraph.VertexID, b *program.BackEdge) []knownList {
	slots, read := c.table.slots, uint64(0)
	for _, v := range of {
		read += atomic.LoadUint64(&slots[listHash(listKey(v, b))&uint64(len(slots)-1)].key) + uint64(c.fresh.stamp(v, b.Epoch))
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
			read += uint64(c.g.Degree(v, b.Dir))
			unbuilt = append(unbuilt, v)
		}
	}
	for _, v := range unbuilt {
		r := c.g.Range(v, b.Dir, b.Label)
		if nbr, ent, ok := r.Next(); ok {
			read += uint64(nbr[0]) + uint64(ent[0])
		}
	}
	c.unbuilt, c.read = unbuilt, c.read+read
	return c.known[:len(of)]
}

// readAhead reads what the next step asks for of the images that step d is about to get, at most ahead of them, if that is a list of each.
func (s *search) readAhead(d int, of []dyngraph.VertexID) {
	if d+1 == len(s.o.Steps) {
		return
	}
	next := &s.o.Steps[d+1]
	if !next.Simple || len(next.Back) > 1 || next.Back[0].Step != d {
		return
	}
	e := s.o.Suffix
	if e != nil && e.S1 == d+1 {
		of = s.endings.unknown(e, of)
	}
	if len(of) < 2 {
		return
	}
	s.lists.readAhead(of, &next.Back[0])
	if e == nil || e.S1 != d+1 {
		return
	}
	if far := &s.o.Steps[d+2]; len(far.Back) == 2 {
		s.lists.readAhead(of, &far.Back[1-e.Link])
	}
}

// unknown returns those of some images of an ending's root for which it is not remembered what the ending finds.
func (x *endings) unknown(e *program.Suffix, of []dyngraph.VertexID) []dyngraph.VertexID {
	if x.table == nil {
		return of
	}
	x.roots = x.roots[:0]
	for _, v := range of {
		if words := x.look(e.Number, v); words == nil || words[1]&endingLong != 0 {
			x.roots = append(x.roots, v)
		}
	}
	return x.roots
}
