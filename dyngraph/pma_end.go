package dyngraph

import "math"

// New vertices have the highest ids, so their entries come behind all others, batch after batch. Were the last leaf
// treated like any other, the dense end would be carried into ever wider windows, over and over. So when the last
// leaf overflows, the array gets more leaves behind it, as full as those of an array that is built: that leaves room
// for what the new vertices get later.

// fullLeaf is the number of entries in a leaf of a newly built array.
var fullLeaf = int(math.Floor((rootLow + rootHigh) / 2 * leafSize))

// insertAtEnd inserts those operations that belong in the last leaf, if it cannot hold them and the root's bounds
// allow more leaves, and says into which slots. It returns the other operations.
func (p *pma) insertAtEnd(ops []slot, at []int) []slot {
	last, from := p.leaves()-1, len(ops)
	for from > 0 && p.notAfter(last, ops[from-1].row, ops[from-1].nbr, ops[from-1].ent.Index()) {
		from--
	}
	total := int(p.count[last]) + len(ops) - from
	if last == 0 || total <= maxLeaf {
		return ops
	}
	// Leaves that are full, and one for the rest, which takes in the last of them where it would be nearly empty.
	full := total / fullLeaf
	if fullLeaf+total%fullLeaf <= maxLeaf {
		full--
	}
	leaves, n := last+full+1, p.n+len(ops)-from
	if root := p.height(); !p.mayHold(root, leaves, n) || !p.enough(root, leaves, n) {
		return ops
	}
	m := p.merge(last, last+1, ops[from:])
	p.n = n
	p.nbr, p.ent = p.spares.nbr.grown(p.bg, p.nbr, leaves*leafSize), p.spares.ent.grown(p.bg, p.ent, leaves*leafSize)
	p.count, p.first, p.runs = grown(p.count, leaves), grown(p.first, leaves), grown(p.runs, leaves)
	p.spread(last, last+full, m[:full*fullLeaf])
	p.spread(leaves-1, leaves, m[full*fullLeaf:])
	for i, j := from, 0; i < len(ops); j++ {
		if m[j] == ops[i] {
			k := min(j/fullLeaf, full)
			at[i] = (last+k)*leafSize + j - k*fullLeaf
			i++
		}
	}
	return ops[:from]
}
