package cpu

import (
	"math/bits"
	"slices"
	"strings"

	"motifd/matcher"
)

// forest counts those quotients of a pattern that are trees, or trees and rings that hang from one vertex, from
// branches: their homomorphisms are the sum over the images of one vertex of the product of the numbers that its
// branches have there. What a phase changes is what it changes in that sum. Quotients that are one ring are counted
// from net edges, all those of a phase together.
//
// Quotients that are the same but for the names of their blocks are counted once.
type forest struct {
	trees   []*tree
	circles []*circle
	rest    []term // by quotient
	all     []*branch
	cyclic  bool // some quotients are neither: they are counted from the net edges one by one, without regard to candidate bits
}

// remainder returns what the forest, if there is one, leaves to be counted from net edges.
func (f *forest) remainder() []term {
	if f == nil {
		return nil
	}
	return f.rest
}

// total is by how much the phases that were counted last changed a number: those of deletions and of insertions.
type total struct {
	weight
	at [2]uint64 // the phases
	by [2]matcher.Count
}

// tree is a quotient that is a tree, but for rings that hang from its root.
type tree struct {
	total
	tops []*branch // of its root
}

// branches are all that some pattern has, by key.
type branches struct {
	all     map[string]*branch
	shelves []*shelf
	unbuilt bool   // some are to be built
	asked   uint64 // the last batch in which something was counted
	scratch scratch
}

// newForest returns nil for a pattern that is counted from its net edges alone: one with cycles, if it is not a ring,
// or with a vertex of any label, one of which few images are expected about an edge, and one for which there is no
// room.
func (b *Backend) newForest(s *shape) *forest {
	if s == nil || s.parts == nil || slices.Contains(s.plan.VertexLabels, matcher.AnyLabel) {
		return nil
	}
	if !s.parts[0].isTree() && (!s.parts[0].isRing() || s.parts[0].hasWide()) || !s.parts[0].simple() {
		return nil
	}
	fans := newFans(b.g, s)
	if !fans.many() && !b.forests {
		return nil
	}
	p := planting{b: b, s: s, fans: fans, f: &forest{rest: make([]term, len(s.parts))}}
	for i, w := range weights(s) {
		t := &p.f.rest[i]
		t.weight = w
		if t.elsewhere = w.factor.IsZero() || p.keep(s.parts[i], w); t.elsewhere {
			continue
		}
		p.f.cyclic = true
	}
	if !p.root() {
		return nil
	}
	return p.f
}

// What branches may take, in bytes: as much as the adjacency, and what is little anyway.
const (
	maxKept     = 64 << 20
	keptPerEdge = 16
	cellBytes   = 16
	changeBytes = 16
)

// hasNo reports whether one of some quotients, all of them before the one that is being looked at, is counted from net
// edges one by one.
func (f *forest) hasNo(of *quotientSet) bool {
	for i := range f.rest {
		if !f.rest[i].elsewhere && of.has(i) {
			return true
		}
	}
	return false
}

// isTree reports whether the quotient has no cycles.
func (q *quotient) isTree() bool { return q.size() == bits.OnesCount32(q.all)-1 }

// simple reports whether each data edge counts for one in each wide edge.
func (q *quotient) simple() bool {
	for _, edges := range q.edges {
		if slices.ContainsFunc(edges, func(e edgeTo) bool { return e.wide != nil && !e.wide.simple() }) {
			return false
		}
	}
	return true
}

// hasWide reports whether some edge is wide.
func (q *quotient) hasWide() bool {
	for _, edges := range q.edges {
		if slices.ContainsFunc(edges, func(e edgeTo) bool { return e.wide != nil }) {
			return true
		}
	}
	return false
}

// size returns the number of edges.
func (q *quotient) size() (edges int) {
	for _, first := range q.first {
		if first {
			edges++
		}
	}
	return edges
}

// isRing reports whether the quotient is three or more blocks in a ring.
func (q *quotient) isRing() bool {
	n := bits.OnesCount32(q.all)
	for m := q.all; m != 0; m &= m - 1 {
		if bits.OnesCount32(q.adj[bits.TrailingZeros32(m)]) != 2 {
			return false
		}
	}
	return n > 2 && q.size() == n
}

// ringsAt reports whether a quotient is trees and at least one ring that hang from a block, and not one ring alone.
func (q *quotient) ringsAt(root int) bool {
	rings, parts := 0, 0
	for rest := q.all &^ (1 << root); rest != 0; parts++ {
		part, ends, longest := q.part(rest&-rest, rest), 0, 0
		for m := part; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			ends += len(q.edges[v]) // both ends of an edge in the part, one of an edge to the root
			longest = max(longest, len(q.edges[v]))
		}
		joints, size := bits.OnesCount32(part&q.adj[root]), bits.OnesCount32(part)
		switch {
		case joints == 1 && ends == 2*size-1:
		case joints == 2 && ends == 2*size && longest == 2:
			rings++
		default:
			return false
		}
		rest &^= part
	}
	return rings > 0 && parts > 1
}

// edge returns the only edge from block u to block v.
func (q *quotient) edge(u, v int) *edgeTo {
	for i := range q.edges[v] {
		if e := &q.edges[v][i]; q.of[e.from] == u {
			return e
		}
	}
	return nil
}

func compareBranches(x, y *branch) int { return strings.Compare(x.key, y.key) }
