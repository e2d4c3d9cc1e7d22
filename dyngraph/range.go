package dyngraph

import "math/bits"

// Range is N(v, direction, label): a contiguous range of the packed memory array, ascending by neighbour; or, from
// RangeAll, all entries of one direction, ascending by (label, neighbour). Entries of the staged batch are in it, those
// inserted and those deleted: Entry.Staged tells for which View.Visible must be asked. A Range is valid until the next
// Stage, Commit or Abort. It is a small value; a copy walks on its own.
type Range struct {
	p             *pma
	leaf, off     int // begin: the first entry is at off of leaf or, when the leaf ends there, in the next one
	last, end     int // end: before entry end of leaf last
	next, nextOff int // where Next goes on
}

// RangeAll returns the entries of all labels in one direction, in O(1) for a few leaves and O(log degree) for more.
func (g *Graph) RangeAll(v VertexID, d Dir) Range { return g.adj.all(v, d) }

func (p *pma) all(v VertexID, d Dir) Range {
	h := &p.heads[v]
	n := h.degree[d]
	if n == 0 {
		return Range{p: p}
	}
	out := h.degree[Out]
	from := int(h.offset)
	if d == In {
		from += int(out)
	}
	if to := from + int(n); to <= int(p.count[h.start]) { // most vertices do not go on in another leaf
		return Range{p: p, leaf: int(h.start), off: from, last: int(h.start), end: to, next: int(h.start),
			nextOff: from}
	}
	r := Range{p: p, leaf: int(h.start), off: int(h.offset)}
	if d == In && out > 0 {
		r.leaf, r.off = p.skip(r.leaf, r.off, out, rowKey(v, In, 0))
		if r.off == int(p.count[r.leaf]) {
			r.leaf, r.off = r.leaf+1, 0
		}
	}
	r.last, r.end = p.skip(r.leaf, r.off, n, rowKey(v, d, 0)+1<<31)
	r.next, r.nextOff = r.leaf, r.off
	return r
}

// Range returns N(v, d, l), in O(log degree), and as fast as RangeAll when there is no other label. In an undirected
// graph d is Out.
func (g *Graph) Range(v VertexID, d Dir, l LabelID) Range { return g.adj.labelled(v, d, l) }

func (p *pma) labelled(v VertexID, d Dir, l LabelID) Range {
	h := &p.heads[v]
	if h.lacks(d, l) {
		return Range{p: p}
	}
	r := p.all(v, d)
	if h.mixed>>d&1 == 0 {
		return r
	}
	if r.leaf == r.last {
		// If there are as many runs as labels, the runs are those of the labels, in order.
		runs := p.runs[r.leaf] & upTo(r.end) &^ upTo(r.off)
		if s := labelSet(h.label[d]); s != manyLabels && s.len() == bits.OnesCount64(runs) {
			for range s.rank(l) {
				runs &= runs - 1
			}
			r.off = bits.TrailingZeros64(runs)
			if runs &= runs - 1; runs != 0 {
				r.end = bits.TrailingZeros64(runs)
			}
			r.nextOff = r.off
			return r
		}
	}
	row := rowKey(v, d, l)
	leaf, off := r.leaf, r.off
	if leaf < r.last {
		if leaf = p.seek(leaf, row, 0, 0); leaf > r.leaf {
			off = 0
		}
	}
	end := r.limit(leaf)
	i := p.firstRun(leaf, p.runs[leaf]&upTo(end)&^upTo(off), row, end)
	if i == end { // if anywhere, then where the next leaf begins
		if leaf, i = leaf+1, 0; leaf > r.last || leaf == r.last && r.end == 0 {
			return Range{p: p}
		}
	}
	if p.runRow(leaf, i) != row {
		return Range{p: p}
	}
	r.leaf, r.off = leaf, i
	r.last, r.end = r.runEnd(row)
	r.next, r.nextOff = r.leaf, r.off
	return r
}

// runEnd returns the end of the range's first row.
func (r *Range) runEnd(row uint64) (last, end int) {
	p := r.p
	if i := p.runEnd(r.leaf, r.off); i < r.limit(r.leaf) || r.leaf == r.last {
		return r.leaf, min(i, r.limit(r.leaf))
	}
	last = p.seek(r.leaf, row+1, 0, 0)
	if last > r.last {
		return r.last, r.end
	}
	end = r.limit(last)
	return last, p.firstRun(last, p.runs[last]&upTo(end), row+1, end)
}

// Rewind makes Next begin again.
func (r *Range) Rewind() { r.next, r.nextOff = r.leaf, r.off }

// Len returns the number of entries of the whole range, in O(leaves).
func (r *Range) Len() int {
	if r.leaf == r.last {
		return r.end - r.off
	}
	return r.p.countIn(r.leaf, r.last) - r.off + r.end
}

