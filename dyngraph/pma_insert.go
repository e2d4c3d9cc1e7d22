package dyngraph

import "sync"

// insert adds entries. They must be sorted and absent, and their edges in the edge table. It appends to at a slot for
// each: that of the entry if it was not moved again, any number otherwise.
func (p *pma) insert(ops []slot, at []int) []int {
	from := len(at)
	at = grown(at, from+len(ops))
	p.insertAt(ops, at[from:])
	return at
}

func (p *pma) insertAt(ops []slot, at []int) {
	if len(ops) == 0 {
		return
	}
	if rebuildFor(len(ops), p.n) {
		p.rebuild(ops)
		return
	}
	if ops = p.insertAtEnd(ops, at); !p.mayHold(p.height(), p.leaves(), p.n+len(ops)) {
		p.rebuild(ops)
		return
	}
	segs := p.locate(ops)
	p.n += len(ops)
	p.pending = p.pending[:0]
	for level := 0; len(segs) > 0; level++ {
		if level > 0 && level >= p.height() {
			p.n -= len(p.pending)
			p.rebuild(p.pending)
			break
		}
		// Insertions that do not fit go to the level above. They are moved to the front of pending, so that those of
		// one window are adjacent. A level never writes beyond the operations that it has read.
		kept, failed := p.pending[:0], segs[:0]
		for i, s := range segs {
			if level == 0 {
				p.readAhead(ops, segs, i)
			}
			a, b := p.window(level, int(s.window))
			here := s.of(ops)
			switch {
			case !p.takes(level, a, b, len(here)):
				from := uint32(len(kept))
				kept = append(kept, here...)
				if k := len(failed) - 1; k < 0 || failed[k].window != s.window>>1 {
					failed = append(failed, segment{window: s.window >> 1, first: from})
				}
				failed[len(failed)-1].end = uint32(len(kept))
			case level == 0:
				p.insertLeaf(a, here, at[s.first:])
			default:
				p.moveWindow(a, b, here)
			}
		}
		p.pending, segs, ops = kept, failed, kept
	}
	p.trim()
}

// takes reports whether a window has room for some more entries. The root always has.
func (p *pma) takes(level, a, b, more int) bool {
	if level == 0 {
		return int(p.count[a])+more <= maxLeaf
	}
	return p.mayHold(level, b-a, p.countIn(a, b)+more)
}

// rebuildFor tells whether a batch of m entries is so large, beside n in the array, that the array is written anew.
func rebuildFor(m, n int) bool { return m >= n/4 }

// locate groups the operations by the leaf where they belong.
func (p *pma) locate(ops []slot) []segment {
	segs := p.segments[:0]
	leaf := 0
	for i := range ops {
		o := &ops[i]
		if i%ahead == 0 {
			p.warmPlaces(ops[i:min(i+ahead, len(ops))])
		}
		h := &p.heads[o.vertex()]
		was := leaf
		if all := h.all(); all > 0 {
			leaf = max(leaf, int(h.start))
			if int(h.offset)+all > int(p.count[h.start]) { // the vertex has entries in later leaves
				leaf = p.seek(leaf, o.row, o.nbr, o.ent.Index())
			}
		} else {
			leaf = p.seek(leaf, o.row, o.nbr, o.ent.Index())
		}
		if k := len(segs) - 1; k >= 0 && leaf == was {
			segs[k].end = uint32(i) + 1
		} else {
			from := uint8(0)
			if leaf == int(h.start) {
				from = h.offset
			}
			segs = append(segs, segment{uint32(leaf), uint32(i), uint32(i) + 1, from})
		}
	}
	p.segments = segs
	return segs
}

// enter adds entries to the degrees when they are put into the array: degrees always count the entries in it.
func (p *pma) enter(ops []slot) {
	for i := range ops {
		p.heads[ops[i].vertex()].add(dirOf(ops[i].row), labelOf(ops[i].row))
	}
}

