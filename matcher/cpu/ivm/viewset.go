package ivm

import (
	"context"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// forest counts those quotients of a pattern that are trees, or trees and rings that hang from one vertex, from
// branches: their homomorphisms are the sum over the images of one vertex of the product of the numbers that its
// branches have there. What a phase changes is what it changes in that sum. Quotients that are one ring are counted
// from net edges, all those of a phase together.
//
// Quotients that are the same but for the names of their blocks are counted once.
type ViewSet struct {
	trees  []*treeSum
	cycles []*cycleSum
	terms  []count.Term // by quotient
	views  []*treeView
	Cyclic bool // some quotients are neither: they are counted from the net edges one by one, without regard to candidate bits
}

// remainder returns what the forest, if there is one, leaves to be counted from net edges.
func (f *ViewSet) Terms() []count.Term {
	if f == nil {
		return nil
	}
	return f.terms
}

// total is by how much the phases that were counted last changed a number: those of deletions and of insertions.
type termSum struct {
	count.Weight
	at [2]uint64 // the phases
	by [2]matcher.Count
}

// tree is a quotient that is a tree, but for rings that hang from its root.
type treeSum struct {
	termSum
	views []*treeView // of its root
}

// branches are all that some pattern has, by key.
type Views struct {
	g       *dyngraph.Graph
	nets    *program.NetEdges
	Force   bool // tests: every pattern that can have a forest has one
	Room    int  // tests: what branches may take in bytes, if not 0
	all     map[string]*treeView
	Unbuilt bool // some are to be built
	scratch scratch
}

// newForest returns nil for a pattern that is counted from its net edges alone: one with cycles, if it is not a ring,
// or with a vertex of any label, one of which few images are expected about an edge, and one for which there is no
// room.
func (b *Views) Compile(s *count.Plan) *ViewSet {
	if s == nil || s.Quotients == nil || slices.Contains(s.Query.VertexLabels, matcher.AnyLabel) {
		return nil
	}
	if !s.Quotients[0].IsTree() && (!s.Quotients[0].IsCycle() || s.Quotients[0].HasMultiEdges()) || !s.Quotients[0].IsSimple() {
		return nil
	}
	fans := newEstimator(b.g, s)
	if !fans.many() && !b.Force {
		return nil
	}
	p := compiler{of: b, plan: s, estimate: fans, set: &ViewSet{terms: make([]count.Term, len(s.Quotients))}}
	for i, w := range count.Weights(s) {
		t := &p.set.terms[i]
		t.Weight = w
		if t.Elsewhere = w.Factor.IsZero() || p.add(s.Quotients[i], w); t.Elsewhere {
			continue
		}
		p.set.Cyclic = true
	}
	if !p.register() {
		return nil
	}
	return p.set
}

// What branches may take, in bytes: as much as the adjacency, and what is little anyway.
const (
	maxKept     = 64 << 20
	keptPerEdge = 16
	CellBytes   = 16
	DeltaBytes  = 16
)

// hasNo reports whether one of some quotients, all of them before the one that is being looked at, is counted from net
// edges one by one.
func (f *ViewSet) leavesAnyOf(of *count.QuotientSet) bool {
	for i := range f.terms {
		if !f.terms[i].Elsewhere && of.Has(i) {
			return true
		}
	}
	return false
}

func compareViews(x, y *treeView) int { return strings.Compare(x.key, y.key) }

// size returns what the branches take, and some more would take, in bytes: a number for each vertex, and a change for
// each vertex that can have one.
func (b *Views) size(anew []*treeView) (bytes int) {
	add := func(br *treeView) {
		bytes += int(b.g.IDBound())*CellBytes + b.g.VertexLabelCount(br.rootLabel)*DeltaBytes
	}
	for _, br := range anew {
		add(br)
	}
	for _, br := range b.all {
		add(br)
	}
	return bytes
}

// reset makes branches of a graph, whose net edges are in nets. There are none at first.
func (b *Views) Reset(g *dyngraph.Graph, nets *program.NetEdges) {
	*b = Views{g: g, nets: nets, Force: b.Force, Room: b.Room}
}

// retain drops the branches that none of some forests has.
func (b *Views) Retain(forests []*ViewSet) {
	b.all = map[string]*treeView{}
	b.nets.Retain(func() {
		for _, f := range forests {
			f.keepGroups()
			for _, br := range f.views {
				b.all[br.key] = br
			}
		}
	})
}

// keeper returns what branches are kept with, until the staged batch ends or another one is staged.
func (b *Views) Maintainer(ctx context.Context, adj *labeladj.Index) Maintainer {
	s := &b.scratch
	if n := int(b.g.IDBound()); n > len(s.ways) {
		s.ways = make([]uint64, n)
	}
	return Maintainer{g: b.g, index: adj, orders: b.g.OrderTable(), ctx: ctx, scratch: s}
}

// overgrown reports whether the branches take more than twice what they may: vertices came without edges, of which many
// would have plans made anew.
func (b *Views) Overgrown() bool { return b.size(nil) > 2*b.room() }

// count is the number of branches.
func (b *Views) Len() int { return len(b.all) }

// size is the number of branches of a forest.
func (f *ViewSet) Len() int { return len(f.views) }

// abort drops the numbers that have a phase of the staged batch, whose first phase is given.
func (b *Views) Abort(phase uint64) {
	for _, br := range b.all {
		if br.phase >= phase {
			br.built, b.Unbuilt = false, true
		}
	}
}

// stale returns how many branches are to be built: those that are not, or did not follow a batch.
func (f *ViewSet) Stale() (n int) {
	for _, br := range f.views {
		if !br.built || br.outdated() {
			n++
		}
	}
	return n
}

// build builds the stale branches in the graph as it was after a phase. It answers false if their numbers are too large.
func (f *ViewSet) Build(k *Maintainer, phase uint64) bool {
	for _, br := range f.views {
		if (!br.built || br.outdated()) && !br.build(k, phase) {
			return false
		}
	}
	return true
}
