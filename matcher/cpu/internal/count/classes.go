package count

import (
	"cmp"
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
)

// Leaves that may meet are counted by generating functions where they are many, or count with weights. Leaves with the
// same candidates and weights are a class; candidates that have the same weight for each class are a group, of which
// only the size matters. The number of ways to choose different candidates for all leaves is the sum, over the ways to
// divide the leaves of each class among the groups, of the product over the groups of the weights and of a falling
// factorial of the size. It is a dynamic program over the groups, by how many leaves of each class are left.
//
// Two or three leaves without weights are counted by inclusion and exclusion over those that meet.

// leafClass is leaves that have the same candidates and weights.
type leafClass struct {
	first  int // one of the leaves
	leaves int
	plain  bool // each candidate counts once
}

// candidateGroup is candidates that have the same weight for each class.
type candidateGroup struct {
	size uint64
	ways []matcher.Count // by class
}

// classCounter is scratch memory for counting leaves by classes and groups.
type classCounter struct {
	classes []leafClass
	lists   []weighted // by class
	heads   []int
	groups  []candidateGroup
	ways    []matcher.Count // of all groups
	index   map[string]int
	both    [2][]dyngraph.VertexID
	key     []byte
	radix   []int
	left    []int           // leaves of each class
	later   []uint64        // by group: the classes that later groups have candidates for
	known   []matcher.Count // by group and leaves left
	isKnown []bool
}

// maxClassStates bounds the states in which leaves of several classes can be left. Beyond it leaves are mapped one by
// one.
const maxClassStates = 1 << 14

// countClasses counts leaves that may meet.
func (c *Counter) countClasses(leaves []int) matcher.Count {
	x := &c.classes
	x.classes = x.classes[:0]
	states := 1
	for _, u := range leaves {
		at := slices.IndexFunc(x.classes, func(k leafClass) bool { return c.sameChoice(k.first, u) })
		if at < 0 {
			at = len(x.classes)
			isMulti := func(e Edge) bool { return e.Multi != nil }
			x.classes = append(x.classes, leafClass{first: u, plain: !slices.ContainsFunc(c.q.Edges[u], isMulti)})
		}
		x.classes[at].leaves++
	}
	for _, k := range x.classes {
		states = min(states*(k.leaves+1), maxClassStates+1)
	}
	for len(x.lists) < len(x.classes) {
		x.lists = append(x.lists, weighted{})
	}
	for i, k := range x.classes {
		if l, to, from := &x.lists[i], &c.q.filters[k.first], c.q.Edges[k.first]; k.plain {
			l.nbr, l.ways = append(l.nbr[:0], c.alongAll(k.first, to, from, nil, false)...), l.ways[:0]
		} else {
			c.gather(l, k.first, to, from)
		}
		if len(x.lists[i].nbr) < k.leaves {
			c.failed = 0
			for _, u := range leaves {
				if c.sameChoice(k.first, u) {
					c.failed |= c.whyNone(u, &c.q.filters[u], c.q.Edges[u])
				}
			}
			return matcher.Count{}
		}
	}
	isWeighted := func(k leafClass) bool { return !k.plain }
	if len(leaves) <= mostApart && !slices.ContainsFunc(x.classes, isWeighted) {
		return c.countApart()
	}
	for i, k := range x.classes {
		for l := &x.lists[i]; k.plain && len(l.ways) < len(l.nbr); {
			l.ways = append(l.ways, matcher.CountOf(1))
		}
	}
	if states > maxClassStates {
		return c.mapLeaf(leaves)
	}
	x.group()
	return x.count(c.step)
}

// mostApart is the number of leaves that are counted by inclusion and exclusion.
const mostApart = 3

