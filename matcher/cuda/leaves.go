//go:build cuda || emu

package cuda

import (
	"math/bits"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
)

// leaves finds the leaves of a count: a suffix of the order whose vertices have one neighbour each. Alike leaves choose
// different vertices from one set; two others that conflict (may have the same image) are a pair; the numbers of ways
// of groups and pairs multiply (DESIGN S12).
func (t *table) leaves(p *matcher.Plan, k *kernels.Program) {
	for k.Leaves > k.Start {
		s := &k.Step[k.Leaves-1]
		if s.Vertex == kernels.None || !isLeaf(p, int(s.Vertex)) || isChecked(k.Check[k.Leaves-1]) ||
			!t.addLeaf(p, k, k.Leaves-1) {
			break
		}
		k.Leaves--
	}
	for i := k.Leaves; i < k.Steps; i++ {
		k.Step[i].Conflicts &= 1<<k.Step[k.Leaves].Position - 1
	}
}

// addLeaf adds a step to the groups of leaves, or returns false if its ways do not multiply with theirs.
func (t *table) addLeaf(p *matcher.Plan, k *kernels.Program, step uint32) bool {
	s, groups := &k.Step[step], k.Leaf[:k.Groups]
	paired := func(g int) bool { return groups[g].Pair != 0 || g+1 < len(groups) && groups[g+1].Pair != 0 }
	of, meets := -1, -1
	for g, l := range groups {
		other := &k.Step[l.Step]
		if alike(k, s, other) {
			of = g
		} else if p.MustDiffer[s.Vertex]>>other.Vertex&1 != 0 {
			loose := isLoose(k.Back[s.Back]) || isLoose(k.Back[other.Back])
			if meets >= 0 || l.Size > 1 || paired(g) || loose {
				return false
			}
			meets = g
		}
	}
	if of >= 0 {
		if meets >= 0 || paired(of) {
			return false
		}
		groups[of].Size++
		return true
	}
	b := &k.Back[s.Back]
	c := listKey{s.Word<<6 | uint32(bits.TrailingZeros64(s.Mask)), b.Dir, b.Label, b.Rule,
		kernels.Slice{First: b.Test, Number: b.Tests}}
	if _, ok := t.columns[c]; !ok {
		t.columns[c] = uint32(len(t.columns))
	}
	l, at := kernels.Leaf{Step: step, Size: 1, Column: t.columns[c]}, len(groups)
	if meets >= 0 {
		of := [2]uint32{groups[meets].Column, l.Column}
		if _, ok := t.pairs[of]; !ok {
			t.pairs[of] = uint32(len(t.pairs))
		}
		l.Pair, at = 1+t.pairs[of], meets+1
	}
	copy(k.Leaf[at+1:], groups[at:])
	k.Leaf[at] = l
	k.Groups++
	return true
}

// checksElements reports whether a pattern has conditions on several elements. The step that tests one depends on the
// order.
func checksElements(p *matcher.Plan) bool {
	return p.Query.Within > 0 ||
		slices.ContainsFunc(p.Conditions, func(c matcher.Condition) bool { return !c.Own() })
}

// leavesLast returns an order whose last steps are leaves that are counted without a step each, as far as there are
// some: of those at the end of an order that conflict, one group of alike ones, or a pair.
func leavesLast(p *matcher.Plan, o *matcher.Order) *matcher.Order {
	first, least := len(o.Steps), 1
	if o.Edge >= 0 {
		least = 2
	}
	for first > least && isLeaf(p, o.Steps[first-1].Vertex) {
		first--
	}
	counted := map[int]bool{} // by pattern vertex
	for rest := slices.Clone(o.Steps[first:]); len(rest) > 0; {
		var class []matcher.Step
		class, rest = conflicting(p, rest)
		best := mostAlike(class)
		if len(best) == 1 {
			best = class[max(0, len(class)-2):]
		}
		for _, s := range best {
			counted[s.Vertex] = true
		}
	}
	last := *o
	last.Steps = slices.Clone(o.Steps)
	slices.SortStableFunc(last.Steps, func(a, b matcher.Step) int {
		switch {
		case counted[a.Vertex] == counted[b.Vertex]:
			return 0
		case counted[b.Vertex]:
			return -1
		}
		return 1
	})
	return &last
}

// conflicting divides steps in two: the first one and those that conflict with it, directly or by way of others, and
// the rest.
func conflicting(p *matcher.Plan, steps []matcher.Step) (class, rest []matcher.Step) {
	class, rest = steps[:1:1], steps[1:]
	for at := 0; at < len(class); at++ {
		var others []matcher.Step
		for _, s := range rest {
			if p.MustDiffer[class[at].Vertex]>>s.Vertex&1 != 0 {
				class = append(class, s)
			} else {
				others = append(others, s)
			}
		}
		rest = others
	}
	return class, rest
}

// mostAlike returns the largest set of steps of leaves whose edges are alike and lead from one vertex.
func mostAlike(steps []matcher.Step) (best []matcher.Step) {
	by := map[matcher.BackEdge][]matcher.Step{}
	for _, s := range steps {
		b := s.Back[0]
		b.Edge = 0
		by[b] = append(by[b], s)
		if len(by[b]) > len(best) {
			best = by[b]
		}
	}
	return best
}

// isLeaf reports whether a pattern vertex has one edge.
func isLeaf(p *matcher.Plan, v int) bool {
	n := 0
	for _, e := range p.Query.Edges {
		if e.From == v || e.To == v {
			n++
		}
	}
	return n == 1
}

// hasLeaf reports whether a pattern has a vertex with one edge.
func hasLeaf(p *matcher.Plan) bool {
	for v := range p.Query.Vertices {
		if isLeaf(p, v) {
			return true
		}
	}
	return false
}

// alike reports whether two leaves choose from the same neighbours of the same vertex.
func alike(k *kernels.Program, s, t *kernels.Step) bool {
	a, b := k.Back[s.Back], k.Back[t.Back]
	// Along a back edge that is not loose, a vertex that is taken removes one choice.
	return !isLoose(a) && s.Word == t.Word && s.Mask == t.Mask && a.From == b.From && a.Label == b.Label &&
		a.Dir == b.Dir && a.Rule == b.Rule && a.Test == b.Test && a.Tests == b.Tests
}
