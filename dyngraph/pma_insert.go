package dyngraph

// insert adds entries; they are sorted and none of them is there.
func (p *pma) insert(ops []slot) {
	if len(ops) == 0 {
		return
	}
	if rebuildFor(len(ops), p.n) || !p.mayHold(p.height(), p.leaves(), p.n+len(ops)) {
		p.enter(ops)
		p.rebuild(ops)
		return
	}
	segs := p.locate(ops)
	p.enter(ops)
	p.n += len(ops)
	p.pending = p.pending[:0]
	for level := 0; len(segs) > 0; level++ {
		if level > 0 && level >= p.height() {
			p.n -= len(p.pending)
			p.rebuild(p.pending)
			break
		}
		// What does not fit goes to the level above. Its insertions are moved to the front of pending, so that those
		// of one window lie together; a level reads no less far than it writes.
		kept, failed := p.pending[:0], segs[:0]
		for _, s := range segs {
			a, b := p.window(level, s.window)
			switch n := len(s.ops) + p.countIn(a, b); {
			case !p.mayHold(level, b-a, n):
				from := len(kept)
				kept = append(kept, s.ops...)
				if k := len(failed) - 1; k >= 0 && failed[k].window == s.window>>1 {
					failed[k].ops = kept[from-len(failed[k].ops):]
				} else {
					failed = append(failed, segment{s.window >> 1, kept[from:]})
				}
			case level == 0:
				p.insertLeaf(a, s.ops)
			default:
				p.insertWindow(a, b, s.ops)
			}
		}
		p.pending, segs = kept, failed
	}
	p.trim()
}

// rebuildFor tells whether a batch of m entries is so large a part of n that all is written anew.
func rebuildFor(m, n int) bool { return m >= n/4 }

// locate sorts the operations into the leaves where they belong. A vertex without entries starts there from now on.
func (p *pma) locate(ops []slot) []segment {
	segs := p.segments[:0]
	leaf := 0
	for i := range ops {
		o := &ops[i]
		h := &p.heads[o.vertex()]
		was := leaf
		if h.all() > 0 {
			leaf = p.seek(max(leaf, int(h.start)), o.row, o.nbr)
		} else {
			leaf = p.seek(leaf, o.row, o.nbr)
			h.start = uint32(leaf)
		}
		if k := len(segs) - 1; k >= 0 && leaf == was {
			segs[k].ops = ops[i-len(segs[k].ops) : i+1]
		} else {
			segs = append(segs, segment{leaf, ops[i : i+1]})
		}
	}
	p.segments = segs
	return segs
}

func (p *pma) enter(ops []slot) {
	for i := range ops {
		p.heads[ops[i].vertex()].add(dirOf(ops[i].row), labelOf(ops[i].row))
	}
}

// insertLeaf merges operations into a leaf that has room, from the back.
func (p *pma) insertLeaf(leaf int, ops []slot) {
	p.changes.add(leaf)
	at, n := leaf*leafSize, int(p.count[leaf])
	rows, nbrs, ents := p.row[at:at+leafSize], p.nbr[at:at+leafSize], p.ent[at:at+leafSize]
	p.count[leaf] = uint8(n + len(ops))
	for k := len(ops) - 1; k >= 0; k-- {
		o := ops[k]
		i := countLess(rows[:n], nbrs, o.row, o.nbr)
		copy(rows[i+k+1:], rows[i:n])
		copy(nbrs[i+k+1:], nbrs[i:n])
		copy(ents[i+k+1:], ents[i:n])
		rows[i+k], nbrs[i+k], ents[i+k] = o.row, o.nbr, o.ent
		n = i
	}
	p.first[leaf] = rows[0]
	p.reoffset(leaf, n)
}

// insertWindow merges operations into the leaves [a, b) and spreads all.
func (p *pma) insertWindow(a, b int, ops []slot) {
	m := p.merged[:0]
	for leaf := a; leaf < b; leaf++ {
		for at, end := leaf*leafSize, leaf*leafSize+int(p.count[leaf]); at < end; at++ {
			s := p.get(at)
			for len(ops) > 0 && compareSlots(ops[0], s) < 0 {
				m = append(m, ops[0])
				ops = ops[1:]
			}
			m = append(m, s)
		}
	}
	p.merged = append(m, ops...)
	p.spread(a, b, p.merged)
}

// trim lets go of scratch that only a large batch needs.
func (p *pma) trim() {
	const keep = 1 << 18
	if cap(p.merged) > keep {
		p.merged = nil
	}
	if cap(p.pending) > keep {
		p.pending = nil
	}
	clear(p.segments[:cap(p.segments)])
	if cap(p.segments) > keep {
		p.segments = nil
	}
}
