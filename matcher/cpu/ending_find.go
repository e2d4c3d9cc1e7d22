package cpu

import (
	"cmp"
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// met is an image of a far step that is joined to the near one's and to the root's.
type met struct {
	v  dyngraph.VertexID
	by [2]dyngraph.Entry // from the near one's and from the root's
}

// find appends what the ending finds to the words; false ends the search.
func (s *search) find(d int) bool {
	e, x := s.o.Suffix, &s.endings
	near, far := &s.o.Steps[d], &s.o.Steps[d+1]
	forth := &far.Back[e.Link]
	v, longest := s.m[e.Root], cmp.Or(x.limits.longest, longestEnding)
	from := s.lists.neighbours(v, &near.Back[0], near)
	var across list
	if len(far.Back) == 2 && len(from.nbr) > 0 {
		if across = s.lists.neighbours(v, &far.Back[1-e.Link], far); len(across.nbr) == 0 {
			return true
		}
		x.sift(across.nbr)
	}
	if x.long = 3*len(from.nbr) > longest || len(across.nbr) > longest; x.long {
		return true
	}
	x.staged = from.staged || across.staged
	for i, w := range from.nbr {
		if i%ahead == 0 {
			x.readAhead(&s.lists, from.nbr[i:min(i+ahead, len(from.nbr))], forth)
		}
		there := &x.next[i%ahead]
		if !s.Step() {
			return false
		}
		if len(far.Back) == 1 {
			at := len(x.words)
			x.words = append(x.words, uint32(w), uint32(from.ent[i]), 0)
			if !there.built {
				there.list = s.lists.neighbours(w, forth, far)
			}
			to := there.list
			if x.long = at-endingHead+2*len(to.nbr) > longest; x.long {
				return true
			}
			x.staged = x.staged || to.staged
			x.keepList(e, to, v)
			n := (len(x.words) - at - 3) / 2
			if x.words[at+2] = uint32(n); n == 0 {
				x.words = x.words[:at]
			}
		} else {
			var r dyngraph.Range
			if !there.built {
				there.list, r, there.built = s.lists.peek(w, forth, far)
			}
			if there.built {
				x.staged = x.staged || there.list.staged
				x.meet(&s.meeting, there.list, across)
			} else {
				x.staged = true // perhaps
				x.meetRange(r, across)
			}
			x.keepMet(e, w, from.ent[i])
		}
		if x.long = len(x.words)-endingHead > longest; x.long {
			return true
		}
	}
	return true
}

// keepList appends a list of images of the far step, but for the root's where that may not be.
func (x *endings) keepList(e *program.Suffix, l list, root dyngraph.VertexID) {
	at, n := len(x.words), len(l.nbr)
	x.words = slices.Grow(x.words, 2*n)
	for _, y := range l.nbr {
		x.words = append(x.words, uint32(y))
	}
	for _, y := range l.ent {
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

// keepMet appends what was met, with the image of the near step and the entry of its edge.
func (x *endings) keepMet(e *program.Suffix, near dyngraph.VertexID, by dyngraph.Entry) {
	for i := range x.met {
		m := &x.met[i]
		x.words = append(x.words, uint32(near), uint32(m.v), uint32(by), uint32(m.by[e.Link]), uint32(m.by[e.Link^1]))
	}
}

// sift prepares to look for vertices in a list: a few bits of their ids, within some lines of the cache, rule most others out.
func (x *endings) sift(of []dyngraph.VertexID) {
	x.sieve = [64]uint64{}
	for _, w := range of {
		x.sieve[w/64%64] |= 1 << (w % 64)
	}
}

// sifted is how many times as long as the list that was sifted another one is at most that is read, and not looked for in it.
const sifted = 4

// meet finds what a list has in common with the one that was sifted.
func (x *endings) meet(m *meeting, l, across list) {
	x.met = x.met[:0]
	if len(l.nbr) > sifted*len(across.nbr) {
		at, in := m.of(across.nbr, l.nbr)
		for i, k := range at {
			x.met = append(x.met, met{across.nbr[k], [2]dyngraph.Entry{l.ent[in[i]], across.ent[k]}})
		}
		return
	}
	j := 0
	for i, y := range l.nbr {
		if x.sieve[y/64%64]>>(y%64)&1 == 0 {
			continue
		}
		if j = seek(across.nbr, j, y); j == len(across.nbr) {
			return
		}
		if across.nbr[j] == y {
			x.met = append(x.met, met{y, [2]dyngraph.Entry{l.ent[i], across.ent[j]}})
		}
	}
}

// meetRange is meet for what is not worth a list yet.
func (x *endings) meetRange(r dyngraph.Range, across list) {
	x.met = x.met[:0]
	for i, y := range across.nbr {
		if e, ok := r.Find(y); ok {
			x.met = append(x.met, met{y, [2]dyngraph.Entry{e, across.ent[i]}})
		}
	}
}

// readAhead looks for the lists of some vertices, which are mostly in no cache: first all slots and stamps, then what they say, so that reads that
// do not wait for each other overlap.
func (x *endings) readAhead(c *lists, of []dyngraph.VertexID, b *program.BackEdge) {
	slots, read := c.table.slots, uint64(0)
	for _, v := range of {
		key := (uint64(b.ListKey)<<32 | uint64(v)) + 1
		read += atomic.LoadUint64(&slots[listHash(key)&uint64(len(slots)-1)].key) + uint64(c.fresh.stamp(v, b.Epoch))
	}
	x.read += read
	for i, v := range of {
		l := &x.next[i]
		if _, _, p := c.find(v, b); p >= emptyList {
			l.list, l.built = c.at(p), true
		} else {
			l.built = false
		}
	}
}
