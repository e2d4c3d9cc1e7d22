package cpu

import (
	"slices"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
)

// shareEvery is how many search steps a worker makes at least before it gives work away again.
const shareEvery = 512

// part is a part of a search, given away: whole starts of a group, what was left of the candidates of one step, or a
// portion of a sum.
type part struct {
	g       *group // nil where there is no order to keep
	starts  []start
	portion *portion
	by      *search
	taken   bool // guarded by what guards the list that it lies in

	o      *program.Order
	sign   dyngraph.Sign
	which  dyngraph.Which
	anchor uint32
	level  int
	lo, hi uint32 // candidates of the level (see frame)
	m      [matcher.MaxVertices]dyngraph.VertexID
	row    []uint32
}

// sharing is what a search needs to give work away (DESIGN A8). Work is not taken by others: the worker that has it is
// asked, looks at a flag as it goes along, and gives away half of the candidates that are left at its shallowest step.
// No step of a search is locked or shared. Counters give away images of a sum in the same way (see portion).
type sharing struct {
	hungry *atomic.Int32 // workers that have nothing to do
	give   func(p *part) // takes the part over
	wanted func(g *group) bool
	every  uint64 // shareEvery, or less in tests
	pool   *pool  // that hungry, give and wanted are of, where there is no order to keep
	waited int64  // for other workers there, in nanoseconds

	group  *group
	starts []start // not begun
	base   int     // steps before it belong to another worker
	next   uint64  // steps before which nothing is given away
	gave   bool    // of this group
}

// asked reports whether work should be given away.
func (s *sharing) asked(steps uint64) bool {
	return s.hungry != nil && s.hungry.Load() > 0 && steps >= s.next
}

// share gives away half of what is left, if it is wanted and there is any. The search is at step d.
func (s *search) share(d int) {
	h := &s.sharing
	h.next = s.steps + h.every
	if !h.wanted(h.group) {
		return
	}
	if n := len(h.starts); n > 0 {
		keep := n / 2
		h.gave = true
		h.give(&part{g: h.group, by: s, starts: h.starts[keep:]})
		h.starts = h.starts[:keep:keep]
		return
	}
	for l := h.base; l <= d; l++ {
		o, row := s.o, &s.row
		if s.class != nil && l < len(s.class.Steps) {
			o, row = s.class, &s.common
		}
		f := &s.frames[o.Steps[l].Slot]
		left := f.end - f.next
		if left <= 0 {
			continue
		}
		mid := f.next + left/2
		p := &part{g: h.group, by: s, o: o, sign: s.sign, which: s.which, anchor: s.anchor, level: l, hi: f.hi, m: s.m,
			row: slices.Clone(row[:o.Width()])}
		f.end = mid
		if p.lo = uint32(mid); !f.counted {
			p.lo = uint32(f.nbr[mid])
		}
		f.hi = p.lo
		h.gave = true
		h.give(p)
		return
	}
}

// resume searches a part, or adds up what is one of a sum.
func (s *search) resume(p *part) {
	if p.portion != nil {
		s.counter.portion(p.portion)
		return
	}
	s.sign, s.which, s.anchor = p.sign, p.which, p.anchor
	s.begin(p.o)
	s.m = p.m
	copy(s.row[:], p.row)
	for i := range p.level {
		if p.o.Members != nil {
			s.live(i, p.m[i])
		}
	}
	s.sharing.base = p.level
	s.extendWithin(p.level, p.lo, p.hi)
}

// noteTaken notes that a search takes a part over. What guards the part is held.
func (b *Backend) noteTaken(p *part, by *search) {
	p.taken = true
	if p.by != by {
		b.shared.Add(1)
	}
}

// holdGiver has a worker that tests hold wait until another one takes what it gave away, or all are to stop. mu is
// held, but not meanwhile.
func (b *Backend) holdGiver(mu *sync.Mutex, p *part, stop *atomic.Bool) {
	if b.hold == nil {
		return
	}
	mu.Unlock()
	defer mu.Lock()
	b.hold(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return p.taken || stop.Load()
	})
}
