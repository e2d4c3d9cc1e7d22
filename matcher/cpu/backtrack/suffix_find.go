package backtrack

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/neighbors"
	"motifd/matcher/cpu/program"
)

// joinedImage is an image of s2 that is joined to those of s1 and of the root.
type joinedImage struct {
	v  dyngraph.VertexID
	by [2]dyngraph.Entry // from the near one's and from the root's
}

// findSuffix appends what the suffix finds to the entry that was begun; false ends the search.
func (s *Search) findSuffix(d int) bool {
	e, x := s.order.Suffix, &s.suffixes
	near, far := &s.order.Steps[d], &s.order.Steps[d+1]
	forth := &far.Back[e.Link]
	v, longest := s.Images[e.Root], cmp.Or(x.limits.Longest, maxSuffixWords)
	from := s.lists.Of(v, &near.Back[0], near)
	var across neighbors.List
	if len(far.Back) == 2 && len(from.Vertices) > 0 {
		if across = s.lists.Of(v, &far.Back[1-e.Link], far); len(across.Vertices) == 0 {
			return true
		}
		x.mark(across.Vertices)
	}
	if x.long = 3*len(from.Vertices) > longest || len(across.Vertices) > longest; x.long {
		return true
	}
	x.staged = from.Staged || across.Staged
	for i, w := range from.Vertices {
		if i%neighbors.PrefetchSize == 0 {
			s.lists.LookUp(from.Vertices[i:min(i+neighbors.PrefetchSize, len(from.Vertices))], forth, &x.next)
		}
		there := &x.next[i%neighbors.PrefetchSize]
		if !s.Step() {
			return false
		}
		if len(far.Back) == 1 {
			at := len(x.words)
			x.words = append(x.words, uint32(w), uint32(from.Entries[i]), 0)
			if !there.Built {
				there.List = s.lists.Of(w, forth, far)
			}
			to := there.List
			if x.long = at-memoHead+2*len(to.Vertices) > longest; x.long {
				return true
			}
			x.staged = x.staged || to.Staged
			x.keepList(e, to, v)
			n := (len(x.words) - at - 3) / 2
			if x.words[at+2] = uint32(n); n == 0 {
				x.words = x.words[:at]
			}
		} else {
			var r dyngraph.Range
			if !there.Built {
				there.List, r, there.Built = s.lists.Peek(w, forth, far)
			}
			if there.Built {
				x.staged = x.staged || there.List.Staged
				x.join(&s.intersecter, there.List, across)
			} else {
				x.staged = true // perhaps
				x.joinRange(r, across)
			}
			x.keepJoined(e, w, from.Entries[i])
		}
		if x.long = len(x.words)-memoHead > longest; x.long {
			return true
		}
	}
	return true
}

// keepList appends a list of images of s2, without the root's image where they must differ.
func (x *suffixes) keepList(e *program.Suffix, l neighbors.List, root dyngraph.VertexID) {
	at, n := len(x.words), len(l.Vertices)
	x.words = slices.Grow(x.words, 2*n)
	for _, y := range l.Vertices {
		x.words = append(x.words, uint32(y))
	}
	for _, y := range l.Entries {
		x.words = append(x.words, uint32(y))
	}
	if !e.RootMustDiffer {
		return
	}
	if i, ok := slices.BinarySearch(x.words[at:at+n], uint32(root)); ok {
		x.words = slices.Delete(x.words, at+n+i, at+n+i+1)
		x.words = slices.Delete(x.words, at+i, at+i+1)
	}
}

// keepJoined appends the joined images, with the image of s1 and the entry of its edge.
func (x *suffixes) keepJoined(e *program.Suffix, near dyngraph.VertexID, by dyngraph.Entry) {
	for i := range x.joined {
		m := &x.joined[i]
		x.words = append(x.words, uint32(near), uint32(m.v), uint32(by), uint32(m.by[e.Link]), uint32(m.by[e.Link^1]))
	}
}

// mark sets a bit for each vertex of a list, by its id modulo 4096: most other vertices are ruled out by their bit.
func (x *suffixes) mark(of []dyngraph.VertexID) {
	x.marks = [64]uint64{}
	for _, w := range of {
		x.marks[w/64%64] |= 1 << (w % 64)
	}
}

// sifted is how many times as long as the list that was sifted another one is at most that is read, and not looked for
// in it.
const sifted = 4

// join intersects a list with the one that was marked.
func (x *suffixes) join(m *neighbors.Intersecter, l, across neighbors.List) {
	x.joined = x.joined[:0]
	if len(l.Vertices) > sifted*len(across.Vertices) {
		at, in := m.Of(across.Vertices, l.Vertices)
		for i, k := range at {
			x.joined = append(x.joined, joinedImage{across.Vertices[k], [2]dyngraph.Entry{l.Entries[in[i]], across.Entries[k]}})
		}
		return
	}
	j := 0
	for i, y := range l.Vertices {
		if x.marks[y/64%64]>>(y%64)&1 == 0 {
			continue
		}
		if j = neighbors.Seek(across.Vertices, j, y); j == len(across.Vertices) {
			return
		}
		if across.Vertices[j] == y {
			x.joined = append(x.joined, joinedImage{y, [2]dyngraph.Entry{l.Entries[i], across.Entries[j]}})
		}
	}
}

// joinRange is join for a range that is not worth a list yet.
func (x *suffixes) joinRange(r dyngraph.Range, across neighbors.List) {
	x.joined = x.joined[:0]
	for i, y := range across.Vertices {
		if e, ok := r.Find(y); ok {
			x.joined = append(x.joined, joinedImage{y, [2]dyngraph.Entry{e, across.Entries[i]}})
		}
	}
}
