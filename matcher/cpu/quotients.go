package cpu

import (
	"math/bits"

	"motifd/matcher"
)

// maxQuotients bounds the quotients by which one pattern is counted; a pattern with more is counted with its vertices kept
// apart one by one.
const maxQuotients = 128

// quotientSet is a set of quotients by index.
type quotientSet [maxQuotients / 64]uint64

func (s *quotientSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *quotientSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s *quotientSet) meets(t *quotientSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// partition divides pattern vertices into blocks, each named by its lowest vertex.
type partition struct {
	of      []int    // by vertex
	members []uint32 // by block
}

// partitions returns every way to put vertices that may have the same image into one block, from fine to coarse;
// none when there are more than maxQuotients. together[v] are the vertices that v may coincide with.
func partitions(together []uint32) []partition {
	n := len(together)
	var all []partition
	members := make([]uint32, n)
	of := make([]int, n)
	var place func(v int) bool
	place = func(v int) bool {
		if v == n {
			if len(all) == maxQuotients {
				return false
			}
			all = append(all, partition{append([]int(nil), of...), append([]uint32(nil), members...)})
			return true
		}
		of[v], members[v] = v, 1<<v
		if !place(v + 1) {
			return false
		}
		members[v] = 0
		for b := range v {
			if members[b] != 0 && members[b]&^together[v] == 0 {
				members[b] |= 1 << v
				of[v] = b
				if !place(v + 1) {
					return false
				}
				members[b] &^= 1 << v
			}
		}
		return true
	}
	if !place(0) {
		return nil
	}
	return all
}

// refines reports whether every block of q lies in a block of p.
func (q *quotient) refines(p *partition) bool {
	for v, x := range q.of {
		if p.of[v] != p.of[x] {
			return false
		}
	}
	return true
}

// coefficient is what the maps of a pattern that are constant on the blocks count for in the number of injective ones: the
// product of (-1)^(b-1) (b-1)! over blocks of b vertices (Möbius inversion in the lattice of partitions).
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
