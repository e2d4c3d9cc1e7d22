package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// readAhead prefetches what the next step reads for the images that step d is about to get, at most PrefetchSize of
// them, if that is one list for each.
func (s *Search) readAhead(d int, of []dyngraph.VertexID) {
	if d+1 == len(s.order.Steps) {
		return
	}
	next := &s.order.Steps[d+1]
	if !next.Simple || len(next.Back) > 1 || next.Back[0].Step != d {
		return
	}
	e := s.order.Suffix
	if e != nil && e.S1 == d+1 {
		of = s.suffixes.unknown(e, of)
	}
	if len(of) < 2 {
		return
	}
	s.lists.Prefetch(of, &next.Back[0])
	if e == nil || e.S1 != d+1 {
		return
	}
	if s3 := &s.order.Steps[d+2]; len(s3.Back) == 2 {
		s.lists.Prefetch(of, &s3.Back[1-e.BackToS1])
	}
}

// unknown returns the images of a suffix's root, among some, that have no entry in the memo.
func (x *suffixes) unknown(e *program.Suffix, of []dyngraph.VertexID) []dyngraph.VertexID {
	if x.table == nil {
		return of
	}
	x.roots = x.roots[:0]
	for _, v := range of {
		if words := x.lookUp(e.Number, v); words == nil || words[1]&memoLong != 0 {
			x.roots = append(x.roots, v)
		}
	}
	return x.roots
}
