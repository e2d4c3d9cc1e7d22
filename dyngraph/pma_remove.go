package dyngraph

// remove drops entries; they are sorted and all of them are there.
func (p *pma) remove(ops []slot) {
	if len(ops) == 0 {
		return
	}
	all := rebuildFor(len(ops), p.n) || !p.enough(p.height(), p.leaves(), p.n-len(ops))
	segs := p.locate(ops)
	for i := range ops {
		p.heads[ops[i].vertex()].drop(dirOf(ops[i].row))
	}
	p.n -= len(ops)
	for _, s := range segs {
		p.removeLeaf(s.window, s.ops)
	}
	if all {
		p.rebuild(nil)
		return
	}
	for level := 0; len(segs) > 0; level++ {
		if level > 0 && level >= p.height() {
			p.rebuild(nil)
			return
		}
		failed := segs[:0]
		for _, s := range segs {
			a, b := p.window(level, s.window)
			switch {
			case !p.enough(level, b-a, p.countIn(a, b)):
				if k := len(failed) - 1; k < 0 || failed[k].window != s.window>>1 {
					failed = append(failed, segment{window: s.window >> 1})
				}
			case level > 0:
				p.insertWindow(a, b, nil)
			}
		}
		segs = failed
	}
	p.restart(ops)
	p.trim()
}

// removeLeaf takes entries out of a leaf and closes the gaps.
func (p *pma) removeLeaf(leaf int, ops []slot) {
	p.changes.add(leaf)
	at, n := leaf*leafSize, int(p.count[leaf])
	rows, nbrs, ents := p.row[at:at+n], p.nbr[at:at+n], p.ent[at:at+n]
	w, r, changed := 0, 0, -1
	for _, o := range ops {
		i := r + countLess(rows[r:], nbrs[r:], o.row, o.nbr)
		copy(rows[w:], rows[r:i])
		copy(nbrs[w:], nbrs[r:i])
		copy(ents[w:], ents[r:i])
		w += i - r
		r = i + 1
		if changed < 0 {
			changed = w
		}
	}
	copy(rows[w:], rows[r:])
	copy(nbrs[w:], nbrs[r:])
	copy(ents[w:], ents[r:])
	w += n - r
	p.count[leaf] = uint8(w)
	if w > 0 {
		p.first[leaf] = rows[0]
	}
	p.reoffset(leaf, changed)
}

// restart finds anew where the vertices of removed entries start. No entry is before its vertex's old start, and
// windows that were spread have set the starts of what lies in them.
func (p *pma) restart(ops []slot) {
	last := NoVertex
	for i := range ops {
		v := ops[i].vertex()
		h := &p.heads[v]
		if v == last || h.all() == 0 {
			continue
		}
		last = v
		leaf := int(h.start)
		i := p.within(leaf, uint64(v)<<32, 0)
		for i == int(p.count[leaf]) {
			leaf++
			i = p.within(leaf, uint64(v)<<32, 0)
		}
		h.start, h.offset = uint32(leaf), uint8(i)
	}
}
