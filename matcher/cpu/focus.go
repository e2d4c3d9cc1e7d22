package cpu

import (
	"cmp"
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
)

// focus finds the first rows of a view in canonical order. That order cannot be chosen, so a dead end may show many
// steps behind its reason. So a search that takes long pauses, and the image of its first open step is searched by
// itself, in the space around it, where the next step is the first open one. There a cycle has only candidates from
// which it can come back to where it began.
type focus struct {
	*backtrack.CanonicalSearch
	b     *Backend
	which dyngraph.Which
	limit uint64
	stop  *atomic.Bool
}

// A search pauses after as many steps as focusedRounds rounds of semi-joins read at most, and at least mostFocused. The
// number is halved, down to leastFocused, when the space around an image turns out to be empty, and doubled when not.
const (
	focusedRounds = 2
	mostFocused   = 1 << 14
	leastFocused  = 1 << 6
)

// focusedBytes bounds the memory of the spaces around images, of which there may be one for each pattern vertex: each
// takes 12 bytes a data vertex. Beyond it a search does not pause.
const focusedBytes = 256 << 20

// find finds the rows of a space in which the steps before step d have one image each, but for the first skip ones. It
// returns how many there are with those, unless the search is over.
func (f *focus) find(s *space.Space, d int, skip uint64) (rows uint64) {
	o := canonicalIn(s)
	roots := s.Roots(o.Steps[0].Vertex)
	slices.Sort(roots)
	most := cmp.Or(f.b.focused, max(mostFocused, focusedRounds*uint64(s.Round)))
	from, steps := dyngraph.VertexID(0), most
	for {
		at := backtrack.Pause{Step: d, From: from, Steps: steps, Skip: skip}
		if f.search(s, o, roots, &at); !at.Paused {
			return rows + at.Rows
		}
		around, read := s.Around(o.Steps[d].Vertex, at.Image, f.stop.Load)
		if f.Read(read); around == nil || f.IsOver() {
			return 0
		}
		known, n := max(skip, at.Rows)-at.Before, uint64(0) // rows from this image on that are known
		if known > 0 {
			f.b.focuses.Add(1)
		}
		if around.IsEmpty() {
			steps = max(leastFocused, steps/2)
		} else {
			steps = min(most, 2*steps)
			n = f.find(around, d+1, known)
		}
		around.Release()
		if f.IsOver() {
			return 0
		}
		rows, skip, from = rows+at.Before+n, known-min(known, n), at.Image+1
	}
}

// search searches a space until it is done, or has an image of the watched step and has made its steps.
func (f *focus) search(s *space.Space, o *program.CanonicalOrder, roots []dyngraph.VertexID, at *backtrack.Pause) {
	if at.Step == len(o.Steps) || (at.Step+1)*12*int(f.b.g.IDBound()) > focusedBytes {
		at.Steps = ^uint64(0)
	}
	for begin := *at; ; begin.Steps *= 2 {
		*at = begin
		if f.FromRootsIn(s, o, f.which, roots, f.limit, at); !at.Paused || at.Bound {
			return
		}
	}
}
