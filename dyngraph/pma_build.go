package dyngraph

// builder writes a new array, evenly filled, from a sorted stream of entries.
type builder struct {
	p     *pma
	total int
	leaf  int
	at    int    // next slot
	quota int    // slot at which the leaf ends
	last  uint64 // the row before
	any   bool   // there is one
}

// build starts a new array for that many entries; the old arrays are the caller's. Degrees are not touched.
func (p *pma) build(total int) builder { return p.buildIn(total, leavesFor(total)) }

func (p *pma) buildIn(total, leaves int) builder {
	p.nbr = make([]VertexID, leaves*leafSize)
	p.ent = make([]Entry, leaves*leafSize)
	p.count = make([]uint8, leaves)
	p.first = make([]uint64, leaves)
	p.runs = make([]uint64, leaves)
	p.n = total
	b := builder{p: p, total: total, leaf: -1}
	b.next()
	return b
}

// next goes on to the next leaf.
func (b *builder) next() {
	b.leaf++
	i, k := b.leaf, len(b.p.count)
	if i == k {
		return // the last entry has been added
	}
	n := b.total*(i+1)/k - b.total*i/k
	b.p.count[i] = uint8(n)
	b.at = i * leafSize
	b.quota = b.at + n
}

func (b *builder) add(row uint64, nbr VertexID, ent Entry) {
	off := b.at - b.leaf*leafSize
	if off == 0 {
		b.p.first[b.leaf] = row
	}
	if off == 0 || row != b.last {
		b.p.runs[b.leaf] |= 1 << off
	}
	b.p.nbr[b.at], b.p.ent[b.at] = nbr, ent
	if !b.any || row>>32 != b.last>>32 {
		h := &b.p.heads[row>>32]
		h.start, h.offset = uint32(b.leaf), uint8(off)
	}
	b.last, b.any = row, true
	b.at++
	if b.at == b.quota {
		b.next()
	}
}

// rebuild writes the array anew, in the size that fits, with more entries merged in.
func (p *pma) rebuild(ops []slot) {
	old := *p
	p.enter(ops)
	b := p.build(p.n + len(ops))
	var of [leafSize]slot
	for leaf := range old.count {
		for _, s := range old.appendLeaf(of[:0], leaf) {
			for len(ops) > 0 && compareSlots(ops[0], s) < 0 {
				b.add(ops[0].row, ops[0].nbr, ops[0].ent)
				ops = ops[1:]
			}
			b.add(s.row, s.nbr, s.ent)
		}
	}
	for i := range ops {
		b.add(ops[i].row, ops[i].nbr, ops[i].ent)
	}
	p.trim()
}