// AtMost returns an upper bound of Len in O(1): the slots that the range covers.
func (r *Range) AtMost() int { return (r.last-r.leaf)*leafSize + r.end - r.off }

// Next returns the next run of entries, not empty and without gaps: neighbours, and with them the payloads. The slices
// alias the array and must not be written.
func (r *Range) Next() (nbr []VertexID, ent []Entry, ok bool) {
	for r.next < r.last {
		from, to := r.next*leafSize+r.nextOff, r.next*leafSize+int(r.p.count[r.next])
		r.next, r.nextOff = r.next+1, 0
		if from < to {
			return r.p.nbr[from:to:to], r.p.ent[from:to:to], true
		}
	}
	if r.next == r.last && r.nextOff < r.end {
		from, to := r.last*leafSize+r.nextOff, r.last*leafSize+r.end
		r.nextOff = r.end
		return r.p.nbr[from:to:to], r.p.ent[from:to:to], true
	}
	return nil, nil, false
}

// Find searches the whole range for a neighbour, in O(log Len). The range is of one label. Of parallel edges it finds
// any; Among has all.
func (r *Range) Find(nbr VertexID) (Entry, bool) {
	leaf, i, end := r.part(nbr, NoEdge)
	nbrs := r.p.nbr[leaf*leafSize : leaf*leafSize+end]
	i += guessLess(nbrs[i:], nbr)
	if i == end || nbrs[i] != nbr {
		return 0, false
	}
	return r.p.ent[leaf*leafSize+i], true
}

// slot returns the slot of a neighbour's first edge from e on; the entries are near.
func (r *Range) slot(nbr VertexID, e EdgeIndex) (int, bool) {
	leaf, i := r.atLeast(nbr, e)
	s := leaf*leafSize + i
	return s, (leaf < r.last || leaf == r.last && i < r.end) && r.p.nbr[s] == nbr
}

// atLeast returns where the entries of the range from (nbr, e) on begin. Where there are none it is the range's end.
func (r *Range) atLeast(nbr VertexID, e EdgeIndex) (leaf, off int) {
	if r.leaf == r.last && r.off == r.end {
		return r.last, r.end
	}
	leaf, i, end := r.part(nbr, e)
	at := leaf * leafSize
	i += countLess(r.p.nbr[at+i:at+end], nbr)
	for i < end && r.p.nbr[at+i] == nbr && r.p.ent[at+i].Index() < e {
		i++
	}
	if i == end && leaf < r.last {
		return leaf + 1, 0
	}
	return leaf, i
}

// Among returns the edges to one neighbour, ascending by index: several where they are parallel. The range is of one
// label.
func (r *Range) Among(nbr VertexID) Range {
	a := Range{p: r.p}
	a.leaf, a.off = r.atLeast(nbr, 0)
	a.last, a.end = r.atLeast(nbr+1, 0)
	a.next, a.nextOff = a.leaf, a.off
	return a
}

// part returns the leaf, and the slots of it, in which an edge to a neighbour is if it is in the range.
func (r *Range) part(nbr VertexID, e EdgeIndex) (leaf, from, end int) {
	p := r.p
	lo, hi := r.leaf, r.last // the leaf is in [lo, hi]
	if r.end == 0 {
		hi--
	}
	for lo < hi {
		m := int(uint(lo+hi+1) / 2)
		if p.firstNotAfter(m, nbr, e) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	if lo > hi {
		return 0, 0, 0
	}
	if lo == r.leaf {
		from = r.off
	}
	return lo, from, r.limit(lo)
}

// limit returns the end of the range within one of its leaves.
func (r *Range) limit(leaf int) int {
	if leaf == r.last {
		return r.end
	}
	return int(r.p.count[leaf])
}

// Degree returns the number of entries that the vertex has in a direction, those of the staged batch included.
func (g *Graph) Degree(v VertexID, d Dir) int { return int(g.adj.heads[v].degree[d]) }

// LabelsOf appends to dst the distinct edge labels that the vertex has in a direction, ascending, in O(log degree) for
// each.
func (g *Graph) LabelsOf(v VertexID, d Dir, dst []LabelID) []LabelID {
	p := &g.adj
	h := &p.heads[v]
	if h.degree[d] == 0 {
		return dst
	}
	if h.mixed>>d&1 == 0 {
		return append(dst, LabelID(h.label[d]))
	}
	for r := p.all(v, d); ; {
		row := p.runRow(r.leaf, r.off)
		dst = append(dst, labelOf(row))
		leaf, off := r.runEnd(row)
		if leaf == r.last && off == r.end {
			return dst
		}
		if off == int(p.count[leaf]) {
			if leaf, off = leaf+1, 0; leaf == r.last && r.end == 0 {
				return dst
			}
		}
		r.leaf, r.off = leaf, off
	}
}
