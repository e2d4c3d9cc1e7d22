package dyngraph

import (
	"math/bits"
	"slices"
)

// freeSet is a set of uint32 from which the lowest is taken first: a tree of bitmaps, 64 children to a node. Every
// operation costs one word per level, and a level holds 1/64 of the one below it.
type freeSet struct {
	levels [][]uint64 // levels[0] has a bit per member; a bit above says that the word below is not zero
	n      int
	warmth uint64
}

func (s *freeSet) len() int { return s.n }

func (s *freeSet) has(id uint32) bool {
	w := int(id >> 6)
	return len(s.levels) > 0 && w < len(s.levels[0]) && s.levels[0][w]>>(id&63)&1 != 0
}

func (s *freeSet) add(id uint32) {
	i := int(id)
	if len(s.levels) == 0 || i>>6 >= len(s.levels[0]) {
		s.reach(i>>6 + 1)
	}
	if s.has(id) {
		return
	}
	s.n++
	for _, level := range s.levels { // the levels above may have it already, which cannot be predicted
		level[i>>6] |= 1 << (i & 63)
		i >>= 6
	}
}

// addAll adds members that may be anywhere: their words are read ahead, as in pma_warm.go.
func addAll[T ~uint32](s *freeSet, ids []T) {
	if len(ids) == 0 {
		return
	}
	s.reach(int(slices.Max(ids))>>6 + 1)
	words := s.levels[0]
	for i, id := range ids {
		if i%ahead == 0 {
			for _, next := range ids[i:min(i+ahead, len(ids))] {
				s.warmth += words[next>>6]
			}
		}
		s.add(uint32(id))
	}
}

// reach makes room for that many words of members.
func (s *freeSet) reach(words int) {
	for l := 0; ; l++ {
		if l == len(s.levels) {
			s.levels = append(s.levels, nil)
			if l > 0 {
				// A new top level has a bit for every word below it that is not zero.
				s.levels[l] = make([]uint64, words)
				for j, x := range s.levels[l-1] {
					if x != 0 {
						s.levels[l][j>>6] |= 1 << (j & 63)
					}
				}
			}
		}
		s.levels[l] = grown(s.levels[l], words)
		if len(s.levels[l]) == 1 {
			return
		}
		words = (len(s.levels[l]) + 63) / 64
	}
}

func (s *freeSet) remove(id uint32) {
	if !s.has(id) {
		return
	}
	s.n--
	i := int(id)
	for l := range s.levels {
		w := i >> 6
		s.levels[l][w] &^= 1 << (i & 63)
		if s.levels[l][w] != 0 {
			return
		}
		i = w
	}
}

// takeLowest removes the lowest member and returns it.
func (s *freeSet) takeLowest() (uint32, bool) {
	if s.n == 0 {
		return 0, false
	}
	top := len(s.levels) - 1
	i := 0 // the top level has one word
	for l := top; ; l-- {
		i = i<<6 | bits.TrailingZeros64(s.levels[l][i])
		if l == 0 {
			break
		}
	}
	s.remove(uint32(i))
	return uint32(i), true
}
