package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
)

// unbounded is the end of a range that ends with its last candidate.
const unbounded = ^uint32(0)

// within returns the part of sorted candidates from lo to before hi.
func within(nbr []dyngraph.VertexID, lo, hi uint32) (from, to int) {
	to = len(nbr)
	if lo > 0 {
		from = neighbors.Seek(nbr, 0, dyngraph.VertexID(lo))
	}
	if hi != unbounded {
		to = neighbors.Seek(nbr, from, dyngraph.VertexID(hi))
	}
	return from, to
}

// frame is one step of a search: its candidates, and which of them are left. The candidates of a simple step are
// ascending data vertices, one for each parallel edge; a range of them is named by vertex ids, so that it means the
// same to every worker. The candidates of any other step are data edges as extendEdges reads them; a range of them is
// named by their numbers in that order.
type frame struct {
	nbr []dyngraph.VertexID
	ent [][]dyngraph.Entry // by back edge
	// none tells that there are no candidates, whatever nbr and ent hold: most pairs have none, and pointers that are
	// not written cost nothing while garbage is collected.
	none bool

	next, end int    // the rest: indexes of nbr, or numbers
	hi        uint32 // the bound that end stands for
	counted   bool   // next and end are numbers

	// The candidates depend on the images of the back edges' steps alone: while these are the same, for all that is
	// mapped in between, the candidates are too.
	valid bool
	key   []dyngraph.VertexID // by back edge

	// memory for what is no neighbour list
	nbrs  []dyngraph.VertexID
	ents  [][]dyngraph.Entry
	joins []neighbors.Source

	// Of a search by vertices alone: the lists of the first back edges. The first prefixes of them have been replaced
	// by their intersection with all lists before them.
	prefix   []operand
	prefixes int

	readFrame
}

// fill makes f hold the admitted candidates of a simple step; false ends the search.
func (s *Search) fill(d int, st *program.Step, f *frame) bool {
	if s.vertices {
		return s.fillVertices(st, f)
	}
	kept := uint32(0) // back edges whose step has the image that it had
	if f.valid {
		for k := range st.Back {
			if f.key[k] == s.Images[st.Back[k].Step] {
				kept |= 1 << k
			}
		}
		if kept == 1<<len(st.Back)-1 {
			f.again = true
			return true
		}
	}
	f.key = f.key[:0]
	for k := range st.Back {
		f.key = append(f.key, s.Images[st.Back[k].Step])
	}
	for len(f.ents) < len(st.Back) {
		f.ents, f.ent = append(f.ents, nil), append(f.ent, nil)
	}
	f.valid, f.none = true, false
	f.change()
	if len(st.Back) > 1 {
		return s.intersect(st, f, kept)
	}
	b := &st.Back[0]
	l := s.lists.Of(s.Images[b.Step], b, st)
	if f.none = len(l.Vertices) == 0; f.none {
		return true
	}
	if done, ok := s.narrow(st, f, l); done {
		return ok
	}
	if !s.ChecksEdges(l.Staged) {
		f.nbr, f.ent[0] = l.Vertices, l.Entries
		return true
	}
	nbrs, ents := f.nbrs[:0], f.ents[0][:0]
	for i, e := range l.Entries {
		if s.AdmitsListed(b, e) {
			nbrs, ents = append(nbrs, l.Vertices[i]), append(ents, e)
		}
	}
	f.nbrs, f.ents[0] = nbrs, ents
	f.nbr, f.ent[0] = nbrs, ents
	return true
}

// buildFrom is the largest number of entries, for each vertex that would be searched in it, of a range that is made a
// list for one intersection.
const buildFrom = 16

