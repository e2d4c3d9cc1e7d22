package dyngraph

// A batch touches entries all over the array, and most of its cost is waiting for memory, entry by entry. So leaves are
// read ahead, some at a time, by reads that do not depend on each other: the processor makes them at once, and later
// reads find the leaves in its caches. The values are summed up to keep the compiler from dropping the reads.

// ahead is the number of operations or leaves that are read ahead.
const ahead = 32

// warmPlaces reads ahead the heads of the operations' vertices, and the leaves that seek reads first.
func (p *pma) warmPlaces(ops []slot) {
	sum := uint32(0)
	for i := range ops {
		sum += p.heads[ops[i].row>>32].start
	}
	for i := range ops {
		h := &p.heads[ops[i].row>>32]
		start := min(int(h.start), len(p.first)-1) // it may be beyond when there are no entries
		leaf := min(start+1, len(p.first)-1)
		at := leaf * leafSize
		if int(h.offset)+h.all() <= int(p.count[start]) {
			at = 0 // the vertex does not go on there
		}
		sum += uint32(p.first[leaf]) + uint32(p.nbr[at])
	}
	p.warmth += sum
}

// readAhead reads ahead, or fetches, the leaves of the segments that follow segment i of a batch.
func (p *pma) readAhead(ops []slot, segs []segment, i int) {
	if i%ahead == 0 {
		p.warmSegments(ops, segs[i:min(i+ahead, len(segs))])
	}
	if i+fetchAhead < len(segs) {
		p.fetchSegment(ops, &segs[i+fetchAhead])
	}
}

// warmSegments reads ahead the leaves of segments of a batch, and the heads of their vertices.
func (p *pma) warmSegments(ops []slot, segs []segment) {
	sum, most := uint32(0), len(p.heads)-1
	for _, o := range ops[segs[0].first:segs[len(segs)-1].end] {
		// The head and the one behind it, see reoffset: they end before the third one begins.
		v := int(o.row >> 32)
		sum += p.heads[v].start + p.heads[min(v+2, most)].start
	}
	const line = 64 / 4 // slots
	for i := range segs {
		leaf := int(segs[i].window)
		sum += uint32(p.runs[leaf]) + uint32(p.first[leaf])
		nbr, ent := p.nbr[leaf*leafSize:][:leafSize], p.ent[leaf*leafSize:][:leafSize]
		to := min(int(p.count[leaf]), leafSize-1) // one more may come
		for j := int(segs[i].from) &^ (line - 1); j <= to; j += line {
			sum += uint32(nbr[j]) + uint32(ent[j])
		}
	}
	p.warmth += sum
}

// warmEntries reads ahead the slots where the operations' entries were, or where their vertices begin, a part of the
// way to the entries.
func (p *pma) warmEntries(ops []slot, were []uint32) {
	sum := uint32(0)
	for i := range ops {
		if i < len(were) && int(were[i]) < len(p.ent) {
			sum += uint32(p.nbr[were[i]]) + uint32(p.ent[were[i]])
		} else {
			sum += p.heads[ops[i].vertex()].start
		}
	}
	for i := range ops {
		if i >= len(were) || were[i] == noSlot {
			sum += p.warmEnds(ops[i].vertex(), dirOf(ops[i].row), true)
		}
	}
	p.warmth += sum
}

// warmEnds reads the first and the last of a vertex's entries of one direction, if they are few, and with the
// payloads if asked to.
func (p *pma) warmEnds(v VertexID, d Dir, payload bool) uint32 {
	h := &p.heads[v]
	if int(h.start) >= len(p.count) {
		return 0 // no entries since long
	}
	from := int(h.offset) + int(h.degree[Out])*int(d)
	to := from + max(int(h.degree[d]), 1) - 1
	leaf, n := int(h.start)*leafSize, int(p.count[h.start])
	if from >= n {
		from += leafSize - n // in the next leaf, or beyond
	}
	if to >= n {
		to += leafSize - n
	}
	from = min(leaf+min(from, 2*leafSize-1), len(p.nbr)-1)
	to = min(leaf+min(to, 2*leafSize-1), len(p.nbr)-1)
	sum := uint32(p.nbr[from]) + uint32(p.nbr[to])
	if payload {
		sum += uint32(p.ent[from]) + uint32(p.ent[to])
	}
	return sum
}

// warmEdges reads ahead the columns by edge at the indexes of net edges.
func (g *Graph) warmEdges(items []netItem) {
	sum := uint32(0)
	for i := range items {
		e := items[i].Edge
		sum += g.order[e]
		if items[i].Sign == Inserted {
			sum += uint32(g.adj.edges[e].from)
		}
	}
	g.adj.warmth += sum
}

// warm reads ahead the parts of the graph that the fold reads for updates, which are given by their indexes.
func (f *folder) warm(updates []Update, at []int32) {
	p := &f.g.adj
	sum := uint32(0)
	for _, i := range at {
		r := &f.g.resolved[i]
		if v := r.fromID; v != NoVertex {
			sum += f.mark[v] + uint32(f.g.vlabel[v]) + p.heads[v].start
		}
		if v := r.toID; v != NoVertex {
			sum += f.mark[v] + uint32(f.g.vlabel[v])
		}
	}
	for _, i := range at {
		if v := f.g.resolved[i].fromID; v != NoVertex {
			sum += p.warmEnds(v, Out, updates[i].Op == DeleteEdge)
		}
	}
	p.warmth += sum
}

// warmDeclared reads ahead the labels of vertices of which updates declare one.
func (f *folder) warmDeclared(updates []Update, at []resolved) {
	sum := uint32(0)
	for i := range at {
		if v := at[i].fromID; v != NoVertex && updates[i].FromLabel != "" {
			sum += uint32(f.g.vlabel[v])
		}
		if v := at[i].toID; v != NoVertex && updates[i].ToLabel != "" {
			sum += uint32(f.g.vlabel[v])
		}
	}
	f.g.adj.warmth += sum
}

// warmPlain reads ahead the parts of the graph that the fold reads for plain updates.
func (g *Graph) warmPlain(ops []slot) {
	p := &g.adj
	sum := uint32(0)
	for i := range ops {
		v := ops[i].vertex()
		sum += uint32(g.vlabel[v]) + uint32(g.vlabel[ops[i].nbr]) + p.heads[v].start
	}
	for i := range ops {
		sum += p.warmEnds(ops[i].vertex(), Out, !ops[i].ent.Staged())
	}
	p.warmth += sum
}
