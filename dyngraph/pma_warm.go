package dyngraph

// What a batch touches lies all over the array, and to wait for memory, one entry after the other, is most of what it costs.
// So leaves are read ahead, some at a time, by reads that do not depend on each other: the processor has them under
// way at once, and what follows finds them near. The reads are summed up to keep the compiler from leaving them out.

// ahead is the number of operations or leaves that are read ahead.
const ahead = 32

// warmHeads reads ahead the heads of the operations' vertices.
func (p *pma) warmHeads(ops []slot) {
	sum := uint32(0)
	for i := range ops {
		sum += p.heads[ops[i].row>>32].start
	}
	p.warmth += sum
}

// warmSegments reads ahead the leaves of segments of a batch, and the heads of their vertices.
func (p *pma) warmSegments(ops []slot, segs []segment) {
	last := &segs[len(segs)-1]
	p.warmHeads(ops[segs[0].first : last.first+len(last.ops)])
	const line = 64 / 4 // slots
	sum := uint32(0)
	for i := range segs {
		leaf := segs[i].window
		sum += uint32(p.runs[leaf]) + uint32(p.count[leaf])
		nbr, ent := p.nbr[leaf*leafSize:][:leafSize], p.ent[leaf*leafSize:][:leafSize]
		for j := 0; j < leafSize; j += line {
			sum += uint32(nbr[j]) + uint32(ent[j])
		}
	}
	p.warmth += sum
}

// warmEntries reads ahead where the operations' vertices begin, a part of the way to the entries.
func (p *pma) warmEntries(ops []slot) {
	p.warmHeads(ops)
	sum := uint32(0)
	for i := range ops {
		sum += p.warmMiddle(ops[i].vertex(), dirOf(ops[i].row))
	}
	p.warmth += sum
}

// warmMiddle reads in the middle of a vertex's entries of one direction.
func (p *pma) warmMiddle(v VertexID, d Dir) uint32 {
	h := &p.heads[v]
	off := int(h.offset) + int(h.degree[d])/2
	if d == In {
		off += int(h.degree[Out])
	}
	at := int(h.start) * leafSize
	if at >= len(p.nbr) {
		return 0 // no entries since long
	}
	if n := int(p.count[h.start]); off >= n {
		off, at = off-n, at+leafSize
	}
	at = min(at+min(off, leafSize-1), len(p.nbr)-1)
	return uint32(p.nbr[at]) + uint32(p.ent[at])
}

// warm reads ahead what the fold asks of the graph for updates.
func (f *folder) warm(updates []resolved) {
	p := &f.g.adj
	sum := uint32(0)
	for i := range updates {
		for _, v := range [2]VertexID{updates[i].fromID, updates[i].toID} {
			if v != NoVertex {
				sum += f.mark[v] + uint32(f.g.vlabel[v]) + p.heads[v].start
			}
		}
	}
	for i := range updates {
		if v := updates[i].fromID; v != NoVertex {
			sum += p.warmMiddle(v, Out)
		}
	}
	p.warmth += sum
}