// countApart counts the ways to choose different candidates for two or three leaves of the classes.
func (c *Counter) countApart() matcher.Count {
	var of [mostApart][]dyngraph.VertexID // by leaf
	var n [mostApart]matcher.Count
	leaves := 0
	for i, k := range c.classes.classes {
		for range k.leaves {
			of[leaves] = c.classes.lists[i].nbr
			n[leaves] = matcher.CountOf(uint64(len(of[leaves])))
			leaves++
		}
	}
	a, b := of[0], of[1]
	ab := c.inBoth(a, b)
	if leaves == 2 {
		return n[0].Mul(n[1]).Sub(matcher.CountOf(uint64(len(ab))))
	}
	less := matcher.CountOf(uint64(len(ab))).Mul(n[2])
	abc := matcher.CountOf(uint64(len(c.inBoth(ab, of[2]))))
	less = less.Add(matcher.CountOf(uint64(len(c.inBoth(a, of[2])))).Mul(n[1]))
	less = less.Add(matcher.CountOf(uint64(len(c.inBoth(b, of[2])))).Mul(n[0]))
	return n[0].Mul(n[1]).Mul(n[2]).Add(abc).Add(abc).Sub(less)
}

// inBoth returns the vertices of two lists, until the next call but one.
func (c *Counter) inBoth(a, b []dyngraph.VertexID) []dyngraph.VertexID {
	if len(b) < len(a) {
		a, b = b, a
	}
	c.worker.StepBy(len(a))
	x := &c.classes
	x.both[0], x.both[1] = x.both[1], neighbors.Common(x.both[0], a, b)
	return x.both[1]
}

// mapLeaf counts leaves of very many classes: it maps the leaf with the fewest candidates in every way.
func (c *Counter) mapLeaf(leaves []int) (total matcher.Count) {
	x := &c.classes
	best := 0
	for i := range x.classes {
		if len(x.lists[i].nbr) < len(x.lists[best].nbr) {
			best = i
		}
	}
	u := x.classes[best].first
	of := weighted{slices.Clone(x.lists[best].nbr), slices.Clone(x.lists[best].ways)}
	rest := slices.DeleteFunc(slices.Clone(leaves), func(v int) bool { return v == u })
	mapped := c.mapped
	for i, w := range of.nbr {
		if !c.step() {
			break
		}
		c.bind(c.q.Members[u], w)
		c.mapped = mapped | 1<<u
		total = total.Add(of.ways[i].Mul(c.countClasses(rest)))
	}
	c.mapped, c.failed = mapped, 0
	return total
}

// sameChoice reports whether two leaves have the same candidates, with the same weights.
func (c *Counter) sameChoice(u, v int) bool {
	if !c.q.filters[u].same(&c.q.filters[v]) || len(c.q.Edges[u]) != len(c.q.Edges[v]) {
		return false
	}
	for i := range c.q.Edges[u] {
		a := &c.q.Edges[u][i]
		if !slices.ContainsFunc(c.q.Edges[v], func(b Edge) bool {
			return c.q.BlockOf[a.From] == c.q.BlockOf[b.From] && a.code() == b.code() &&
				slices.Equal(a.tests, b.tests) && c.seeAlike(a, &b)
		}) {
			return false
		}
	}
	return true
}

// same reports whether the same data vertices fit two blocks.
func (t *filter) same(o *filter) bool {
	return t.test == o.test && slices.Equal(t.moreTests, o.moreTests)
}

// seeAlike reports whether two edges of the same kind see the same ones of the batch's changed edges.
func (c *Counter) seeAlike(a, b *Edge) bool {
	if a.Multi == nil {
		return (a.rank < c.rank) == (b.rank < c.rank)
	}
	for i, set := range a.Multi.Sets {
		for k := range set {
			if (set[k].rank < c.rank) != (b.Multi.Sets[i][k].rank < c.rank) {
				return false
			}
		}
	}
	return true
}

