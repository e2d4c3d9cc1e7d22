package ivm

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// branch is a part of a pattern, a tree, that hangs from one of its vertices by an edge, and for each image of that
// vertex the number of homomorphisms of the rest: the sum over the neighbours along the edge of the product of the
// numbers that its own branches have there. The numbers are kept from batch to batch: each batch costs work for the net
// edges that fit, and for the neighbours of the vertices whose numbers they change (factorised incremental view
// maintenance, as in F-IVM: Nikolic and Olteanu, SIGMOD 2018). Branches that are the same belong to all patterns that
// have them.
//
// Numbers do not depend on candidate bits, but on labels alone.
type treeView struct {
	key        string
	dir        dyngraph.Dir // from which the vertex that it hangs from sees the edge
	dirs       uint8        // the same of a wide edge, as bits; 0 for one that is not
	rootLabel  dyngraph.LabelID
	edgeLabel  dyngraph.LabelID
	childLabel dyngraph.LabelID
	children   []*treeView // those that hang from the far end of the edge; the same ones are side by side
	cycle      *cycle      // in place of the edge and what hangs from it
	up         uint64      // key of the adjacency: from the far end to the vertices that the branch hangs from

	edges          *program.NetGroup   // of the branch's edge
	along, against bool                // the branch hangs from the first, or the second, end of such edges
	groups         []*program.NetGroup // of all its edges

	built    bool
	overflow bool   // a number left 64 bits
	phase    uint64 // the last that is in the numbers
	cells    []cell // by vertex
	deltas   []delta
}

// cell is the number of a vertex, less than 2^64-1. When the last phase changed it, at is where changed has it and
// phase the lower half of the phase.
type cell struct {
	n         uint64
	at, phase uint32
}

// change is by how much a phase changed the number of a vertex: insertions add, deletions take away.
type delta struct {
	vertex dyngraph.VertexID
	by     uint64
}

// cell returns the number of a vertex.
func (br *treeView) cell(v dyngraph.VertexID) *cell { return &br.cells[v] }

// clear forgets all numbers, and makes room for some ids.
func (br *treeView) clear(n int) {
	br.cells = br.cells[:0]
	br.grow(n)
}

// by returns by how much the last phase changed the number of a vertex.
func (br *treeView) deltaOf(v dyngraph.VertexID) uint64 {
	if c := br.cell(v); br.isChanged(c, v) {
		return br.deltas[c.at].by
	}
	return 0
}

// has reports whether the last phase changed the number of a vertex. Halves of phases come again.
func (br *treeView) isChanged(c *cell, v dyngraph.VertexID) bool {
	return c.phase == uint32(br.phase) && int(c.at) < len(br.deltas) && br.deltas[c.at].vertex == v
}

// before returns what the number of a vertex was before the last phase, given what it is. A ring's that is asked for
// only now may have been beyond 64 bits.
func (br *treeView) before(v dyngraph.VertexID, n uint64) uint64 {
	if br.phase&1 != 0 {
		return n - br.deltaOf(v)
	}
	was, carry := bits.Add64(n, br.deltaOf(v), 0)
	br.overflow = br.overflow || carry != 0
	return was
}

// concerned reports whether the staged batch has edges of the branch in a phase.
func (br *treeView) concerned(phase uint64) bool {
	for _, g := range br.groups {
		if len(g.In(phase)) > 0 {
			return true
		}
	}
	return false
}

// outdated reports whether a batch was committed that the numbers do not have.
func (br *treeView) outdated() bool {
	for _, g := range br.groups {
		if g.LastChanged > br.phase {
			return true
		}
	}
	return false
}

// product multiplies the numbers that branches have at a vertex. It answers false when the product leaves 64 bits.
func product(of []*treeView, w dyngraph.VertexID) (uint64, bool) {
	n := uint64(1)
	for i, c := range of {
		hi, lo := bits.Mul64(n, c.cell(w).n)
		if hi != 0 {
			return 0, slices.ContainsFunc(of[i+1:], func(c *treeView) bool { return c.cell(w).n == 0 })
		}
		n = lo
	}
	return n, true
}

