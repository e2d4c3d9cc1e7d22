package dyngraph

import (
	"slices"
)

// LeafSize is the number of slots of a leaf of the packed memory array.
const LeafSize = leafSize

// Columns are the slots of the packed memory array as they lie in memory, for a copy of it elsewhere (GAMMA V-C). Slot i
// belongs to leaf i/LeafSize; the entries of a leaf are its first Count slots, and what the others hold means nothing. A row
// is the vertex in the upper half, then a bit for the direction, then the label. No leaf is empty unless it is the only one.
// The slices belong to the Graph, must not be written, and are valid until the next Stage, Commit or Abort.
type Columns struct {
	Row   []uint64
	Nbr   []VertexID
	Ent   []Entry
	Count []uint8 // by leaf
}

// Columns returns the array's columns. The array itself keeps no rows: they are a column of eight bytes a slot that there is from
// the first call on, and each call brings it up to date where leaves were written since the last: only the Graph's owner calls it.
func (g *Graph) Columns() Columns {
	p := &g.adj
	leaves, all := p.rowChanges.take()
	if all {
		g.rows = make([]uint64, len(p.nbr))
		for leaf := range p.count {
			p.putRows(g.rows, leaf)
		}
	}
	for _, leaf := range leaves {
		p.putRows(g.rows, int(leaf))
	}
	return Columns{g.rows, p.nbr, p.ent, p.count}
}

// putRows writes the rows of a leaf's entries.
func (p *pma) putRows(rows []uint64, leaf int) {
	for i, n := 0, int(p.count[leaf]); i < n; {
		row, end := p.runRow(leaf, i), p.runEnd(leaf, i)
		for ; i < end; i++ {
			rows[leaf*leafSize+i] = row
		}
	}
}

// leafChanges notes which leaves were written, once somebody follows.
type leafChanges struct {
	follow bool
	all    bool // also: the array has another size
	seen   []uint64
	leaves []uint32
}

func (c *leafChanges) add(leaf int) {
	if !c.follow || c.all {
		return
	}
	c.seen = grown(c.seen, leaf/64+1)
	if bit := uint64(1) << (leaf & 63); c.seen[leaf/64]&bit == 0 {
		c.seen[leaf/64] |= bit
		c.leaves = append(c.leaves, uint32(leaf))
	}
}

// wrote notes that entries of a leaf are others or elsewhere.
func (p *pma) wrote(leaf int) {
	p.changes.add(leaf)
	p.rowChanges.add(leaf)
}

func (c *leafChanges) addAll() {
	c.all = c.follow
	c.seen, c.leaves = nil, nil
}

// ChangedLeaves returns, ascending, the leaves that were written since the last call, or all when every leaf may have been
// and their number may have changed. The first call returns all, and only from then on are changes noted. There is
// one follower.
func (g *Graph) ChangedLeaves() (leaves []uint32, all bool) {
	leaves, all = g.adj.changes.take()
	slices.Sort(leaves)
	return leaves, all
}

// take returns what was noted since the last call, in no order.
func (c *leafChanges) take() (leaves []uint32, all bool) {
	if !c.follow || c.all {
		*c = leafChanges{follow: true}
		return nil, true
	}
	leaves = c.leaves
	for _, l := range leaves {
		c.seen[l/64] = 0
	}
	c.leaves = nil
	return leaves, false
}
