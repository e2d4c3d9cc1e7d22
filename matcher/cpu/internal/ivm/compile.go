package ivm

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/program"
)

// compiler makes a ViewSet. Views keeps nothing of it before register.
type compiler struct {
	of       *Views
	plan     *count.Plan
	estimate *estimator
	set      *ViewSet
	anew     []*treeView // views that no other pattern has
}

// add makes a quotient part of the set. It reports false when the quotient is left to be counted from net edges: it has
// a cycle, or a multi-edge that is not simple.
func (p *compiler) add(q *count.Quotient) bool {
	if !q.IsTree() || !q.IsSimple() {
		return false
	}
	root := p.estimate.root(q)
	t := &treeSum{Weight: q.Weight}
	for m := q.Adj[root]; m != 0; m &= m - 1 {
		t.views = append(t.views, p.treeView(q, bits.TrailingZeros32(m), root))
	}
	slices.SortFunc(t.views, compareViews)
	p.set.trees = append(p.set.trees, t)
	return true
}

// treeView returns the view of the subtree at a block that hangs from another block.
func (p *compiler) treeView(q *count.Quotient, at, from int) *treeView {
	e := q.Edge(from, at)
	br := &treeView{
		dir:        e.Dir,
		rootLabel:  p.plan.Label(q.Members[from]),
		edgeLabel:  e.Label,
		childLabel: p.plan.Label(q.Members[at]),
	}
	switch {
	case e.Multi != nil:
		br.dirs = e.Multi.Sets[0][0].Dirs
	case matcher.SeveralLabels(br.rootLabel) || matcher.SeveralLabels(br.childLabel):
		br.dirs = 1 << e.Dir
	}
	br.multi = e.Multi != nil
	for m := q.Adj[at] &^ (1 << from); m != 0; m &= m - 1 {
		br.children = append(br.children, p.treeView(q, bits.TrailingZeros32(m), at))
	}
	slices.SortFunc(br.children, compareViews)
	var key strings.Builder
	dirs := uint64(br.dirs)<<1 | uint64(br.dir)
	for _, x := range [...]uint64{dirs, uint64(br.rootLabel), uint64(br.edgeLabel), uint64(br.childLabel)} {
		key.WriteString(strconv.FormatUint(x, 36))
		key.WriteByte(' ')
	}
	for _, c := range br.children {
		key.WriteString("(" + c.key + ")")
	}
	br.key = key.String()
	return p.enter(br)
}

// ends returns the net edges that fit an edge between two blocks, given the direction in which the first block sees it;
// whether it leads from the first of their ends to the second, or back; and the labeladj key of the way back.
func (b *Views) ends(
	dir dyngraph.Dir,
	from, edge, to dyngraph.LabelID,
) (own *program.NetGroup, along, against bool, back uint64) {
	k := program.Triple{From: from, Edge: edge, To: to}
	if b.g.Directed() {
		along, against = dir == dyngraph.Out, dir == dyngraph.In
		dir = dyngraph.Out + dyngraph.In - dir
	} else {
		along, against = from <= to, from >= to
	}
	if !along {
		k.From, k.To = k.To, k.From
	}
	return b.nets.Group(k), along, against, labeladj.Key(dir, edge, from)
}

// enter puts a view into the set, or the equal one of this or another pattern.
func (p *compiler) enter(br *treeView) *treeView {
	if at := slices.IndexFunc(p.set.views, func(x *treeView) bool { return x.key == br.key }); at >= 0 {
		return p.set.views[at]
	}
	if same := p.of.all[br.key]; same != nil {
		br = same
	} else {
		if br.dirs != 0 {
			p.attachWide(br)
		} else {
			br.edges, br.along, br.against, br.up = p.of.ends(br.dir, br.rootLabel, br.edgeLabel, br.childLabel)
		}
		br.addGroup(br.edges)
		for _, c := range br.children {
			for _, g := range c.groups {
				br.addGroup(g)
			}
		}
		p.anew = append(p.anew, br)
	}
	p.set.views = append(p.set.views, br)
	return br
}

// attachWide finds the net edges and the way back of a view that hangs by a multi-edge, or whose edge has an end with
// alternatives.
func (p *compiler) attachWide(br *treeView) {
	triple := program.Triple{From: br.rootLabel, Edge: br.edgeLabel, To: br.childLabel}
	br.edges, br.along = p.of.nets.WideGroup(triple, br.dirs), true
	up := labeladj.Wildcard{Dirs: br.dirs, Edge: br.edgeLabel, Nbr: br.rootLabel}
	if p.of.g.Directed() {
		up.Dirs = br.dirs>>dyngraph.In&1<<dyngraph.Out | br.dirs>>dyngraph.Out&1<<dyngraph.In
	}
	if br.up = up.Key(); !br.multi && !matcher.SeveralLabels(br.rootLabel) {
		br.up = labeladj.Key(dyngraph.Dir(bits.TrailingZeros8(up.Dirs)), br.edgeLabel, br.rootLabel)
	}
}

// addGroup notes that net edges concern the view.
func (br *treeView) addGroup(g *program.NetGroup) {
	if !slices.Contains(br.groups, g) {
		br.groups = append(br.groups, g)
	}
}

// register hands the set's views over to Views. It reports false when there is no room.
func (p *compiler) register() bool {
	bs := p.of
	if bs.size(p.anew) > p.of.room() {
		return false
	}
	if bs.all == nil {
		bs.all = map[string]*treeView{}
	}
	for _, br := range p.anew {
		bs.all[br.key], bs.Unbuilt = br, true
	}
	p.set.keepGroups()
	return true
}

// room is the number of bytes that views may take.
func (b *Views) room() int {
	if b.Room > 0 {
		return b.Room
	}
	return maxKept + keptPerEdge*b.g.Edges()
}

// keepGroups marks the groups of net edges that the set follows.
func (f *ViewSet) keepGroups() {
	for _, br := range f.views {
		for _, g := range br.groups {
			g.Kept = true
		}
	}
}
