package cpu

import (
	"sync/atomic"

	"motifd/dyngraph"
)

// foreseen remembers, for the candidates of a step, what each of them has in common with a vertex that is mapped before, where a later step asks
// for that. A search comes by the same candidates and the same vertex many times a batch, from different ways to get there; then one
// look tells for all, those that have nothing in common are passed over, and for the others nothing need be looked up. When it first comes
// by, it looks all pairs up at once, so that it waits for the memory of all together.
//
// A row has a place for each candidate; 0 is not known. The candidates are those of a list that is shared and has nothing staged. It is a
// worker's own, and holds for one search.
type foreseen struct {
	search       uint32 // number of the search, from 1 on
	lists, pairs uint32 // generations of the tables that the places are in
	slots        []foreseenSlot
	all, free    []place // memory for rows, the last block, and what is left of it
	blocks       int     // that slots may refer to
	read         uint64  // what is read ahead comes together here, so that it is read
}

// foreseenSlot says where a row is.
type foreseenSlot struct {
	key    uint64 // place of the list, and the other vertex
	kind   uint64 // of the pairs, and on which side the candidates are
	search uint32
	row    []place
}

const (
	foreseenSlots = 1 << 12
	foreseenRows  = 1 << 16 // of a block
	// foreseenBlocks bounds the blocks of one search, of 256 KiB: then all rows are forgotten. Between searches there is one.
	foreseenBlocks = 16
	// foreseenLongest is the longest row: that of a hub, to be read anew for each vertex it meets, would push out all others.
	foreseenLongest = foreseenRows / 16
)

// begin forgets all rows.
func (k *foreseen) begin() {
	k.free = k.all
	if k.blocks > 1 {
		clear(k.slots)
		k.blocks = 1
	}
	if k.search++; k.search == 0 {
		clear(k.slots)
		k.search = 1
	}
}

// row returns the row for a key, and whether it is a new one.
func (k *foreseen) row(key, kind uint64, n int) (row []place, made bool) {
	if k.slots == nil {
		k.slots = make([]foreseenSlot, foreseenSlots)
	}
	slot := &k.slots[(key^kind<<20)*0x9e3779b97f4a7c15>>52]
	if slot.key == key && slot.kind == kind && slot.search == k.search {
		return slot.row, false
	}
	if n > len(k.free) {
		if k.blocks++; k.blocks > foreseenBlocks {
			clear(k.slots)
			k.blocks = 1
		}
		k.all = make([]place, foreseenRows) // steps before this one may still read theirs
		k.free = k.all
	}
	*slot = foreseenSlot{key, kind, k.search, k.free[:n:n]}
	k.free = k.free[n:]
	return slot.row, true
}

// meetings notes for each plain step whose candidates are one vertex's neighbours the first later one that is plain and joined to it, to
// another one before it, and to no more.
func (o *order) meetings() {
	for d := range o.steps {
		o.steps[d].meets = 0
	}
	for e := len(o.steps) - 1; e > 2; e-- {
		st := &o.steps[e]
		if _, ok := st.pair(); !ok || !st.plain || st.back[0].step == st.back[1].step {
			continue
		}
		d := max(st.back[0].step, st.back[1].step)
		if at := &o.steps[d]; d > 1 && at.plain && len(at.back) == 1 {
			at.meets = e
		}
	}
}

// foresee makes the frame of the step that step d meets know what it will find for each candidate of d, if that may pay.
func (s *search) foresee(d int, st *step, f *frame) (row []place, to *frame) {
	later := &s.o.steps[st.meets]
	to = &s.frames[later.slot]
	to.row = nil
	kind, _ := later.pair()
	u := s.pairs.useOf(kind)
	if u.judge(); u.rest > 0 || s.pairs.off || f.at < firstPlace || f.gen != s.lists.table.gen || len(f.nbr) > foreseenLongest {
		return nil, to
	}
	k, gen := &s.foreseen, s.pairs.table.gen
	if k.lists != f.gen || k.pairs != gen {
		k.begin()
		k.free, k.lists, k.pairs = nil, f.gen, gen // steps before this one may still read their rows
	}
	n, side := len(f.nbr), 0 // of the candidates
	if later.back[0].step != d {
		side = 1
	}
	m := s.m[later.back[1-side].step]
	row, made := k.row(uint64(f.at)<<32|uint64(m), uint64(kind)<<1|uint64(side), n)
	u.tries += uint32(n)
	if made {
		s.pairs.lookUp(kind, later, side, f, m, row, k)
	} else {
		u.hits += uint32(n)
	}
	to.row, to.rowGen = row, gen
	return row, to
}

// lookUp fills a row with what the candidates of a frame have in common with m.
func (c *pairs) lookUp(kind pairKind, st *step, side int, f *frame, m dyngraph.VertexID, row []place, k *foreseen) {
	l := [2]lane{st.back[0].lane, st.back[1].lane}
	for from := 0; from < len(row); from += ahead {
		part := f.nbr[from:min(from+ahead, len(row))]
		for _, v := range part {
			a, b := v, m
			if side == 1 {
				a, b = m, v
			}
			set, _ := c.slot(kind, a, b, l)
			k.read += atomic.LoadUint64(&set.version)
		}
		for i, v := range part {
			a, b := v, m
			if side == 1 {
				a, b = m, v
			}
			p := c.find(kind, a, b, l)
			if p == 0 {
				p = absent
			}
			row[from+i] = p
		}
	}
}

// known returns what the row has for the candidate that is mapped: a place in a table of a generation, or 0.
func (f *frame) known(gen uint32) place {
	if f.row == nil || f.rowGen != gen {
		return 0
	}
	return f.row[f.rowAt]
}

// note remembers a place for the candidate that is mapped.
func (f *frame) note(p place, gen uint32) {
	if f.row != nil && f.rowGen == gen {
		f.row[f.rowAt] = p
	}
}
