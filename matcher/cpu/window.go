package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// window is a range of data vertices that a step and later ones share: the later steps ask their candidates for all
// that this step asks for, and symmetry constraints keep the images of all between the same vertices mapped earlier. So
// need of this step's candidates lie between these, or there is no match. Without that look-out a clique of 32 in one
// of 33 would be searched in 2^31 ways: of ascending images of its first vertices most leave too few vertices above.
type window struct {
	above, below []int // earlier steps
	need         int
}

// manyAlike is how many steps share a window that is worth a look: few have few ways.
const manyAlike = 8

// findWindows finds the windows of all steps of an order with symmetry constraints.
func (o *order) findWindows() {
	if len(o.steps) <= manyAlike {
		return
	}
	asked := make([]asks, len(o.steps))
	for i := range o.steps {
		for _, b := range o.steps[i].back {
			asked[i][b.step] = uint64(b.label)<<2 | uint64(b.dir)<<1 | 1
		}
	}
	for d := range o.steps {
		st := &o.steps[d]
		if !st.plain || len(st.back) == 0 {
			continue
		}
		alike := []int{d}
		for x := d + 1; x < len(o.steps); x++ {
			if later := &o.steps[x]; later.plain && later.test == st.test && asked[x].all(st, &asked[d]) {
				alike = append(alike, x)
			}
		}
		if len(alike) < manyAlike {
			continue
		}
		for _, x := range alike {
			w := window{need: 1}
			for _, l := range o.steps[x].less {
				switch {
				case l.step >= d:
				case l.greater:
					w.above = append(w.above, l.step)
				default:
					w.below = append(w.below, l.step)
				}
			}
			same := slices.IndexFunc(
				st.windows,
				func(y window) bool { return slices.Equal(w.above, y.above) && slices.Equal(w.below, y.below) },
			)
			if same < 0 {
				st.windows = append(st.windows, w)
			} else {
				st.windows[same].need++
			}
		}
	}
}

// asks are the edges of a plain step, of which there is at most one to each earlier step: its label and direction, 0
// for none.
type asks [matcher.MaxVertices]uint64

// all reports whether a step asks for all edges of an earlier one.
func (a *asks) all(earlier *step, of *asks) bool {
	for k := range earlier.back {
		if at := earlier.back[k].step; a[at] != of[at] {
			return false
		}
	}
	return true
}

// roomy reports whether the candidates of a step have room for all that share its windows.
func (s *search) roomy(st *step, nbr []dyngraph.VertexID) bool {
	for i := range st.windows {
		w := &st.windows[i]
		from, to := 0, len(nbr)
		for _, k := range w.above {
			from = max(from, seek(nbr, from, s.m[k]+1))
		}
		for _, k := range w.below {
			at, _ := slices.BinarySearch(nbr, s.m[k])
			to = min(to, at)
		}
		if to-from < w.need {
			return false
		}
	}
	return true
}
