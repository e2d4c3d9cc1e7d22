package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher/plan"
)

// list holds the neighbours of one data vertex that pass the filter of one class, ascending, with their entries.
type list struct {
	nbr    []dyngraph.VertexID
	ent    []dyngraph.Entry
	staged int // entries that the staged batch inserts or deletes
}

// column names what lists are cached by, beside the vertex: the direction, the edge label and the class.
type column struct {
	dir   dyngraph.Dir
	label dyngraph.LabelID
	class int
}

// lists caches filtered neighbour lists of one worker. Searches come by the same vertices again and again, so a list is
// read from the packed memory array once and is then contiguous, without gaps and without neighbours that cannot match.
// A list outlives the search: it holds as long as its vertex keeps the stamp that it was built under (see freshness).
type lists struct {
	g      *dyngraph.Graph
	bits   []uint64
	words  int
	stamps []uint32

	gen   uint32 // slots of other generations are free
	used  int
	slots []slot
	nbr   []dyngraph.VertexID
	ent   []dyngraph.Entry
}

type slot struct {
	key    uint64
	gen    uint32
	stamp  uint32
	visits uint32 // asked for, while not built
	off, n uint32
	staged uint32
	built  bool
}

// maxListEntries bounds the entries that one worker caches, at 8 bytes each, outdated ones included; beyond it the cache
// starts over.
const maxListEntries = 8 << 20

// attach makes the cache read the present graph and bits.
func (c *lists) attach(g *dyngraph.Graph, f *plan.Filter, stamps []uint32) {
	c.g, c.bits, c.words, c.stamps = g, f.Bits(), f.Words(), stamps
	if c.slots == nil || len(c.nbr) >= maxListEntries {
		c.forget()
	}
}

// forget drops all lists, and with them what outdated ones still occupy. Those that are in use stay valid, as their
// memory is not written again.
func (c *lists) forget() {
	c.gen++
	c.used = 0
	if c.gen == 0 || c.slots == nil {
		c.gen, c.slots = 1, make([]slot, 256)
	}
	c.nbr, c.ent = nil, nil
}

// find returns the slot of a vertex's list in a column, taking a free one if there is none.
func (c *lists) find(v dyngraph.VertexID, column int) *slot {
	key, stamp := uint64(column)<<32|uint64(v), c.stamps[v]
	mask := uint64(len(c.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.gen != c.gen {
			if 4*c.used >= 3*len(c.slots) {
				c.grow()
				return c.find(v, column)
			}
			c.used++
			*s = slot{key: key, gen: c.gen, stamp: stamp}
			return s
		}
		if s.key == key {
			if s.stamp != stamp {
				*s = slot{key: key, gen: c.gen, stamp: stamp}
			}
			return s
		}
	}
}

func (c *lists) grow() {
	old := c.slots
	c.slots = make([]slot, 2*len(old))
	mask := uint64(len(c.slots) - 1)
	for k := range old {
		if old[k].gen != c.gen {
			continue
		}
		i := old[k].key * 0x9e3779b97f4a7c15 >> 32 & mask
		for c.slots[i].gen == c.gen {
			i = (i + 1) & mask
		}
		c.slots[i] = old[k]
	}
}

// of returns what a slot holds.
func (c *lists) of(s *slot) list {
	end := s.off + s.n
	return list{c.nbr[s.off:end:end], c.ent[s.off:end:end], int(s.staged)}
}

// build reads a range into the slot.
func (c *lists) build(s *slot, r dyngraph.Range, st *step) list {
	if len(c.nbr)+r.AtMost() > maxListEntries && len(c.nbr) > 0 {
		key := s.key
		c.forget()
		s = c.find(dyngraph.VertexID(uint32(key)), int(key>>32))
	}
	s.off = uint32(len(c.nbr))
	staged := uint32(0)
	r.Rewind()
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		for i, w := range nbrs {
			if c.bits[int(w)*c.words+st.word]&st.mask == 0 {
				continue
			}
			c.nbr = append(c.nbr, w)
			c.ent = append(c.ent, ents[i])
			if ents[i].Staged() {
				staged++
			}
		}
	}
	s.n, s.staged, s.built = uint32(len(c.nbr))-s.off, staged, true
	return c.of(s)
}

// neighbours returns the list of vertex v along a back edge of step st.
func (c *lists) neighbours(v dyngraph.VertexID, b *back, st *step) list {
	s := c.find(v, b.column)
	if s.built {
		return c.of(s)
	}
	return c.build(s, c.g.Range(v, b.dir, b.label), st)
}

// buildAfter is the number of times that a long range is searched in place before it is worth a list.
const buildAfter = 8

// peek returns the list if it is there or worth building at once, else the range to search in place.
func (c *lists) peek(v dyngraph.VertexID, b *back, st *step) (l list, r dyngraph.Range, built bool) {
	s := c.find(v, b.column)
	if s.built {
		return c.of(s), r, true
	}
	r = c.g.Range(v, b.dir, b.label)
	s.visits++
	if r.AtMost() <= 64 || s.visits > buildAfter {
		return c.build(s, r, st), r, true
	}
	return l, r, false
}

// seek returns the first index at or after from whose neighbour is at least w, by galloping.
func seek(nbr []dyngraph.VertexID, from int, w dyngraph.VertexID) int {
	if from >= len(nbr) || nbr[from] >= w {
		return from
	}
	lo, step := from, 1
	for lo+step < len(nbr) && nbr[lo+step] < w {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(nbr)) // nbr[lo] < w, and w <= nbr[hi] if hi is inside
	for lo+1 < hi {
		m := int(uint(lo+hi) / 2)
		if nbr[m] < w {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}
