package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// largeDelta is a delta of more than 64 bits: at a vertex, of the equal views from one index on.
type largeDelta struct {
	vertex dyngraph.VertexID
	from   int
}

// products lists, in deltas and large, how much the last phase changed the product of the numbers of views at a vertex;
// a vertex may be listed several times. The change of a product is a sum over its factors: the delta of one factor,
// times the new values of those before it and the old values of those after it. All terms have one sign.
func (k *Maintainer) products(of []*treeView) {
	k.deltas, k.large = k.deltas[:0], k.large[:0]
	for from := 0; from < len(of); {
		to := copies(of, from)
		k.factor(of, from, to)
		from = to
	}
}

// copies returns the end of the run of equal views that starts at from.
func copies(of []*treeView, from int) int {
	to := from + 1
	for to < len(of) && of[to] == of[from] {
		to++
	}
	return to
}

// factor lists the terms of products for the equal views from..to-1.
func (k *Maintainer) factor(of []*treeView, from, to int) {
	c, left, right := of[from], of[:from], of[to:]
	if len(of) == 1 {
		k.deltas = append(k.deltas, c.deltas...)
		return
	}
	for i := range c.deltas {
		w, n, hi := c.deltas[i].vertex, c.deltas[i].by, uint64(0)
		over := uint64(0)
		if to-from > 1 {
			n, over = c.power(w, to-from)
		}
		for _, b := range left {
			x := b.cell(w).n
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
			x := b.before(w, b.cell(w).n)
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

// power returns how much the last phase changed a power of the number of a vertex, modulo 2^64; over is not 0 if one of
// the powers exceeds 64 bits.
func (br *treeView) power(v dyngraph.VertexID, exponent int) (by, over uint64) {
	more := br.cell(v).n
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
func (c *largeDelta) count(of []*treeView) matcher.Count {
	to := copies(of, c.from)
	x := of[c.from]
	more := x.cell(c.vertex).n
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
		n = n.Mul(matcher.CountOf(b.cell(c.vertex).n))
	}
	for _, b := range of[to:] {
		n = n.Mul(matcher.CountOf(b.before(c.vertex, b.cell(c.vertex).n)))
	}
	return n
}
