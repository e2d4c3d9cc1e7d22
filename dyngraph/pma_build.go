package dyngraph

// builder writes a new array, evenly filled, from a sorted stream of entries.
type builder struct {
	p     *pma
	total int
	leaf  int
	at    int      // next slot
	quota int      // slot at which the leaf ends
	last  VertexID // of the entry before
}

// build starts a new array for that many entries; the old arrays are the caller's. Degrees are not touched.
func (p *pma) build(total int) builder {
	leaves := leavesFor(total)
	p.row = make([]uint64, leaves*leafSize)
	p.nbr = make([]VertexID, leaves*leafSize)
	p.ent = make([]Entry, leaves*leafSize)
	p.count = make([]uint8, leaves)
	p.first = make([]uint64, leaves)
	p.n = total
	p.changes.addAll()
	b := builder{p: p, total: total, leaf: -1, last: NoVertex}
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
	if b.at == b.leaf*leafSize {
		b.p.first[b.leaf] = row
	}
	b.p.row[b.at], b.p.nbr[b.at], b.p.ent[b.at] = row, nbr, ent
	if v := VertexID(row >> 32); v != b.last {
		h := &b.p.heads[v]
		h.start, h.offset = uint32(b.leaf), uint8(b.at-b.leaf*leafSize)
		b.last = v
	}
	b.at++
	if b.at == b.quota {
		b.next()
	}
}

// rebuild writes the array anew, in the size that fits, with more entries merged in.
func (p *pma) rebuild(ops []slot) {
	old := *p
	b := p.build(p.n + len(ops))
	for leaf := range old.count {
		for at, end := leaf*leafSize, leaf*leafSize+int(old.count[leaf]); at < end; at++ {
			row, nbr := old.row[at], old.nbr[at]
			for len(ops) > 0 && (ops[0].row < row || ops[0].row == row && ops[0].nbr < nbr) {
				b.add(ops[0].row, ops[0].nbr, ops[0].ent)
				ops = ops[1:]
			}
			b.add(row, nbr, old.ent[at])
		}
	}
	for i := range ops {
		b.add(ops[i].row, ops[i].nbr, ops[i].ent)
	}
	p.trim()
}
