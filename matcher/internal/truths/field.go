package truths

import (
	"math/bits"
	"slices"
	"sort"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// field is a range of bits in the words of the elements of a label, or of all elements: the truth of a condition, or
// the rank of a property's value among the constants that conditions compare it with.
type field struct {
	key    string
	label  dyngraph.LabelID // or matcher.AnyLabel, or a label set
	refs   int              // parts of tests that read it
	stale  bool             // elements do not have it yet, or not as it is now
	placed bool
	place

	holds     *matcher.Condition // of a truth; nil for ranks
	read      matcher.Read       // of ranks
	constants []constant         // of ranks, ascending
}

// place is the place of a field: the bits of mask, moved up by shift, of a word.
type place struct {
	word  int
	shift uint
	mask  uint64
}

// constant is a value that refs parts of tests compare with.
type constant struct {
	value property.Value
	refs  int
}

// Ranks: 0 is null; among constants c0 < c1 < ... 1 is below c0, 2 is c0, 3 lies between c0 and c1, 4 is c1, and so on.
func (f *field) rank(v property.Value) uint64 {
	if v.IsNull() {
		return 0
	}
	at, same := f.find(v)
	if same {
		return uint64(2*at + 2)
	}
	return uint64(2*at + 1)
}

// find returns the place of a value among the constants, and whether it is one of them.
func (f *field) find(v property.Value) (at int, same bool) {
	return sort.Find(len(f.constants), func(i int) int {
		order, _ := property.Compare(v, f.constants[i].value) // known: conditions compare what has an order
		return order
	})
}

// interval returns the least and the greatest rank of the values that stand in a relation to a constant.
func (f *field) interval(relation condition.Relation, v property.Value) (lo, hi uint64) {
	at, _ := f.find(v)
	equal, most := uint64(2*at+2), uint64(2*len(f.constants)+1)
	switch relation {
	case condition.Lt:
		return 1, equal - 1
	case condition.Le:
		return 1, equal
	case condition.Gt:
		return equal + 1, most
	case condition.Ge:
		return equal, most
	}
	return equal, equal
}

// add counts a part of a test that compares with a constant.
func (f *field) add(v property.Value) {
	at, same := f.find(v)
	if !same {
		f.constants = slices.Insert(f.constants, at, constant{value: v})
		f.stale = true
	}
	f.constants[at].refs++
}

// remove takes such a part back. The constant stays, and ranks with it, until others are added.
func (f *field) remove(v property.Value) {
	at, _ := f.find(v)
	f.constants[at].refs--
}

// compact drops the constants that nothing compares with.
func (f *field) compact() {
	f.constants = slices.DeleteFunc(f.constants, func(c constant) bool { return c.refs == 0 })
}

// width is the number of bits that the field takes.
func (f *field) width() int {
	if f.holds != nil {
		return 1
	}
	return bits.Len(uint(2*len(f.constants) + 1))
}

// of computes the field of an element in a view.
func (f *field) of(view dyngraph.View, element uint32, values []property.Value) uint64 {
	if f.holds == nil {
		return f.rank(f.read.Value(view, element))
	}
	if f.holds.Meets(view, element, values) {
		return 1
	}
	return 0
}

// meets reports whether some element may have both fields.
func (f *field) meets(g *field) bool {
	return f.label == g.label || matcher.LabelsMeet(f.label, g.label)
}

// put finds a place for a field beside the others: the lowest.
func (f *field) put(others []*field) {
	width := f.width()
	mask := uint64(1)<<width - 1
	var used []uint64 // by word
	for _, g := range others {
		if g.placed && f.meets(g) {
			used = append(used, make([]uint64, max(0, g.word+1-len(used)))...)
			used[g.word] |= g.mask << g.shift
		}
	}
	for w := 0; ; w++ {
		taken := uint64(0)
		if w < len(used) {
			taken = used[w]
		}
		for shift := uint(0); int(shift)+width <= 64; shift++ {
			if taken&(mask<<shift) == 0 {
				f.place, f.placed = place{w, shift, mask}, true
				return
			}
		}
	}
}
