package cpu

import (
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/count"
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
	rest    []count.Term // by quotient
	all     []*branch
	cyclic  bool // some quotients are neither: they are counted from the net edges one by one, without regard to candidate bits
}

// remainder returns what the forest, if there is one, leaves to be counted from net edges.
func (f *forest) remainder() []count.Term {
	if f == nil {
		return nil
	}
	return f.rest
}

// total is by how much the phases that were counted last changed a number: those of deletions and of insertions.
type total struct {
	count.Weight
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
	unbuilt bool   // some are to be built
	asked   uint64 // the last batch in which something was counted
	scratch scratch
}

// newForest returns nil for a pattern that is counted from its net edges alone: one with cycles, if it is not a ring,
// or with a vertex of any label, one of which few images are expected about an edge, and one for which there is no
// room.
func (b *Backend) newForest(s *count.Plan) *forest {
	if s == nil || s.Quotients == nil || slices.Contains(s.Query.VertexLabels, matcher.AnyLabel) {
		return nil
	}
	if !s.Quotients[0].IsTree() && (!s.Quotients[0].IsCycle() || s.Quotients[0].HasMultiEdges()) || !s.Quotients[0].IsSimple() {
		return nil
	}
	fans := newExpected(b.g, s)
	if !fans.many() && !b.forests {
		return nil
	}
	p := planting{b: b, s: s, fans: fans, f: &forest{rest: make([]count.Term, len(s.Quotients))}}
	for i, w := range count.Weights(s) {
		t := &p.f.rest[i]
		t.Weight = w
		if t.Elsewhere = w.Factor.IsZero() || p.keep(s.Quotients[i], w); t.Elsewhere {
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
func (f *forest) hasNo(of *count.QuotientSet) bool {
	for i := range f.rest {
		if !f.rest[i].Elsewhere && of.Has(i) {
			return true
		}
	}
	return false
}

func compareBranches(x, y *branch) int { return strings.Compare(x.key, y.key) }

// size returns what the branches take, and some more would take, in bytes: a number for each vertex, and a change for
// each vertex that can have one.
func (b *branches) size(g *dyngraph.Graph, anew []*branch) (bytes int) {
	add := func(br *branch) { bytes += int(g.IDBound())*cellBytes + g.VertexLabelCount(br.root)*changeBytes }
	for _, br := range anew {
		add(br)
	}
	for _, br := range b.all {
		add(br)
	}
	return bytes
}
