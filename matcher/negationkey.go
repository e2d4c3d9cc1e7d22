package matcher

import (
	"fmt"
	"slices"
	"strings"

	"motifd/matcher/condition"
)

// copies returns in how many ways own vertices, and own edges with the same ends and labels, can be exchanged, up to a
// little more than MaxNegationCopies.
func (q *Query) copies(n *Negation) int {
	most := factorial(len(n.Vertices))
	for _, group := range q.edgeGroups(n, func(v int) int { return v }) {
		most *= factorial(len(group))
		if most > MaxNegationCopies {
			break
		}
	}
	return most
}

func factorial(n int) int {
	f := 1
	for i := 2; i <= min(n, 7); i++ { // 7! is beyond any bound here
		f *= i
	}
	return f
}

// edgeGroups returns the own edges of a negation in groups of the same ends, labels and direction, sorted by those;
// image renames vertices.
func (q *Query) edgeGroups(n *Negation, image func(v int) int) (groups [][]int) {
	type kinded struct {
		kind string
		edge int
	}
	var all []kinded
	for i, e := range n.Edges {
		from, to := image(e.From), image(e.To)
		if e.Either && from > to {
			from, to = to, from
		}
		label := e.Labels().Key()
		all = append(all, kinded{fmt.Sprintf("%03d %03d %v %d %s", from, to, e.Either, len(label), label), i})
	}
	slices.SortStableFunc(all, func(a, b kinded) int { return strings.Compare(a.kind, b.kind) })
	for i, k := range all {
		if i == 0 || all[i-1].kind != k.kind {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], k.edge)
	}
	return groups
}

// NegationKey returns a text that two negations of a query have in common if and only if they say the same, whatever
// the order of their own vertices and edges is, with each core element replaced by its image. It is the least text of
// all orders of own vertices and of parallel own edges.
func (q *Query) NegationKey(n *Negation, image func(condition.Ref) condition.Ref) (key string) {
	core, coreEdges := len(q.Vertices), len(q.Edges)
	permutations(len(n.Vertices), func(own []int) {
		vertex := func(v int) int {
			if v < core {
				return image(condition.Ref{Index: v}).Index
			}
			return core + own[v-core]
		}
		labels := make([]string, len(n.Vertices))
		for i, v := range n.Vertices {
			labels[own[i]] = v.Labels().Key()
		}
		head := fmt.Sprintf("%q", labels)
		groups := q.edgeGroups(n, vertex)
		place := make([]int, len(n.Edges))
		at := 0
		for _, g := range groups {
			e := n.Edges[g[0]]
			from, to := vertex(e.From), vertex(e.To)
			if e.Either && from > to {
				from, to = to, from
			}
			head += fmt.Sprintf(" %d>%d %v %q %d", from, to, e.Either, e.Labels().Key(), len(g))
		}
		orders(groups, func() {
			at = 0
			for _, g := range groups {
				for _, e := range g {
					place[e] = at
					at++
				}
			}
			var keys []string
			for _, c := range n.Conditions {
				keys = append(keys, c.Key(func(r condition.Ref) condition.Ref {
					switch {
					case !r.Edge:
						r.Index = vertex(r.Index)
					case r.Index < coreEdges:
						r = image(r)
					default:
						r.Index = coreEdges + place[r.Index-coreEdges]
					}
					return r
				}))
			}
			slices.Sort(keys)
			if text := head + fmt.Sprintf(" %q", keys); key == "" || text < key {
				key = text
			}
		})
	})
	return key
}

// NegationElements returns the core elements that a negation joins or reads.
func (q *Query) NegationElements(n *Negation) (all []condition.Ref) {
	add := func(r condition.Ref) {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	for _, v := range q.Named(n) {
		add(condition.Ref{Index: v})
	}
	for _, c := range n.Conditions {
		for _, r := range c.Elements {
			if !r.Edge && r.Index < len(q.Vertices) || r.Edge && r.Index < len(q.Edges) {
				add(r)
			}
		}
	}
	return all
}

// permutations calls f with each permutation of 0..n-1, which is borrowed.
func permutations(n int, f func([]int)) {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	permute(all, 0, func() { f(all) })
}

// permute calls f with each order of the elements from one on.
func permute(all []int, from int, f func()) {
	if from >= len(all)-1 {
		f()
		return
	}
	for i := from; i < len(all); i++ {
		all[from], all[i] = all[i], all[from]
		permute(all, from+1, f)
		all[from], all[i] = all[i], all[from]
	}
}

// orders calls f with each combination of the orders of groups.
func orders(groups [][]int, f func()) {
	if len(groups) == 0 {
		f()
		return
	}
	permute(groups[0], 0, func() { orders(groups[1:], f) })
}
