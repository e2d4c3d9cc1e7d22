package truths

import (
	"cmp"
	"slices"
	"sort"
)

// Index finds, among many tests, those that an element may pass (DESIGN A21). Tests that begin with the same field are
// sorted by their intervals: of 500 thresholds for one amount those below it are found without a look at the others. It
// holds until the next Prepare.
type Index struct {
	always []int32 // tests without an interval
	groups []indexGroup
}

// indexGroup has the tests that begin with a field.
type indexGroup struct {
	place
	from  []interval // those that end with the last value that any ends with, by lo
	until []interval // of the others those that begin with the first value that any begins with, by hi downwards
	equal []interval // of the others those of one value, by it
	other []interval
}

// interval is the first span of a test, with its number.
type interval struct {
	lo, hi uint64
	test   int32
}

// NewIndex returns an index of tests, which may be nil, by their places in the list.
func NewIndex(tests []*Test) *Index {
	x := &Index{}
	all := map[place][]interval{}
	var places []place
	for i, t := range tests {
		if t == nil || len(t.spans) == 0 {
			x.always = append(x.always, int32(i))
			continue
		}
		s := &t.spans[0]
		if all[s.place] == nil {
			places = append(places, s.place)
		}
		all[s.place] = append(all[s.place], interval{s.lo, s.lo + s.more, int32(i)})
	}
	for _, p := range places {
		x.groups = append(x.groups, newIndexGroup(p, all[p]))
	}
	return x
}

func newIndexGroup(p place, all []interval) indexGroup {
	g := indexGroup{place: p}
	least, most := all[0].lo, all[0].hi
	for _, s := range all {
		least, most = min(least, s.lo), max(most, s.hi)
	}
	for _, s := range all {
		switch {
		case s.hi == most:
			g.from = append(g.from, s)
		case s.lo == least:
			g.until = append(g.until, s)
		case s.lo == s.hi:
			g.equal = append(g.equal, s)
		default:
			g.other = append(g.other, s)
		}
	}
	byLo := func(a, b interval) int { return cmp.Compare(a.lo, b.lo) }
	slices.SortFunc(g.from, byLo)
	slices.SortFunc(g.until, func(a, b interval) int { return cmp.Compare(b.hi, a.hi) })
	slices.SortFunc(g.equal, byLo)
	return g
}

// Mark sets the bits of the tests whose first interval an element with these words is in, and of those without one.
func (x *Index) Mark(words, set []uint64) {
	for _, i := range x.always {
		set[i>>6] |= 1 << (i & 63)
	}
	for k := range x.groups {
		x.groups[k].mark(words, set)
	}
}

func (g *indexGroup) mark(words, set []uint64) {
	v := words[g.word] >> (g.shift & 63) & g.mask
	within := func(all []interval) {
		for i := range all {
			if s := &all[i]; s.lo <= v && v <= s.hi {
				set[s.test>>6] |= 1 << (s.test & 63)
			}
		}
	}
	within(g.from[:sort.Search(len(g.from), func(i int) bool { return g.from[i].lo > v })])
	within(g.until[:sort.Search(len(g.until), func(i int) bool { return g.until[i].hi < v })])
	first := sort.Search(len(g.equal), func(i int) bool { return g.equal[i].lo >= v })
	for i := first; i < len(g.equal) && g.equal[i].lo == v; i++ {
		within(g.equal[i : i+1])
	}
	within(g.other)
}
