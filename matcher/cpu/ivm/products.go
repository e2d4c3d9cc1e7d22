package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// largeChange is a change that 64 bits do not hold: at a vertex, of the branches from one index on that are the same.
type largeDelta struct {
	vertex dyngraph.VertexID
	from   int
}

// products lists by how much the last phase changed the product of the numbers that some branches have at a vertex, in work and
// large; a vertex may be there several times. The change of a product is a sum over its factors: what is changed of this one, times what those
// before it are and those after it were. All terms have one sign.
func (k *Maintainer) products(of []*treeView) {
	k.deltas, k.large = k.deltas[:0], k.large[:0]
	for from := 0; from < len(of); {
		to := copies(of, from)
		k.factor(of, from, to)
		from = to
	}
}

// copies returns where the branches that are the same as one of them, and side by side with it, end.
func copies(of []*treeView, from int) int {
	to := from + 1
	for to < len(of) && of[to] == of[from] {
		to++
	}
	return to
}

// factor lists the terms of products for the branches from..to, which are the same.
func (k *Maintainer) factor(of []*treeView, from, to int) {
	c, left, right := of[from], of[:from], of[to:]
	if len(of) == 1 {
		k.deltas = append(k.deltas, c.deltas...)
		return
	}
	for i := range c.deltas {
		if i%prefetched == 0 {
			k.readCells(of, c.deltas[i:min(i+prefetched, len(c.deltas))])
		}
		w, n, hi := c.deltas[i].vertex, c.deltas[i].by, uint64(0)
		over := uint64(0)
		if to-from > 1 {
			n, over = c.power(k, w, to-from)
		}
		for _, b := range left {
			x := b.numberAt(k, w)
			if hi, n = bits.Mul64(n, x); x == 0 {
				over = 0
				break
			}
			over |= hi
		}
		if n|over == 0 {
			continue
		}
		for _, b := range right {
			x := b.before(w, b.numberAt(k, w))
			if hi, n = bits.Mul64(n, x); x == 0 {
				over = 0
				break
			}
			over |= hi
		}
		switch {
		case over != 0:
			k.large = append(k.large, largeDelta{w, from})
		case n != 0:
			k.deltas = append(k.deltas, delta{w, n})
		}
	}
}

// power returns by how much the last phase changed a power of the number of a vertex, modulo 2^64, and 0 unless one of the powers
// leaves 64 bits.
func (br *treeView) power(k *Maintainer, v dyngraph.VertexID, exponent int) (by, over uint64) {
	more := br.numberAt(k, v)
	less := br.before(v, more)
	if more < less {
		more, less = less, more
	}
	m, l, hi := more, less, uint64(0)
	for range exponent - 1 {
		hi, m = bits.Mul64(m, more)
		l *= less
		over |= hi
	}
	return m - l, over
}

// count returns the change.
func (c *largeDelta) count(k *Maintainer, of []*treeView) matcher.Count {
	to := copies(of, c.from)
	x := of[c.from]
	more := x.numberAt(k, c.vertex)
	less := x.before(c.vertex, more)
	if more < less {
		more, less = less, more
	}
	m, l := matcher.CountOf(1), matcher.CountOf(1)
	for range to - c.from {
		m, l = m.Mul(matcher.CountOf(more)), l.Mul(matcher.CountOf(less))
	}
	n := m.Sub(l)
	for _, b := range of[:c.from] {
		n = n.Mul(matcher.CountOf(b.numberAt(k, c.vertex)))
	}
	for _, b := range of[to:] {
		n = n.Mul(matcher.CountOf(b.before(c.vertex, b.numberAt(k, c.vertex))))
	}
	return n
}