// group groups the candidates of all classes.
func (x *classCounter) group() {
	n := len(x.classes)
	x.heads = append(x.heads[:0], make([]int, n)...)
	x.groups, x.ways = x.groups[:0], x.ways[:0]
	if x.index == nil {
		x.index = map[string]int{}
	}
	clear(x.index)
	for {
		least, any := dyngraph.NoVertex, false
		for i := range n {
			if l := &x.lists[i]; x.heads[i] < len(l.nbr) {
				least, any = min(least, l.nbr[x.heads[i]]), true
			}
		}
		if !any {
			break
		}
		x.key = x.key[:0]
		for i := range n {
			if l := &x.lists[i]; x.heads[i] < len(l.nbr) && l.nbr[x.heads[i]] == least {
				x.key = appendCount(binary.AppendUvarint(x.key, uint64(i)), l.ways[x.heads[i]])
			}
		}
		at, ok := x.index[string(x.key)]
		if !ok {
			at = len(x.groups)
			x.index[string(x.key)] = at
			from := len(x.ways)
			for i := range n {
				of := matcher.Count{}
				if l := &x.lists[i]; x.heads[i] < len(l.nbr) && l.nbr[x.heads[i]] == least {
					of = l.ways[x.heads[i]]
				}
				x.ways = append(x.ways, of)
			}
			x.groups = append(x.groups, candidateGroup{ways: x.ways[from:len(x.ways):len(x.ways)]})
		}
		x.groups[at].size++
		for i := range n {
			if l := &x.lists[i]; x.heads[i] < len(l.nbr) && l.nbr[x.heads[i]] == least {
				x.heads[i]++
			}
		}
	}
	// The groups with the fewest ways to divide leaves come first.
	slices.SortStableFunc(x.groups, func(a, b candidateGroup) int { return cmp.Compare(a.size, b.size) })
}

// appendCount appends a number in a prefix-free code: its 16 bytes, and whether there are more.
func appendCount(to []byte, n matcher.Count) []byte {
	to = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(to, n.Lo), n.Hi)
	if !n.IsWide() {
		return append(to, 0)
	}
	b := n.Big().Bytes()
	return append(binary.AppendUvarint(append(to, 1), uint64(len(b))), b...)
}

// count sums over all ways to divide the leaves among the groups.
func (x *classCounter) count(step func() bool) matcher.Count {
	states := 1
	x.radix, x.left = x.radix[:0], x.left[:0]
	for _, k := range x.classes {
		x.radix, x.left = append(x.radix, states), append(x.left, k.leaves)
		states *= k.leaves + 1
	}
	x.later = append(x.later[:0], make([]uint64, len(x.groups))...)
	for g := len(x.groups) - 2; g >= 0; g-- {
		x.later[g] = x.later[g+1]
		for i, n := range x.groups[g+1].ways {
			if !n.IsZero() {
				x.later[g] |= 1 << i
			}
		}
	}
	x.known = append(x.known[:0], make([]matcher.Count, states*len(x.groups))...)
	x.isKnown = append(x.isKnown[:0], make([]bool, states*len(x.groups))...)
	return x.from(0, states, step)
}

// from returns the number of ways to map the remaining leaves to candidates of the groups from one on.
func (x *classCounter) from(group, states int, step func() bool) matcher.Count {
	at := 0
	for i, n := range x.left {
		at += n * x.radix[i]
	}
	if at == 0 {
		return matcher.CountOf(1)
	}
	if group == len(x.groups) {
		return matcher.Count{}
	}
	at += group * states
	if x.isKnown[at] {
		return x.known[at]
	}
	if !step() {
		return matcher.Count{}
	}
	n := x.divide(group, states, 0, 0, matcher.CountOf(1), step)
	x.known[at], x.isKnown[at] = n, true
	return n
}

// divide counts the ways to map the remaining leaves to this group and later ones. Classes before of have mapped given
// leaves to the group, in ways ways; divide tries each number of leaves for class of, then goes on.
func (x *classCounter) divide(
	group, states, of int,
	given uint64,
	ways matcher.Count,
	step func() bool,
) (total matcher.Count) {
	g := &x.groups[group]
	if of == len(x.classes) {
		return ways.Mul(x.from(group+1, states, step))
	}
	left := x.left[of]
	least, most := 0, 0
	if !g.ways[of].IsZero() {
		most = min(left, int(min(g.size-given, uint64(left))))
	}
	if x.later[group]>>of&1 == 0 { // no later group has candidates for them
		least = left
	}
	for n := range most + 1 {
		if n > 0 { // which of the leaves, its candidate, and its weight
			ways = ways.Mul(matcher.CountOf(uint64(left - n + 1))).
				Mul(matcher.CountOf(g.size - given - uint64(n) + 1)).
				Mul(g.ways[of])
			ways = ways.Quo(matcher.CountOf(uint64(n)))
		}
		if n < least {
			continue
		}
		x.left[of] = left - n
		total = total.Add(x.divide(group, states, of+1, given+uint64(n), ways, step))
	}
	x.left[of] = left
	return total
}
