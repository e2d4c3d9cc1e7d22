package matcher

import (
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
)

// Anchors is the index of oriented pattern edges by the labels that an update must have (DESIGN A3). The cost of an
// update depends on the pattern edges that it fits, not on the number of plans. T is the owner's data for each.
type Anchors[T any] struct {
	plans map[*Plan]*indexed[T]
	round uint64
	// byLabels holds the anchors by their labels, AnyLabel included. masks counts the anchors by the positions of
	// AnyLabel, so that only combinations that occur are looked up.
	byLabels map[labelTriple][]anchor[T]
	masks    [8]int
	// wide are the keys of byLabels with alternatives of labels, which no mask stands for.
	wide []labelTriple
	// sieve has a bit for the hash of each key of byLabels: most updates of a graph with many labels fit no plan, and
	// cost no look-up in a map.
	sieve []uint64
	joins LabelPairs
	none  AnchorEntry[T] // of the updates that the sieve holds back
	// found caches the look-ups since the plans changed. Label combinations that match the same keys of byLabels share
	// an entry, so a label that no plan names costs no list.
	found  map[labelTriple]*AnchorEntry[T]
	shared map[matchedKeys]*AnchorEntry[T]
	kept   int // fits in the lists of shared
}

// matchedKeys are the keys of Anchors.byLabels that match a label combination: at most one for each mask, and any
// number of those with alternatives.
type matchedKeys struct {
	masks uint8 // bit m: keys[m] matches
	keys  [8]labelTriple
	wide  string // indexes into Anchors.wide, as varints
}

// Fit is an oriented pattern edge that an update fits.
type Fit[T any] struct {
	Plan  *Plan
	Order int // index into Plan.Anchored
	Of    T
}

// AnchorEntry lists the oriented pattern edges that updates with some labels fit. Label combinations with the same list
// share one entry.
type AnchorEntry[T any] struct {
	List []Fit[T] // in the order of the plans, then of the anchors
	// Mark and Note belong to the owner of the index, for example to note the last update of either sign. Both start
	// as 0.
	Mark [2]uint64
	Note int
	// Index belongs to the owner, too, for what speeds up its look at the list. It starts as nil.
	Index any
}

// Beyond these limits the cached look-ups are dropped: label combinations in the table, and fits in all lists.
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
				a.enter(anchorLabels(p, o), anchor[T]{x, o, of(i, o)})
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
			a.remove(anchorLabels(p, o), x, o)
		}
	}
	a.sift()
}

// The sieve has sieveBits bits for each key, as a power of two between the least and the most.
const (
	sieveBits      = 16
	leastSieveBits = 1 << 10
	mostSieveBits  = 1 << 20
)

// sift makes the sieve.
func (a *Anchors[T]) sift() {
	n := leastSieveBits
	for n < mostSieveBits && n < sieveBits*len(a.byLabels) {
		n *= 2
	}
	if len(a.sieve) != n/64 {
		a.sieve = make([]uint64, n/64)
	}
	clear(a.sieve)
	a.joins.begin()
	for k := range a.byLabels {
		h := k.hash()
		a.sieve[h>>6&uint32(n/64-1)] |= 1 << (h & 63)
		a.joins.add(k)
	}
	a.joins.end()
}

// Joins returns the pairs of labels that the ends of an update that fits may have. It is valid until Set.
func (a *Anchors[T]) Joins() *LabelPairs { return &a.joins }

// LabelPairs holds pairs of vertex labels, of the first and of the second end of an edge. It may hold more pairs than
// were added.
type LabelPairs struct {
	second []uint64 // by first label: a bit for each second label, by labelBit
	others uint64   // likewise, of the first labels beyond
}

// maxPairLabels bounds the labels that LabelPairs tells from others.
const maxPairLabels = 1 << 12

func labelBit(l dyngraph.LabelID) uint64 { return 1 << (l & 63) }

func (p *LabelPairs) begin() {
	clear(p.second)
	p.others = 0
}

// add adds the labels of the ends of a key.
func (p *LabelPairs) add(k labelTriple) {
	set := labelBit(k.to)
	if k.to == AnyLabel || Alternatives(k.to) != nil {
		set = ^uint64(0)
	}
	if k.from == AnyLabel || k.from >= maxPairLabels { // alternatives among them
		p.others |= set
		return
	}
	for len(p.second) <= int(k.from) {
		p.second = append(p.second, 0)
	}
	p.second[k.from] |= set
}

// end makes what was added for any first label hold for each.
func (p *LabelPairs) end() {
	for l := range p.second {
		p.second[l] |= p.others
	}
}

// May reports whether a pair may be one of those that were added; false is certain.
func (p *LabelPairs) May(first, second dyngraph.LabelID) bool {
	set := p.others
	if int(first) < len(p.second) {
		set = p.second[first]
	}
	return set&labelBit(second) != 0
}

// hash returns a hash of the labels.
func (k labelTriple) hash() uint32 {
	h := (uint64(k.from)<<32 ^ uint64(k.edge)<<17 ^ uint64(k.to)) * 0x9e3779b97f4a7c15
	return uint32(h >> 40)
}

