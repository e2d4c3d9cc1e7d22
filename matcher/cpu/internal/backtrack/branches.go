package backtrack

// extendBranches yields the matches of the order at hand, whose steps are mapped, and goes on with each of its
// branches: these have the same steps and rows, and one step more.
func (s *Search) extendBranches(d int) bool {
	o := s.order
	if len(o.Forms) > 0 && !s.match() {
		return false
	}
	for _, b := range o.Branches {
		s.order = b
		if !s.extend(d) {
			return false
		}
	}
	s.order = o
	return true
}
