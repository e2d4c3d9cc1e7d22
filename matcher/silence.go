package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// Silence says which of the matches that hold in both views are left out of a search (Query.SilentChange, DESIGN S15).
// Both views have such a match with the same vertices and edges, but some of the edges are replaced. Its two records,
// a negative and a positive, are left out together.
//
// A group of negatives that is beyond a limit is told in one notice, which voids every announced match that holds the
// anchor's edge (ReasonEnded). What holds in both views and has that edge is void, too, and announced anew: a positive
// that holds an ended edge is not left out.
type Silence struct {
	ended []uint32 // orders of old versions
	rest  bool     // and all that are not lower than from
	from  uint32
}

// Ended reports whether a notice has voided the matches that hold a replaced edge; order is that of its old version.
func (s *Silence) Ended(order uint32) bool {
	return s.rest && order >= s.from || slices.Contains(s.ended, order)
}

// silence returns what is left out of the search for a query's matches of a sign; nil if nothing is.
func (s *stepper) silence(w *work, sign dyngraph.Sign) *Silence {
	if !w.state.Query.SilentChange || s.d.Replaced == 0 {
		return nil
	}
	x := &Silence{}
	if sign == dyngraph.Deleted || w.state.Query.Emit != EmitDeltas {
		return x
	}
	for i := range w.decisions {
		switch d := &w.decisions[i]; {
		case d.Sign != dyngraph.Deleted || d.Snapshot:
		case d.Action == Skip:
			x.ended = append(x.ended, d.Order)
		case d.Action == SkipRest:
			x.rest, x.from = true, d.Order
		}
	}
	return x
}
