package cpu

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

// weight is what a number of homomorphisms counts for in a sum with signs.
type weight struct {
	factor   matcher.Count
	negative bool
}

// add returns the sum of two weights.
func (w weight) add(x weight) weight {
	switch {
	case w.negative == x.negative:
		w.factor = w.factor.Add(x.factor)
	case w.factor.Cmp(x.factor) >= 0:
		w.factor = w.factor.Sub(x.factor)
	default:
		w = weight{x.factor.Sub(w.factor), x.negative}
	}
	return w
}

// weights adds up, by quotient, the weights of those that are the same but for the names of their blocks: they have as
// many homomorphisms. The first of them has the sum, which may be 0, and the others 0.
func weights(s *shape) []weight {
	sums := make([]weight, len(s.parts))
	type class struct {
		first   int
		colours []uint64
	}
	var classes []class
	for i, q := range s.parts {
		x := class{i, q.colours(s)}
		of := slices.IndexFunc(classes, func(c class) bool { return isomorphic(s, s.parts[c.first], q, c.colours, x.colours) })
		if of < 0 {
			of, classes = len(classes), append(classes, x)
		}
		first := classes[of].first
		sums[first] = sums[first].add(weight{q.factor, q.negative})
	}
	return sums
}

// colours returns, by block, a number that is the same for blocks that any isomorphism can bring together, and tells
// apart most others: of its label, and of its edges and the colours of the blocks that they lead to.
func (q *quotient) colours(s *shape) []uint64 {
	colours, next := make([]uint64, len(q.of)), make([]uint64, len(q.of))
	for v := range colours {
		if q.all>>v&1 != 0 {
			colours[v] = uint64(s.label(q.members[v])) + 1
		}
	}
	for range bits.OnesCount32(q.all) {
		for m := q.all; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			next[v] = mix(colours[v])
			for i := range q.edges[v] {
				e := &q.edges[v][i]
				next[v] += mix(colours[q.of[e.from]] ^ mix(e.code()))
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

// isomorphic reports whether the blocks of two quotients, whose colours are given, can be matched so that labels and
// edges agree.
func isomorphic(s *shape, a, b *quotient, colourA, colourB []uint64) bool {
	if !slices.Equal(sortedColours(a, colourA), sortedColours(b, colourB)) {
		return false
	}
	order := a.walk()
	to := make([]int, len(a.of))
	var match func(i int, used uint32) bool
	match = func(i int, used uint32) bool {
		if i == len(order) {
			return true
		}
		v := order[i]
		for m := b.all &^ used; m != 0; m &= m - 1 {
			w := bits.TrailingZeros32(m)
			if colourA[v] != colourB[w] || s.label(a.members[v]) != s.label(b.members[w]) ||
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

func sortedColours(q *quotient, colours []uint64) (sorted []uint64) {
	for m := q.all; m != 0; m &= m - 1 {
		sorted = append(sorted, colours[bits.TrailingZeros32(m)])
	}
	slices.Sort(sorted)
	return sorted
}

// walk returns the blocks in an order in which each but the first is joined to one before it.
func (q *quotient) walk() (order []int) {
	for reached := q.all & -q.all; reached != 0; {
		v := bits.TrailingZeros32(reached)
		order = append(order, v)
		reached |= q.adj[v]
		for _, done := range order {
			reached &^= 1 << done
		}
	}
	return order
}

// sameEdges reports whether the edges from block u to block v of one quotient are those from x to y of another.
func sameEdges(a, b *quotient, u, v, x, y int) bool {
	kinds := func(q *quotient, u, v int) (of []uint64) {
		for i := range q.edges[v] {
			if e := &q.edges[v][i]; q.of[e.from] == u {
				of = append(of, e.code())
			}
		}
		slices.Sort(of)
		return of
	}
	return slices.Equal(kinds(a, u, v), kinds(b, x, y))
}
