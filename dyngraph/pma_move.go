package dyngraph

import "math/bits"

// A window, and the whole array when it is written anew, is moved without asking for rows: a row is read from the
// edge table, which lies elsewhere, so an entry whose row is asked for costs several times as much as one that is
// only copied. What is known instead: runs begin where they began, but for those that a leaf's end cut in two, and
// vertices follow each other by their degrees.

// part is a function that takes adjacent entries. runs has a bit for each of them, set where a run begins.
type part func(nbr []VertexID, ent []Entry, runs uint64)

// eachPart calls do with the entries of the leaves [a, b) and operations among them, in order, at most leafSize at a
// time. An entry whose run began in an earlier part does not begin one. The operations are not entered yet.
func (p *pma) eachPart(a, b int, ops []slot, do part) {
	before := -1       // the leaf whose last entry was the last one
	last := ^uint64(0) // else the row of the last one, an operation; at first that of none
	for leaf := a; leaf < b; leaf++ {
		k := 0
		for k < len(ops) && (leaf+1 == b || !p.notAfter(leaf+1, ops[k].row, ops[k].nbr, ops[k].ent.Index())) {
			k++
		}
		n, runs := int(p.count[leaf]), p.runs[leaf]
		if n > 0 && (before < 0 && p.first[leaf] == last || before >= 0 && p.goesOn(leaf, before)) {
			runs &^= 1
		}
		if at := p.mergeLeaf(leaf, runs, ops[:k], do); k > 0 && at == n {
			last, before = ops[k-1].row, -1
		} else if n > 0 {
			before = leaf
		}
		ops = ops[k:]
	}
}

// mergeLeaf hands on the entries of a leaf and operations, and returns where in the leaf the last operation belongs.
func (p *pma) mergeLeaf(leaf int, runs uint64, ops []slot, do part) int {
	at, n := leaf*leafSize, int(p.count[leaf])
	nbr, ent := p.nbr[at:at+n], p.ent[at:at+n]
	from := 0
	for k := range ops {
		o := &ops[k]
		i, a, b := p.position(leaf, o.row, o.nbr, o.ent.Index())
		if i > from {
			do(nbr[from:i], ent[from:i], runs>>from&upTo(i-from))
			from = i
		}
		begins := uint64(0)
		if i == a && (k == 0 || ops[k-1].row != o.row) {
			begins = 1
		}
		p.one.nbr[0], p.one.ent[0] = o.nbr, o.ent
		do(p.one.nbr[:], p.one.ent[:], begins)
		if i == a && a < b {
			runs &^= 1 << i // the operation leads the run
		}
	}
	if n > from {
		do(nbr[from:], ent[from:], runs>>from&upTo(n-from))
	}
	return from
}

// goesOn tells whether the first run of a leaf is the last of the one before it.
func (p *pma) goesOn(leaf, before int) bool {
	row := p.first[leaf]
	if h := &p.heads[row>>32]; int(h.start) == leaf && h.offset == 0 {
		return false // nor is its vertex in it
	}
	return p.lastRow(before) == row
}

// lastRow returns the row of the last entry of a leaf, which has some.
func (p *pma) lastRow(leaf int) uint64 { return p.runRow(leaf, bits.Len64(p.runs[leaf])-1) }

// mover writes entries, which come in order, evenly into leaves.
type mover struct {
	p             *pma
	first, leaves int
	total         int
	done          int // leaves
	at, quota     int // the next slot, and the one at which its leaf ends
}

// moveTo starts to write a total number of entries into a number of leaves, from the leaf first on.
func (p *pma) moveTo(first, leaves, total int) mover {
	m := mover{p: p, first: first, leaves: leaves, total: total, done: -1}
	m.next()
	return m
}

// bound is the number of entries in the first i leaves.
func (m *mover) bound(i int) int { return m.total * i / m.leaves }

