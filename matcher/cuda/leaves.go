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
	s := &k.Step[step]
	of, meets := -1, -1
	for g := range k.Leaf[:k.Groups] {
		l := &k.Leaf[g]
		other := &k.Step[l.Step]
		if alike(k, s, other) {
			of = g
		} else if p.MustDiffer[s.Vertex]>>other.Vertex&1 != 0 {
			loose := isLoose(k.Back[s.Back]) || isLoose(k.Back[other.Back])
			if meets >= 0 || l.Size > 1 || l.Pair != kernels.None || loose {
				return false
			}
			meets = g
		}
	}
	if of >= 0 {
		if meets >= 0 || k.Leaf[of].Pair != kernels.None {
			return false
		}
		k.Leaf[of].Size++
		return true
	}
	b := &k.Back[s.Back]
	c := listKey{s.Word<<6 | uint32(bits.TrailingZeros64(s.Mask)), b.Dir, b.Label, b.Rule,
		kernels.Slice{First: b.Test, Number: b.Tests}}
	if _, ok := t.columns[c]; !ok {
		t.columns[c] = uint32(len(t.columns))
	}
	l := kernels.Leaf{Step: step, Size: 1, Column: t.columns[c], Pair: kernels.None}
	if meets >= 0 {
		l.Pair, k.Leaf[meets].Pair = uint32(meets), k.Groups
	}
	k.Leaf[k.Groups] = l
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
	first := len(o.Steps)
	least := 1
	if o.Edge >= 0 {
		least = 2
	}
	for first > least && isLeaf(p, o.Steps[first-1].Vertex) {
		first--
	}
	steps := o.Steps[first:]
	counted := make([]bool, len(steps))
	seen := make([]bool, len(steps))
	for i := range steps {
		if seen[i] {
			continue
		}
		// Those that conflict with one another, and of these the most that are alike.
		class := []int{i}
		seen[i] = true
		for at := 0; at < len(class); at++ {
			for j := range steps {
				if !seen[j] && p.MustDiffer[steps[class[at]].Vertex]>>steps[j].Vertex&1 != 0 {
					seen[j], class = true, append(class, j)
				}
			}
		}
		var best []int
		for _, a := range class {
			var group []int
			for _, b := range class {
				x, y := steps[a].Back[0], steps[b].Back[0]
				if x.Edge = y.Edge; x == y {
					group = append(group, b)
				}
			}
			if len(group) > len(best) {
				best = group
			}
		}
		if len(best) == 1 {
			best = class[max(0, len(class)-2):]
		}
		for _, b := range best {
			counted[b] = true
		}
	}
	last := &matcher.Order{Edge: o.Edge, Reversed: o.Reversed, Steps: append([]matcher.Step(nil), o.Steps[:first]...)}
	for _, want := range []bool{false, true} {
		for i, s := range steps {
			if counted[i] == want {
				last.Steps = append(last.Steps, s)
			}
		}
	}
	return last
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
