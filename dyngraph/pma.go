package dyngraph

import (
	"math"
	"math/bits"
)

// The packed memory array keeps the adjacency entries sorted in slots with gaps (GAMMA V-C; GPMA). Slots form leaves
// of a fixed size; entries are packed to the left of their leaf, so that a leaf is a run without gaps. Over the
// leaves lies an implicit binary tree of windows: window i of level k is the leaves from i<<k up to (i+1)<<k, cut off
// at the last leaf. A window may be filled between bounds that narrow from the leaf to the root. An insertion that
// would overfill its leaf spreads the entries of the smallest window that has room evenly over the window; a deletion
// that leaves too few does the same. Batches work on all windows of a level before they go to the next. The root's
// bounds hold after every batch, so that memory follows the number of entries.
//
// The number of leaves is any, not a power of two: the array grows and shrinks to a density midway between the root's
// bounds, so that the next change of size is a constant share of the entries away. Between them it grows at its end,
// see insertAtEnd.
const leafSize = 64

// Density bounds of leaf and root; levels between are interpolated. The root's are narrower than GPMA's 0.42 and
// 0.84: batches cost no more (docs/performance.md), and the array takes a quarter less memory.
const (
	leafLow  = 0.08
	leafHigh = 0.92
	rootLow  = 0.60
	rootHigh = 0.86
)

// minLeaf and maxLeaf are the leaf's bounds as numbers of entries.
var (
	minLeaf = int(math.Ceil(leafLow * leafSize))
	maxLeaf = int(math.Floor(leafHigh * leafSize))
)

// pma is the packed memory array, a structure of arrays, with its indexes: for every leaf the number of entries, the
// first row and the runs; for every vertex the leaf of its first entry and its degrees. A slot is a neighbour and the
// edge, eight bytes; its row follows from the edge table. No leaf is empty unless it is the only one.
type pma struct {
	directed bool
	nbr      []VertexID
	ent      []Entry
	count    []uint8  // by leaf
	first    []uint64 // by leaf: the row of its first entry
	runs     []uint64 // by leaf: where the entries of another row begin
	n        int

	heads []head // by vertex
	edges []edge // by edge index; those of entries are there before and after their entries are

	segments []segment // scratch
	pending  []slot
	warmth   uint32 // see warmHeads
	merged   []slot
	moved    stretch
	one      struct { // an operation as a part
		nbr [1]VertexID
		ent [1]Entry
	}

	bg     background
	spares struct {
		heads spare[head]
		nbr   spare[VertexID]
		ent   spare[Entry]
	}
}

// head locates the entries of a vertex. Its fields are adjacent, because they are read together.
type head struct {
	start  uint32    // the leaf of the first entry; means something when there is one
	degree [2]uint32 // by direction
	label  [2]uint32 // by direction: the label of all entries or, where it is mixed, the labelSet
	offset uint8     // where the first entry is in its leaf
	mixed  uint8     // bit by direction: entries may differ in label; cleared when there are none
}

// segment is a window with its insertions or deletions: a range [first, end) of the batch's operations, or of the
// pending ones. A batch has thousands, so it is small and has no pointers.
type segment struct {
	window     uint32
	first, end uint32
	from       uint8 // at level 0: a slot of the leaf before which the operations change nothing
}

func (s *segment) of(ops []slot) []slot { return ops[s.first:s.end] }

func (p *pma) grow(vertices int) {
	p.heads = p.spares.heads.grown(p.bg, p.heads, vertices)
}

func (p *pma) leaves() int { return len(p.count) }

// height is the level of the root.
func (p *pma) height() int { return bits.Len(uint(max(p.leaves(), 1) - 1)) }

// window returns the leaves [a, b) of a window.
func (p *pma) window(level, i int) (a, b int) {
	return i << level, min((i+1)<<level, p.leaves())
}

func (p *pma) countIn(a, b int) int {
	n := 0
	for _, c := range p.count[a:b] {
		n += int(c)
	}
	return n
}

// mayHold tells whether n entries are within the upper bound of a window of the level that has that many leaves,
// once they are spread.
func (p *pma) mayHold(level, leaves, n int) bool {
	high := rootHigh
	if h := p.height(); h > 0 {
		high = leafHigh - (leafHigh-rootHigh)*float64(level)/float64(h)
	}
	return float64(n) <= high*float64(leaves*leafSize) && n <= leaves*maxLeaf
}

// enough is mayHold for the lower bound, with two exceptions: a single leaf may be empty, and an array of few leaves
// may be under the lower bound if with one leaf less it would be over the upper one.
func (p *pma) enough(level, leaves, n int) bool {
	h := p.height()
	if h == 0 {
		return true
	}
	if level >= h && leaves <= leavesFor(n) {
		return n >= leaves*minLeaf
	}
	low := leafLow + (rootLow-leafLow)*float64(level)/float64(h)
	return float64(n) >= low*float64(leaves*leafSize) && n >= leaves*minLeaf
}

// leavesFor is the size of an array that is built for n entries.
func leavesFor(n int) int {
	const best = (rootLow + rootHigh) / 2 * leafSize
	leaves := max(1, int(math.Round(float64(n)/best)))
	if float64(n) > rootHigh*float64(leaves*leafSize) {
		leaves++
	}
	return leaves
}

// notAfter tells whether the leaf's first entry is at most (row, nbr, e).
func (p *pma) notAfter(leaf int, row uint64, nbr VertexID, e EdgeIndex) bool {
	f := p.first[leaf]
	return f < row || f == row && p.firstNotAfter(leaf, nbr, e)
}

