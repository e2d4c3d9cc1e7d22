package dyngraph

// remove drops entries, which are sorted and all in the array. at has their slots, or is nil.
func (p *pma) remove(ops []slot, at []int) {
	if len(ops) == 0 {
		return
	}
	all := rebuildFor(len(ops), p.n) || !p.enough(p.height(), p.leaves(), p.n-len(ops))
	var segs []segment
	if at == nil {
		segs = p.locate(ops)
	} else {
		segs = p.gather(ops, at)
	}
	p.n -= len(ops)
	for i, s := range segs {
		p.readAhead(ops, segs, i)
		if at == nil {
			p.removeLeaf(int(s.window), s.of(ops), nil)
		} else {
			p.removeLeaf(int(s.window), s.of(ops), at[s.first:])
		}
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
			a, b := p.window(level, int(s.window))
			switch {
			case level == 0 && int(p.count[a]) >= minLeaf:
			case !p.enough(level, b-a, p.countIn(a, b)):
				if k := len(failed) - 1; k < 0 || failed[k].window != s.window>>1 {
					failed = append(failed, segment{window: s.window >> 1})
				}
			case level > 0:
				p.moveWindow(a, b, nil)
			}
		}
		segs = failed
	}
	p.trim()
}

// gather groups the operations by the leaf of their entries.
func (p *pma) gather(ops []slot, at []int) []segment {
	segs := p.segments[:0]
	for i := range ops {
		leaf := uint32(at[i] / leafSize)
		if k := len(segs) - 1; k >= 0 && segs[k].window == leaf {
			segs[k].end = uint32(i) + 1
		} else {
			segs = append(segs, segment{leaf, uint32(i), uint32(i) + 1, uint8(at[i] % leafSize)})
		}
	}
	p.segments = segs
	return segs
}

// removeLeaf takes entries out of a leaf, closes the gaps, and takes them off the degrees. slots has their slots, or is
// nil.
func (p *pma) removeLeaf(leaf int, ops []slot, slots []int) {
	var positions [leafSize]uint8
	for k := range ops {
		if slots != nil {
			positions[k] = uint8(slots[k] % leafSize)
		} else {
			positions[k] = uint8(p.within(leaf, ops[k].row, ops[k].nbr, ops[k].ent.Index()))
		}
	}
	at, n := leaf*leafSize, int(p.count[leaf])
	gone := p.movesOn(leaf, n, ops)
	runs, first := p.runs[leaf], false
	for k := len(ops) - 1; k >= 0; k-- {
		i := int(positions[k])
		behind := runs >> (i + 1)
		last := false // of its run in the leaf
		if leads := runs >> i & 1; leads != 0 {
			if last = behind&1 != 0 || i+1 == n-(len(ops)-1-k); !last {
				behind |= 1 // the next one leads the run
			}
		}
		h := &p.heads[ops[k].vertex()]
		first = i == 0 &&
			last // the row of the leaf's first entry is another one
		last = last && int(h.start) == leaf && int(h.offset)+h.all() <= n-(len(ops)-1-k) // no entry is in another leaf
		h.drop(dirOf(ops[k].row), labelOf(ops[k].row), last)
		runs = runs&upTo(i) | behind<<i
	}
	p.runs[leaf] = runs
	nbrs, ents := p.nbr[at:at+n], p.ent[at:at+n]
	w := int(positions[0])
	for k := range ops {
		from, to := int(positions[k])+1, n
		if k+1 < len(ops) {
			to = int(positions[k+1])
		}
		copy(nbrs[w:], nbrs[from:to])
		w += copy(ents[w:], ents[from:to])
	}
	p.count[leaf] = uint8(w)
	if w > 0 && first {
		p.first[leaf] = p.rowAt(at)
	}
	if last := ops[len(ops)-1].vertex(); gone {
		p.heads[last].start, p.heads[last].offset = uint32(leaf)+1, 0
		if last == ops[0].vertex() {
			return // nothing is behind it
		}
	}
	p.reoffset(leaf, ops[0].vertex())
}

// movesOn tells whether the removal of the operations, from a leaf of n entries, leaves their last vertex with
// entries in later leaves only.
func (p *pma) movesOn(leaf, n int, ops []slot) bool {
	v, k := ops[len(ops)-1].vertex(), 0
	for k < len(ops) && ops[len(ops)-1-k].vertex() == v {
		k++
	}
	h := &p.heads[v]
	return int(h.start) == leaf && int(h.offset)+k == n && h.all() > k
}
