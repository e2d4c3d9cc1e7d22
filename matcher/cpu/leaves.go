package cpu

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// maxTogether bounds the leaves of one label that are counted by inclusion and exclusion: the number of partitions
// of 6 leaves is 203, of 12 it is over 4 million. Beyond it one leaf is enumerated and the rest counted.
const maxTogether = 6

// leafCounter is scratch for counting leaves, reused between calls.
type leafCounter struct {
	sets  [matcher.MaxVertices][]dyngraph.VertexID
	inter [1 << maxTogether][]dyngraph.VertexID
	done  [matcher.MaxVertices]bool
}

// countLeaves returns the number of ways to map the leaf steps, given everything else. Leaves whose labels differ
// cannot meet, so their numbers multiply; leaves that may meet are counted together, injectively.
func (s *search) countLeaves() matcher.Count {
	o := s.o
	first, n := o.leaves, len(o.steps)
	if first == n {
		return matcher.CountOf(1)
	}
	done := &s.leaf.done
	for i := first; i < n; i++ {
		done[i] = false
	}
	labels := o.plan.VertexLabels
	anyLabel := false
	for i := first; i < n; i++ {
		anyLabel = anyLabel || labels[o.steps[i].vertex] == matcher.AnyLabel
	}
	total := matcher.CountOf(1)
	var group [matcher.MaxVertices]int
	for i := first; i < n; i++ {
		if done[i] {
			continue
		}
		members := group[:0]
		for j := i; j < n; j++ {
			if !done[j] && (anyLabel || labels[o.steps[j].vertex] == labels[o.steps[i].vertex]) {
				members = append(members, j)
				done[j] = true
			}
		}
		c := s.countTogether(members)
		if c.IsZero() || s.stopped {
			return matcher.Count{}
		}
		total = mul(total, c)
	}
	return total
}

// countTogether counts injective mappings of leaf steps that may meet.
func (s *search) countTogether(members []int) matcher.Count {
	o := s.o
	alike := true
	for _, i := range members[1:] {
		alike = alike && sameLeaf(&o.steps[members[0]], &o.steps[i])
	}
	if alike {
		n := uint64(s.countLeaf(members[0]))
		if n < uint64(len(members)) {
			return matcher.Count{}
		}
		c := matcher.CountOf(1)
		for k := range members {
			c = mul(c, matcher.CountOf(n-uint64(k)))
		}
		return c
	}
	for _, i := range members {
		s.leaf.sets[i] = s.leafSet(i, s.leaf.sets[i][:0])
		if len(s.leaf.sets[i]) == 0 {
			return matcher.Count{}
		}
	}
	sets := make([][]dyngraph.VertexID, len(members))
	for k, i := range members {
		sets[k] = s.leaf.sets[i]
	}
	return s.injective(sets)
}

func sameLeaf(a, b *step) bool {
	x, y := &a.back[0], &b.back[0]
	return a.word == b.word && a.mask == b.mask && x.step == y.step && x.label == y.label && x.dir == y.dir
}

// countLeaf returns the number of candidates of leaf step i that nothing else is mapped to.
func (s *search) countLeaf(i int) int {
	st := &s.o.steps[i]
	b := &st.back[0]
	l := s.lists.neighbours(s.m[b.step], b, st)
	if !s.step() {
		return 0
	}
	n := len(l.nbr)
	if l.staged > 0 {
		s.steps += uint64(len(l.ent))
		for _, e := range l.ent {
			if e.Staged() && !s.visible(e) {
				n--
			}
		}
	}
	for _, k := range st.clash {
		if k >= s.o.leaves {
			break
		}
		w := s.m[k]
		if !s.candidate(st, w) {
			continue
		}
		if at := seek(l.nbr, 0, w); at < len(l.nbr) && l.nbr[at] == w && (!l.ent[at].Staged() || s.visible(l.ent[at])) {
			n--
		}
	}
	return n
}

// leafSet appends the candidates of leaf step i that nothing else is mapped to, ascending.
func (s *search) leafSet(i int, dst []dyngraph.VertexID) []dyngraph.VertexID {
	st := &s.o.steps[i]
	b := &st.back[0]
	l := s.lists.neighbours(s.m[b.step], b, st)
	s.steps += uint64(len(l.nbr))
next:
	for k, w := range l.nbr {
		if l.ent[k].Staged() && !s.visible(l.ent[k]) {
			continue
		}
		for _, c := range st.clash {
			if c < s.o.leaves && s.m[c] == w {
				continue next
			}
		}
		dst = append(dst, w)
	}
	s.step()
	return dst
}

// injective counts the ways to choose distinct members, one of each set: the sum over all partitions of the sets into
// blocks of the product, over the blocks, of (-1)^(b-1) (b-1)! times the size of the block's intersection. Partial
// sums may be negative; modulo 2^128 that does not matter. Sets whose sizes have more than 120 bits together are
// answered with matcher.MaxCount.
func (s *search) injective(sets [][]dyngraph.VertexID) matcher.Count {
	if len(sets) > maxTogether {
		var sum matcher.Count
		rest := make([][]dyngraph.VertexID, len(sets)-1)
		for _, w := range sets[0] {
			if !s.step() {
				return matcher.Count{}
			}
			for i, t := range sets[1:] {
				rest[i] = t
				if at, ok := slices.BinarySearch(t, w); ok {
					rest[i] = slices.Concat(t[:at], t[at+1:])
				}
			}
			sum = sum.Add(s.injective(rest))
		}
		return sum
	}
	n := len(sets)
	width := 0
	for _, t := range sets {
		width += bits.Len(uint(len(t)))
	}
	if width > 120 { // the terms could leave 128 bits
		return matcher.MaxCount
	}
	inter := &s.leaf.inter
	var size [1 << maxTogether]uint64
	for mask := 1; mask < 1<<n; mask++ {
		low := 0
		for mask>>low&1 == 0 {
			low++
		}
		if mask == 1<<low {
			inter[mask] = append(inter[mask][:0], sets[low]...)
		} else {
			inter[mask] = intersect(inter[mask][:0], inter[mask&^(1<<low)], sets[low])
		}
		size[mask] = uint64(len(inter[mask]))
	}
	// ways[mask] sums over the partitions of mask; the block of its lowest member is chosen first.
	var ways [1 << maxTogether]matcher.Count
	ways[0] = matcher.CountOf(1)
	for mask := 1; mask < 1<<n; mask++ {
		low := mask & -mask
		rest := mask &^ low
		var sum matcher.Count
		for sub := rest; ; sub = (sub - 1) & rest {
			block := sub | low
			term := mulMod(ways[mask&^block], matcher.CountOf(size[block]*blockFactor(block)))
			if bits.OnesCount(uint(block))%2 == 0 {
				term = negate(term)
			}
			sum = addMod(sum, term)
			if sub == 0 {
				break
			}
		}
		ways[mask] = sum
	}
	return ways[1<<n-1]
}

// blockFactor returns (b-1)! for a block of b sets.
func blockFactor(block int) uint64 {
	f := uint64(1)
	for k := uint64(2); k < uint64(bits.OnesCount(uint(block))); k++ {
		f *= k
	}
	return f
}

// intersect appends the common members of two ascending sets.
func intersect(dst, a, b []dyngraph.VertexID) []dyngraph.VertexID {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			dst = append(dst, a[i])
			i++
			j++
		}
	}
	return dst
}
