package dyngraph

import "math/bits"

// The entries of a leaf that are of one row are a run. p.runs has a bit for each slot, set where a run begins. The row
// of a run is in the edge table. Reading it there costs a cache miss, so two kinds are read elsewhere: the row of a
// leaf's first run is in p.first, and the rows of a vertex whose entries all have one label follow from its head.

// upTo has the bits below n.
func upTo(n int) uint64 { return 1<<n - 1 }

// runRow returns the row of the run that begins at a slot of the leaf.
func (p *pma) runRow(leaf, i int) uint64 {
	if i == 0 {
		return p.first[leaf]
	}
	return p.rowAt(leaf*leafSize + i)
}

// firstRun returns the beginning of the first of some runs, given as bits, whose row is at least that; n if there is
// none.
func (p *pma) firstRun(leaf int, runs uint64, row uint64, n int) int {
	const few = 4 // reads that do not wait for each other
	for range few {
		if runs == 0 {
			return n
		}
		if i := bits.TrailingZeros64(runs); p.runRow(leaf, i) >= row {
			return i
		}
		runs &= runs - 1
	}
	var at [leafSize]uint8
	i, j := 0, 0
	for ; runs != 0; runs &= runs - 1 {
		at[j] = uint8(bits.TrailingZeros64(runs))
		j++
	}
	end := j
	for i < j {
		m := (i + j) / 2
		if p.runRow(leaf, int(at[m])) < row {
			i = m + 1
		} else {
			j = m
		}
	}
	if i == end {
		return n
	}
	return int(at[i])
}

// runOf returns the run of a row in a leaf; if there is none, an empty one where it would be.
func (p *pma) runOf(leaf int, row uint64) (a, b int) {
	n := int(p.count[leaf])
	if n == 0 || row < p.first[leaf] {
		return 0, 0
	}
	if row>>32 >= uint64(len(p.heads)) {
		return n, n
	}
	h := &p.heads[row>>32]
	if h.all() == 0 {
		if i, ok := p.behind(VertexID(row>>32), leaf); ok {
			return i, i
		}
	} else if d := dirOf(row); h.mixed>>d&1 == 0 {
		if a, ok := p.base(h, leaf); ok {
			// All entries of the direction have one label.
			if d == In {
				a += int(h.degree[Out])
			}
			b := min(max(0, a+int(h.degree[d])), n)
			a = min(max(0, a), n)
			switch l := labelOf(row); {
			case l < LabelID(h.label[d]):
				return a, a
			case l > LabelID(h.label[d]):
				return b, b
			}
			return a, b
		}
	}
	a = p.firstRun(leaf, p.runs[leaf], row, n)
	if a == n || p.runRow(leaf, a) != row {
		return a, a
	}
	return a, p.runEnd(leaf, a)
}

// runEnd returns the end, in its leaf, of the run that has the entry i.
func (p *pma) runEnd(leaf, i int) int {
	if later := p.runs[leaf] &^ upTo(i+1); later != 0 {
		return bits.TrailingZeros64(later)
	}
	return int(p.count[leaf])
}

// position returns where an entry is in a leaf, or would be, and the run of its row.
func (p *pma) position(leaf int, row uint64, nbr VertexID, e EdgeIndex) (i, a, b int) {
	a, b = p.runOf(leaf, row)
	at := leaf * leafSize
	i = a + countLess(p.nbr[at+a:at+b], nbr)
	for i < b && p.nbr[at+i] == nbr && p.ent[at+i].Index() < e {
		i++
	}
	return i, a, b
}

// within returns the number of the leaf's entries that are less than (row, nbr, e).
func (p *pma) within(leaf int, row uint64, nbr VertexID, e EdgeIndex) int {
	i, _, _ := p.position(leaf, row, nbr, e)
	return i
}

// guessLess is countLess for neighbours that are probably not in the cache. It has branches: the processor predicts
// them, and goes on to later reads before the first ones are done.
func guessLess(nbrs []VertexID, nbr VertexID) int {
	i, j := 0, len(nbrs)
	for i < j {
		m := int(uint(i+j) / 2)
		if nbrs[m] < nbr {
			i = m + 1
		} else {
			j = m
		}
	}
	return i
}

// countLess returns the number of ascending neighbours that are less than nbr; they are probably in the cache.
func countLess(nbrs []VertexID, nbr VertexID) int {
	// Without branches: they could not be predicted.
	at := 0
	for len(nbrs) > 8 {
		half := len(nbrs) / 2
		less := int(int64(nbrs[half-1])-int64(nbr)) >> 63 // all ones, or none
		at += half & less
		nbrs = nbrs[half&less:]
		nbrs = nbrs[:len(nbrs)-half&^less]
	}
	for _, x := range nbrs {
		at += int(uint64(int64(x)-int64(nbr)) >> 63)
	}
	return at
}

// base returns the position of a vertex's first entry relative to the beginning of a leaf, below 0 if it is in an
// earlier leaf; false if too many leaves lie between. The vertex has entries, of which some may be in the leaf.
func (p *pma) base(h *head, leaf int) (int, bool) {
	const few = 4
	between := leaf - int(h.start)
	if h.all() == 0 || between < 0 || between > few {
		return 0, false
	}
	base := int(h.offset)
	for _, c := range p.count[h.start:leaf] {
		base -= int(c)
	}
	return base, true
}

// reoffset corrects where vertices begin in a leaf whose entries changed behind those of vertex v. Degrees, runs and
// the start of v are right.
func (p *pma) reoffset(leaf int, v VertexID) {
	n := int(p.count[leaf])
	h := &p.heads[v]
	end := int(h.offset)
	if base, ok := p.base(h, leaf); ok {
		end = max(0, base+h.all())
	} else if h.all() > 0 {
		end = n
		for runs := p.runs[leaf]; runs != 0; runs &= runs - 1 {
			if i := bits.TrailingZeros64(runs); VertexID(p.runRow(leaf, i)>>32) > v {
				end = i
				break
			}
		}
	}
	for end < n {
		v = p.vertexFrom(v+1, leaf*leafSize+end)
		h := &p.heads[v]
		h.offset = uint8(end)
		end += h.all()
	}
}

// vertexFrom returns the first vertex from v on that has entries, which is that of the entry in a slot. It tries the
// heads of a few vertices, which are adjacent in memory, before it reads the edge table.
func (p *pma) vertexFrom(v VertexID, at int) VertexID {
	const few = 8
	for range few {
		if p.heads[v].all() > 0 {
			return v
		}
		v++ // one that has entries comes
	}
	return VertexID(p.rowAt(at) >> 32)
}

// behind returns where in a leaf the entries of the vertices after v begin; v has none, and the leaf begins with an
// entry of a vertex before it. It knows if one of the next few vertices has entries.
func (p *pma) behind(v VertexID, leaf int) (i int, ok bool) {
	const few = 8
	after := p.heads[v+1:]
	for k := range after[:min(few, len(after))] {
		if h := &after[k]; h.all() > 0 {
			if h.start == uint32(leaf) {
				return int(h.offset), true
			}
			return int(p.count[leaf]), true
		}
	}
	return 0, false
}
