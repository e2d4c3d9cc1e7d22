package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// Anchors is the index of oriented pattern edges by the labels that an update must have (DESIGN A3): an update meets only
// those that it fits, whatever the number of plans. T is what the owner of the index keeps for each.
type Anchors[T any] struct {
	plans map[*Plan]*indexed[T]
	round uint64
	// byLabels holds the anchors by the labels that they ask for, AnyLabel included. masks counts those that have AnyLabel
	// in the same places, so that only such combinations are looked up as there are.
	byLabels map[labelTriple][]anchor[T]
	masks    [8]int
	// found is what was looked up since the plans changed: open addressing, at most half full.
	found []*Fits[T]
	n     int
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

	labels labelTriple
}

// maxFits bounds the label combinations whose fits are kept.
const maxFits = 1 << 16

type labelTriple struct{ from, edge, to dyngraph.LabelID }

type anchor[T any] struct {
	plan  *indexed[T]
	order int
	of    T
}

type indexed[T any] struct {
	plan  *Plan
	at    int // in the order of the plans
	round uint64
}

// Set makes the index hold these plans, and no others. Plans that it held before cost next to nothing and keep their Ts;
// of makes those of the others, for each order of the plan of index i.
func (a *Anchors[T]) Set(plans []*Plan, of func(i, order int) T) {
	if a.plans == nil {
		a.plans, a.byLabels = map[*Plan]*indexed[T]{}, map[labelTriple][]anchor[T]{}
	}
	a.round++
	a.found, a.n = nil, 0
	for i, p := range plans {
		x := a.plans[p]
		if x == nil {
			x = &indexed[T]{plan: p}
			a.plans[p] = x
			for o := range p.Anchored {
				k := anchorLabels(p, o)
				a.byLabels[k] = append(a.byLabels[k], anchor[T]{x, o, of(i, o)})
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
			left := slices.DeleteFunc(a.byLabels[k], func(y anchor[T]) bool { return y.plan == x && y.order == o })
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
	if 2*a.n >= len(a.found) {
		a.widen()
	}
	at := a.slot(k)
	if a.found[at] == nil {
		a.found[at] = a.lookUp(k)
		a.n++
	}
	return a.found[at]
}

// slot returns where the fits of k are, or belong.
func (a *Anchors[T]) slot(k labelTriple) int {
	mask := len(a.found) - 1
	h := (uint64(k.from)<<32 | uint64(k.to)) ^ uint64(k.edge)*0xc2b2ae3d27d4eb4f
	for at := int(h * 0x9e3779b97f4a7c15 >> 40); ; at++ {
		if f := a.found[at&mask]; f == nil || f.labels == k {
			return at & mask
		}
	}
}

// widen makes room for more fits, or forgets them when they are very many.
func (a *Anchors[T]) widen() {
	old := a.found
	if a.n >= maxFits {
		old, a.n = nil, 0
	}
	a.found = make([]*Fits[T], max(64, 2*len(old)))
	for _, f := range old {
		if f != nil {
			a.found[a.slot(f.labels)] = f
		}
	}
}

func (a *Anchors[T]) lookUp(k labelTriple) *Fits[T] {
	var found []anchor[T]
	for mask, n := range a.masks {
		if n > 0 {
			found = append(found, a.byLabels[k.wild(mask)]...)
		}
	}
	slices.SortFunc(found, func(x, y anchor[T]) int {
		if x.plan.at != y.plan.at {
			return x.plan.at - y.plan.at
		}
		return x.order - y.order
	})
	fits := &Fits[T]{List: make([]Fit[T], len(found)), labels: k}
	for i, x := range found {
		fits.List[i] = Fit[T]{x.plan.plan, x.order, x.of}
	}
	return fits
}
