package backtrack

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
)

// A hub may have 100,000 neighbours of which a window holds ten. A value order has the places of a long neighbour list
// in the order of a value that a step confines, as the times are (DESIGN A16: a second order beside the neighbour
// order). So a search looks at the few that are inside the interval. A value order is made when a worker confines a
// list for the second time in one search of a batch: to sort costs more than one look at all.

// valueOrder is a list in the order of a value.
type valueOrder struct {
	made   bool
	values []int64  // ascending: of what is not staged and has a value
	at     []uint32 // by values: places in the list
	staged []uint32 // places of what the batch changes
}

// valueOrderKey names a list, which is read-only, and a column.
type valueOrderKey struct {
	first  *dyngraph.Entry
	column int
}

// valueOrders are those of a worker, for one search.
type valueOrders struct {
	of      map[valueOrderKey]*valueOrder
	entries int // of lists that have a key
	used    uint64
}

const (
	// valueOrderLeast is the least length of a list that gets a value order.
	valueOrderLeast = 512
	// maxValueOrderEntries bounds the entries of a worker's value orders, at 12 bytes each; beyond it they are made
	// anew.
	maxValueOrderEntries = 4 << 20
	// valueOrderShare is the part of a list above which an interval is not looked up in its value order.
	valueOrderShare = 8
)

// drop forgets all value orders.
func (x *valueOrders) drop() { x.of, x.entries = nil, 0 }

// narrow makes a frame the candidates of a step with one back edge that are inside an interval of its readings, by the
// value order of its neighbour list; done is false if no value order tells. It counts steps as a look at all candidates
// would, so that a budget does not depend on value orders; ok is false if they end the search.
func (s *Search) narrow(st *program.Step, f *frame, l neighbors.List) (done, ok bool) {
	n := len(l.Vertices)
	if n < cmp.Or(s.shared.Options.ValueOrderLeast, valueOrderLeast) || len(st.Readings) == 0 || st.Windows != nil {
		return false, true
	}
	if !s.confine(st, &f.readFrame) {
		f.valid, f.none = false, true
		return true, true
	}
	k, within := s.widest(st, f)
	if k < 0 {
		return false, true
	}
	x := s.valueOrderOf(l, &st.Readings[k])
	if !x.made {
		return false, true
	}
	from := sort.Search(len(x.values), func(i int) bool { return x.values[i] >= within.Least })
	to := from + sort.Search(len(x.values)-from, func(i int) bool { return x.values[from+i] > within.Most })
	if valueOrderShare*(to-from+len(x.staged)) > n && s.shared.Options.ValueOrderLeast == 0 {
		return false, true
	}
	at := append(append(s.at[:0], x.at[from:to]...), x.staged...)
	slices.Sort(at)
	s.at = at
	nbrs, ents, b, check := f.nbrs[:0], f.ents[0][:0], &st.Back[0], s.ChecksEdges(l.Staged)
	for _, i := range at {
		if e := l.Entries[i]; !check || s.AdmitsListed(b, e) {
			nbrs, ents = append(nbrs, l.Vertices[i]), append(ents, e)
		}
	}
	s.valueOrders.used++
	unseen := len(at) - len(nbrs) // all of them are staged
	f.nbrs, f.ents[0] = nbrs, ents
	f.nbr, f.ent[0] = nbrs, ents
	f.valid, f.none = false, len(nbrs) == 0 // another visit may have another interval
	looks, last := 1, len(s.order.Steps)-1
	if st == &s.order.Steps[last] && !s.order.GoesOn() && !s.pairs && !st.MapsFirst {
		looks = bits.OnesCount64(f.open) // see lastAdmitted
	}
	return true, s.StepBy(looks * (n - unseen - len(nbrs)))
}

// Narrowed returns how often a value order told the candidates of a step.
func (s *Search) Narrowed() uint64 { return s.valueOrders.used }

// widest returns a reading of the step's back edge that all open Conditions have, and an interval around theirs; -1 if
// there is none.
func (s *Search) widest(st *program.Step, f *frame) (int, program.Range) {
	for k := range st.Readings {
		if r := &st.Readings[k]; r.Back != 0 || f.open&^r.Of != 0 {
			continue
		}
		var within program.Range
		for i, m := 0, f.open; m != 0; i, m = i+1, m&(m-1) {
			w := f.within[k][bits.TrailingZeros64(m)]
			if i == 0 {
				within = w
			}
			within = program.Range{Least: min(within.Least, w.Least), Most: max(within.Most, w.Most)}
		}
		return k, within
	}
	return -1, program.Range{}
}

// valueOrderOf returns the value order of a list for a reading. It is made at the second use.
func (s *Search) valueOrderOf(l neighbors.List, r *program.Reading) *valueOrder {
	key := valueOrderKey{&l.Entries[0], r.Column}
	x := s.valueOrders.of[key]
	switch {
	case x == nil:
		all := &s.valueOrders
		if all.entries += len(l.Entries); all.entries > maxValueOrderEntries || all.of == nil {
			all.of, all.entries = map[valueOrderKey]*valueOrder{}, len(l.Entries)
		}
		x = &valueOrder{}
		s.valueOrders.of[key] = x
	case !x.made:
		s.fillValueOrder(x, l, r)
	}
	return x
}

// fillValueOrder makes a value order.
func (s *Search) fillValueOrder(x *valueOrder, l neighbors.List, r *program.Reading) {
	type dated struct {
		value int64
		at    uint32
	}
	var all []dated
	for i, e := range l.Entries {
		if e.Staged() {
			x.staged = append(x.staged, uint32(i))
		} else if v, ok := s.held.columns[r.Value].Of(e.Index()); ok {
			all = append(all, dated{v, uint32(i)})
		}
	}
	slices.SortFunc(all, func(a, b dated) int { return cmp.Compare(a.value, b.value) })
	x.values, x.at, x.made = make([]int64, len(all)), make([]uint32, len(all)), true
	for i, d := range all {
		x.values[i], x.at[i] = d.value, d.at
	}
}
