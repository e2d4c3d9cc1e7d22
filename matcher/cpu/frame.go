package cpu

import "motifd/dyngraph"

// unbounded is the end of a range that ends with its last candidate.
const unbounded = ^uint32(0)

// frame is one step of a search: its candidates, and which of them are left. Candidates of a plain step are data vertices,
// ascending; a range of them is named by vertex ids, so that it means the same to every worker. Those of any other step are data
// edges as extendJoined reads them; a range of them is named by their numbers in that order.
type frame struct {
	nbr []dyngraph.VertexID
	ent [][]dyngraph.Entry // by back edge
	// none tells that there are no candidates, whatever nbr and ent hold: most pairs have none, and pointers that are not written
	// cost nothing while garbage is collected.
	none bool

	next, end int    // what is left: indexes of nbr, or numbers
	hi        uint32 // the bound that end stands for
	counted   bool   // next and end are numbers

	// The candidates depend on the images of the back edges' steps alone: while these are the same, for all that is mapped in
	// between, the candidates are too.
	valid bool
	key   []dyngraph.VertexID // by back edge

	// memory for what is no neighbour list
	nbrs  []dyngraph.VertexID
	ents  [][]dyngraph.Entry
	joins []join
}

// fill makes f hold the visible candidates of plain step d; false ends the search.
func (s *search) fill(d int, st *step, f *frame) bool {
	kept := uint32(0) // back edges whose step has the image that it had
	if f.valid {
		for k := range st.back {
			if f.key[k] == s.m[st.back[k].step] {
				kept |= 1 << k
			}
		}
		if kept == 1<<len(st.back)-1 {
			return true
		}
	}
	f.key = f.key[:0]
	for k := range st.back {
		f.key = append(f.key, s.m[st.back[k].step])
	}
	for len(f.ents) < len(st.back) {
		f.ents, f.ent = append(f.ents, nil), append(f.ent, nil)
	}
	f.valid, f.none = true, false
	if len(st.back) > 1 {
		if kind, ok := st.pair(); ok && s.pairs.worth(kind) {
			return s.intersectPair(kind, st, f, kept)
		}
		return s.intersect(st, f, kept, false)
	}
	b := &st.back[0]
	l := s.lists.neighbours(s.m[b.step], b, st)
	if f.none = len(l.nbr) == 0; f.none {
		return true
	}
	if !l.staged {
		f.nbr, f.ent[0] = l.nbr, l.ent
		return true
	}
	nbrs, ents := f.nbrs[:0], f.ents[0][:0]
	for i, e := range l.ent {
		if !e.Staged() || s.visible(e) {
			nbrs, ents = append(nbrs, l.nbr[i]), append(ents, e)
		}
	}
	f.nbrs, f.ents[0] = nbrs, ents
	f.nbr, f.ent[0] = nbrs, ents
	return true
}

// join is one neighbour list, or range, that an intersection reads.
type join struct {
	list  list
	r     dyngraph.Range // when not built
	built bool
	at    int // where the next seek in the list begins
}

// intersect fills the frame of a step that is joined to several earlier vertices: the shortest list is read, the others are searched for each
// of its vertices, galloping from where the last search ended (GAMMA's Gen_candidates; DESIGN A7). With all, candidates are not asked to
// be visible.
func (s *search) intersect(st *step, f *frame, kept uint32, all bool) bool {
	f.nbr, f.nbrs = nil, f.nbrs[:0]
	before, js := f.joins, f.joins[:0]
	best, size := -1, 0
	for k := range st.back {
		n := 0
		if kept>>k&1 != 0 && k < len(before) && before[k].built {
			js = append(js, join{list: before[k].list, built: true})
			n = len(js[k].list.nbr)
		} else {
			b := &st.back[k]
			l, r, built := s.lists.peek(s.m[b.step], b, st)
			js = append(js, join{list: l, r: r, built: built})
			if n = len(l.nbr); !built {
				n = r.AtMost()
			}
		}
		if n == 0 {
			f.joins = js
			return true
		}
		if best < 0 || n < size {
			best, size = k, n
		}
	}
	f.joins = js
	read := &js[best]
	if !read.built {
		b := &st.back[best]
		read.list, read.built = s.lists.neighbours(s.m[b.step], b, st), true
	}
	nbrs := f.nbrs[:0]
	for k := range js {
		f.ents[k] = f.ents[k][:0]
	}
	in, from := read.list.nbr, read.list.ent
next:
	for i, w := range in {
		if !s.step() {
			f.valid = false
			return false
		}
		if from[i].Staged() && !all && !s.visible(from[i]) {
			continue
		}
		for k := range js {
			if k == best {
				continue
			}
			j := &js[k]
			var e dyngraph.Entry
			if j.built {
				j.at = seek(j.list.nbr, j.at, w)
				if j.at == len(j.list.nbr) {
					break next
				}
				if j.list.nbr[j.at] != w {
					continue next
				}
				e = j.list.ent[j.at]
			} else {
				var ok bool
				if e, ok = j.r.Find(w); !ok {
					continue next
				}
			}
			if e.Staged() && !all && !s.visible(e) {
				continue next
			}
			f.ents[k] = append(f.ents[k][:len(nbrs)], e)
		}
		f.ents[best] = append(f.ents[best][:len(nbrs)], from[i])
		nbrs = append(nbrs, w)
	}
	f.nbrs, f.nbr = nbrs, nbrs
	for k := range js {
		f.ent[k] = f.ents[k]
	}
	return true
}
