package count

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

// maxQuotients bounds the quotients by which a pattern is counted. A pattern with more is counted with its vertices
// kept apart.
const maxQuotients = 128

// QuotientSet is a set of quotients by index.
type QuotientSet [maxQuotients / 64]uint64

func (s *QuotientSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *QuotientSet) meets(t *QuotientSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// partition divides pattern vertices into blocks, each named by its lowest vertex.
type partition struct {
	blockOf []int    // by vertex
	members []uint32 // by block
}

// partitions returns all ways to put vertices that may have the same image into blocks, from fine to coarse; none if
// there are more than maxQuotients. together[v] are the vertices that v may coincide with.
func partitions(together []uint32) (all []partition) {
	n := eachPartition(together, func(p partition) {
		all = append(all, partition{slices.Clone(p.blockOf), slices.Clone(p.members)})
	})
	if n > maxQuotients {
		return nil
	}
	return all
}

// eachPartition calls f with the partitions of vertices into blocks of such as may have the same image, from fine to
// coarse, up to maxQuotients of them. It returns how many there are, or one more than that.
func eachPartition(together []uint32, f func(partition)) (found int) {
	n := len(together)
	p := partition{make([]int, n), make([]uint32, n)}
	var place func(v int)
	place = func(v int) {
		if v == n {
			if found++; found <= maxQuotients {
				f(p)
			}
			return
		}
		p.blockOf[v], p.members[v] = v, 1<<v
		place(v + 1)
		p.members[v] = 0
		for b := 0; b < v && found <= maxQuotients; b++ {
			if m := p.members[b]; m != 0 && m&^together[v] == 0 {
				p.blockOf[v], p.members[b] = b, m|1<<v
				place(v + 1)
				p.members[b] = m
			}
		}
	}
	place(0)
	return found
}

// refines reports whether every block of q lies in a block of p.
func (q *Quotient) refines(p *partition) bool {
	for v, x := range q.BlockOf {
		if p.blockOf[v] != p.blockOf[x] {
			return false
		}
	}
	return true
}

// coefficient is the Moebius coefficient of a partition, the product of (-1)^(b-1) (b-1)! over blocks of b vertices:
// what maps that are constant on the blocks contribute to the number of injective maps.
func (a *partition) coefficient() (n matcher.Count, negative bool) {
	n = matcher.CountOf(1)
	for _, m := range a.members {
		for k := 2; k <= bits.OnesCount32(m); k++ {
			n = n.Mul(matcher.CountOf(uint64(k - 1)))
			negative = !negative
		}
	}
	return n, negative
}

// IsTree reports whether the quotient has no cycles.
func (q *Quotient) IsTree() bool { return q.size() == bits.OnesCount32(q.Blocks)-1 }

// IsSimple reports whether each data edge counts for one in each edge: no edge has a test, and each multi-edge is
// simple.
func (q *Quotient) IsSimple() bool {
	for _, edges := range q.Edges {
		if slices.ContainsFunc(edges, func(e Edge) bool {
			return e.tests != nil || e.Multi != nil && !e.Multi.IsSimple()
		}) {
			return false
		}
	}
	return true
}

// size returns the number of edges.
func (q *Quotient) size() (edges int) {
	for _, first := range q.isFirst {
		if first {
			edges++
		}
	}
	return edges
}

// Edge returns the only edge from block u to block v.
func (q *Quotient) Edge(u, v int) *Edge {
	for i := range q.Edges[v] {
		if e := &q.Edges[v][i]; q.BlockOf[e.From] == u {
			return e
		}
	}
	return nil
}
