package dyngraph

// builder writes leaves of a new array, evenly filled, from a sorted stream of entries. Several builders may write
// different leaves at once.
type builder struct {
	p     *pma
	leaf  int
	end   int    // leaf after the last one
	at    int    // next slot
	quota int    // slot at which the leaf ends
	last  uint64 // the row before
	any   bool   // there is one
}

// build starts a new array for that many entries; the old arrays are the caller's. Degrees are not touched.
func (p *pma) build(total int) builder { return p.buildIn(total, leavesFor(total)) }

func (p *pma) buildIn(total, leaves int) builder {
	p.allot(total, leaves)
	return p.part(0, leaves)
}

// part returns a builder of leaves [from, to) of an array that is allotted.
func (p *pma) part(from, to int) builder {
	b := builder{p: p, leaf: from - 1, end: to}
	b.next()
	return b
}

// begin returns the number of entries before the leaf.
func (b *builder) begin() int { return b.p.n * b.leaf / len(b.p.count) }

// done reports whether all leaves are written.
func (b *builder) done() bool { return b.leaf == b.end }

// next goes on to the next leaf.
func (b *builder) next() {
	b.leaf++
	i, k := b.leaf, len(b.p.count)
	if b.done() {
		return // the last entry has been added
	}
	n := b.p.n*(i+1)/k - b.begin()
	b.p.count[i] = uint8(n)
	b.at = i * leafSize
	b.quota = b.at + n
}

// pass tells of an entry before those of the builder.
func (b *builder) pass(row uint64) { b.last, b.any = row, true }

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

// allot makes empty leaves for that many entries, and room for more at the end: memory that is not written yet is an
// address only, while to move the array to where there is more is long for a batch to wait.
func (p *pma) allot(total, leaves int) {
	room := roomFor(leaves)
	p.nbr = p.spares.nbr.take(leaves*leafSize, room*leafSize)
	p.ent = p.spares.ent.take(leaves*leafSize, room*leafSize)
	p.count = make([]uint8, leaves, room)
	p.first = make([]uint64, leaves, room)
	p.runs = make([]uint64, leaves, room)
	p.n = total
}

// roomFor returns the number of leaves for which an array of some leaves has room.
func roomFor(leaves int) int { return leaves + leaves/8 }

// foresee has memory made for an array that will be written anew before long, and lets go of it when that is no
// longer so.
func (p *pma) foresee() {
	const near, far = rootHigh - 0.03, rootHigh - 0.06
	switch slots := float64(p.leaves() * leafSize); {
	case float64(p.n) > near*slots:
		n := roomFor(leavesFor(int(rootHigh*slots))) * leafSize
		p.spares.nbr.prepare(p.bg, n)
		p.spares.ent.prepare(p.bg, n)
	case float64(p.n) < far*slots && cap(p.nbr)-len(p.nbr) >= cap(p.nbr)/spareShare:
		p.spares.nbr, p.spares.ent = spare[VertexID]{}, spare[Entry]{}
	}
}
