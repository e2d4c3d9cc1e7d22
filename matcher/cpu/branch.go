package cpu

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
type branch struct {
	key      string
	dir      dyngraph.Dir // from which the vertex that it hangs from sees the edge
	dirs     uint8        // the same of a wide edge, as bits; 0 for one that is not
	root     dyngraph.LabelID
	edge     dyngraph.LabelID
	child    dyngraph.LabelID
	children []*branch // those that hang from the far end of the edge; the same ones are side by side
	ring     *ring     // in place of the edge and what hangs from it
	up       uint64    // key of the adjacency: from the far end to the vertices that the branch hangs from

	own            *program.NetGroup   // of the branch's edge
	along, against bool                // the branch hangs from the first, or the second, end of such edges
	groups         []*program.NetGroup // of all its edges

	built   bool
	over    bool   // a number left 64 bits
	phase   uint64 // the last that is in the numbers
	cells   []cell // by vertex
	changed []change
}

// cell is the number of a vertex, less than 2^64-1. When the last phase changed it, at is where changed has it and
// phase the lower half of the phase.
type cell struct {
	n         uint64
	at, phase uint32
}

// change is by how much a phase changed the number of a vertex: insertions add, deletions take away.
type change struct {
	v  dyngraph.VertexID
	by uint64
}

// cell returns the number of a vertex.
func (br *branch) cell(v dyngraph.VertexID) *cell { return &br.cells[v] }

// clear forgets all numbers, and makes room for some ids.
func (br *branch) clear(n int) {
	br.cells = br.cells[:0]
	br.grow(n)
}

// by returns by how much the last phase changed the number of a vertex.
func (br *branch) by(v dyngraph.VertexID) uint64 {
	if c := br.cell(v); br.has(c, v) {
		return br.changed[c.at].by
	}
	return 0
}

// has reports whether the last phase changed the number of a vertex. Halves of phases come again.
func (br *branch) has(c *cell, v dyngraph.VertexID) bool {
	return c.phase == uint32(br.phase) && int(c.at) < len(br.changed) && br.changed[c.at].v == v
}

// before returns what the number of a vertex was before the last phase, given what it is. A ring's that is asked for
// only now may have been beyond 64 bits.
func (br *branch) before(v dyngraph.VertexID, n uint64) uint64 {
	if br.phase&1 != 0 {
		return n - br.by(v)
	}
	was, carry := bits.Add64(n, br.by(v), 0)
	br.over = br.over || carry != 0
	return was
}

// concerned reports whether the staged batch has edges of the branch in a phase.
func (br *branch) concerned(phase uint64) bool {
	for _, g := range br.groups {
		if len(g.In(phase)) > 0 {
			return true
		}
	}
	return false
}

// outdated reports whether a batch was committed that the numbers do not have.
func (br *branch) outdated() bool {
	for _, g := range br.groups {
		if g.LastChanged > br.phase {
			return true
		}
	}
	return false
}

// product multiplies the numbers that branches have at a vertex. It answers false when the product leaves 64 bits.
func product(of []*branch, w dyngraph.VertexID) (uint64, bool) {
	n := uint64(1)
	for i, c := range of {
		hi, lo := bits.Mul64(n, c.cell(w).n)
		if hi != 0 {
			return 0, slices.ContainsFunc(of[i+1:], func(c *branch) bool { return c.cell(w).n == 0 })
		}
		n = lo
	}
	return n, true
}

// build counts in the graph as it was before the staged batch. The children are built.
func (br *branch) build(k *keeper, phase uint64) bool {
	n := k.adj.Vertices()
	br.clear(n)
	br.built, br.over, br.phase, br.changed = false, false, phase, nil
	if br.ring != nil {
		br.built = true
		return true
	}
	for _, c := range br.children {
		c.grow(n)
	}
	up := k.adj.KindOf(br.up)
	view := k.g.View(dyngraph.New)
	for w := range n {
		id := dyngraph.VertexID(w)
		if view.Label(id) != br.child {
			continue
		}
		t, ok := product(br.children, id)
		if !ok {
			br.over = true
			return false
		}
		if t == 0 {
			continue
		}
		nbr, ent, staged := k.adj.Of(id, up)
		k.steps += uint64(len(nbr))
		for i, v := range nbr {
			if staged && ent[i].Staged() && k.orders[ent[i].Index()]>>31 == 0 {
				continue // the batch inserts it
			}
			c := br.cell(v)
			sum, carry := bits.Add64(c.n, t, 0)
			if carry != 0 || sum == unknown {
				br.over = true
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
func (br *branch) apply(k *keeper, phase uint64) bool {
	br.changed, br.phase = br.changed[:0], phase
	if !br.concerned(phase) {
		return true
	}
	br.built = false // until it is done
	inserted := phase&1 != 0
	if br.ring != nil {
		br.built = br.followRing(k, phase)
		return br.built
	}
	if k.products(br.children); len(k.large) > 0 {
		br.over = true
		return false
	}
	if !k.spread(br, inserted) {
		return false
	}
	pairs := br.own.In(phase)
	for j, p := range pairs {
		if j%ahead == 0 {
			k.readEnds(br, pairs[j:min(j+ahead, len(pairs))])
		}
		if br.along && !br.addEdge(p.From, p.To, inserted) || br.against && !br.addEdge(p.To, p.From, inserted) {
			return false
		}
	}
	br.built = !br.over
	return br.built
}

// addEdge adds what an edge that the phase changes makes.
func (br *branch) addEdge(v, w dyngraph.VertexID, inserted bool) bool {
	n, fits := product(br.children, w)
	br.over = br.over || !fits
	br.add(v, n, inserted)
	return !br.over
}

// add changes the number of a vertex.
func (br *branch) add(v dyngraph.VertexID, by uint64, inserted bool) {
	if by == 0 {
		return
	}
	c := br.cell(v)
	if br.has(c, v) {
		x, carry := &br.changed[c.at], uint64(0) // no more than the larger of the numbers before and after, if they are known
		x.by, carry = bits.Add64(x.by, by, 0)
		br.over = br.over || carry != 0
	} else {
		c.at, c.phase = uint32(len(br.changed)), uint32(br.phase)
		br.changed = append(br.changed, change{v, by})
	}
	switch {
	case c.n == unknown: // of a ring
	case !inserted:
		c.n -= by
	default:
		sum, carry := bits.Add64(c.n, by, 0)
		c.n, br.over = sum, br.over || carry != 0 || sum == unknown
	}
}

// grow makes room for all ids of the graph.
func (br *branch) grow(n int) {
	was := len(br.cells)
	if n <= was {
		return
	}
	br.cells = append(br.cells, make([]cell, n-was)...)
	if br.ring != nil {
		for v := was; v < n; v++ {
			br.cells[v].n = unknown
		}
	}
}
