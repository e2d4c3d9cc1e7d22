package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
)

// A search that counts matches needs no data edges where no step compares or tests them. Its frames then hold vertices
// alone. A step with several back edges keeps the intersections of the lists of its first back edges, so that a list is
// intersected again only when its own or an earlier image changes (intersection cache; Mhedhbi and Salihoglu, VLDB
// 2019). What the last step yields is counted, not listed, and together with the step before it if the two are not
// joined.

// countsVertices reports whether the search at hand, of an order, counts by vertices alone.
func (s *Search) countsVertices(o *program.Order) bool {
	return s.mode == matcher.WantCount && o.VerticesOnly && !o.GoesOn() && o.Parent == nil && !s.pairs
}

// extendVertices is extendWithin for a search by vertices alone.
func (s *Search) extendVertices(d int, lo, hi uint32) bool {
	if d == len(s.order.Steps) {
		return s.match()
	}
	t := s.order.Tail
	var e *tailEntry // the counts of the tail, if its root is mapped
	if t != nil && t.Root < d && d <= t.From && (d == s.base || d >= t.From-1) {
		switch e = s.tail(t); {
		case e == nil:
			return false
		case e.long:
			e = nil
		case e.total == 0:
			return true
		case d == t.From && lo == 0 && hi == unbounded:
			s.foundMany(s.beside(t, e, -1))
			return s.Step()
		}
	}
	st := &s.order.Steps[d]
	f := &s.frames[st.Slot]
	if !s.fillVertices(st, f) {
		return false
	}
	if len(f.nbr) == 0 || st.Windows != nil && !s.fitsWindows(st, f.nbr) {
		return true
	}
	from, to := within(f.nbr, lo, hi)
	from, to = s.between(st.Less, f.nbr, from, to)
	if e != nil && d == t.From-1 {
		return s.countToTail(d, st, f.nbr[from:to], t, e)
	}
	switch len(s.order.Steps) - d {
	case 1:
		return s.countLast(st, f.nbr[from:to])
	case 2:
		if last := &s.order.Steps[d+1]; last.Joined>>d&1 == 0 && last.Windows == nil {
			return s.countLastTwo(st, last, f.nbr[from:to])
		}
	}
	f.next, f.end, f.hi, f.counted = from, to, hi, false
	taken := s.taken(st.MustDiffer)
	for f.next < f.end {
		w := f.nbr[f.next]
		f.next++
		if !s.Step() {
			return false
		}
		if taken>>(w%64)&1 != 0 && s.IsImage(st.MustDiffer, w) {
			continue
		}
		s.Images[d] = w
		if t != nil && t.Root == d {
			if e := s.tail(t); e == nil {
				return false
			} else if e.total == 0 {
				continue
			}
		}
		if s.Asked(s.Steps) {
			s.share(d)
		}
		if !s.extend(d + 1) {
			return false
		}
	}
	return true
}

// between returns the part of a step's candidates from to before to that symmetry constraints leave.
func (s *Search) between(less []program.Less, nbr []dyngraph.VertexID, from, to int) (int, int) {
	for _, l := range less {
		if w := s.Images[l.Step]; l.Greater {
			from = neighbors.Seek(nbr, from, w+1)
		} else {
			to = min(to, neighbors.Seek(nbr, from, w))
		}
	}
	return from, max(from, to)
}

// countLast counts the candidates of the last step that are free.
func (s *Search) countLast(st *program.Step, nbr []dyngraph.VertexID) bool {
	if !s.StepBy(len(nbr)) {
		return false
	}
	s.Found += uint64(s.countFree(st, nbr) * len(s.order.Forms))
	return true
}

// countFree returns how many candidates of a step are free.
func (s *Search) countFree(st *program.Step, nbr []dyngraph.VertexID) int {
	n := len(nbr)
	if len(st.MustDiffer) == 0 {
		return n
	}
	taken := s.taken(st.MustDiffer)
	for _, w := range nbr {
		if taken>>(w%64)&1 != 0 && s.IsImage(st.MustDiffer, w) {
			n--
		}
	}
	return n
}