// build counts in the graph as it was before the staged batch. The children are built.
func (br *treeView) build(k *Maintainer, phase uint64) bool {
	n := k.index.Vertices()
	br.clear(n)
	br.built, br.overflow, br.phase, br.deltas = false, false, phase, nil
	if br.cycle != nil {
		br.built = true
		return true
	}
	for _, c := range br.children {
		c.grow(n)
	}
	up := k.index.KindOf(br.up)
	view := k.g.View(dyngraph.New)
	for w := range n {
		id := dyngraph.VertexID(w)
		if view.Label(id) != br.childLabel {
			continue
		}
		t, ok := product(br.children, id)
		if !ok {
			br.overflow = true
			return false
		}
		if t == 0 {
			continue
		}
		nbr, ent, staged := k.index.Of(id, up)
		k.Steps += uint64(len(nbr))
		for i, v := range nbr {
			if staged && ent[i].Staged() && k.orders[ent[i].Index()]>>31 == 0 {
				continue // the batch inserts it
			}
			c := br.cell(v)
			sum, carry := bits.Add64(c.n, t, 0)
			if carry != 0 || sum == unknown {
				br.overflow = true
				return false
			}
			c.n = sum
		}
		if k.stopped() {
			return false
		}
	}
	br.built = true
	return true
}

// apply brings the staged batch's deletions, or insertions, into the numbers. The children have them already. What a
// phase takes from, or adds to, the graph before it, is what the changed numbers of the children make over the edges of
// that graph, and what the edges that it changes have at the children's new numbers.
func (br *treeView) apply(k *Maintainer, phase uint64) bool {
	br.deltas, br.phase = br.deltas[:0], phase
	if !br.concerned(phase) {
		return true
	}
	br.built = false // until it is done
	inserted := phase&1 != 0
	if br.cycle != nil {
		br.built = br.followCycle(k, phase)
		return br.built
	}
	if k.products(br.children); len(k.large) > 0 {
		br.overflow = true
		return false
	}
	if !k.spread(br, inserted) {
		return false
	}
	pairs := br.edges.In(phase)
	for j, p := range pairs {
		if j%prefetched == 0 {
			k.readEnds(br, pairs[j:min(j+prefetched, len(pairs))])
		}
		if br.along && !br.addEdge(p.From, p.To, inserted) || br.against && !br.addEdge(p.To, p.From, inserted) {
			return false
		}
	}
	br.built = !br.overflow
	return br.built
}

// addEdge adds what an edge that the phase changes makes.
func (br *treeView) addEdge(v, w dyngraph.VertexID, inserted bool) bool {
	n, fits := product(br.children, w)
	br.overflow = br.overflow || !fits
	br.add(v, n, inserted)
	return !br.overflow
}

// add changes the number of a vertex.
func (br *treeView) add(v dyngraph.VertexID, by uint64, inserted bool) {
	if by == 0 {
		return
	}
	c := br.cell(v)
	if br.isChanged(c, v) {
		x, carry := &br.deltas[c.at], uint64(0) // no more than the larger of the numbers before and after, if they are known
		x.by, carry = bits.Add64(x.by, by, 0)
		br.overflow = br.overflow || carry != 0
	} else {
		c.at, c.phase = uint32(len(br.deltas)), uint32(br.phase)
		br.deltas = append(br.deltas, delta{v, by})
	}
	switch {
	case c.n == unknown: // of a ring
	case !inserted:
		c.n -= by
	default:
		sum, carry := bits.Add64(c.n, by, 0)
		c.n, br.overflow = sum, br.overflow || carry != 0 || sum == unknown
	}
}

// grow makes room for all ids of the graph.
func (br *treeView) grow(n int) {
	was := len(br.cells)
	if n <= was {
		return
	}
	br.cells = append(br.cells, make([]cell, n-was)...)
	if br.cycle != nil {
		for v := was; v < n; v++ {
			br.cells[v].n = unknown
		}
	}
}