// firstNotAfter is notAfter for a leaf whose first entry is of the same row.
func (p *pma) firstNotAfter(leaf int, nbr VertexID, e EdgeIndex) bool {
	first := p.nbr[leaf*leafSize]
	return first < nbr || first == nbr && p.ent[leaf*leafSize].Index() <= e
}

// seek returns the last leaf in [from, leaves) whose first entry is at most (row, nbr, e), or from when there is none.
// It gallops (doubles its steps, then halves them), so that near leaves are found fast.
func (p *pma) seek(from int, row uint64, nbr VertexID, e EdgeIndex) int {
	lo, step := from, 1
	for lo+step < len(p.first) && p.notAfter(lo+step, row, nbr, e) {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(p.first)) // not at most
	for hi-lo > 1 {
		m := int(uint(lo+hi) / 2)
		if p.notAfter(m, row, nbr, e) {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

// all returns the number of entries in both directions.
func (h *head) all() int { return int(h.degree[Out]) + int(h.degree[In]) }

// lookup returns the slot of an entry; of parallel edges that of e or, if e is none of them, the next one's by index.
// With e 0 it is the first.
func (p *pma) lookup(row uint64, nbr VertexID, e EdgeIndex) (int, bool) {
	h, d := &p.heads[row>>32], dirOf(row)
	if h.mixed>>d&1 == 0 {
		// Most vertices have one label and lie in one leaf: no Range is needed.
		if h.degree[d] == 0 || h.label[d] != uint32(labelOf(row)) {
			return 0, false
		}
		from := int(h.offset) + int(h.degree[Out])*int(d)
		if to := from + int(h.degree[d]); to <= int(p.count[h.start]) {
			at := int(h.start) * leafSize
			nbrs := p.nbr[at+from : at+to]
			i := countLess(nbrs, nbr)
			for i < len(nbrs) && nbrs[i] == nbr && p.ent[at+from+i].Index() < e {
				i++
			}
			return at + from + i, i < len(nbrs) && nbrs[i] == nbr
		}
	}
	r := p.labelled(VertexID(row>>32), d, labelOf(row))
	return r.slot(nbr, e)
}

// holds tells whether an operation's entry is in a slot.
func (p *pma) holds(s int, o *slot) bool {
	return s < len(p.ent) && p.ent[s].Index() == o.ent.Index() && p.nbr[s] == o.nbr &&
		s%leafSize < int(p.count[s/leafSize])
}

// mark sets the payloads of entries in the array, and appends their slots to at. were has the slots where they probably
// are, or is nil.
func (p *pma) mark(ops []slot, were []uint32, at []int) []int {
	for i := range ops {
		if i%ahead == 0 {
			to := min(i+ahead, len(ops))
			p.warmEntries(ops[i:to], were[min(i, len(were)):min(to, len(were))])
		}
		s := int(noSlot)
		if were != nil {
			s = int(were[i])
		}
		if !p.holds(s, &ops[i]) {
			s, _ = p.lookup(ops[i].row, ops[i].nbr, ops[i].ent.Index())
		}
		p.ent[s] = ops[i].ent
		at = append(at, s)
	}
	return at
}

// unmark clears the mark of staged entries; at has their slots, as insert or mark returned them.
func (p *pma) unmark(ops []slot, at []int) {
	for i := range ops {
		if i+fetchAhead < len(ops) {
			p.fetchSlot(at[i+fetchAhead])
		}
		s := at[i]
		if !p.holds(s, &ops[i]) {
			s, _ = p.lookup(ops[i].row, ops[i].nbr, ops[i].ent.Index())
		}
		p.ent[s] = ops[i].ent &^ entryStaged
	}
}

// vertexBefore returns the vertex of the last entry before a leaf.
func (p *pma) vertexBefore(leaf int) VertexID {
	for leaf--; leaf >= 0; leaf-- {
		if c := int(p.count[leaf]); c > 0 {
			return VertexID(p.rowAt(leaf*leafSize+c-1) >> 32)
		}
	}
	return NoVertex
}

// spread writes the entries evenly over the leaves [a, b).
func (p *pma) spread(a, b int, entries []slot) {
	last := p.vertexBefore(a)
	k, n := b-a, len(entries)
	for i := range k {
		leaf := a + i
		part := entries[n*i/k : n*(i+1)/k]
		p.count[leaf] = uint8(len(part))
		if len(part) > 0 {
			p.first[leaf] = part[0].row
		}
		at, runs, row := leaf*leafSize, uint64(0), uint64(0)
		for j := range part {
			s := &part[j]
			p.nbr[at+j], p.ent[at+j] = s.nbr, s.ent
			if j == 0 || s.row != row {
				row = s.row
				runs |= 1 << j
				if v := s.vertex(); v != last {
					p.heads[v].start, p.heads[v].offset = uint32(leaf), uint8(j)
					last = v
				}
			}
		}
		p.runs[leaf] = runs
	}
}

// skip returns the place behind n entries, counted from a leaf and an offset; there must be as many. row is the first
// row at that place or beyond, by which a distant place is found.
func (p *pma) skip(leaf, off int, n uint32, row uint64) (int, int) {
	for range 4 {
		c := int(p.count[leaf]) - off
		if int(n) <= c {
			return leaf, off + int(n)
		}
		n -= uint32(c)
		leaf, off = leaf+1, 0
	}
	leaf = p.seek(leaf, row, 0, 0)
	return leaf, p.within(leaf, row, 0, 0)
}
