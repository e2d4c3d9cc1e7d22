package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// Anchors is the index of oriented pattern edges by the labels that an update must have (DESIGN A3): an update meets
// only those that it fits, whatever the number of plans. T is what the owner of the index keeps for each.
type Anchors[T any] struct {
	plans map[*Plan]*indexed[T]
	round uint64
	// byLabels holds the anchors by the labels that they ask for, AnyLabel included. masks counts those that have
	// AnyLabel in the same places, so that only such combinations are looked up as there are.
	byLabels map[labelTriple][]anchor[T]
	masks    [8]int
	// found is what was looked up since the plans changed, by labels: open addressing, at most half full. Label
	// combinations that meet the same keys of byLabels share their fits, so that a label that no plan names costs a
	// slot and no list.
	found  []slot[T]
	n      int
	shared map[matchedKeys]*Fits[T]
	kept   int // fits in the lists of shared
}

// slot is an entry of Anchors.found; it is free where fits is nil.
type slot[T any] struct {
	labels labelTriple
	fits   *Fits[T]
}

// matchedKeys are the keys of Anchors.byLabels that a label combination meets: one at most for each mask.
type matchedKeys struct {
	masks uint8 // bit m: keys[m] is met
	keys  [8]labelTriple
}

// Fit is an oriented pattern edge that an update fits.
type Fit[T any] struct {
	Plan  *Plan
	Order int // index into Plan.Anchored
	Of    T
}

// Fits is what updates of some labels fit. Label combinations with the same fits have one in common.
type Fits[T any] struct {
	List []Fit[T] // in the order of the plans, then of the anchors
	// Mark and Note are the owner's: when an update of either sign last came by, say. They are 0 at first.
	Mark [2]uint64
	Note int
}

// What is looked up is forgotten, and looked up again, beyond these bounds: label combinations in the table, and fits
// in all lists.
const (
	maxCombinations = 1 << 16
	maxKept         = 1 << 20
)

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

// Set makes the index hold these plans, and no others. Plans that it held before cost next to nothing and keep their
// Ts; of makes those of the others, for each order of the plan of index i.
func (a *Anchors[T]) Set(plans []*Plan, of func(i, order int) T) {
	if a.plans == nil {
		a.plans, a.byLabels = map[*Plan]*indexed[T]{}, map[labelTriple][]anchor[T]{}
	}
	a.round++
	a.forget()
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
	if f := a.found[at].fits; f != nil {
		return f
	}
	fits := a.lookUp(k)
	if a.kept > maxKept && len(a.shared) > 1 {
		a.forget()
		a.widen()
		at, fits = a.slot(k), a.lookUp(k)
	}
	a.found[at] = slot[T]{k, fits}
	a.n++
	return fits
}

// slot returns where the fits of k are, or belong.
func (a *Anchors[T]) slot(k labelTriple) int {
	mask := len(a.found) - 1
	h := (uint64(k.from)<<32 | uint64(k.to)) ^ uint64(k.edge)*0xc2b2ae3d27d4eb4f
	for at := int(h * 0x9e3779b97f4a7c15 >> 40); ; at++ {
		if s := &a.found[at&mask]; s.fits == nil || s.labels == k {
			return at & mask
		}
	}
}

// forget drops what was looked up.
func (a *Anchors[T]) forget() {
	a.found, a.n = nil, 0
	a.shared, a.kept = nil, 0
}

// widen makes room for more label combinations, or forgets them when they are very many.
func (a *Anchors[T]) widen() {
	if a.n >= maxCombinations {
		a.forget()
	}
	old := a.found
	a.found = make([]slot[T], max(64, 2*len(old)))
	for _, s := range old {
		if s.fits != nil {
			a.found[a.slot(s.labels)] = s
		}
	}
}

// lookUp returns the fits of k: those of an earlier label combination that meets the same keys, or new ones.
func (a *Anchors[T]) lookUp(k labelTriple) *Fits[T] {
	var met matchedKeys
	n := 0
	for mask, count := range a.masks {
		if count == 0 {
			continue
		}
		w := k.wild(mask)
		if anchors := a.byLabels[w]; len(anchors) > 0 {
			met.masks |= 1 << mask
			met.keys[mask] = w
			n += len(anchors)
		}
	}
	if fits := a.shared[met]; fits != nil {
		return fits
	}
	found := make([]anchor[T], 0, n)
	for mask, w := range met.keys {
		if met.masks>>mask&1 != 0 {
			found = append(found, a.byLabels[w]...)
		}
	}
	slices.SortFunc(found, func(x, y anchor[T]) int {
		if x.plan.at != y.plan.at {
			return x.plan.at - y.plan.at
		}
		return x.order - y.order
	})
	fits := &Fits[T]{List: make([]Fit[T], len(found))}
	for i, x := range found {
		fits.List[i] = Fit[T]{x.plan.plan, x.order, x.of}
	}
	if a.shared == nil {
		a.shared = map[matchedKeys]*Fits[T]{}
	}
	a.shared[met] = fits
	a.kept += len(found)
	return fits
}