// taken returns the last bits of the images of some steps: those of most other vertices are not among them.
func (s *Search) taken(steps []int) (bits uint64) {
	for _, k := range steps {
		bits |= 1 << (s.Images[k] % 64)
	}
	return bits
}

// countLastTwo counts the pairs of free candidates of the last two steps, which no pattern edge joins: each list is
// read once. nbr are the candidates of the first of them.
func (s *Search) countLastTwo(st, last *program.Step, nbr []dyngraph.VertexID) bool {
	f, d := &s.frames[last.Slot], len(s.order.Steps)-2
	if !s.fillVertices(last, f) {
		return false
	}
	if !s.StepBy(len(nbr) + len(f.nbr)) {
		return false
	}
	// The image of step d is in the way of no candidate yet.
	s.Images[d] = dyngraph.NoVertex
	less, above, below := s.less[:0], false, false
	for _, l := range last.Less {
		switch {
		case l.Step != d:
			less = append(less, l)
		case l.Greater:
			above = true
		default:
			below = true
		}
	}
	s.less = less
	from, to := s.between(less, f.nbr, 0, len(f.nbr))
	free, differ := f.nbr[from:to], slices.Contains(last.MustDiffer, d)
	if n := len(last.MustDiffer); n > 1 || n == 1 && !differ {
		taken, room := s.taken(last.MustDiffer), s.free[:0]
		for _, w := range free {
			if taken>>(w%64)&1 == 0 || !s.IsImage(last.MustDiffer, w) {
				room = append(room, w)
			}
		}
		free, s.free = room, room
	}
	if !differ && !above && !below {
		mapped := s.countFree(st, nbr)
		s.mapped(d, mapped)
		s.Found += uint64(mapped * len(free) * len(s.order.Forms))
		return true
	}
	pairs, at, mapped, taken := 0, 0, 0, s.taken(st.MustDiffer)
	for _, w := range nbr {
		if taken>>(w%64)&1 != 0 && s.IsImage(st.MustDiffer, w) {
			continue
		}
		mapped++
		at = neighbors.Seek(free, at, w)
		same := at
		for differ && same < len(free) && free[same] == w {
			same++
		}
		switch {
		case above && below:
		case above:
			pairs += len(free) - same
		case below:
			pairs += at
		default:
			pairs += len(free) - (same - at)
		}
	}
	s.mapped(d, mapped)
	s.Found += uint64(pairs * len(s.order.Forms))
	return true
}

// fillVertices makes f hold the admitted candidates of a step, vertices alone; false ends the search.
func (s *Search) fillVertices(st *program.Step, f *frame) bool {
	n, same := len(st.Back), 0 // leading back edges whose step has the image that it had
	if f.valid {
		for same < n && f.key[same] == s.Images[st.Back[same].Step] {
			same++
		}
		if same == n {
			return true
		}
	}
	f.key = slices.Grow(f.key[:0], n)[:n]
	for k := same; k < n; k++ {
		f.key[k] = s.Images[st.Back[k].Step]
	}
	f.valid, f.none, f.prefixes = true, false, min(f.prefixes, same)
	if n > 1 {
		f.valid = s.intersectVertices(st, f)
		return f.valid
	}
	if f.prefix == nil {
		f.prefix = make([]operand, 1)
	}
	l := &f.prefix[0]
	if s.list(l, &st.Back[0], st); !l.plain {
		s.build(&l.Source, &st.Back[0], st)
		l.room = s.appendAdmitted(l.room[:0], &st.Back[0], &l.List)
		l.nbr = l.room
	}
	f.nbr = l.nbr
	return true
}

