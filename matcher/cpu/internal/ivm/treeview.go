package ivm

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// treeView keeps, for each image of a pattern vertex (the root), the number of homomorphisms of a subtree that an edge
// joins to the root: the sum, over the neighbours along the edge, of the product of the numbers of the child views.
type treeView struct {
	key        string
	dir        dyngraph.Dir // of the edge, as the root sees it
	dirs       uint8        // bits of dyngraph.Dir, if the edge is a multi-edge or an end has alternatives; otherwise 0
	multi      bool         // the edge is a multi-edge
	rootLabel  dyngraph.LabelID
	edgeLabel  dyngraph.LabelID
	childLabel dyngraph.LabelID
	children   []*treeView // views whose root is the other end of the edge; equal ones are adjacent
	up         uint64      // labeladj key of the way from the other end of the edge to the root

	edges          *program.NetGroup   // net edges that fit the edge
	along, against bool                // the root is the first, or the second, end of such net edges
	groups         []*program.NetGroup // net edges that fit any edge of the subtree

	built    bool
	overflow bool   // a number exceeded 64 bits
	phase    uint64 // the last phase that the numbers include
	cells    []cell // by vertex
	deltas   []delta
}

// cell is the number of a vertex. If the last phase changed it, at is its index in deltas and phase
// is the lower half of the phase.
type cell struct {
	n         uint64
	at, phase uint32
}

// delta is the amount by which a phase changed the number of a vertex: insertions add, deletions subtract.
type delta struct {
	vertex dyngraph.VertexID
	by     uint64
}

// cell returns the cell of a vertex.
func (br *treeView) cell(v dyngraph.VertexID) *cell { return &br.cells[v] }

// clear removes all numbers and makes room for n ids.
func (br *treeView) clear(n int) {
	br.cells = br.cells[:0]
	br.grow(n)
}

// deltaOf returns how much the last phase changed the number of a vertex.
func (br *treeView) deltaOf(v dyngraph.VertexID) uint64 {
	if c := br.cell(v); br.isChanged(c, v) {
		return br.deltas[c.at].by
	}
	return 0
}

// isChanged reports whether the last phase changed the number of a vertex. Lower halves of phases recur, so deltas
// decides.
func (br *treeView) isChanged(c *cell, v dyngraph.VertexID) bool {
	return c.phase == uint32(br.phase) && int(c.at) < len(br.deltas) && br.deltas[c.at].vertex == v
}

// before returns the number of a vertex before the last phase, given its number n.
func (br *treeView) before(v dyngraph.VertexID, n uint64) uint64 {
	if br.phase&1 != 0 {
		return n - br.deltaOf(v)
	}
	return n + br.deltaOf(v)
}

// concerned reports whether the staged batch has edges of the view in a phase.
func (br *treeView) concerned(phase uint64) bool {
	for _, g := range br.groups {
		if len(g.In(phase)) > 0 {
			return true
		}
	}
	return false
}

// outdated reports whether a batch was committed that the numbers do not include.
func (br *treeView) outdated() bool {
	for _, g := range br.groups {
		if g.LastChanged > br.phase {
			return true
		}
	}
	return false
}

// product multiplies the numbers of views at a vertex. It reports false when the product exceeds 64 bits.
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

// build counts the numbers in the graph before the staged batch. The children must be built.
func (br *treeView) build(k *Maintainer, phase uint64) bool {
	n := k.index.Vertices()
	br.clear(n)
	br.built, br.overflow, br.phase, br.deltas = false, false, phase, nil
	for _, c := range br.children {
		c.grow(n)
	}
	up := k.index.KindOf(br.up)
	view := k.g.View(dyngraph.New)
	for w := range n {
		id := dyngraph.VertexID(w)
		if !matcher.LabelFits(br.childLabel, view.Label(id)) {
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
			if staged && ent[i].Staged() && k.orders[ent[i].Index()]>>30 == 0 {
				continue // inserted by the staged batch, not replaced
			}
			c := br.cell(v)
			sum, carry := bits.Add64(c.n, t, 0)
			if carry != 0 {
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

// apply adds the deletions or insertions of the staged batch to the numbers. The children must have applied them. A
// phase changes the numbers by the deltas of the children over the edges of the graph before it, and by the changed
// edges, with the new numbers of the children.
func (br *treeView) apply(k *Maintainer, phase uint64) bool {
	br.deltas, br.phase = br.deltas[:0], phase
	if !br.concerned(phase) {
		return true
	}
	br.built = false // until it is done
	inserted := phase&1 != 0
	if k.products(br.children); len(k.large) > 0 {
		br.overflow = true
		return false
	}
	if !k.spread(br, inserted) {
		return false
	}
	for _, p := range br.edges.In(phase) {
		if br.along && !br.addEdge(p.From, p.To, inserted) || br.against && !br.addEdge(p.To, p.From, inserted) {
			return false
		}
	}
	br.built = !br.overflow
	return br.built
}

// addEdge adds the contribution of one changed edge.
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
		br.deltas[c.at].by += by // at most the larger number of before and after
	} else {
		c.at, c.phase = uint32(len(br.deltas)), uint32(br.phase)
		br.deltas = append(br.deltas, delta{v, by})
	}
	if !inserted {
		c.n -= by
		return
	}
	sum, carry := bits.Add64(c.n, by, 0)
	c.n, br.overflow = sum, br.overflow || carry != 0
}

// grow makes room for n ids.
func (br *treeView) grow(n int) {
	if was := len(br.cells); n > was {
		br.cells = append(br.cells, make([]cell, n-was)...)
	}
}
