package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
)

// fitsWindows reports whether the candidates of a step leave room for all steps that share its windows.
func (s *Search) fitsWindows(st *program.Step, nbr []dyngraph.VertexID) bool {
	for i := range st.Windows {
		w := &st.Windows[i]
		from, to := 0, len(nbr)
		for _, k := range w.Above {
			from = max(from, neighbors.Seek(nbr, from, s.Images[k]+1))
		}
		for _, k := range w.Below {
			at, _ := slices.BinarySearch(nbr, s.Images[k])
			to = min(to, at)
		}
		if to-from < w.Need {
			return false
		}
	}
	return true
}