// intersect fills the frame of a step with several back edges: the intersection of the two shortest lists, then of
// that and the others, one by one (GAMMA's Gen_candidates; DESIGN A7).
func (s *Search) intersect(st *program.Step, f *frame, kept uint32) bool {
	f.nbr, f.nbrs = nil, f.nbrs[:0]
	before, js := f.joins, f.joins[:0]
	best := 0
	for k := range st.Back {
		j := neighbors.Source{Built: true}
		if kept>>k&1 != 0 && k < len(before) && before[k].Built {
			j.List = before[k].List
		} else {
			b := &st.Back[k]
			j.List, j.Range, j.Built = s.lists.Peek(s.Images[b.Step], b, st)
		}
		if j.Size = len(j.List.Vertices); !j.Built {
			j.Size = j.Range.AtMost()
		}
		if js = append(js, j); j.Size == 0 {
			f.joins = js
			return true
		}
		if j.Size < js[best].Size {
			best = k
		}
	}
	f.joins = js
	first := &js[best]
	s.build(first, &st.Back[best], st)
	first.Done = true
	if !s.StepBy(len(first.List.Vertices)) {
		f.valid = false
		return false
	}
	f.nbr, f.ent[best] = first.List.Vertices, first.List.Entries
	check := s.ChecksEdges(first.List.Staged)
	for range js[1:] {
		next := -1
		for k := range js {
			if !js[k].Done && (next < 0 || js[k].Size < js[next].Size) {
				next = k
			}
		}
		if len(f.nbr) == 0 {
			break
		}
		j := &js[next]
		if !j.Built && j.Size <= buildFrom*len(f.nbr) {
			s.build(j, &st.Back[next], st)
		}
		at, found := s.intersecter.With(j, f.nbr)
		f.narrow(js, at)
		into := slices.Grow(f.ents[next][:0], len(found))[:len(found)]
		for i, e := range found {
			into[i] = dyngraph.Entry(e)
			check = check || s.ChecksEdges(into[i].Staged())
		}
		check = check || !j.Built && st.Back[next].Test != nil
		f.ents[next], f.ent[next], j.Done = into, into, true
	}
	if check {
		s.onlyAdmitted(f, st)
	}
	return true
}

// build makes a source's range a list.
func (s *Search) build(j *neighbors.Source, b *program.BackEdge, st *program.Step) {
	if !j.Built {
		j.List, j.Built = s.lists.Of(s.Images[b.Step], b, st), true
	}
}

// narrow keeps the candidates at some positions, with their entries in the sources that are done.
func (f *frame) narrow(js []neighbors.Source, at []uint32) {
	n := len(at)
	nbrs := slices.Grow(f.nbrs[:0], n)[:n]
	for i, p := range at {
		nbrs[i] = f.nbr[p]
	}
	f.nbr, f.nbrs = nbrs, nbrs
	for k := range js {
		if js[k].Done {
			ents := slices.Grow(f.ents[k][:0], n)[:n]
			for i, p := range at {
				ents[i] = f.ent[k][p]
			}
			f.ent[k], f.ents[k] = ents, ents
		}
	}
}

// onlyAdmitted keeps the candidates whose edges are all admitted.
func (s *Search) onlyAdmitted(f *frame, st *program.Step) {
	back := len(st.Back)
	nbrs, n := slices.Grow(f.nbrs[:0], len(f.nbr))[:len(f.nbr)], 0
	for k := range back {
		f.ents[k] = slices.Grow(f.ents[k][:0], len(f.nbr))[:len(f.nbr)]
	}
next:
	for i, w := range f.nbr {
		for k := range back {
			e := f.ent[k][i]
			if !s.AdmitsFound(&st.Back[k], e) {
				continue next
			}
			f.ents[k][n] = e
		}
		nbrs[n] = w
		n++
	}
	f.nbr, f.nbrs = nbrs[:n], nbrs[:n]
	for k := range back {
		f.ents[k] = f.ents[k][:n]
		f.ent[k] = f.ents[k]
	}
}

// CandidatesOf returns the admitted candidates of a simple step for the images at hand, with their entries by back
// edge; false if the search was stopped. It is for tests.
func (s *Search) CandidatesOf(d int) ([]dyngraph.VertexID, [][]dyngraph.Entry, bool) {
	st := &s.order.Steps[d]
	f := &s.frames[st.Slot]
	if !s.fill(d, st, f) {
		return nil, nil, false
	}
	if f.none {
		return nil, nil, true
	}
	return f.nbr, f.ent, true
}
