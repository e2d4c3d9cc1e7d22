package program

import (
	"slices"

	"motifd/matcher"
)

// Window is a range of vertex ids that a step shares with later steps. The candidates of each later step are a subset
// of this step's, and symmetry constraints confine the images of all of them between the same earlier images. If fewer
// than Need candidates of this step lie in the range, the partial match cannot be completed. Without this test a clique
// of 32 vertices in one of 33 takes 2^31 branches: most ascending prefixes leave too few vertices above.
type Window struct {
	Above, Below []int // earlier steps whose images bound the range
	Need         int
}

// manyAlike is the smallest number of steps that share a window for which the test pays.
const manyAlike = 8

// findWindows fills in Step.Windows of an order with symmetry constraints.
func (o *Order) findWindows() {
	if !o.hasAlike() {
		return
	}
	asked := make([]edgeRequests, len(o.Steps))
	for i := range o.Steps {
		for _, b := range o.Steps[i].Back {
			asked[i][b.Step] = uint64(b.Label)<<2 | uint64(b.Dir)<<1 | 1
		}
	}
	for d := range o.Steps {
		st := &o.Steps[d]
		if !st.Simple || len(st.Back) == 0 || st.HasOwn { // those of a later step need be no subset
			continue
		}
		alike := []int{d}
		for x := d + 1; x < len(o.Steps); x++ {
			if later := &o.Steps[x]; later.Simple && later.Test == st.Test && asked[x].includes(st, &asked[d]) {
				alike = append(alike, x)
			}
		}
		if len(alike) < manyAlike {
			continue
		}
		for _, x := range alike {
			w := Window{Need: 1}
			for _, l := range o.Steps[x].Less {
				switch {
				case l.Step >= d:
				case l.Greater:
					w.Above = append(w.Above, l.Step)
				default:
					w.Below = append(w.Below, l.Step)
				}
			}
			same := slices.IndexFunc(
				st.Windows,
				func(y Window) bool { return slices.Equal(w.Above, y.Above) && slices.Equal(w.Below, y.Below) },
			)
			if same < 0 {
				st.Windows = append(st.Windows, w)
			} else {
				st.Windows[same].Need++
			}
		}
	}
}

// hasAlike reports whether manyAlike steps have the same test. Fewer do not share a window.
func (o *Order) hasAlike() bool {
	for d := 1; d+manyAlike <= len(o.Steps); d++ {
		n := 0
		for x := d; x < len(o.Steps); x++ {
			if o.Steps[x].Test == o.Steps[d].Test {
				n++
			}
		}
		if n >= manyAlike {
			return true
		}
	}
	return false
}

// edgeRequests holds, by earlier step, the label and direction of the back edge that a simple step has to it; 0 for
// none.
type edgeRequests [matcher.MaxVertices]uint64

// includes reports whether a has every back edge of an earlier step, whose own requests are of.
func (a *edgeRequests) includes(earlier *Step, of *edgeRequests) bool {
	for k := range earlier.Back {
		if at := earlier.Back[k].Step; a[at] != of[at] {
			return false
		}
	}
	return true
}
