package count

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

// Weight is the signed factor of a number of homomorphisms in a sum.
type Weight struct {
	Factor   matcher.Count
	Negative bool
}

// add returns the sum of two weights.
func (w Weight) add(x Weight) Weight {
	switch {
	case w.Negative == x.Negative:
		w.Factor = w.Factor.Add(x.Factor)
	case w.Factor.Cmp(x.Factor) >= 0:
		w.Factor = w.Factor.Sub(x.Factor)
	default:
		w = Weight{x.Factor.Sub(w.Factor), x.Negative}
	}
	return w
}

// Weights adds up, by quotient, the weights of isomorphic quotients, which have as many homomorphisms. The first of
// them has the sum, which may be 0, and the others 0.
func Weights(s *Plan) []Weight {
	sums := make([]Weight, len(s.Quotients))
	type class struct {
		first   int
		colours []uint64
	}
	var classes []class
	for i, q := range s.Quotients {
		x := class{i, q.colours(s)}
		of := slices.IndexFunc(classes, func(c class) bool {
			return isomorphic(s, s.Quotients[c.first], q, c.colours, x.colours)
		})
		if of < 0 {
			of, classes = len(classes), append(classes, x)
		}
		first := classes[of].first
		sums[first] = sums[first].add(Weight{q.factor, q.negative})
	}
	return sums
}

// colours returns, by block, a number that is equal for blocks that some isomorphism maps to each other, and mostly
// differs for others (colour refinement): of its label, its edges and the colours at their other ends.
func (q *Quotient) colours(s *Plan) []uint64 {
	colours, next := make([]uint64, len(q.BlockOf)), make([]uint64, len(q.BlockOf))
	for v := range colours {
		if q.Blocks>>v&1 != 0 {
			colours[v] = uint64(s.Label(q.Members[v])) + 1
		}
	}
	for range bits.OnesCount32(q.Blocks) {
		for m := q.Blocks; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			next[v] = mix(colours[v])
			for i := range q.Edges[v] {
				e := &q.Edges[v][i]
				next[v] += mix(colours[q.BlockOf[e.From]] ^ mix(e.code()))
			}
		}
		copy(colours, next)
	}
	return colours
}

// mix scatters the bits of a number.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// isomorphic reports whether two quotients, whose colours are given, are isomorphic.
func isomorphic(s *Plan, a, b *Quotient, colourA, colourB []uint64) bool {
	if !slices.Equal(sortedColours(a, colourA), sortedColours(b, colourB)) {
		return false
	}
	order := a.walk()
	to := make([]int, len(a.BlockOf))
	var match func(i int, used uint32) bool
	match = func(i int, used uint32) bool {
		if i == len(order) {
			return true
		}
		v := order[i]
		for m := b.Blocks &^ used; m != 0; m &= m - 1 {
			w := bits.TrailingZeros32(m)
			if colourA[v] != colourB[w] || s.Label(a.Members[v]) != s.Label(b.Members[w]) ||
				slices.ContainsFunc(order[:i], func(u int) bool { return !sameEdges(a, b, u, v, to[u], w) }) {
				continue
			}
			to[v] = w
			if match(i+1, used|1<<w) {
				return true
			}
		}
		return false
	}
	return match(0, 0)
}

func sortedColours(q *Quotient, colours []uint64) (sorted []uint64) {
	for m := q.Blocks; m != 0; m &= m - 1 {
		sorted = append(sorted, colours[bits.TrailingZeros32(m)])
	}
	slices.Sort(sorted)
	return sorted
}

// walk returns the blocks in an order in which each but the first is joined to one before it.
func (q *Quotient) walk() (order []int) {
	for reached := q.Blocks & -q.Blocks; reached != 0; {
		v := bits.TrailingZeros32(reached)
		order = append(order, v)
		reached |= q.Adj[v]
		for _, done := range order {
			reached &^= 1 << done
		}
	}
	return order
}

// sameEdges reports whether the edges from block u to block v of one quotient are those from x to y of another.
func sameEdges(a, b *Quotient, u, v, x, y int) bool {
	kinds := func(q *Quotient, u, v int) (of []uint64) {
		for i := range q.Edges[v] {
			if e := &q.Edges[v][i]; q.BlockOf[e.From] == u {
				of = append(of, e.code())
			}
		}
		slices.Sort(of)
		return of
	}
	return slices.Equal(kinds(a, u, v), kinds(b, x, y))
}
