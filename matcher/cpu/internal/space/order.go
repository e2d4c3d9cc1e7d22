package space

import (
	"math/bits"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// maxRoots is how many pattern vertices, those with the fewest candidates, are tried as the first one of an order.
const maxRoots = 4

// Order returns the matching order that promises the fewest partial matches, by numbers of candidates and of pairs. In
// each step it maps the pattern vertex, joined to those before, that promises the fewest images for each partial match;
// vertices of one neighbour come last.
func (s *Space) Order() matcher.Order {
	n, o := len(s.Candidates), s.orderer()
	roots := make([]int, n)
	for v := range roots {
		roots[v] = v
	}
	slices.SortStableFunc(roots, func(u, v int) int {
		if a, b := o.isLeaf(u), o.isLeaf(v); a != b && n > 2 {
			if a {
				return 1
			}
			return -1
		}
		return s.Candidates[u] - s.Candidates[v]
	})
	var best []int
	least := 0.0
	for _, v := range roots[:min(n, maxRoots)] {
		if order, cost := o.from([]int{v}); best == nil || cost < least {
			best, least = order, cost
		}
	}
	return program.OrderOf(s.plan, best)
}

// Anchored is Order for an order that begins with the ends of a pattern edge, as another order does.
func (s *Space) Anchored(as *matcher.Order) matcher.Order {
	o := s.orderer()
	order, _ := o.from([]int{as.Steps[0].Vertex, as.Steps[1].Vertex})
	to := program.OrderOf(s.plan, order)
	to.Edge, to.Reversed = as.Edge, as.Reversed
	to.Steps[1].Back = as.Steps[1].Back // without the anchor
	return to
}

func (s *Space) orderer() orderer {
	n := len(s.Candidates)
	o := orderer{Space: s, adj: make([]uint32, n), at: make([][]int, n)}
	for i, e := range s.plan.Query.Edges {
		o.adj[e.From] |= 1 << e.To
		o.adj[e.To] |= 1 << e.From
		o.at[e.From], o.at[e.To] = append(o.at[e.From], i), append(o.at[e.To], i)
	}
	return o
}

type orderer struct {
	*Space
	adj []uint32 // by pattern vertex: its neighbours
	at  [][]int  // by pattern vertex: its edges
}

func (o *orderer) isLeaf(v int) bool { return bits.OnesCount32(o.adj[v]) == 1 }

// from returns the order that begins with some pattern vertices, and how many partial matches it promises for each
// image of the last of them.
func (o *orderer) from(order []int) ([]int, float64) {
	placed, cost := uint32(0), 0.0
	for _, v := range order {
		placed |= 1 << v
	}
	partial := float64(o.Candidates[order[len(order)-1]])
	for cost = partial; len(order) < len(o.adj); cost += partial {
		best, least := -1, 0.0
		for v := range o.adj {
			if placed>>v&1 != 0 || o.adj[v]&placed == 0 {
				continue
			}
			g := o.growth(v, placed)
			better := best < 0
			switch {
			case better:
			case o.isLeaf(v) != o.isLeaf(best):
				better = o.isLeaf(best)
			case g != least:
				better = g < least
			default:
				better = bits.OnesCount32(o.adj[v]) > bits.OnesCount32(o.adj[best])
			}
			if better {
				best, least = v, g
			}
		}
		order, placed, partial = append(order, best), placed|1<<best, partial*least
	}
	return order, cost
}

// growth is the number of images of a pattern vertex to expect for each partial match of others.
func (o *orderer) growth(v int, placed uint32) float64 {
	g := float64(o.Candidates[v])
	for _, i := range o.at[v] {
		e := o.plan.Query.Edges[i]
		if x := e.From + e.To - v; placed>>x&1 != 0 {
			g *= float64(o.Pairs[i]) / float64(o.Candidates[x]) / float64(o.Candidates[v])
		}
	}
	return g
}
