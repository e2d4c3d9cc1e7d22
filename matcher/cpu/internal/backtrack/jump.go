package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// A search that jumps knows for each step without a match on which earlier steps' images that depends: on those that
// left its vertex no candidates, those that took a candidate away, and those on which the failures of its candidates
// depend. A candidate whose failure does not depend on it fails as all others of its step would, so that the search
// goes on at a step that matters (conflict-directed backjumping: Prosser 1993; failing sets: Han et al., SIGMOD 2019).
//
// The set is never too small. What conditions between elements, windows and symmetry's windows exclude depends on all
// earlier steps, and so does a step some of whose candidates another worker has. Rows come in the same order: only
// images without any row are left out.

// unknown is the set of all steps: there is a match, or it is not known why there is none.
const unknown = ^uint32(0)

// jump tells whether the search at hand jumps.
func (s *Search) jump(jumps bool) { s.jumps, s.special = jumps, jumps || s.profile.orders != nil }

// extendJumping is extendWithin for a search that jumps. What is left in failed is the set for the step and the images
// before it.
func (s *Search) extendJumping(d int, lo, hi uint32) bool {
	if d == len(s.order.Steps) {
		s.failed = unknown
		return s.match()
	}
	st := &s.order.Steps[d]
	if !st.Simple {
		return s.extendEdgesJumping(d, lo, hi)
	}
	if lo == 0 && hi == unbounded && s.remembers(d) {
		if done, ok := s.replay(d); done {
			s.failed = unknown
			return ok
		}
	}
	f := &s.frames[st.Slot]
	if !s.fill(d, st, f) {
		return false
	}
	if f.none || len(f.nbr) == 0 {
		if s.failed = st.Joined; st.Tested { // a value order may have left out candidates, by edges of any step
			s.failed = unknown
		}
		return true
	}
	s.failed = unknown
	if st.Windows != nil && !s.fitsWindows(st, f.nbr) || st.Tested && !s.confine(st, &f.readFrame) {
		return true
	}
	from, to := within(f.nbr, lo, hi)
	if d+1 == len(s.order.Steps) && !s.pairs {
		if st.Tested {
			if !st.MapsFirst {
				return s.lastAdmitted(st, f, from, to)
			}
		} else {
			return s.lastJumping(st, f, from, to)
		}
	}
	f.next, f.end, f.hi, f.counted = from, to, hi, false
	failed := st.Joined
	if st.Tested || from > 0 || to < len(f.nbr) {
		failed = unknown
	}
	for f.next < f.end {
		i := f.next
		f.next++
		if !s.Step() {
			return false
		}
		w, of := f.nbr[i], uint64(1)
		if st.Tested {
			of = s.fitAll(st, f, i, f.open)
		}
		if of == 0 {
			continue
		}
		if !s.Admits(st, w) {
			failed |= s.against(st, w)
			continue
		}
		s.bindEntry(d, st, f, i)
		if st.Tested && !s.meetsRest(d, st, of) {
			continue
		}
		if s.Asked(s.Steps) {
			s.share(d)
		}
		if !s.extend(d + 1) {
			return false
		}
		if s.failed>>d&1 == 0 {
			s.jumped(d)
			return true
		}
		failed |= s.failed
	}
	if f.end < to { // another worker has the rest
		failed = unknown
	}
	s.failed = failed &^ (1 << d)
	return true
}

// lastJumping maps the last step, which tests nothing.
func (s *Search) lastJumping(st *program.Step, f *frame, from, to int) bool {
	before := s.matches()
	if !s.lastOf(st, f, from, to) {
		return false
	}
	if s.failed = unknown; s.matches() == before && from == 0 && to == len(f.nbr) {
		s.failed = st.Joined
		for _, w := range f.nbr {
			s.failed |= s.against(st, w)
		}
	}
	return true
}

// against returns the steps by whose images a candidate is not admitted.
func (s *Search) against(st *program.Step, w dyngraph.VertexID) uint32 {
	if k := s.Conflict(st, w); k >= 0 {
		return 1 << k
	}
	return st.Apart
}

// extendEdgesJumping is extendEdges for a search that jumps. It tries all candidates.
func (s *Search) extendEdgesJumping(d int, lo, hi uint32) bool {
	st := &s.order.Steps[d]
	if s.fails[d] = st.Joined | st.Apart; st.Tested || lo > 0 || hi != unbounded {
		s.fails[d] = unknown
	}
	if !s.extendEdges(d, lo, hi) {
		return false
	}
	if s.frames[st.Slot].hi != hi { // another worker has the rest
		s.fails[d] = unknown
	}
	s.failed = s.fails[d] &^ (1 << d)
	return true
}
