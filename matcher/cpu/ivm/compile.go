package ivm

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// compiler makes a ViewSet. Views keeps nothing of it before register.
type compiler struct {
	of       *Views
	plan     *count.Plan
	estimate *estimator
	set      *ViewSet
	anew     []*treeView // views that no other pattern has
}

// add makes a quotient part of the set. It reports false when the quotient is left to be counted from net edges.
func (p *compiler) add(q *count.Quotient, w count.Weight) bool {
	if q.HasMultiEdges() && !(q.IsTree() && q.IsSimple()) {
		return false
	}
	if q.IsCycle() {
		p.cycleSum(q, w)
		return true
	}
	root := -1
	if q.IsTree() {
		root = p.estimate.root(q)
	} else {
		for m := q.Blocks; m != 0; m &= m - 1 {
			if v := bits.TrailingZeros32(m); q.CyclesAt(v) {
				root = v
			}
		}
	}
	return root >= 0 && p.treeSum(q, root, w)
}

// treeSum adds a quotient of trees and cycles that hang from a block. It reports false when that is not worthwhile.
func (p *compiler) treeSum(q *count.Quotient, root int, w count.Weight) bool {
	var cycles []*treeView
	var trees []int
	anew := false
	for rest := q.Blocks &^ (1 << root); rest != 0; {
		part := q.Component(rest&-rest, rest)
		at := bits.TrailingZeros32(part & q.Adj[root])
		if bits.OnesCount32(part&q.Adj[root]) == 1 {
			trees = append(trees, at)
		} else {
			br := p.cycleView(q, p.walk(q, root, at))
			cycles = append(cycles, br)
			anew = anew || !slices.ContainsFunc(p.set.views, func(x *treeView) bool { return x.key == br.key })
		}
		rest &^= part
	}
	// A finer quotient that is counted from net edges rules out most of its homomorphisms: a cycle view would not pay.
	if anew && p.set.leavesAnyOf(&q.Finer) {
		return false
	}
	t := &treeSum{termSum: termSum{Weight: w}}
	for _, at := range trees {
		t.views = append(t.views, p.treeView(q, at, root))
	}
	for _, br := range cycles {
		t.views = append(t.views, p.enter(br))
	}
	slices.SortFunc(t.views, compareViews)
	p.set.trees = append(p.set.trees, t)
	return true
}

// cycleSum adds a quotient that is a single cycle.
func (p *compiler) cycleSum(q *count.Quotient, w count.Weight) {
	v := bits.TrailingZeros32(q.Blocks)
	cycle := p.cycleView(q, p.walk(q, v, bits.TrailingZeros32(q.Adj[v]))).cycle
	p.set.cycles = append(p.set.cycles, &cycleSum{termSum: termSum{Weight: w}, cycle: cycle})
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
	if e.Multi != nil {
		br.dirs = e.Multi.Sets[0][0].Dirs
	}
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

// walk returns the blocks of a cycle in order, the first one also last, in the direction with the smaller key.
func (p *compiler) walk(q *count.Quotient, root, at int) []int {
	row := []int{root, at}
	for at != root {
		at = bits.TrailingZeros32(q.Adj[at] &^ (1 << row[len(row)-2]))
		row = append(row, at)
	}
	back := slices.Clone(row)
	slices.Reverse(back)
	if p.cycleView(q, back).key < p.cycleView(q, row).key {
		return back
	}
	return row
}

// cycleView returns the view of a cycle given as a closed walk of blocks.
func (p *compiler) cycleView(q *count.Quotient, row []int) *treeView {
	br := &treeView{rootLabel: p.plan.Label(q.Members[row[0]]), cycle: &cycle{}}
	var key strings.Builder
	key.WriteString("cycle")
	for i, v := range row[1:] {
		e := q.Edge(row[i], v)
		from, to := p.plan.Label(q.Members[row[i]]), p.plan.Label(q.Members[v])
		l := cycleEdge{ahead: labeladj.Key(e.Dir, e.Label, to)}
		l.edges, l.along, l.against, l.back = p.of.ends(e.Dir, from, e.Label, to)
		br.cycle.edges = append(br.cycle.edges, l)
		for _, x := range [...]uint64{uint64(e.Dir), uint64(from), uint64(e.Label)} {
			key.WriteString(" " + strconv.FormatUint(x, 36))
		}
	}
	br.key = key.String()
	return br
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
		switch {
		case br.dirs != 0:
			p.attachMulti(br)
		case br.cycle == nil:
			br.edges, br.along, br.against, br.up = p.of.ends(br.dir, br.rootLabel, br.edgeLabel, br.childLabel)
			br.addGroup(br.edges)
		default:
			for i := range br.cycle.edges {
				br.addGroup(br.cycle.edges[i].edges)
			}
		}
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

// attachMulti finds the net edges and the way back of a view that hangs by a multi-edge.
func (p *compiler) attachMulti(br *treeView) {
	triple := program.Triple{From: br.rootLabel, Edge: br.edgeLabel, To: br.childLabel}
	br.edges, br.along = p.of.nets.WideGroup(triple, br.dirs), true
	up := labeladj.Wildcard{Dirs: br.dirs, Edge: br.edgeLabel, Nbr: br.rootLabel}
	if p.of.g.Directed() {
		up.Dirs = br.dirs>>dyngraph.In&1<<dyngraph.Out | br.dirs>>dyngraph.Out&1<<dyngraph.In
	}
	br.up = up.Key()
	br.addGroup(br.edges)
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
	for _, c := range f.cycles {
		for i := range c.cycle.edges {
			c.cycle.edges[i].edges.Kept = true
		}
	}
}
