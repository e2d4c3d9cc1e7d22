package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// Anchors is the index of oriented pattern edges by the labels that an update must have (DESIGN A3): an update meets only
// those that it fits, whatever the number of plans. T is what the owner of the index keeps for a plan.
type Anchors[T any] struct {
	plans map[*Plan]*indexed[T]
	round uint64
	// byLabels holds the anchors by the labels that they ask for, AnyLabel included. masks counts those that have AnyLabel
	// in the same places, so that only such combinations are looked up as there are.
	byLabels map[labelTriple][]anchor[T]
	masks    [8]int
	fits     map[labelTriple]*Fits[T] // what was looked up since the plans changed
	recent   [256]recentFits[T]       // the same, by some bits of the labels
}

type recentFits[T any] struct {
	labels labelTriple
	fits   *Fits[T]
}

// Fit is an oriented pattern edge that an update fits.
type Fit[T any] struct {
	Plan  *Plan
	Order int // index into Plan.Anchored
	Of    T
}

// Fits is what an update of some labels fits.
type Fits[T any] struct {
	List []Fit[T] // in the order of the plans, then of the anchors
	// Mark and Note are the owner's: when an update of either sign last came by, say. They are 0 at first.
	Mark [2]uint64
	Note int
}

// maxFits bounds the label combinations whose fits are kept.
const maxFits = 1 << 16

type labelTriple struct{ from, edge, to dyngraph.LabelID }

type anchor[T any] struct {
	of    *indexed[T]
	order int
}

type indexed[T any] struct {
	plan  *Plan
	of    T
	at    int // in the order of the plans
	round uint64
}

// Set makes the index hold these plans, and no others. Plans that it held before cost next to nothing and keep their T;
// of makes the others'.
func (a *Anchors[T]) Set(plans []*Plan, of func(i int) T) {
	if a.plans == nil {
		a.plans, a.byLabels = map[*Plan]*indexed[T]{}, map[labelTriple][]anchor[T]{}
	}
	a.round++
	a.fits = map[labelTriple]*Fits[T]{}
	clear(a.recent[:])
	for i, p := range plans {
		x := a.plans[p]
		if x == nil {
			x = &indexed[T]{plan: p, of: of(i)}
			a.plans[p] = x
			for o := range p.Anchored {
				k := anchorLabels(p, o)
				a.byLabels[k] = append(a.byLabels[k], anchor[T]{x, o})
				a.masks[k.mask()]++
			}
		}
		x.at, x.round = i, a.round
	}
	for p, x := range a.plans {
		if x.round == a.round {
			continue
		}
		delete(a.plans, p)
		for o := range p.Anchored {
			k := anchorLabels(p, o)
			a.masks[k.mask()]--
			left := slices.DeleteFunc(a.byLabels[k], func(y anchor[T]) bool { return y.of == x && y.order == o })
			if a.byLabels[k] = left; len(left) == 0 {
				delete(a.byLabels, k)
			}
		}
	}
}

// anchorLabels returns what an update must have to be tried against an order.
func anchorLabels(p *Plan, order int) labelTriple {
	o := &p.Anchored[order]
	return labelTriple{p.VertexLabels[o.Steps[0].Vertex], p.EdgeLabels[o.Edge], p.VertexLabels[o.Steps[1].Vertex]}
}

// mask tells where AnyLabel is.
func (k labelTriple) mask() int {
	m := 0
	for i, l := range [...]dyngraph.LabelID{k.from, k.edge, k.to} {
		if l == AnyLabel {
			m |= 1 << i
		}
	}
	return m
}

// wild returns k with AnyLabel in the places of a mask.
func (k labelTriple) wild(mask int) labelTriple {
	for i, l := range [...]*dyngraph.LabelID{&k.from, &k.edge, &k.to} {
		if mask>>i&1 != 0 {
			*l = AnyLabel
		}
	}
	return k
}

// Of returns what an update with these labels fits. It is the index's own, and holds until Set.
func (a *Anchors[T]) Of(from, edge, to dyngraph.LabelID) *Fits[T] {
	k := labelTriple{from, edge, to}
	r := &a.recent[(uint32(from)*9+uint32(edge)*81+uint32(to))%uint32(len(a.recent))]
	if r.fits == nil || r.labels != k {
		r.labels, r.fits = k, a.lookUp(k)
	}
	return r.fits
}

func (a *Anchors[T]) lookUp(k labelTriple) *Fits[T] {
	if fits := a.fits[k]; fits != nil {
		return fits
	}
	var found []anchor[T]
	for mask, n := range a.masks {
		if n > 0 {
			found = append(found, a.byLabels[k.wild(mask)]...)
		}
	}
	slices.SortFunc(found, func(x, y anchor[T]) int {
		if x.of.at != y.of.at {
			return x.of.at - y.of.at
		}
		return x.order - y.order
	})
	fits := &Fits[T]{List: make([]Fit[T], len(found))}
	for i, x := range found {
		fits.List[i] = Fit[T]{x.of.plan, x.order, x.of.of}
	}
	if len(a.fits) >= maxFits || a.fits == nil {
		a.fits = map[labelTriple]*Fits[T]{}
	}
	a.fits[k] = fits
	return fits
}