// appendAdmitted appends the vertices of a list to which admitted edges lead.
func (s *Search) appendAdmitted(to []dyngraph.VertexID, b *program.BackEdge, l *neighbors.List) []dyngraph.VertexID {
	n := len(to)
	to = slices.Grow(to, len(l.Vertices))[:n+len(l.Vertices)]
	for i, e := range l.Entries[:len(l.Vertices)] {
		if to[n] = l.Vertices[i]; !e.Staged() || s.AdmitsListed(b, e) {
			n++
		}
	}
	return to[:n]
}

// visible caches the lists of one worker, without the edges that the search at hand does not see: most images are
// bound again and again. An entry holds for one batch, and if the list has staged edges for one anchor.
type visible struct {
	entries []visibleList
	room    []dyngraph.VertexID // of lists without some of their vertices
	last    uint64              // number of the last anchor, or batch
	batch   uint64
	cleared uint64 // the last one in which there was no entry
	sign    dyngraph.Sign
	which   dyngraph.Which
	anchor  uint32
	staged  bool // set when a list was read that has staged edges, or may have
}

type visibleList struct {
	key      uint64
	number   uint64 // of the anchor or the batch
	vertices []dyngraph.VertexID
}

const (
	visibleBits = 8
	// mostVisible is the longest list that is copied.
	mostVisible = 1 << 10
	// mostKeptVisible is the number of anchors and batches after which the lists of all before are let go.
	mostKeptVisible = 1 << 12
)

// begin makes the cache ready for another batch.
func (c *visible) begin() {
	if c.last++; c.last-c.cleared > mostKeptVisible {
		c.cleared = c.last
		clear(c.entries)
	}
	c.batch, c.room = c.last, c.room[:0]
}

// start makes the cache ready for another anchor, or another order of the same one.
func (c *visible) start(a *program.Admission) {
	if c.entries == nil {
		c.entries = make([]visibleList, 1<<visibleBits)
	}
	if c.last == c.batch || a.Sign != c.sign || a.Which != c.which || a.Anchor != c.anchor {
		c.sign, c.which, c.anchor, c.room = a.Sign, a.Which, a.Anchor, c.room[:0]
		c.last++
	}
}

// operand is one operand of an intersection: vertices, or else a source whose edges are not all admitted.
type operand struct {
	nbr   []dyngraph.VertexID
	plain bool // nbr are its vertices
	size  int  // an upper bound
	neighbors.Source
	room []dyngraph.VertexID
}

// list makes an operand of the list of the image that a back edge leads to, or of its range if that is not worth a list
// yet.
func (s *Search) list(j *operand, b *program.BackEdge, st *program.Step) {
	c, v := &s.visible, s.Images[b.Step]
	key := uint64(b.ListKey)<<33 | uint64(v)
	if b.Shares { // it sees the anchor's edge
		key |= 1 << 32
	}
	e := &c.entries[key*0x9e3779b97f4a7c15>>(64-visibleBits)]
	if e.key == key && (e.number == c.last || e.number == c.batch) {
		j.nbr, j.plain, j.size = e.vertices, true, len(e.vertices)
		c.staged = c.staged || e.number != c.batch
		return
	}
	j.plain = false
	if j.List, j.Range, j.Built = s.lists.Peek(v, b, st); !j.Built {
		j.size, c.staged = j.Range.AtMost(), true
		return
	}
	c.staged = c.staged || j.List.Staged
	j.nbr, j.size = j.List.Vertices, len(j.List.Vertices)
	if !j.List.Staged {
		j.plain = true
		*e = visibleList{key, c.batch, j.nbr}
	} else if j.size <= mostVisible {
		from := len(c.room)
		c.room = s.appendAdmitted(c.room, b, &j.List)
		j.nbr, j.plain = c.room[from:len(c.room):len(c.room)], true
		j.size = len(j.nbr)
		*e = visibleList{key, c.last, j.nbr}
	}
}

// leastShorter is the factor by which a list must be shorter than the intersection so far to go before the lists of
// earlier back edges.
const leastShorter = 8

