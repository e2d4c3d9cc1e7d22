package ivm

import (
	"context"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/program"
)

// ViewSet maintains the quotients of one pattern that are trees: their homomorphisms are the sum, over the images of
// the root, of the product of the numbers of its views. A phase changes that sum.
//
// Views of quotients with cycles are not kept: that made counts on the data sets 1.07 to 1.13 times as fast, and no
// generated benchmark.
type ViewSet struct {
	trees   []*treeSum
	counted []bool // by quotient: it is one of the trees
	views   []*treeView
	Cyclic  bool // some quotients are left to be counted from net edges; see Counted
}

// Counted tells by quotient whether the views count it, and not the search from net edges; nil without a ViewSet.
func (f *ViewSet) Counted() []bool {
	if f == nil {
		return nil
	}
	return f.counted
}

// treeSum is a quotient that is a tree, and how much the last counted phases, one of deletions and one of insertions,
// changed its number of homomorphisms.
type treeSum struct {
	count.Weight
	at    [2]uint64 // the phases
	by    [2]matcher.Count
	views []*treeView // that hang from its root
}

// Views holds the views of all patterns, by key.
type Views struct {
	g       *dyngraph.Graph
	nets    *program.NetEdges
	Force   bool // for tests: Compile does not ask whether views pay
	Room    int  // for tests: bytes that views may take, if not 0
	all     map[string]*treeView
	Unbuilt bool // some views are to be built
	scratch scratch
}

// Compile returns the views of a plan; nil if it is counted from net edges alone: it has cycles or a vertex of
// any label, few images are expected around an edge, or there is no room.
func (b *Views) Compile(s *count.Plan) *ViewSet {
	if s == nil || s.Quotients == nil || slices.Contains(s.Pattern.VertexLabels, matcher.AnyLabel) {
		return nil
	}
	if q := s.Quotients[0]; !q.IsTree() || !q.IsSimple() {
		return nil
	}
	fans := newEstimator(b.g, s)
	if !fans.many() && !b.Force {
		return nil
	}
	p := compiler{of: b, plan: s, estimate: fans, set: &ViewSet{counted: make([]bool, len(s.Quotients))}}
	for i, q := range s.Quotients {
		p.set.counted[i] = p.add(q)
		p.set.Cyclic = p.set.Cyclic || !p.set.counted[i]
	}
	if !p.register() {
		return nil
	}
	return p.set
}

// Views may take maxKept bytes and keptPerEdge for each edge of the graph, about as much as the label index.
const (
	maxKept     = 64 << 20
	keptPerEdge = 16
	CellBytes   = 16
	DeltaBytes  = 16
)

// compareViews orders views by key.
func compareViews(x, y *treeView) int { return strings.Compare(x.key, y.key) }

// size returns the bytes that the views take together with new ones: a number for each vertex, and a delta for each
// vertex that can have one.
func (b *Views) size(anew []*treeView) (bytes int) {
	add := func(br *treeView) {
		bytes += int(b.g.IDBound())*CellBytes + matcher.VertexCount(b.g, br.rootLabel)*DeltaBytes
	}
	for _, br := range anew {
		add(br)
	}
	for _, br := range b.all {
		add(br)
	}
	return bytes
}

// Reset drops all views. Those to come are of graph g, whose net edges are in nets.
func (b *Views) Reset(g *dyngraph.Graph, nets *program.NetEdges) {
	*b = Views{g: g, nets: nets, Force: b.Force, Room: b.Room}
}

// Retain drops the views that none of the sets has.
func (b *Views) Retain(sets []*ViewSet) {
	b.all = map[string]*treeView{}
	b.nets.Retain(func() {
		for _, f := range sets {
			f.keepGroups()
			for _, br := range f.views {
				b.all[br.key] = br
			}
		}
	})
}

// Maintainer returns what advances views, until the staged batch ends or another one is staged.
func (b *Views) Maintainer(ctx context.Context, adj *labeladj.Index) Maintainer {
	return Maintainer{g: b.g, index: adj, orders: b.g.OrderTable(), ctx: ctx, scratch: &b.scratch}
}

// Overgrown reports whether the views take more than twice their room. Vertices without edges cause that, of which many
// would have plans made anew.
func (b *Views) Overgrown() bool {
	atMost := len(b.all) * int(b.g.IDBound()) * (CellBytes + DeltaBytes)
	return atMost > 2*b.room() && b.size(nil) > 2*b.room()
}

// Len is the number of views.
func (b *Views) Len() int { return len(b.all) }

// Len is the number of views of the set.
func (f *ViewSet) Len() int { return len(f.views) }

// Abort drops the numbers that have a phase of the staged batch, whose first phase is given.
func (b *Views) Abort(phase uint64) {
	for _, br := range b.all {
		if br.phase >= phase {
			br.built, b.Unbuilt = false, true
		}
	}
}

// Stale returns the number of views that are not built, or missed a batch.
func (f *ViewSet) Stale() (n int) {
	for _, br := range f.views {
		if !br.built || br.outdated() {
			n++
		}
	}
	return n
}

// Build builds the stale views in the graph as it was after a phase. It reports false if a number exceeds 64 bits.
func (f *ViewSet) Build(k *Maintainer, phase uint64) bool {
	for _, br := range f.views {
		if (!br.built || br.outdated()) && !br.build(k, phase) {
			return false
		}
	}
	return true
}
