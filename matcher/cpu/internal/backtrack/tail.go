package backtrack

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// tails remembers how many images the tails of orders have, by the image of their root. As in visible, an entry holds
// for one batch, and if it depends on staged edges for one anchor.
type tails struct {
	entries []tailEntry
	room    []tailCount
}

type tailEntry struct {
	key    uint64
	number uint64 // of the anchor or the batch; see visible
	total  uint64
	long   bool        // there are too many counts to keep
	counts []tailCount // ascending by image
}

// tailCount is the number of a tail's images in which Apart has a certain image.
type tailCount struct {
	image dyngraph.VertexID
	n     uint64
}

const (
	tailBits = 10
	// mostTailCounts is the most counts of an entry, mostTailRoom the most of all entries together.
	mostTailCounts, mostTailRoom = 1 << 10, 1 << 16
)

// tail returns what is known of the images of a tail at the image of its root; nil if the search was stopped.
func (s *Search) tail(t *program.Tail) *tailEntry {
	if s.tails.entries == nil {
		s.tails.entries = make([]tailEntry, 1<<tailBits)
	}
	c := &s.visible
	key := uint64(t.Number)<<32 | uint64(s.Images[t.Root])
	e := &s.tails.entries[key*0x9e3779b97f4a7c15>>(64-tailBits)]
	if e.key == key && (e.number == c.last || e.number == c.batch) {
		return e
	}
	if e.number = 0; !s.weigh(t, e) {
		return nil
	}
	e.key, e.number = key, c.batch
	if c.staged {
		e.number = c.last
	}
	return e
}

// beside returns how many images a tail has beside those of the earlier steps, except one of these.
func (s *Search) beside(t *program.Tail, e *tailEntry, except int) uint64 {
	n := e.total
	for i, k := range t.Differ {
		if n == 0 || len(e.counts) == 0 {
			break
		}
		w := s.Images[k]
		if k == except || s.IsImage(t.Differ[:i], w) {
			continue
		}
		if at, ok := slices.BinarySearchFunc(e.counts, w, tailCount.compare); ok {
			n -= e.counts[at].n
		}
	}
	return n
}

// countToTail counts the free candidates of the step before a tail, each with the images of the tail beside it. The
// step is not the tail's root.
func (s *Search) countToTail(d int, st *program.Step, nbr []dyngraph.VertexID, t *program.Tail, e *tailEntry) bool {
	if !s.StepBy(len(nbr)) {
		return false
	}
	s.Images[d] = dyngraph.NoVertex // it is in the way of no image yet
	n := s.beside(t, e, d)
	if n == 0 {
		return true
	}
	counts, taken, mapped := e.counts, s.taken(st.MustDiffer), 0
	found, most := uint64(0), s.mostFound()
	if !slices.Contains(t.Differ, d) {
		counts = nil
	}
	for _, w := range nbr {
		if taken>>(w%64)&1 != 0 && s.IsImage(st.MustDiffer, w) {
			continue
		}
		for len(counts) > 0 && counts[0].image < w {
			counts = counts[1:]
		}
		less := n
		if len(counts) > 0 && counts[0].image == w && !s.IsImage(t.Differ, w) {
			less -= counts[0].n
		}
		if found += less; found >= most {
			s.foundMany(found)
			found = 0
		}
		mapped++
	}
	s.foundMany(found)
	s.mapped(d, mapped)
	return true
}

func (c tailCount) compare(w dyngraph.VertexID) int { return cmp.Compare(c.image, w) }

// weigh fills in an entry; false ends the search. Nothing of it is given away.
func (s *Search) weigh(t *program.Tail, e *tailEntry) bool {
	if len(s.tails.room) > mostTailRoom {
		s.tails.room = nil
	}
	order, hungry, special, found, from := s.order, s.Hungry, s.special, s.Found, len(s.tails.room)
	s.order, s.Hungry, s.special, s.visible.staged = t.Order, nil, false, false
	for i := t.From; i < len(order.Steps); i++ { // it would not be seen whether what they hold has staged edges
		f := &s.frames[order.Steps[i].Slot]
		f.valid, f.prefixes = false, 0
	}
	going := s.weighFrom(t, t.From)
	e.total, s.Found = s.Found-found, found
	s.order, s.Hungry, s.special = order, hungry, special
	counts := s.tails.room[from:]
	slices.SortFunc(counts, func(a, b tailCount) int { return cmp.Compare(a.image, b.image) })
	n := 0
	for _, x := range counts {
		if n > 0 && counts[n-1].image == x.image {
			counts[n-1].n += x.n
		} else {
			counts[n] = x
			n++
		}
	}
	if e.long = n > cmp.Or(s.shared.Options.TailCounts, mostTailCounts); e.long {
		n = 0
	}
	s.tails.room = s.tails.room[:from+n]
	e.counts = s.tails.room[from : from+n : from+n]
	return going
}

// weighFrom maps the tail from step d on, and notes what there is by image of Apart.
func (s *Search) weighFrom(t *program.Tail, d int) bool {
	if d > t.Apart {
		return s.extendVertices(d, 0, unbounded)
	}
	st := &s.order.Steps[d]
	f := &s.frames[st.Slot]
	if !s.fillVertices(st, f) {
		return false
	}
	from, to := s.between(st.Less, f.nbr, 0, len(f.nbr))
	for _, w := range f.nbr[from:to] {
		if !s.Step() {
			return false
		}
		if s.IsImage(st.MustDiffer, w) {
			continue
		}
		s.Images[d] = w
		before := s.Found
		if going := d < t.Apart && s.weighFrom(t, d+1) || d == t.Apart && s.extendVertices(d+1, 0, unbounded); !going {
			return false
		}
		if n := s.Found - before; d == t.Apart && n > 0 {
			s.tails.room = append(s.tails.room, tailCount{w, n})
		}
	}
	return true
}
