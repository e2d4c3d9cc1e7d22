package cpu

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

// planting makes a forest. Nothing is kept for it until it takes root.
type planting struct {
	b    *Backend
	s    *count.Plan
	fans *expected
	f    *forest
	anew []*branch // those that no pattern has yet
}

// keep makes a quotient part of the forest; false when it is counted from net edges one by one.
func (p *planting) keep(q *count.Quotient, w count.Weight) bool {
	if q.HasMultiEdges() && !(q.IsTree() && q.IsSimple()) {
		return false
	}
	if q.IsCycle() {
		p.circle(q, w)
		return true
	}
	root := -1
	if q.IsTree() {
		root = p.fans.root(q)
	} else {
		for m := q.Blocks; m != 0; m &= m - 1 {
			if v := bits.TrailingZeros32(m); q.CyclesAt(v) {
				root = v
			}
		}
	}
	return root >= 0 && p.tree(q, root, w)
}

// tree adds a quotient that is trees and rings that hang from a block. It answers false when that is not worth while.
func (p *planting) tree(q *count.Quotient, root int, w count.Weight) bool {
	var rings []*branch
	var trees []int
	anew := false
	for rest := q.Blocks &^ (1 << root); rest != 0; {
		part := q.Component(rest&-rest, rest)
		at := bits.TrailingZeros32(part & q.Adj[root])
		if bits.OnesCount32(part&q.Adj[root]) == 1 {
			trees = append(trees, at)
		} else {
			br := p.along(q, p.row(q, root, at))
			rings = append(rings, br)
			anew = anew || !slices.ContainsFunc(p.f.all, func(x *branch) bool { return x.key == br.key })
		}
		rest &^= part
	}
	// What is counted from the net edges and is finer rules out most of them; a ring would be kept for little.
	if anew && p.f.hasNo(&q.Finer) {
		return false
	}
	t := &tree{total: total{Weight: w}}
	for _, at := range trees {
		t.tops = append(t.tops, p.branch(q, at, root))
	}
	for _, br := range rings {
		t.tops = append(t.tops, p.enter(br))
	}
	slices.SortFunc(t.tops, compareBranches)
	p.f.trees = append(p.f.trees, t)
	return true
}

// circle adds a quotient that is a ring.
func (p *planting) circle(q *count.Quotient, w count.Weight) {
	v := bits.TrailingZeros32(q.Blocks)
	ring := p.along(q, p.row(q, v, bits.TrailingZeros32(q.Adj[v]))).ring
	p.f.circles = append(p.f.circles, &circle{total: total{Weight: w}, ring: ring})
}

// branch returns the branch of a block that hangs from another one.
func (p *planting) branch(q *count.Quotient, at, from int) *branch {
	e := q.Edge(from, at)
	br := &branch{dir: e.Dir, root: p.s.Label(q.Members[from]), edge: e.Label, child: p.s.Label(q.Members[at])}
	if e.Multi != nil {
		br.dirs = e.Multi.Sets[0][0].Dirs
	}
	for m := q.Adj[at] &^ (1 << from); m != 0; m &= m - 1 {
		br.children = append(br.children, p.branch(q, bits.TrailingZeros32(m), at))
	}
	slices.SortFunc(br.children, compareBranches)
	var key strings.Builder
	for _, x := range [...]uint64{uint64(br.dirs)<<1 | uint64(br.dir), uint64(br.root), uint64(br.edge), uint64(br.child)} {
		key.WriteString(strconv.FormatUint(x, 36))
		key.WriteByte(' ')
	}
	for _, c := range br.children {
		key.WriteString("(" + c.key + ")")
	}
	br.key = key.String()
	return p.enter(br)
}

// row returns the blocks of a ring, from one of them and the next one on, and back to it: in the direction whose key is less.
func (p *planting) row(q *count.Quotient, root, at int) []int {
	row := []int{root, at}
	for at != root {
		at = bits.TrailingZeros32(q.Adj[at] &^ (1 << row[len(row)-2]))
		row = append(row, at)
	}
	back := slices.Clone(row)
	slices.Reverse(back)
	if p.along(q, back).key < p.along(q, row).key {
		return back
	}
	return row
}