// next goes on to the next leaf that gets entries.
func (m *mover) next() {
	for m.done++; m.done < m.leaves; m.done++ {
		leaf, n := m.first+m.done, m.bound(m.done+1)-m.bound(m.done)
		m.p.count[leaf], m.p.runs[leaf] = uint8(n), 0
		m.at = leaf * leafSize
		m.quota = m.at + n
		if n > 0 {
			return
		}
	}
}

// write takes entries; runs are where runs begin, a bit to an entry.
func (m *mover) write(nbr []VertexID, ent []Entry, runs []uint64) {
	p := m.p
	for i := 0; i < len(nbr); {
		n := min(len(nbr)-i, m.quota-m.at)
		copy(p.nbr[m.at:m.at+n], nbr[i:])
		copy(p.ent[m.at:m.at+n], ent[i:])
		leaf, off := m.at/leafSize, m.at%leafSize
		begin := bitsAt(runs, i, n)
		if off == 0 {
			begin |= 1
			p.first[leaf] = p.rowAt(m.at)
		}
		p.runs[leaf] |= begin << off
		i += n
		if m.at += n; m.at == m.quota {
			m.next()
		}
	}
}

// lead says of the vertices that begin in the leaves where they do. All entries are there, and degrees count them.
func (m *mover) lead() {
	if m.total == 0 {
		return
	}
	p, at := m.p, 0 // entries of the vertices before v
	v := VertexID(p.first[m.first] >> 32)
	if v == p.vertexBefore(m.first) {
		h := &p.heads[v]
		at = h.all() - (p.countIn(int(h.start), m.first) - int(h.offset))
		v++
	}
	leaf, from, to := 0, 0, m.bound(1)
	for ; at < m.total; v++ {
		for at >= to {
			leaf++
			from, to = to, m.bound(leaf+1)
		}
		v = p.vertexFrom(v, (m.first+leaf)*leafSize+at-from)
		h := &p.heads[v]
		h.start, h.offset = uint32(m.first+leaf), uint8(at-from)
		at += h.all()
	}
}

// stretch is a run of entries in scratch.
type stretch struct {
	nbr  []VertexID
	ent  []Entry
	runs []uint64 // where runs begin, a bit to an entry
}

func (s *stretch) add(nbr []VertexID, ent []Entry, runs uint64) {
	n := len(s.nbr)
	s.nbr, s.ent = append(s.nbr, nbr...), append(s.ent, ent...)
	for len(s.runs)*64 < len(s.nbr) {
		s.runs = append(s.runs, 0)
	}
	w, off := n/64, n%64
	s.runs[w] |= runs << off
	if off+len(nbr) > 64 {
		s.runs[w+1] |= runs >> (64 - off)
	}
}

// bitsAt returns n bits from i on, at most 64.
func bitsAt(b []uint64, i, n int) uint64 {
	w, off := i/64, i%64
	x := b[w] >> off
	if off+n > 64 {
		x |= b[w+1] << (64 - off)
	}
	return x & upTo(n)
}

// moveWindow merges operations into the leaves [a, b) and spreads all.
func (p *pma) moveWindow(a, b int, ops []slot) {
	total := p.countIn(a, b) + len(ops)
	s := p.wideRoom(total)
	p.eachPart(a, b, ops, s.add)
	p.enter(ops)
	m := p.moveTo(a, b-a, total)
	m.write(s.nbr, s.ent, s.runs)
	m.lead()
	p.moved = s
}

// rebuild writes the array anew, in the size that fits, with more entries merged in.
func (p *pma) rebuild(ops []slot) {
	if p.leaves() == 0 {
		p.allot(0, 1)
	}
	old := *p
	p.allot(p.n+len(ops), leavesFor(p.n+len(ops)))
	m := p.moveTo(0, p.leaves(), p.n)
	var begin [1]uint64
	old.eachPart(0, old.leaves(), ops, func(nbr []VertexID, ent []Entry, runs uint64) {
		begin[0] = runs
		m.write(nbr, ent, begin[:])
	})
	p.enter(ops)
	m.lead()
	p.trim()
}
