package space

import (
	"math/bits"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
)

// maxRoots is the number of pattern vertices, those with the fewest candidates, that are tried as the first of an
// order.
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

// orderer returns the orderer of a space. It is kept: there may be an order for each pattern edge.
func (s *Space) orderer() *orderer {
	if s.orders != nil {
		return s.orders
	}
	n, edges := len(s.Candidates), s.plan.Query.Edges
	o := &orderer{Space: s, adj: make([]uint32, n), at: make([][]edgeAt, n), growth: make([]float64, n)}
	var ends [matcher.MaxVertices]int
	for _, e := range edges {
		ends[e.From]++
		ends[e.To]++
	}
	room := make([]edgeAt, 2*len(edges))
	for v := range o.at {
		o.at[v], room = room[:0:ends[v]], room[ends[v]:]
	}
	for i, e := range edges {
		o.adj[e.From] |= 1 << e.To
		o.adj[e.To] |= 1 << e.From
		joined := float64(s.Pairs[i]) / float64(s.Candidates[e.From]) / float64(s.Candidates[e.To])
		o.at[e.From] = append(o.at[e.From], edgeAt{e.To, joined})
		o.at[e.To] = append(o.at[e.To], edgeAt{e.From, joined})
	}
	s.orders = o
	return o
}

// orderer chooses orders by the numbers of a space.
type orderer struct {
	*Space
	adj []uint32   // by pattern vertex: its neighbours
	at  [][]edgeAt // by pattern vertex: its edges
	// growth is by pattern vertex the number of images to expect for each partial match of those that are placed.
	growth []float64
}

// edgeAt is a pattern edge as one end sees it, with the part of the pairs of candidates of its ends that it joins.
type edgeAt struct {
	other  int
	joined float64
}

func (o *orderer) isLeaf(v int) bool { return bits.OnesCount32(o.adj[v]) == 1 }

// place takes note of a pattern vertex that is placed.
func (o *orderer) place(v int) {
	for _, e := range o.at[v] {
		o.growth[e.other] *= e.joined
	}
}

// from returns the order that begins with some pattern vertices, and how many partial matches it promises for each
// image of the last of them.
func (o *orderer) from(order []int) ([]int, float64) {
	for v, n := range o.Candidates {
		o.growth[v] = float64(n)
	}
	placed, near, cost := uint32(0), uint32(0), 0.0
	for _, v := range order {
		placed, near = placed|1<<v, near|o.adj[v]
		o.place(v)
	}
	partial := float64(o.Candidates[order[len(order)-1]])
	order = append(make([]int, 0, len(o.adj)), order...)
	for cost = partial; len(order) < len(o.adj); cost += partial {
		best, least := -1, 0.0
		for m := near &^ placed; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			g, better := o.growth[v], best < 0
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
		order, placed, near, partial = append(order, best), placed|1<<best, near|o.adj[best], partial*least
		o.place(best)
	}
	return order, cost
}