// along makes a ring of the blocks in a row that ends where it begins.
func (p *planting) along(q *count.Quotient, row []int) *branch {
	br := &branch{root: p.s.Label(q.Members[row[0]]), ring: &ring{}}
	var key strings.Builder
	key.WriteString("ring")
	for i, v := range row[1:] {
		e := q.Edge(row[i], v)
		from, to := p.s.Label(q.Members[row[i]]), p.s.Label(q.Members[v])
		l := ringLink{ahead: labeladj.Key(e.Dir, e.Label, to)}
		l.own, l.along, l.against, l.back = p.b.ends(e.Dir, from, e.Label, to)
		br.ring.links = append(br.ring.links, l)
		for _, x := range [...]uint64{uint64(e.Dir), uint64(from), uint64(e.Label)} {
			key.WriteString(" " + strconv.FormatUint(x, 36))
		}
	}
	br.key = key.String()
	return br
}

// ends returns the net edges that have the labels of an edge from one block to another, which sees it from a side;
// whether it leads from the first of their ends to the second or the other way round; and the key of the adjacency that
// leads back.
func (b *Backend) ends(dir dyngraph.Dir, from, edge, to dyngraph.LabelID) (own *program.NetGroup, along, against bool, back uint64) {
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

// enter puts a branch into the forest, or the same one that it or some other pattern has already.
func (p *planting) enter(br *branch) *branch {
	if at := slices.IndexFunc(p.f.all, func(x *branch) bool { return x.key == br.key }); at >= 0 {
		return p.f.all[at]
	}
	if same := p.b.branches.all[br.key]; same != nil {
		br = same
	} else {
		switch {
		case br.dirs != 0:
			p.hangWide(br)
		case br.ring == nil:
			br.own, br.along, br.against, br.up = p.b.ends(br.dir, br.root, br.edge, br.child)
			br.need(br.own)
		default:
			for i := range br.ring.links {
				br.need(br.ring.links[i].own)
			}
		}
		for _, c := range br.children {
			for _, g := range c.groups {
				br.need(g)
			}
		}
		p.anew = append(p.anew, br)
	}
	p.f.all = append(p.f.all, br)
	return br
}

// hangWide finds what a branch needs that hangs by a wide edge.
func (p *planting) hangWide(br *branch) {
	br.own, br.along = p.b.nets.WideGroup(program.Triple{From: br.root, Edge: br.edge, To: br.child}, br.dirs), true
	up := labeladj.Wildcard{Dirs: br.dirs, Edge: br.edge, Nbr: br.root}
	if p.b.g.Directed() {
		up.Dirs = br.dirs>>dyngraph.In&1<<dyngraph.Out | br.dirs>>dyngraph.Out&1<<dyngraph.In
	}
	br.up = up.Key()
	br.need(br.own)
}

// need notes that net edges concern the branch.
func (br *branch) need(g *program.NetGroup) {
	if !slices.Contains(br.groups, g) {
		br.groups = append(br.groups, g)
	}
}

// root makes the forest's branches some that the backend keeps; false when there is no room for them.
func (p *planting) root() bool {
	bs := &p.b.branches
	if bs.size(p.b.g, p.anew) > p.b.branchRoom() {
		return false
	}
	if bs.all == nil {
		bs.all = map[string]*branch{}
	}
	for _, br := range p.anew {
		bs.all[br.key], bs.unbuilt = br, true
	}
	p.f.keepGroups()
	return true
}

// branchRoom is what branches may take, in bytes, when they are planted.
func (b *Backend) branchRoom() int {
	if b.room > 0 {
		return b.room
	}
	return maxKept + keptPerEdge*b.g.Edges()
}

// keepGroups marks the groups of net edges that the forest follows.
func (f *forest) keepGroups() {
	for _, br := range f.all {
		for _, g := range br.groups {
			g.Kept = true
		}
	}
	for _, c := range f.circles {
		for i := range c.ring.links {
			c.ring.links[i].own.Kept = true
		}
	}
}