// intersectVertices intersects the lists of a step's back edges, from the intersections on that hold; false ends the
// search.
func (s *Search) intersectVertices(st *program.Step, f *frame) bool {
	n := len(st.Back)
	for len(f.prefix) < n {
		f.prefix = append(f.prefix, operand{})
	}
	if f.nbr = nil; f.prefixes > 1 && f.prefix[f.prefixes-1].size == 0 {
		return true
	}
	least := f.prefixes
	for k := f.prefixes; k < n; k++ {
		j := &f.prefix[k]
		if s.list(j, &st.Back[k], st); j.size == 0 {
			return true
		}
		if j.size < f.prefix[least].size {
			least = k
		}
	}
	from := max(f.prefixes, 1)
	if !s.StepBy(min(f.prefix[from-1].size, f.prefix[least].size)) {
		f.prefixes = 0
		return false
	}
	if leastShorter*f.prefix[least].size < f.prefix[from-1].size {
		return s.shortestFirst(st, f, least)
	}
	for k := from; k < n; k++ {
		p := &f.prefix[k]
		p.room = s.intersectPair(p.room, st, &f.prefix[k-1], &st.Back[k-1], p, &st.Back[k])
		p.nbr, p.plain, p.size, f.prefixes = p.room, true, len(p.room), k+1
		if p.size == 0 {
			return true
		}
	}
	f.nbr = f.prefix[n-1].nbr
	return true
}

// shortestFirst intersects the operands behind the intersections that hold, and the last of these: the shortest one
// with all others.
func (s *Search) shortestFirst(st *program.Step, f *frame, least int) bool {
	from := max(f.prefixes, 1) - 1
	js := f.prefix[from:len(st.Back)]
	for k := range js {
		js[k].Done = from+k == least
	}
	at, by := js[least-from], &st.Back[least]
	for range js[1:] {
		next := -1
		for k := range js {
			if !js[k].Done && (next < 0 || js[k].size < js[next].size) {
				next = k
			}
		}
		f.nbrs = s.intersectPair(f.nbrs, st, &at, by, &js[next], &st.Back[from+next])
		at, js[next].Done = operand{nbr: f.nbrs, plain: true, size: len(f.nbrs)}, true
		if at.size == 0 {
			break
		}
	}
	f.nbr = f.nbrs
	return true
}

// intersectPair returns the admitted vertices that two operands have in common, in some memory, which may be the
// shorter one's. by and of are the back edges of their entries.
func (s *Search) intersectPair(into []dyngraph.VertexID, st *program.Step, a *operand, by *program.BackEdge, b *operand,
	of *program.BackEdge) []dyngraph.VertexID {
	if b.size < a.size {
		a, b, by, of = b, a, of, by
	}
	if a.plain && b.plain {
		return neighbors.Common(into, a.nbr, b.nbr)
	}
	if !a.plain {
		s.build(&a.Source, by, st)
		a.nbr = a.List.Vertices
	}
	if !b.plain && b.size <= buildFrom*len(a.nbr) {
		s.build(&b.Source, of, st)
	}
	n := 0
	into = slices.Grow(into[:0], len(a.nbr))[:len(a.nbr)]
	if !b.plain && !b.Built {
		for i, w := range a.nbr {
			if !a.plain && !s.AdmitsListed(by, a.List.Entries[i]) {
				continue
			}
			if e, ok := b.Range.Find(w); ok && s.AdmitsFound(of, e) {
				into[n] = w
				n++
			}
		}
		return into[:n]
	}
	if !b.plain {
		b.nbr = b.List.Vertices
	}
	inA, inB := s.intersecter.Of(a.nbr, b.nbr)
	for i, p := range inA {
		if (a.plain || s.AdmitsListed(by, a.List.Entries[p])) &&
			(b.plain || s.AdmitsListed(of, b.List.Entries[inB[i]])) {
			into[n] = a.nbr[p]
			n++
		}
	}
	return into[:n]
}