// insertLeaf merges operations into a leaf that has room, from the back, and writes their slots to slots.
func (p *pma) insertLeaf(leaf int, ops []slot, slots []int) {
	var positions [leafSize]struct {
		at     uint8
		begins bool // the run; there is none, or the entry is before its first
		leads  bool // a run that was there
	}
	for k := range ops {
		o := &ops[k]
		i, a, b := p.position(leaf, o.row, o.nbr, o.ent.Index())
		positions[k].at, positions[k].leads = uint8(i), i == a && a < b
		positions[k].begins = i == a && (k == 0 || ops[k-1].row != o.row)
	}
	at, end := leaf*leafSize, int(p.count[leaf])
	p.count[leaf] = uint8(end + len(ops))
	nbrs, ents := p.nbr[at:at+leafSize], p.ent[at:at+leafSize]
	was, runs := p.runs[leaf], uint64(0)
	for k := len(ops) - 1; k >= 0; k-- {
		i := int(positions[k].at)
		copy(nbrs[i+k+1:], nbrs[i:end])
		copy(ents[i+k+1:], ents[i:end])
		nbrs[i+k], ents[i+k] = ops[k].nbr, ops[k].ent
		slots[k] = at + i + k
		behind := was & upTo(end) >> i
		if positions[k].leads {
			behind &^= 1
		}
		runs |= behind << (i + k + 1)
		if positions[k].begins {
			runs |= 1 << (i + k)
		}
		end = i
	}
	p.runs[leaf] = runs | was&upTo(end)
	if end == 0 {
		p.first[leaf] = ops[0].row
	}
	for k := range ops {
		h := &p.heads[ops[k].vertex()]
		if h.all() == 0 {
			h.start, h.offset = uint32(leaf), positions[k].at+uint8(k)
		}
		h.add(dirOf(ops[k].row), labelOf(ops[k].row))
	}
	p.reoffset(leaf, ops[0].vertex())
}

// appendLeaf appends the entries of a leaf, with their rows.
func (p *pma) appendLeaf(m []slot, leaf int) []slot {
	at := leaf * leafSize
	for i, n := 0, int(p.count[leaf]); i < n; {
		row, end := p.runRow(leaf, i), p.runEnd(leaf, i)
		for ; i < end; i++ {
			m = append(m, slot{row, p.nbr[at+i], p.ent[at+i]})
		}
	}
	return m
}

// merge merges the entries of the leaves [a, b) with operations, and adds the operations to the degrees. The result is
// scratch memory.
func (p *pma) merge(a, b int, ops []slot) []slot {
	m := p.merged[:0]
	for leaf := a; leaf < b; leaf++ {
		m = p.appendLeaf(m, leaf)
	}
	i, j := len(m)-1, len(ops)-1
	m = append(m, ops...)
	for k := len(m) - 1; j >= 0; k-- {
		if i >= 0 && compareSlots(m[i], ops[j]) > 0 {
			m[k] = m[i]
			i--
		} else {
			m[k] = ops[j]
			j--
		}
	}
	p.merged = m
	p.enter(ops)
	return m
}

// keep is the number of entries of scratch memory that an array retains.
const keep = 1 << 18

// wide is the pool of scratch memory for larger windows, of *stretch. Some streams spread such a window several times a
// second; when it was allocated each time, that was most of a daemon's allocation. The collector frees it when it is
// not used any more.
var wide sync.Pool

// wideRoom returns empty scratch for n entries; p.moved is to be it afterwards.
func (p *pma) wideRoom(n int) stretch {
	if cap(p.moved.nbr) < n && n > keep {
		if s, ok := wide.Get().(*stretch); ok && cap(s.nbr) >= n {
			p.moved = *s
		}
	}
	if cap(p.moved.nbr) < n {
		room := n + n/8
		p.moved = stretch{make([]VertexID, 0, room), make([]Entry, 0, room), make([]uint64, 0, room/64+1)}
	}
	return stretch{p.moved.nbr[:0], p.moved.ent[:0], p.moved.runs[:0]}
}

// trim lets go of scratch that only a large batch needs.
func (p *pma) trim() {
	if cap(p.moved.nbr) > keep {
		s := p.moved
		wide.Put(&s)
		p.moved = stretch{}
	}
	if cap(p.merged) > keep {
		p.merged = nil
	}
	if cap(p.pending) > keep {
		p.pending = nil
	}
	p.foresee()
	if cap(p.segments) > keep {
		p.segments = nil
	}
}
