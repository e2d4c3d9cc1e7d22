package backtrack

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
)

// findSuffix appends what the suffix finds to the entry that was begun; false ends the search.
func (s *Search) findSuffix(d int) bool {
	e, x := s.order.Suffix, &s.suffixes
	s1, s2 := &s.order.Steps[d], &s.order.Steps[d+1]
	forth := &s2.Back[e.BackToS1]
	v, longest := s.Images[e.Root], cmp.Or(x.limits.Longest, maxSuffixWords)
	from := s.lists.Of(v, &s1.Back[0], s1)
	var across neighbors.List
	if len(s2.Back) == 2 && len(from.Vertices) > 0 {
		if across = s.lists.Of(v, &s2.Back[1-e.BackToS1], s2); len(across.Vertices) == 0 {
			return true
		}
	}
	if x.long = 3*len(from.Vertices) > longest || len(across.Vertices) > longest; x.long {
		return true
	}
	x.staged = from.Staged || across.Staged
	for i, w := range from.Vertices {
		if !s.Step() {
			return false
		}
		at := len(x.words)
		x.words = append(x.words, uint32(w), uint32(from.Entries[i]), 0)
		if len(s2.Back) == 1 {
			to := s.lists.Of(w, forth, s2)
			if x.long = at-memoHead+2*len(to.Vertices) > longest; x.long {
				return true
			}
			x.staged = x.staged || to.Staged
			x.keepList(e, to, v)
		} else if to, r, built := s.lists.Peek(w, forth, s2); built {
			x.staged = x.staged || to.Staged
			x.join(e, &s.intersecter, to, across)
		} else {
			x.staged = true // perhaps
			s.joinRange(e, r, forth, across)
		}
		if n := (len(x.words) - at - 3) / (1 + len(s2.Back)); n > 0 {
			x.words[at+2] = uint32(n)
		} else {
			x.words = x.words[:at]
		}
		if x.long = len(x.words)-memoHead > longest; x.long {
			return true
		}
	}
	return true
}

// keepList appends a list of images of s2, without the root's image where they must differ.
func (x *suffixes) keepList(e *program.Suffix, l neighbors.List, root dyngraph.VertexID) {
	x.words = slices.Grow(x.words, 2*len(l.Vertices))
	for i, y := range l.Vertices {
		if y != root || !e.RootMustDiffer {
			x.words = append(x.words, uint32(y), uint32(l.Entries[i]))
		}
	}
}

// keepJoined appends an image of s2 that is joined to those of s1 and of the root, with the entries of both edges.
func (x *suffixes) keepJoined(e *program.Suffix, v dyngraph.VertexID, toS1, toRoot dyngraph.Entry) {
	if e.BackToS1 == 1 {
		toS1, toRoot = toRoot, toS1
	}
	x.words = append(x.words, uint32(v), uint32(toS1), uint32(toRoot))
}

// join appends what two lists have in common.
func (x *suffixes) join(e *program.Suffix, m *neighbors.Intersecter, l, across neighbors.List) {
	a, b, swapped := l, across, false
	if len(a.Vertices) > len(b.Vertices) {
		a, b, swapped = b, a, true
	}
	inA, inB := m.Of(a.Vertices, b.Vertices)
	if swapped {
		inA, inB = inB, inA
	}
	for i, k := range inA {
		x.keepJoined(e, l.Vertices[k], l.Entries[k], across.Entries[inB[i]])
	}
}

// joinRange is join for a range that is not worth a list yet: that of back edge b.
func (s *Search) joinRange(e *program.Suffix, r dyngraph.Range, b *program.BackEdge, across neighbors.List) {
	for i, y := range across.Vertices {
		if by, ok := r.Find(y); ok && s.MayAdmit(b.Test, by) {
			s.suffixes.keepJoined(e, y, by, across.Entries[i])
		}
	}
}