// MayFit reports whether an update with these labels may fit some plan; where it does not, Of lists nothing.
func (a *Anchors[T]) MayFit(from, edge, to dyngraph.LabelID) bool {
	switch {
	case !a.joins.May(from, to):
		return false
	case len(a.wide) > 0:
		return true
	}
	k := labelTriple{from, edge, to}
	for mask, count := range a.masks {
		if count == 0 {
			continue
		}
		if h := k.wild(mask).hash(); a.sieve[h>>6&uint32(len(a.sieve)-1)]>>(h&63)&1 != 0 {
			return true
		}
	}
	return false
}

// enter adds an anchor under its labels.
func (a *Anchors[T]) enter(k labelTriple, x anchor[T]) {
	if of := a.byLabels[k]; k.wide() && len(of) == 0 {
		a.wide = append(a.wide, k)
	}
	a.byLabels[k] = append(a.byLabels[k], x)
	if !k.wide() {
		a.masks[k.mask()]++
	}
}

// remove takes the anchor of an order away.
func (a *Anchors[T]) remove(k labelTriple, x *indexed[T], order int) {
	if !k.wide() {
		a.masks[k.mask()]--
	}
	left := slices.DeleteFunc(a.byLabels[k], func(y anchor[T]) bool { return y.plan == x && y.order == order })
	if a.byLabels[k] = left; len(left) > 0 {
		return
	}
	delete(a.byLabels, k)
	if k.wide() {
		a.wide = slices.DeleteFunc(a.wide, func(w labelTriple) bool { return w == k })
	}
}

// anchorLabels returns the labels that an update must have to be an anchor of an order.
func anchorLabels(p *Plan, order int) labelTriple {
	o := &p.Anchored[order]
	return labelTriple{p.VertexLabels[o.Steps[0].Vertex], p.EdgeLabels[o.Edge], p.VertexLabels[o.Steps[1].Vertex]}
}

// wide reports whether one of the labels is a set of alternatives.
func (k labelTriple) wide() bool {
	return Alternatives(k.from) != nil || Alternatives(k.edge) != nil || Alternatives(k.to) != nil
}

// admits reports whether data labels satisfy these.
func (k labelTriple) admits(have labelTriple) bool {
	return LabelFits(k.from, have.from) && LabelFits(k.edge, have.edge) && LabelFits(k.to, have.to)
}

// mask returns the positions of AnyLabel as bits.
func (k labelTriple) mask() int {
	m := 0
	for i, l := range [...]dyngraph.LabelID{k.from, k.edge, k.to} {
		if l == AnyLabel {
			m |= 1 << i
		}
	}
	return m
}

// wild returns k with AnyLabel at the positions of a mask.
func (k labelTriple) wild(mask int) labelTriple {
	for i, l := range [...]*dyngraph.LabelID{&k.from, &k.edge, &k.to} {
		if mask>>i&1 != 0 {
			*l = AnyLabel
		}
	}
	return k
}

// Of returns the entry of updates with these labels. The index owns it; it is valid until Set.
func (a *Anchors[T]) Of(from, edge, to dyngraph.LabelID) *AnchorEntry[T] {
	if !a.MayFit(from, edge, to) {
		return &a.none
	}
	k := labelTriple{from, edge, to}
	entry := a.found[k]
	if entry == nil {
		entry = a.lookUp(k)
		if len(a.found) >= maxCombinations || a.kept > maxKept && len(a.shared) > 1 {
			a.forget()
			entry = a.lookUp(k)
		}
		a.found[k] = entry
	}
	return entry
}

// forget drops the cached look-ups.
func (a *Anchors[T]) forget() {
	a.found, a.shared, a.kept = map[labelTriple]*AnchorEntry[T]{}, map[matchedKeys]*AnchorEntry[T]{}, 0
}

// lookUp returns the entry of k: that of an earlier label combination that matches the same keys, or a new one.
func (a *Anchors[T]) lookUp(k labelTriple) *AnchorEntry[T] {
	var keys matchedKeys
	n := 0
	for mask, count := range a.masks {
		if count == 0 {
			continue
		}
		w := k.wild(mask)
		if anchors := a.byLabels[w]; len(anchors) > 0 {
			keys.masks |= 1 << mask
			keys.keys[mask] = w
			n += len(anchors)
		}
	}
	var wide []labelTriple
	var text []byte
	for i, w := range a.wide {
		if w.admits(k) {
			wide = append(wide, w)
			text = binary.AppendUvarint(text, uint64(i))
			n += len(a.byLabels[w])
		}
	}
	keys.wide = string(text)
	if entry := a.shared[keys]; entry != nil {
		return entry
	}
	found := make([]anchor[T], 0, n)
	for mask, w := range keys.keys {
		if keys.masks>>mask&1 != 0 {
			found = append(found, a.byLabels[w]...)
		}
	}
	for _, w := range wide {
		found = append(found, a.byLabels[w]...)
	}
	slices.SortFunc(found, func(x, y anchor[T]) int {
		if x.plan.at != y.plan.at {
			return x.plan.at - y.plan.at
		}
		return x.order - y.order
	})
	entry := &AnchorEntry[T]{List: make([]Fit[T], len(found))}
	for i, x := range found {
		entry.List[i] = Fit[T]{x.plan.plan, x.order, x.of}
	}
	a.shared[keys] = entry
	a.kept += len(found)
	return entry
}
